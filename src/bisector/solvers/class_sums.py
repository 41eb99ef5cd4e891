"""Class sums: how much each class weighs, and the sum of its rows; the statistic behind class means.

One pass over the data gives them, and those of two parts of the data merge into those of both, so that means
can be had from files, on threads, and from rows that arrive later. As moments are, they are measured from a
shift within the data, so that what is constant stays exactly constant and what is far from zero keeps its
digits.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import Coordinates, block_sizes, first_coordinates
from bisector.engine.sources import Source
from bisector.engine.validation import find_not_finite

Floats = NDArray[np.float64]

# Up to so many classes, the product with a table of who belongs where is faster than adding row by row.
FEW_CLASSES = 16


@dataclass(frozen=True)
class ClassSums:
    """Weighted sums over the rows of each class, in the coordinates given.

    Attributes
    ----------
    of_x : Coordinates
    weights : (n_classes,)
        The sum of the weights; the number of rows if there are none.
    sums : (n_classes, n_features)
    squares : (n_features,)
        Sums of squares over the rows of all classes; zero if they were not asked for.
    """

    of_x: Coordinates
    weights: Floats
    sums: Floats
    squares: Floats

    def merge(self, other: "ClassSums") -> "ClassSums":
        with np.errstate(over="ignore", invalid="ignore"):
            return replace(
                self,
                weights=self.weights + other.weights,
                sums=self.sums + other.sums,
                squares=self.squares + other.squares,
            )

    @property
    def offsets(self) -> Floats:
        """How far the mean of each class lies from the shift; NaN for a class without rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums / self.weights[:, None] / self.of_x.scale

    @property
    def means(self) -> Floats:
        """The mean of each class; NaN for a class without rows."""
        return self.of_x.shift + self.offsets

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    @property
    def offset(self) -> Floats:
        """How far the mean of all rows lies from the shift."""
        return self.sums.sum(axis=0) / self.weight / self.of_x.scale


def class_sums(
    rows: Source, n_classes: int, *, squares: bool = False, n_jobs: int | None = None
) -> ClassSums:
    """Gather the class sums of a source whose targets are places of classes.

    Parameters
    ----------
    rows : Source
    n_classes : int
    squares : bool, default=False
        Whether to gather the sums of squares too, which takes about twice the time.
    n_jobs : int, default=None

    Raises
    ------
    ValueError
        When X has a NaN or infinity, naming its row and column.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.class_sums import class_sums
    >>> rows = source(np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]), y=np.array([0, 0, 1]))
    >>> class_sums(rows, 2).means
    array([[1., 2.],
           [5., 5.]])
    """
    found = more_class_sums(rows, first_coordinates(rows)[0], n_classes, squares=squares, n_jobs=n_jobs)
    if np.isfinite(found.sums).all() and np.isfinite(found.squares).all():
        return found
    sizes = map_reduce(block_sizes, rows, n_jobs=n_jobs, doing="measuring columns").of_x
    unit = np.ldexp(1.0, -np.clip(np.frexp(sizes)[1], -1000, 1000))
    of_x = Coordinates(np.zeros(len(unit)), unit)
    return more_class_sums(rows, of_x, n_classes, squares=squares, n_jobs=n_jobs)


def more_class_sums(
    rows: Source, of_x: Coordinates, n_classes: int, *, squares: bool = False, n_jobs: int | None = None
) -> ClassSums:
    """Gather the class sums in given coordinates, as they are needed to merge with others."""
    found = map_reduce(
        block_class_sums, rows, of_x, n_classes, squares, n_jobs=n_jobs, doing="gathering class sums"
    )
    if not np.isfinite(found.sums).all():
        find_not_finite(rows)  # if this returns, only sums or their squares are too large
    return found


def block_class_sums(block: Block, of_x: Coordinates, n_classes: int, squares: bool) -> ClassSums:
    """Make the class sums of one block."""
    assert block.y is not None
    codes = block.y.astype(np.intp, copy=False)
    belongs = _membership(codes, block.sample_weight, n_classes)
    weights = np.bincount(codes, block.sample_weight, minlength=n_classes).astype(np.float64)
    sparse = hasattr(block.X, "tocsr") and not of_x.shift.any()
    # NaN and infinities are looked for in the sums.
    with np.errstate(over="ignore", invalid="ignore"):
        X = block.X.astype(np.float64, copy=False) if sparse else of_x.apply(block.X)
        sums = (X.T @ belongs.T).T if sparse else belongs @ X
        sums = np.asarray(sums.toarray() if hasattr(sums, "toarray") else sums)
        of_squares = _squares(X, block.sample_weight) if squares else np.zeros(X.shape[1])
        if sparse:
            sums, of_squares = sums * of_x.scale, of_squares * of_x.scale**2
    return ClassSums(of_x, weights, sums, of_squares)


def _squares(X: Any, weight: Floats | None) -> Floats:
    """Return the weighted sum of squares of each column."""
    if hasattr(X, "tocsr"):
        return np.asarray(X.power(2).T @ (np.ones(X.shape[0]) if weight is None else weight))
    return np.asarray(np.einsum("ij,ij->j", X, X) if weight is None else weight @ (X * X))


def _membership(codes: NDArray[np.intp], weight: Floats | None, n_classes: int) -> Any:
    """Return the matrix of classes × rows that holds the weight of each row in the class it belongs to."""
    if n_classes <= FEW_CLASSES:
        table = np.zeros((n_classes, len(codes)))
        table[codes, np.arange(len(codes))] = 1.0 if weight is None else weight
        return table
    from scipy.sparse import csc_array

    counts = np.ones(len(codes)) if weight is None else weight
    return csc_array((counts, codes, np.arange(len(codes) + 1)), shape=(n_classes, len(codes))).tocsr()
