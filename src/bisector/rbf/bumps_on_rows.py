"""What regression and classification by bumps on all rows share (the nonparametric RBF of LFD 6.3)."""

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.distances.distance import Distance, Rows
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.distances.reductions import all_distances, cut, nearest_one
from bisector.engine.show import number
from bisector.engine.validation import blank, check_choice, check_weights
from bisector.engine.values import HoldsValues
from bisector.kernels.bumps import Bump, resolve_bump
from bisector.rbf.widths import Choice, find_widths
from bisector.search.choose import build_index
from bisector.search.index import Index
from bisector.solvers.bump_averages import averages_within, bump_averages

Floats = NDArray[np.float64]

# Distances that are held at a time for explanations.
_AT_ONCE = 2**22


class Influence(NamedTuple):
    """What counts in the average at a query: places among the kept rows, their numbers, shares and distances."""

    places: NDArray[np.int64]
    rows: NDArray[np.int64]
    shares: Floats
    distances: Floats
    reached: bool

    def in_words(self) -> str:
        """Say which row counts most."""
        if not len(self.rows):
            return "no bump reaches it"
        first = f"row {self.rows[0]}, at a distance of {number(float(self.distances[0]))}"
        if not self.reached:
            return f"no bump reaches it, and the nearest is {first}"
        return f"{len(self.rows):,} bumps reach it, and {number(float(self.shares[0]))} of the weight has {first}"


class BumpsOnRows(HoldsValues, BaseEstimator):
    """Keeps the rows, and averages their values at queries."""

    width: Any
    bump: Any
    metric: Any
    widths: Any
    n_neighbors: Any
    outside: Any
    n_jobs: Any

    bump_: Bump
    metric_: Distance
    width_: Any
    _index: Index | None
    _rows: Rows
    _weights: Floats
    _kept: NDArray[np.int64]

    def _keep(self, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, dict[str, Any], Choice]:
        """Check the input; return a stand-in, what is learned of the rows, and the widths to choose from."""
        check_choice("outside", self.outside, ("nearest", "nan"))
        stand_in = blank(self)
        distance = resolve(self.metric)
        bump = resolve_bump(self.bump)
        items = check_items(stand_in, X, distance, reset=True)
        index = None
        if math.isinf(bump.support):
            distance = distance.learned(items)
            rows = distance.prepare(items)
        else:
            index = build_index(items, distance)
            distance, rows = index.distance, index.rows
        n_given = len(rows)
        weights = check_weights(sample_weight, n_given)
        weights = np.ones(n_given) if weights is None else weights
        kept = np.flatnonzero(weights)
        if len(kept) < n_given:  # a row without weight is as if absent
            rows, weights = rows.take(kept), weights[kept]
            if index is not None:
                index.remove(np.setdiff1d(np.arange(n_given), kept))
        choice = find_widths(self.width, self.widths, self.n_neighbors, distance, rows, weights, self.n_jobs)
        learned = {
            "bump_": bump,
            "metric_": distance,
            "_index": index,
            "_rows": rows,
            "_weights": weights,
            "_kept": kept,
            "_n_given": n_given,
        }
        return stand_in, learned, choice

    def _left_out(self, learned: dict[str, Any], values: Floats, widths: Floats) -> Floats:
        """Return what every row would be answered without itself, for every width; NaN where nothing reaches it."""
        index, rows = learned["_index"], learned["_rows"]
        known = (values, learned["_weights"], widths)
        if index is None:
            found = bump_averages(
                learned["bump_"], learned["metric_"], rows, rows, *known, leave_out=True, n_jobs=self.n_jobs
            )
        else:
            found = averages_within(learned["bump_"], index, rows, *known, leave_out=True, n_jobs=self.n_jobs)
        return np.where(found.reached[:, :, None], found.values, np.nan)

    def _averages(self, X: Any, values: Floats) -> Floats:
        queries = self.metric_.prepare(check_items(self, X, self.metric_, reset=False), like=self._rows)
        widths = np.atleast_1d(self.width_)[None, :]
        known = (values, self._weights, widths)
        if self._index is None:
            found = bump_averages(self.bump_, self.metric_, self._rows, queries, *known, n_jobs=self.n_jobs)
        else:
            found = averages_within(self.bump_, self._index, queries, *known, n_jobs=self.n_jobs)
        answers, reached = found.values[0], found.reached[0]
        if not reached.all():
            self._answer_outside(answers, queries, values, np.flatnonzero(~reached))
        return answers

    def _influence(self, X: Any) -> Iterator[Influence]:
        """Yield, for every query, which rows count in its average, by which share, and how far they are.

        A query that no bump reaches is answered by the nearest row, or by none.
        """
        queries = self.metric_.prepare(check_items(self, X, self.metric_, reset=False), like=self._rows)
        widths = np.broadcast_to(self.width_, len(self._rows))
        with np.errstate(divide="ignore"):
            log_weights = np.log(self._weights)
        for part in cut(len(queries), max(1, _AT_ONCE // len(self._rows))):
            some = queries.take(np.arange(part.start, part.stop))
            apart = np.empty((len(part), len(self._rows)))
            all_distances(self.metric_, some, self._rows, apart, n_jobs=self.n_jobs)
            for line in apart:
                logs = self.bump_.log_height(line / widths) + log_weights
                peak = logs.max()
                if np.isfinite(peak):
                    shares = np.exp(logs - peak)
                    shares /= shares.sum()
                    rows = np.flatnonzero(shares)
                    rows = rows[np.argsort(-shares[rows], kind="stable")]
                elif self.outside == "nearest":
                    rows, shares = np.array([int(np.argmin(line))]), np.ones(len(line))
                else:
                    rows, shares = np.empty(0, np.int64), np.ones(len(line))
                yield Influence(rows, self._kept[rows], shares[rows], line[rows], bool(np.isfinite(peak)))

    def _answer_outside(self, answers: Floats, queries: Rows, values: Floats, far: NDArray[np.int64]) -> None:
        takes = "takes the answer of the nearest row" if self.outside == "nearest" else "has no answer"
        warnings.warn(
            f"No bump reaches {len(far)} of {len(queries)} queries (row {far[0]} is the first): each {takes}. "
            "Wider bumps would reach them, and the Gaussian one reaches everywhere.",
            stacklevel=4,
        )
        answers[far] = np.nan
        if self.outside == "nearest":
            numbers = nearest_one(self.metric_, queries.take(far), self._rows, n_jobs=self.n_jobs)[1]
            answers[far] = values[numbers]

    @property
    def X_fit_(self) -> Any:
        check_is_fitted(self)
        return getattr(self._rows, "values", self._rows)

    def __sklearn_tags__(self) -> Tags:
        return tell_input_tags(super().__sklearn_tags__(), self.metric)


def best_width(errors: Floats) -> int:
    """Return which width errs least; the widest of equals, which is the smoothest."""
    if np.isnan(errors).all():
        raise ValueError("No width lets any row be reached by another: give wider ones.")
    least = np.nanmin(errors)
    return int(np.flatnonzero(errors == least)[-1])
