"""What condensing and editing share: training rows in, fewer rows out, and an account of what was left out."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.terms import WeightedTerms
from bisector.engine.items import picked
from bisector.engine.show import Caution, Heading, Sheet, Table
from bisector.engine.targets import check_labels
from bisector.engine.validation import blank, check_count, store
from bisector.engine.values import HoldsValues
from bisector.neighbors.kept_rows import Floats, Integers


@dataclass(frozen=True, repr=False)
class Reduction:
    """How much was left out.

    Attributes
    ----------
    title : str
    classes : ndarray
    before, after : ndarray of int of shape (n_classes,)
        Rows of each class, given and kept.
    consistent : bool or None
        Whether what is kept answers to every training row as all rows do; None where that is not promised.
    remarks : sequence of str
        What else there is to know.
    """

    title: str
    classes: NDArray[Any]
    before: Integers
    after: Integers
    consistent: bool | None
    remarks: Sequence[str] = ()

    @property
    def share(self) -> float:
        """The part of the rows that was left out."""
        return 1.0 - float(self.after.sum()) / float(self.before.sum())

    def sheet(self) -> Sheet:
        """Return the account for printing."""
        counts = zip(self.classes.tolist(), self.before.tolist(), self.after.tolist(), strict=True)
        rows = [[str(name), given, kept, _percent(kept, given)] for name, given, kept in counts]
        given, kept = int(self.before.sum()), int(self.after.sum())
        rows.append(["all", given, kept, _percent(kept, given)])
        parts: list[Any] = [Heading(self.title), Table(["class", "rows", "kept", "share"], rows)]
        if self.consistent is not None:
            parts.append(
                "Consistent: what is kept answers to every training row as all rows do."
                if self.consistent
                else Caution("Not consistent: some training rows get another answer than from all rows.")
            )
        return Sheet([*parts, *self.remarks])

    def __repr__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%"


class Reduced(NamedTuple):
    """What a rule of reducing found: the rows to keep, or prototypes in their place.

    Attributes
    ----------
    kept : ndarray of int
        Row numbers, ascending; those of the first rows of prototypes.
    consistent : bool or None
    remarks : list of str
    learned : dict
        More attributes for the estimator.
    """

    kept: Integers
    consistent: bool | None
    remarks: list[str]
    learned: dict[str, Any]


class ReducesRows(HoldsValues, BaseEstimator):
    """Base of estimators that reduce their training rows.

    A subclass has the parameters `metric` and `n_jobs`, and finds what to keep (`_reduce`).
    """

    _instead_of_gathering = "reduce a sample of the rows"
    metric: Any
    n_jobs: int | None

    @abstractmethod
    def _reduce(self, items: Any, distance: Distance, codes: Integers, classes: NDArray[Any]) -> Reduced:
        """Find what to keep of checked rows and the codes of their classes."""

    def fit(self, X: Any, y: Any) -> Self:
        """Find which rows to keep.

        Parameters
        ----------
        X : rows
            What the metric compares: a matrix, strings, sets, a frame.
        y : array of shape (n_rows,)
            Class labels.

        Returns
        -------
        self
        """
        stand_in = blank(self)
        distance = resolve(self.metric)
        items = check_items(stand_in, X, distance, reset=True)
        n_rows = items.shape[0] if hasattr(items, "shape") else len(items)
        labels = check_labels(self, y, n_rows)
        if not labels.single:
            raise ValueError(f"{type(self).__name__} takes one label for each row, not several.")
        if not n_rows:
            raise ValueError("X has no rows: there is nothing to keep.")
        codes, classes = labels.codes[:, 0], labels.classes[0]
        found = self._reduce(items, distance.learned(items), codes, classes)
        report = Reduction(
            f"{type(self).__name__}: {len(found.kept):,} of {n_rows:,} rows",
            classes,
            np.bincount(codes, minlength=len(classes)),
            np.bincount(codes[found.kept], minlength=len(classes)),
            found.consistent,
            tuple(found.remarks),
        )
        learned = {"sample_indices_": found.kept} | found.learned
        return store(
            self,
            stand_in,
            **{name: value for name, value in learned.items() if value is not None},
            classes_=classes,
            consistent_=found.consistent,
            reduction_=report.share,
            report_=report,
        )

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Find which rows to keep, and return them with their labels, in the form in which they came."""
        self.fit(X, y)
        rows = picked(X, self.sample_indices_)
        if "precomputed" in resolve(self.metric).names:
            rows = np.asarray(rows)[:, self.sample_indices_]
        return rows, picked(y, self.sample_indices_)

    def __sklearn_tags__(self) -> Tags:
        tags = tell_input_tags(super().__sklearn_tags__(), self.metric)
        tags.target_tags.required = True
        return tags


def euclidean_coordinates(distance: Distance, items: Any, doing: str) -> Floats:
    """Return coordinates in which Euclidean distance orders pairs of rows as a distance does.

    Such coordinates exist where squared differences are summed, after features are weighted or mapped linearly:
    Euclidean, elliptical and Mahalanobis distance. Others are refused.
    """
    rows = distance.prepare(items)
    formula: Any = None
    if isinstance(distance, CoordinateDistance) and distance.translation_invariant and not distance.may_miss:
        assert isinstance(rows, NumericRows)
        formula = distance.lower(rows.values.shape[1])
    if formula is None or not formula.sums_squares:
        raise ValueError(
            f"{doing} needs straight lines and points between rows, which {distance!r} does not have: take "
            "Euclidean, elliptical or Mahalanobis distance, or CondensedNearestNeighbor, which takes any."
        )
    assert isinstance(rows, NumericRows)
    values = rows.dense(range(len(rows))).astype(np.float64)
    return values * np.sqrt(formula.weights) if isinstance(formula, WeightedTerms) else values


def check_neighbors(n_neighbors: Any, n_voters: int, n_rows: int) -> int:
    """Check how many neighbours vote, where there are so many that could."""
    k = check_count("n_neighbors", n_neighbors)
    if k > n_voters:
        raise ValueError(
            f"n_neighbors is {k}, but with n_samples={n_rows} only {n_voters} rows can vote: ask for fewer "
            "neighbours, or give more rows."
        )
    return k


def contradictions(codes: Integers, wanted: Integers) -> list[str]:
    """Say how many rows have an earlier row of another class at their place: no answer is right for both."""
    count = int((codes != wanted).sum())
    if not count:
        return []
    rows = "1 row has" if count == 1 else f"{count:,} rows have"
    return [
        f"{rows} an earlier row of another class at the same place. Of such rows the first decides, in the "
        "nearest-neighbour rule of all rows as well: no subset gives each of them its own label."
    ]
