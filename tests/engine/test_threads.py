"""Threads: results and errors do not depend on them, BLAS gets back what it had, nobody waits in a circle."""

import builtins
import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bisector.engine.threads import cores, inside_worker, one_blas_thread, parallel, threads_for

LONG = 60.0  # seconds after which a wait that should have ended at once is a fault


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def three_blas_threads() -> Iterator[None]:
    """Let BLAS have a number of threads that nobody else would set."""
    with one_blas_thread:
        pass  # loads the libraries that there are
    with threadpool_limits(3, user_api="blas"):
        yield


# Results and errors


@pytest.mark.parametrize("n_jobs", [1, 2, 8, None])
def test_results_come_in_the_order_of_the_items(n_jobs: int | None) -> None:
    delays = np.random.default_rng(0).uniform(0, 2e-3, 50)

    def square(i: int) -> int:
        time.sleep(delays[i])
        return i * i

    assert parallel(square, range(50), n_jobs=n_jobs) == [i * i for i in range(50)]


@pytest.mark.parametrize("n_items", [0, 1, 2])
def test_few_items_need_few_threads(n_items: int) -> None:
    assert parallel(str, range(n_items), n_jobs=8) == [str(i) for i in range(n_items)]


def test_the_caller_works_too_and_no_more_threads_than_asked_for() -> None:
    both = threading.Barrier(2)

    def meet(_: int) -> int:
        both.wait(LONG)
        return threading.get_ident()

    workers = set(parallel(meet, range(10), n_jobs=2))
    assert len(workers) == 2
    assert threading.get_ident() in workers


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_first_item_that_fails_gives_the_error_and_no_new_one_is_begun(n_jobs: int) -> None:
    """Item 4 fails late, when item 7 has failed already if there is a second thread."""
    begun, seventh_failed = [], threading.Event()

    def work(i: int) -> None:
        begun.append(i)
        if i == 4:
            assert n_jobs == 1 or seventh_failed.wait(LONG)
            raise LookupError("item 4")
        if i == 7:
            seventh_failed.set()
            raise ValueError("item 7")

    with pytest.raises(LookupError, match="item 4"):
        parallel(work, range(1000), n_jobs=n_jobs)
    assert sorted(begun) == list(range(5 if n_jobs == 1 else 8))


def test_nothing_is_left_running_when_an_error_comes_out() -> None:
    second_begun, finished = threading.Event(), []

    def work(i: int) -> None:
        if i == 0:
            assert second_begun.wait(LONG)
            raise ValueError("item 0")
        second_begun.set()
        time.sleep(0.05)
        finished.append(i)

    with pytest.raises(ValueError, match="item 0"):
        parallel(work, range(2), n_jobs=2)
    assert finished == [1]


def test_an_interruption_goes_before_other_errors() -> None:
    interrupted = threading.Event()

    def work(i: int) -> None:
        if i == 0:
            assert interrupted.wait(LONG)
            raise ValueError("item 0")
        interrupted.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parallel(work, range(2), n_jobs=2)
    assert parallel(str, range(3), n_jobs=2) == ["0", "1", "2"]


def test_a_call_from_inside_a_worker_runs_inline() -> None:
    """Threads of the pool that have nothing to do must not help: two levels would use n² threads."""
    parallel(lambda _: time.sleep(1e-3), range(16), n_jobs=8)  # there are threads that could

    def inner(_: int) -> int:
        time.sleep(1e-3)
        return threading.get_ident()

    def outer(_: int) -> bool:
        alone = set(parallel(inner, range(10), n_jobs=8)) == {threading.get_ident()}
        return alone and inside_worker()

    assert parallel(outer, range(10), n_jobs=2) == [True] * 10
    assert not inside_worker()


def test_two_python_threads_at_once(three_blas_threads: None) -> None:
    both, answers = threading.Barrier(2), {}

    def call(name: int) -> None:
        def work(i: int) -> tuple[int, set[int]]:
            if i == 0:
                both.wait(LONG)  # so that each call is under way when the other is
            return name * i, blas_threads()

        answers[name] = parallel(work, range(30), n_jobs=3)

    threads = [threading.Thread(target=call, args=[name]) for name in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert answers == {name: [(name * i, {1}) for i in range(30)] for name in (1, 2)}
    assert blas_threads() == {3}


def test_calls_of_many_threads_end_although_the_pool_is_busy() -> None:
    answers: list[Any] = [None] * 6

    def call(name: int) -> None:
        for n_jobs in (2, 4, 3, 6):  # the pool grows while others use it
            answers[name] = parallel(lambda i: name * i, range(20), n_jobs=n_jobs)

    threads = [threading.Thread(target=call, args=[name]) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert answers == [[name * i for i in range(20)] for name in range(6)]


def test_a_thread_that_outlives_the_main_one_can_still_fit(run_python: Callable[..., Any]) -> None:
    """No thread can be had from a pool then: the caller works alone."""
    script = """
import json, threading, time
from bisector.engine.threads import parallel
parallel(str, range(4), n_jobs=2)

def late():
    threading.main_thread().join()
    time.sleep(0.3)
    print(json.dumps(parallel(str, range(4), n_jobs=2)))

threading.Thread(target=late).start()
answer = None
"""
    assert run_python(script) == ["0", "1", "2", "3"]


# BLAS


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_items", [1, 5])
def test_blas_has_one_thread_inside_and_gets_back_what_it_had(
    three_blas_threads: None, n_jobs: int, n_items: int
) -> None:
    assert parallel(lambda _: blas_threads(), range(n_items), n_jobs=n_jobs) == [{1}] * n_items
    assert blas_threads() == {3}


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_items", [1, 5])
def test_blas_gets_back_what_it_had_after_an_error(
    three_blas_threads: None, n_items: int, n_jobs: int, error: type[BaseException]
) -> None:
    def fail(_: int) -> None:
        raise error

    with pytest.raises(error):
        parallel(fail, range(n_items), n_jobs=n_jobs)
    assert blas_threads() == {3}
    assert not inside_worker()


def test_guards_nest(three_blas_threads: None) -> None:
    with one_blas_thread:
        with one_blas_thread:
            parallel(lambda _: None, range(3), n_jobs=2)
        assert blas_threads() == {1}
        assert one_blas_thread.found_threads() == 3
    assert blas_threads() == {3}


def test_guards_of_two_threads_interleave(three_blas_threads: None) -> None:
    """The first to enter leaves first, and must not give threads back while the other is inside."""
    entered, leave = threading.Event(), threading.Event()

    def second() -> None:
        with one_blas_thread:
            entered.set()
            leave.wait(LONG)

    other = threading.Thread(target=second)
    with one_blas_thread:
        other.start()
        assert entered.wait(LONG)
    assert blas_threads() == {1}
    leave.set()
    other.join(LONG)
    assert blas_threads() == {3}


def test_others_may_set_limits_after_the_guard() -> None:
    """Control over BLAS is not kept by the thread that was first inside."""
    with one_blas_thread:
        pass
    seen = []

    def set_limit() -> None:
        with threadpool_limits(3, user_api="blas"):
            seen.append(blas_threads())

    other = threading.Thread(target=set_limit)
    other.start()
    other.join(LONG)
    assert seen == [{3}]


def test_a_signal_interrupts_and_leaves_everything_in_order(run_python: Callable[..., Any]) -> None:
    script = """
import os, signal, threading, time
from threadpoolctl import threadpool_info
from bisector.engine.threads import one_blas_thread, parallel
blas = lambda: [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
with one_blas_thread:
    pass
before, main = blas(), threading.get_ident()

def work(i):
    if threading.get_ident() == main:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

try:
    parallel(work, range(10**6), n_jobs=2)
    answer = "not interrupted"
except KeyboardInterrupt:
    answer = blas() == before and parallel(str, range(5), n_jobs=2)
"""
    assert run_python(script) == ["0", "1", "2", "3", "4"]


# Fork

FORK = """
import os, sys, threading, time
from threadpoolctl import threadpool_info
from bisector.engine.threads import one_blas_thread, parallel, threads_for
blas = lambda: [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

def in_child(check):
    child = os.fork()
    if child == 0:
        right = False
        try:
            right = check()
        finally:
            os._exit(0 if right else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def works():
    "Let two threads meet at every item: one alone would wait in vain."
    both = threading.Barrier(2)
    return parallel(lambda i: both.wait(20) >= 0 and i, range(8), n_jobs=2) == list(range(8))

assert works()
before = blas()
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@needs_fork
def test_a_forked_child_makes_its_own_pool(run_python: Callable[..., Any]) -> None:
    assert run_python(FORK + "answer = [in_child(works), works()]") == [0, True]


@needs_fork
def test_a_child_forked_inside_the_guard_has_its_blas_threads_back(run_python: Callable[..., Any]) -> None:
    script = """
with one_blas_thread:
    inside = [in_child(lambda: blas() == before), blas()]
answer = [inside[0], set(inside[1]) == {1}, blas() == before]
"""
    assert run_python(FORK + script, OPENBLAS_NUM_THREADS="2") == [0, True, True]


@needs_fork
def test_a_child_that_leaves_a_guard_it_never_entered_can_use_it(run_python: Callable[..., Any]) -> None:
    script = """
def guarded():
    with one_blas_thread:
        return set(blas()) == {1}

with one_blas_thread:
    child = os.fork()
if child == 0:
    os._exit(0 if [blas(), guarded(), guarded(), blas()] == [before, True, True, before] else 1)
answer = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
    assert run_python(FORK + script, OPENBLAS_NUM_THREADS="2") == 0


@needs_fork
def test_a_child_forked_while_all_threads_work_can_use_them(run_python: Callable[..., Any]) -> None:
    """Every item forks: from the calling thread and from helpers, with locks in use around them."""
    script = "answer = parallel(lambda _: in_child(works), range(12), n_jobs=4)"
    assert run_python(FORK + script) == [0] * 12


# The number of threads


@pytest.fixture
def counted_anew() -> Iterator[None]:
    cores.cache_clear()
    yield
    cores.cache_clear()


def test_positive_counts_are_taken_as_they_are() -> None:
    assert [threads_for(n) for n in (1, 7, np.int64(3))] == [1, 7, 3]


def test_negative_counts_count_back_from_all_cores() -> None:
    assert threads_for(-1) == cores() == threads_for(None)
    assert threads_for(-2) == max(1, cores() - 1)
    assert threads_for(-1000) == 1


def test_zero_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning: give a number of threads, -1 for all"):
        threads_for(0)


@pytest.mark.parametrize("n_jobs", [1.0, "2", True, np.True_, [1]])
def test_what_is_no_count_is_refused(n_jobs: Any) -> None:
    with pytest.raises(TypeError, match="n_jobs must be an integer or None, not"):
        threads_for(n_jobs)


COUNT = "from bisector.engine.threads import threads_for\nanswer = threads_for(None)"


@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"])
def test_limits_of_the_environment_are_respected(run_python: Callable[..., Any], variable: str) -> None:
    assert run_python(COUNT, **{variable: "1"}) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_affinity_is_respected(run_python: Callable[..., Any]) -> None:
    script = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert run_python(script + COUNT) == 1


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"cpu.max": "250000 100000"}, 3),
        ({"cpu.max": "max 100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
    ],
    ids=["two and a half", "unlimited", "older control groups"],
)
def test_the_quota_of_a_container_is_respected(
    monkeypatch: pytest.MonkeyPatch, counted_anew: None, files: dict[str, str], count: int
) -> None:
    """A machine of eight cores, as its control group describes it."""
    groups = "/sys/fs/cgroup/"
    real_open, real_exists = builtins.open, os.path.exists

    def fake_open(path: Any, *rest: Any, **options: Any) -> Any:
        if str(path).startswith(groups):
            return io.StringIO(files[str(path).removeprefix(groups)] + "\n")
        return real_open(path, *rest, **options)

    def fake_exists(path: Any) -> bool:
        if str(path).startswith(groups):
            return str(path).removeprefix(groups) in files
        return real_exists(path)

    monkeypatch.setattr(builtins, "open", fake_open)
    monkeypatch.setattr(os.path, "exists", fake_exists)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    with one_blas_thread:
        pass  # loads the libraries that there are
    with threadpool_limits(8, user_api="blas"):
        assert threads_for(None) == count


def test_the_guard_does_not_hide_the_cores(three_blas_threads: None, counted_anew: None) -> None:
    with one_blas_thread:
        inside = cores()
    cores.cache_clear()
    assert inside == cores()


def test_one_thread_inside_a_joblib_worker_unless_more_are_asked_for(run_python: Callable[..., Any]) -> None:
    script = """
from joblib import Parallel, delayed
from bisector.engine.threads import threads_for

def counts():
    return [threads_for(None), threads_for(3)]

answer = {
    backend: Parallel(n_jobs=2, backend=backend)(delayed(counts)() for _ in range(4))
    for backend in ("loky", "threading", "multiprocessing")
}
outside = threads_for(None)
answer["after"] = [outside, Parallel(n_jobs=1)(delayed(threads_for)(None) for _ in range(1))]
"""
    found = run_python(script)
    outside, (sequential,) = found.pop("after")
    assert found == {backend: [[1, 3]] * 4 for backend in ("loky", "threading", "multiprocessing")}
    assert sequential == outside
