"""Models compared on one table: the same folds for all, parameters chosen inside of them, within a given time."""

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.progress import Bar, track
from bisector.engine.show import Table, number
from bisector.reports.candidates import Candidate, candidates_for, folds_for
from bisector.reports.differences import Difference, paired_difference
from bisector.reports.encoding import TableEncoder
from bisector.reports.faults import TableFault
from bisector.reports.scores import SCORINGS, measure_for, scored
from bisector.reports.target import Target

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]
Fold = tuple[Floats, NDArray[Any], Floats, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """How one candidate did.

    Attributes
    ----------
    candidate : Candidate
        With the values of its parameter that were tried.
    scores, training_scores : ndarray of shape (n_folds,)
        Of the rows left out, and of those trained on.
    predictions : ndarray of shape (n_rows,)
        Of each row, by the model that was not trained on it.
    probabilities : ndarray of shape (n_rows, n_classes) or None
    seconds : float
    """

    candidate: Candidate
    scores: Floats
    training_scores: Floats
    predictions: NDArray[Any]
    probabilities: Floats | None
    seconds: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """All candidates on the same folds.

    Attributes
    ----------
    target : Target
        With the rows that were compared on.
    outcomes : list of Outcome
        In the order of the candidates, the simplest first.
    best : int
        The place of the one with the highest score.
    advised : int
        The place of the simplest one whose score is within one standard error of the best.
    left_out : dict
        Candidates that were not compared, and why.
    folds, inner : splitter
    stopped : bool
        Whether the user stopped it.
    """

    target: Target
    outcomes: list[Outcome]
    best: int
    advised: int
    left_out: dict[str, str]
    folds: Any
    inner: Any
    stopped: bool = False
    differences: list[Difference] = field(default_factory=list)

    @property
    def measure(self) -> str:
        """What the score is called."""
        return measure_for(self.target.kind, self.target.y)

    def score(self, place: int) -> float:
        """Return the score of a candidate over all rows, each predicted by a model that did not see it."""
        return overall_score(self.target, self.outcomes[place].predictions)

    def table(self) -> Table:
        """Return a line for each candidate, the highest score first."""
        order = sorted(range(len(self.outcomes)), key=lambda place: -self.score(place))
        lines = [self._line(place) for place in order]
        heads = ["model", self.measure, "in sample", "behind the best", "interval", "as good?", "seconds"]
        return Table(heads, lines, notes=[f"{name}: {why}" for name, why in self.left_out.items()])

    def _line(self, place: int) -> list[object]:
        outcome, gap = self.outcomes[place], self.differences[place]
        interval = f"{number(gap.low, 3)} to {number(gap.high, 3)}" if place != self.best else ""
        verdict = "best" if place == self.best else "clearly worse" if gap.clear else "not clearly worse"
        return [
            f"{outcome.candidate.name}{' (advised)' if place == self.advised else ''}",
            f"{self.score(place):.4f}",
            f"{outcome.training_scores.mean():.4f}",
            None if place == self.best else f"{gap.mean:.4f}",
            interval,
            verdict,
            f"{outcome.seconds:.1f}",
        ]

    def verdict(self) -> str:
        """Say which model to use, and whether a simpler one would do."""
        if not self.left_out:
            return self._advice()
        many = len(self.left_out) > 1
        return f"{self._advice()} ({len(self.left_out)} model{'s were' if many else ' was'} left out: see below.)"

    def _advice(self) -> str:
        best, advised = self.outcomes[self.best].candidate, self.outcomes[self.advised].candidate
        scored = f"{self.measure} {number(self.score(self.best), 3)}"
        if self.advised == self.best:
            simpler = [place for place in range(self.best) if place]
            words = f"Use {best.name}: {scored} on rows it was not trained on, the highest."
            if not simpler:
                return words
            nearest = max(simpler, key=self.score)
            gap = self.differences[nearest]
            return (
                f"{words} The best simpler model, {self.outcomes[nearest].candidate.name}, is behind by "
                f"{number(gap.mean, 2)} (95% interval {number(gap.low, 2)} to {number(gap.high, 2)})."
            )
        gap = self.differences[self.advised]
        return (
            f"Use {advised.name}: {self.measure} {number(self.score(self.advised), 3)}. The highest is {best.name} "
            f"with {number(self.score(self.best), 3)}, but the difference of {number(gap.mean, 2)} (95% interval "
            f"{number(gap.low, 2)} to {number(gap.high, 2)}) is within one standard error, and {advised.name} "
            "is simpler."
        )


def compare(
    frame: "polars.DataFrame",
    target: Target,
    *,
    seconds: float = 120.0,
    types: Any = None,
    verbose: bool = False,
) -> Comparison:
    """Compare the models that suit a target, under one cross-validation with inner choice of parameters.

    Parameters
    ----------
    frame : polars.DataFrame
        The features, a row for each of `target.y`.
    target : Target
    seconds : float, default=120
        How long it may take, about. Models that would take too long try fewer values of their parameter, or are
        left out; which, is told.
    types : mapping, optional
        Of `TableEncoder`.
    verbose : bool, default=False
        Whether to show progress.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import polars as pl
    >>> from bisector import datasets
    >>> from bisector.reports.comparison import compare
    >>> from bisector.reports.target import choose_target
    >>> data = datasets.iris()
    >>> frame = pl.DataFrame(dict(zip(data.feature_names, data.X.T)))
    >>> target = choose_target(frame.with_columns(species=pl.Series(data.y)), "species")
    >>> found = compare(frame, target, seconds=5)
    >>> found.score(0) < 0.5 < 0.9 < found.score(found.best)
    True
    """
    n = len(target.y)
    smallest = int(np.unique(target.y, return_counts=True)[1].min()) if target.kind == "classes" else n
    folds, inner = folds_for(target.kind, smallest, n)
    divided = list(folds.split(np.zeros(n), target.y))
    known: dict[int, Fold] = {}

    def fold(place: int) -> Fold:
        """Encode one fold: the columns are looked at in its training rows alone."""
        if place not in known:
            train, test = divided[place]
            encoder = TableEncoder(types).fit(frame[train])
            known[place] = (
                encoder.transform(frame[train]),
                target.y[train],
                encoder.transform(frame[test]),
                test,
            )
        return known[place]

    measure = measure_for(target.kind, target.y)
    candidates = candidates_for(target.kind, SCORINGS[measure])
    with track("compiling", total=len(candidates), verbose=verbose) as bar:
        for candidate in candidates:
            _compile(candidate, fold(0))
            bar.advance(note=candidate.name)
    start = time.perf_counter()
    outcomes: list[Outcome] = []
    left_out: dict[str, str] = {}
    stopped = False
    with track("comparing models", total=len(candidates) * len(divided), verbose=verbose) as bar:
        for place, candidate in enumerate(candidates):
            left = seconds - (time.perf_counter() - start)
            try:
                outcomes.append(
                    _outcome(candidate, fold, len(divided), target, inner, left, len(candidates) - place, bar)
                )
            except KeyboardInterrupt:
                stopped = True
                for other in candidates[place:]:
                    left_out[other.name] = "stopped before it was compared"
                break
            except _TooLong as long:
                left_out[candidate.name] = str(long)
            except Exception as fault:
                left_out[candidate.name] = (
                    f"could not be fitted ({str(fault).splitlines()[0][:120] if str(fault) else fault!r})"
                )
    if stopped and not outcomes:
        raise KeyboardInterrupt
    if not outcomes:
        raise TableFault(
            "No model could be compared: " + "; ".join(f"{k} {v}" for k, v in left_out.items()) + "."
        )
    return judged(target, outcomes, left_out, folds, inner, stopped)


def judged(
    target: Target,
    outcomes: list[Outcome],
    left_out: dict[str, str],
    folds: Any,
    inner: Any,
    stopped: bool = False,
) -> Comparison:
    """Find the best, and the simplest that is about as good."""
    scores = [overall_score(target, outcome.predictions) for outcome in outcomes]
    best = int(np.argmax(scores))
    share = 1 / len(outcomes[0].scores)
    gaps = [paired_difference(outcomes[best].scores, outcome.scores, share) for outcome in outcomes]
    advised = next(place for place, gap in enumerate(gaps) if place == best or gap.mean <= gap.error)
    return Comparison(target, outcomes, best, advised, left_out, folds, inner, stopped, gaps)


def overall_score(target: Target, predictions: NDArray[Any]) -> float:
    """Return the score of predictions of all rows, by the measure that suits the target."""
    return scored(measure_for(target.kind, target.y), target.y, predictions)


class _TooLong(Exception):
    """A candidate would take more time than is left."""


def _outcome(
    candidate: Candidate, fold: Callable[[int], Fold], n_folds: int, target: Target, inner: Any,
    left: float, waiting: int, bar: Bar,
) -> Outcome:  # fmt: skip
    """Cross-validate one candidate."""
    start = time.perf_counter()
    allowed = left if waiting == 1 else left * min(0.5, 2.5 / waiting)
    if candidate.name == "baseline":
        allowed = np.inf  # what all others are measured by
    elif left <= 0:
        raise _TooLong("left out: the time was over")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        candidate = _affordable(candidate, fold(0), n_folds, inner, allowed)
        scores, training = np.empty(n_folds), np.empty(n_folds)
        predictions = np.empty(len(target.y), dtype=target.y.dtype)
        probabilities: Floats | None = None
        classes, measure = np.unique(target.y), measure_for(target.kind, target.y)
        variance = target.y.var() if target.kind == "number" else None
        for place in range(n_folds):
            X, y, test_rows, test = fold(place)
            model = candidate.chooser(inner).fit(X, y)
            predictions[test] = model.predict(test_rows)
            scores[place] = scored(measure, target.y[test], predictions[test], variance)
            training[place] = scored(measure, y, model.predict(X), variance)
            if target.kind == "classes" and hasattr(model, "predict_proba"):
                if probabilities is None:
                    probabilities = np.zeros((len(target.y), len(classes)))
                probabilities[np.ix_(test, np.searchsorted(classes, model.classes_))] = model.predict_proba(
                    test_rows
                )
            bar.advance(note=f"{candidate.name}, {max(0.0, left - (time.perf_counter() - start)):.0f} s left")
    return Outcome(candidate, scores, training, predictions, probabilities, time.perf_counter() - start)


def _compile(candidate: Candidate, first: Fold) -> None:
    """Fit to a few rows, so that loops are compiled before time is counted."""
    X, y, _, _ = first
    few = np.random.default_rng(0).permutation(len(X))[:60]
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        candidate.slowest().fit(X[few], y[few]).predict(X[few])


def _affordable(candidate: Candidate, first: Fold, n_folds: int, inner: Any, allowed: float) -> Candidate:
    """Return the candidate with as many values of its parameter as there is time for."""
    X, y = first[:2]
    fits = 1 + (inner.get_n_splits() if inner is not None else 0) * len(candidate.values)
    once = np.inf
    for _ in range(2):  # the first fit may have waited for a compiler, or for another program
        started = time.perf_counter()
        candidate.slowest().fit(X, y)
        once = min(once, time.perf_counter() - started)
        if once * fits * n_folds <= allowed:
            return candidate
    if once * n_folds > allowed:
        raise _TooLong(f"left out: {n_folds} fits would take about {number(once * n_folds, 2)} s")
    inner_folds = inner.get_n_splits() if inner is not None else 1
    return candidate.with_fewer_values(int((allowed / (once * n_folds) - 1) / inner_folds))
