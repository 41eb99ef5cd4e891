"""Iterative fits that can be watched and stopped: progress bars and scikit-learn's callbacks in one loop.

From scikit-learn 1.9 on, users attach callbacks to estimators (``set_callbacks``), which are told when a fit
and each of its iterations begin and end, and may ask to stop. An estimator of ours supports them by three
words: it inherits `CallbackSupport`, decorates its ``fit`` by `with_callbacks`, and runs its loop over
`iterations`. With an older scikit-learn the first two do nothing and the loop only shows its bar.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from bisector.engine.progress import Bar, track

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport, with_callbacks
except ImportError:  # scikit-learn before 1.9
    _Method = TypeVar("_Method", bound=Callable[..., Any])

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands for scikit-learn's mixin where it does not exist."""

    def with_callbacks(method: _Method) -> _Method:
        """Stand for scikit-learn's decorator where it does not exist."""
        return method


__all__ = ["CallbackSupport", "Iterations", "iterations", "with_callbacks"]


@contextmanager
def iterations(
    estimator: Any,
    description: str,
    max_iter: int | None,
    verbose: bool | int = False,
    *,
    X: Any = None,
    y: Any = None,
    metadata: Mapping[str, Any] | None = None,
) -> Iterator["Iterations"]:
    """Run the main loop of a fit under a progress bar and the estimator's callbacks.

    Leaving the loop by ``break`` means that it converged. A callback that asks to stop ends the loop after
    the running iteration. The callbacks follow the first such loop of a fit; loops inside or after it show
    their bar only.

    Parameters
    ----------
    estimator : estimator
        The one being fitted, whose ``fit`` is decorated by `with_callbacks`.
    description : str
        What the loop does, for the bar.
    max_iter : int or None
        The most iterations; None means that the loop is left by ``break`` alone.
    verbose : bool or int, default=False
        Whether to show the bar outside of ``bisector.progress()`` too.
    X, y, metadata : optional
        The training data and for instance ``{"sample_weight": ...}``, for callbacks that compute scores.

    Yields
    ------
    Iterations
        Iterates over 0, 1, ..., ``max_iter`` - 1.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class SquareRoot(CallbackSupport, BaseEstimator):
    ...     @with_callbacks
    ...     def fit(self, X, y=None):
    ...         root = X
    ...         with iterations(self, "square root", 100) as steps:
    ...             for i in steps:
    ...                 change = (X / root - root) / 2
    ...                 root += change
    ...                 steps.note(f"change {change:.1e}")
    ...                 if abs(change) < 1e-12:
    ...                     break
    ...         self.root_, self.n_iter_ = root, i + 1
    ...         return self
    >>> model = SquareRoot().fit(2.0)
    >>> model.root_.__round__(6), model.n_iter_
    (1.414214, 6)
    """
    data = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
    fit_task = None
    # The names below are those under which scikit-learn keeps an estimator's callbacks and running fit. An
    # estimator without callbacks skips their machinery, which costs more than a small iteration.
    if getattr(estimator, "_skl_callbacks", None) and not hasattr(estimator, "_callback_fit_ctx"):
        fit_task = estimator._init_callback_context(max_subtasks=max_iter)
        fit_task.call_on_fit_task_begin(**data)
    with track(description, max_iter, verbose) as bar:
        steps = Iterations(max_iter, bar, fit_task, data)
        yield steps
        steps.finish()
    if fit_task is not None:
        fit_task.call_on_fit_task_end(**data, reconstruction_attributes=steps.attributes)


class Iterations:
    """The iterations of one loop: what `iterations` yields.

    Attributes
    ----------
    stopped : bool
        Whether a callback asked to stop.
    attributes : callable or None
        What `fitted` was given last.
    """

    def __init__(self, max_iter: int | None, bar: Bar, fit_task: Any, data: Mapping[str, Any]) -> None:
        self.stopped = False
        self.attributes: Callable[[], Mapping[str, Any]] | None = None
        self._numbers: Iterable[int] = itertools.count() if max_iter is None else range(max_iter)
        self._bar = bar
        self._fit_task = fit_task
        self._data = data
        self._running = False
        self._task: Any = None
        self._note = ""

    def __iter__(self) -> Iterator[int]:
        for number in self._numbers:
            self._begin()
            yield number
            self.finish()
            if self.stopped:
                return

    def note(self, text: str) -> None:
        """Say where the running iteration stands, for instance its objective."""
        self._note = text

    def fitted(self, attributes: Callable[[], Mapping[str, Any]]) -> None:
        """Give a function returning the learned attributes, as if the fit ended with the running iteration.

        It is called only when a callback asks for the fitted estimator, at the end of the iteration.
        """
        self.attributes = attributes

    def finish(self) -> None:
        """End the running iteration, if there is one: the last was left by ``break``."""
        if not self._running:
            return
        self._running = False
        self._bar.advance(note=self._note)
        if self._task is not None:
            self.stopped |= self._task.call_on_fit_task_end(
                **self._data, reconstruction_attributes=self.attributes
            )

    def _begin(self) -> None:
        self._running = True
        if self._fit_task is not None:
            self._task = self._fit_task.subcontext(task_name="iteration")
            self._task.call_on_fit_task_begin(**self._data)
