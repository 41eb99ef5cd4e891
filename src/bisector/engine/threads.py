"""Threads: one pool for the whole process, and BLAS held to one thread inside it.

Work is cut into items whose number and order never depend on the number of threads; each thread takes the
next item when it is free. The calling thread works too, so a call can always finish by itself: two fits at
once, or a pool that is busy, slow each other down but never wait for each other in a circle.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cache
from numbers import Integral
from types import TracebackType
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def cores() -> int:
    """Count the cores this process may use: affinity, container quota and BLAS limits respected.

    The BLAS thread count found at start carries what the user asked of OpenMP or OpenBLAS by environment
    variables, and what joblib gives each of its worker processes. Counted once: it reads a dozen files.
    """
    import joblib

    return max(1, min(joblib.cpu_count(), one_blas_thread.found_threads()))


def threads_for(n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads.

    ``None`` means all cores allowed here, but one inside a joblib worker; negative numbers count back from
    all cores, as in joblib; a positive number is taken as it is.
    """
    if n_jobs is None:
        return 1 if _inside_joblib() else cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an integer or None, not {n_jobs!r}.")
    n_jobs = int(n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a number of threads, -1 for all cores, or None.")
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)


def _inside_joblib() -> bool:
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return bool(backend.nesting_level)


class OneBlasThread:
    """Context manager that holds BLAS to one thread while anybody is inside.

    The first to enter sets one thread, the last to leave restores what the first found: independent
    limits that overlap in time would restore each other's limit and leave the process at one for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._libraries: list[Any] | None = None
        self._found: list[int] = []
        self._give_away: set[Callable[..., None]] = set()

    def found_threads(self) -> int:
        """Return the BLAS thread count outside the guard (the smallest, if several libraries are loaded)."""
        with self._lock:
            libraries = self._blas()
            counts = self._found if self._inside else [library.num_threads for library in libraries]
            return min(counts, default=os.cpu_count() or 1)

    def __enter__(self) -> None:
        with self._lock:
            libraries = self._blas()
            if self._inside == 0:
                self._found = [library.num_threads for library in libraries]
            self._inside += 1  # before the change, so that a fork in between knows what to restore
            if self._inside == 1:
                self._set([1] * len(libraries))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._inside == 1:
                self._set(self._found)
            self._inside = max(0, self._inside - 1)  # a child forked inside leaves what it never entered

    def after_fork(self) -> None:
        """Start anew in a forked child: whoever was inside is inside in the parent only."""
        self._lock = threading.Lock()
        if self._inside:
            self._set(self._found)
            self._inside = 0

    def _set(self, threads: list[int]) -> None:
        # Since 3.8, threadpoolctl obeys the Python thread that was first to set a limit and silently ignores all
        # others until that one gives control away: a fit in a second thread would not be held to one.
        for give_away in self._give_away:
            give_away(force=True)
        for library, count in zip(self._libraries or [], threads, strict=True):
            library.set_num_threads(count)
        for give_away in self._give_away:
            give_away(force=True)

    def _blas(self) -> list[Any]:
        if self._libraries is None:
            # SciPy brings a BLAS of its own; a controller made before it is loaded would not know it.
            import scipy.linalg  # noqa: F401
            from threadpoolctl import ThreadpoolController

            controller = ThreadpoolController().select(user_api="blas")
            self._libraries = list(controller.lib_controllers)
            methods = (getattr(library, "clear_controlling_thread", None) for library in self._libraries)
            self._give_away = {method for method in methods if method is not None}
        return self._libraries


one_blas_thread = OneBlasThread()


class _Pool:
    """The process's worker threads: made when first needed, made anew when more are asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._size = 0

    def submit(self, task: Callable[[], None], times: int) -> list[Future[None]]:
        with self._lock:
            if self._executor is None or self._size < times:
                if self._executor is not None:
                    self._executor.shutdown(wait=False)  # its running tasks still finish
                self._executor = ThreadPoolExecutor(times, thread_name_prefix="bisector")
                self._size = times
            helpers: list[Future[None]] = []
            # No thread can be had when the interpreter is ending or the system allows no more of them.
            with suppress(RuntimeError):
                for _ in range(times):
                    helpers.append(self._executor.submit(task))
            return helpers

    def after_fork(self) -> None:
        self.__init__()  # type: ignore[misc]


_pool = _Pool()
_this_thread = threading.local()


def _after_fork() -> None:
    _pool.after_fork()
    one_blas_thread.after_fork()
    cores.cache_clear()
    _this_thread.working = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def inside_worker() -> bool:
    """Tell whether this thread is already working on an item of `parallel`."""
    return getattr(_this_thread, "working", False)


@contextmanager
def working_alone() -> Iterator[None]:
    """Work on one thread, BLAS included, where others share out the work: in a task of a Dask graph."""
    before = inside_worker()
    _this_thread.working = True
    try:
        with one_blas_thread:
            yield
    finally:
        _this_thread.working = before


def parallel(
    work: Callable[[Item], Result], items: Sequence[Item], *, n_jobs: int | None = None
) -> list[Result]:
    """Apply `work` to every item on up to `n_jobs` threads; return the results in the order of the items.

    BLAS runs on one thread in each of them, and also when there is only one, so that a result never
    depends on `n_jobs`. A call from inside `work` runs inline. When an item fails, no new one is begun and
    the error of the first item that failed is raised.
    """
    if inside_worker():
        return [work(item) for item in items]
    if len(items) == 1:
        with one_blas_thread:
            return [work(items[0])]
    run = _Run(work, items)
    threads = min(threads_for(n_jobs), len(items))
    helpers: list[Future[None]] = []
    with one_blas_thread:
        try:
            if threads > 1:
                helpers = _pool.submit(run.take_items, threads - 1)
            run.take_items()
        finally:
            run.stop()
            wait([helper for helper in helpers if not helper.cancel()])
    return run.results()


class _Run:
    """One call of `parallel`: hands out the items and gathers the results."""

    def __init__(self, work: Callable[[Any], Any], items: Sequence[Any]) -> None:
        self._work = work
        self._items = items
        self._results: list[Any] = [None] * len(items)
        self._errors: dict[int, BaseException] = {}
        self._lock = threading.Lock()
        self._next = 0

    def take_items(self) -> None:
        try:
            _this_thread.working = True
            while (number := self._claim()) is not None:
                try:
                    self._results[number] = self._work(self._items[number])
                except BaseException as error:
                    self._errors[number] = error
                    self.stop()
        finally:
            _this_thread.working = False

    def _claim(self) -> int | None:
        with self._lock:
            if self._next >= len(self._items):
                return None
            self._next += 1
            return self._next - 1

    def stop(self) -> None:
        with self._lock:
            self._next = len(self._items)

    def results(self) -> list[Any]:
        if self._errors:
            # All items before one that failed were begun and finished, so the first error is always the same;
            # only an interruption, which may come at any item, goes before it.
            raise self._errors[min(self._errors, key=lambda i: (isinstance(self._errors[i], Exception), i))]
        return self._results
