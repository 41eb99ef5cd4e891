"""What every distance is: a value that compares two rows, and knows which axioms it keeps.

A distance is computed in three steps, which models use directly so that each row is looked at once: `prepare`
checks rows and brings them into the form that the distance compares (an array, bit sets, strings);
`between` joins two prepared sets into `Pairs`; and the functions of `bisector.distances.reductions` reduce its
tiles as they are made, so that no model needs all distances at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.engine.values import Value

Law = Literal["metric", "pseudo-metric", "none"]
Exemplar = Literal["mean", "coordinate-median", "geometric-median", "medoid"]


class Rows(ABC):
    """Rows that a distance has checked and brought into the form it compares."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, numbers: NDArray[np.int64]) -> "Rows":
        """Return the rows with these numbers, in this order."""

    @abstractmethod
    def joined(self, others: "Sequence[Rows]") -> "Rows":
        """Return these rows followed by others that were prepared to be compared with them."""


class Pairs(ABC):
    """All pairs of an outer and an inner row, computed tile by tile.

    The *reduced* distance is cheap and orders pairs as the distance does; it alone decides which of two is
    nearer. It has the same bits in every tile that holds the pair.

    Attributes
    ----------
    shape : (int, int)
        How many outer and inner rows there are.
    dtype : dtype
        In which the distances are returned: float32 if both sets of rows are, else float64.
    tile_shape : (int, int)
        How many outer and inner rows make a tile that is computed well.
    matrix : ndarray or None
        All distances, where they are there already; not to be changed.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any] = np.dtype(np.float64)
    tile_shape: tuple[int, int] = (256, 512)
    matrix: NDArray[Any] | None = None

    @abstractmethod
    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        """Write reduced distances into a C-contiguous float64 array, the first of them at (row, column)."""

    @abstractmethod
    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        """Write distances into a C-contiguous float64 array, the first of them at (row, column).

        They may be computed in another way than `fill` does, and then differ from it by rounding.
        """

    def finish(self, reduced: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn reduced distances into distances."""
        return reduced

    def reduce(self, distance: float) -> float:
        """Return the largest reduced distance that is no more than a distance."""
        return distance


class Distance(Value, ABC):
    """How far apart two rows are.

    Attributes
    ----------
    law : "metric", "pseudo-metric" or "none"
        Which axioms hold for all rows: a metric is zero only between equal rows, symmetric, and no detour
        shortens it; a pseudo-metric may be zero between rows that differ.
    symmetric : bool
        Whether the two rows can change places.
    translation_invariant : bool
        Whether it stays when the same vector is added to all rows.
    rotation_invariant : bool
        Whether it stays when all rows are rotated (and the distance learned anew, if it was not given all).
    scale_invariant : bool
        Whether it stays when a feature is rescaled in all rows (and the distance learned anew likewise).
    exemplar : "mean", "coordinate-median", "geometric-median" or "medoid"
        What has the least total distance to given rows: of all points of the space, or of the rows.
    """

    # What `resolve` looks up: the names of the class, names that fix parameters, and words that others use for
    # its parameters.
    names: ClassVar[tuple[str, ...]] = ()
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    synonyms: ClassVar[Mapping[str, str]] = {}
    # Whether it compares rows of numbers, as scikit-learn's estimators take them.
    numeric: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    translation_invariant: ClassVar[bool] = False
    rotation_invariant: ClassVar[bool] = False
    scale_invariant: ClassVar[bool] = False

    @property
    def exemplar(self) -> Exemplar:
        """What has the least total distance to given rows; where nothing more is known, one of them."""
        return "medoid"

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> "Distance":
        """Make the distance from parameters as scikit-learn's ``metric_params`` name them."""
        own = {cls.synonyms.get(name, name): value for name, value in params.items()}
        unknown = sorted(set(own) - set(cls.parameters()))
        if unknown:
            takes = ", ".join(cls.parameters()) or "none"
            raise ValueError(
                f"metric_params holds {', '.join(unknown)}, but {cls.__name__} has the parameters {takes}."
            )
        return cls(**own)

    @property
    @abstractmethod
    def law(self) -> Law:
        """Which axioms hold for all rows."""

    @abstractmethod
    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> Rows:
        """Check rows and bring them into the form that is compared.

        Parameters
        ----------
        X : rows
            What the distance compares: a matrix, strings, sets, a frame.
        like : Rows, optional
            Prepared rows that these will be compared with.
        name : str, default="X"
            What errors call the rows.
        """

    @abstractmethod
    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        """Join prepared rows into pairs, with d(outer, inner); with `flipped`, d(inner, outer)."""

    @abstractmethod
    def __call__(self, x: Any, y: Any) -> float:
        """Return the distance from one row to another."""

    def learned(self, X: Any) -> "Distance":
        """Return the distance with what it leaves open learned from rows; most have nothing to learn."""
        return self

    def pairwise(
        self, X: Any, Y: Any = None, out: NDArray[Any] | None = None, *, n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Return the distances from every row of X to every row of Y.

        Parameters
        ----------
        X : rows
        Y : rows, optional
            By default the rows of X.
        out : ndarray of shape (rows of X, rows of Y), optional
            Where to write them: float32 or float64, C-contiguous.
        n_jobs : int, optional
            On how many threads; by default all cores allowed here.

        Returns
        -------
        ndarray of shape (rows of X, rows of Y)
            float32 if X and Y both are, else float64.
        """
        from bisector.distances.reductions import all_distances

        distance = self.learned(X)
        if Y is None:
            rows = distance.prepare(X)
            return all_distances(distance, rows, None, out, n_jobs=n_jobs)
        references = distance.prepare(Y, name="Y")
        return all_distances(distance, distance.prepare(X, like=references), references, out, n_jobs=n_jobs)
