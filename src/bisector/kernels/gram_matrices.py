"""What can be said of, and done with, a Gram matrix: is it psd, centring, normalising."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_finite


class PsdVerdict(NamedTuple):
    """Whether a matrix is positive semi-definite; true in an ``if`` when it is.

    Attributes
    ----------
    psd : bool
    smallest : float
        The smallest eigenvalue: the most negative one, if there is any.
    tolerance : float
        How far below zero rounding may have carried it.
    """

    psd: bool
    smallest: float
    tolerance: float

    def __bool__(self) -> bool:
        return self.psd


def is_psd(K: ArrayLike, tolerance: float | None = None) -> PsdVerdict:
    """Tell whether a symmetric matrix has no negative eigenvalue, as every Gram matrix of a kernel has none.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric up to rounding.
    tolerance : float, optional
        How far below zero an eigenvalue may lie. By default, what rounding can do to the largest:
        n · eps · ‖K‖, with eps of K's own dtype.

    Returns
    -------
    PsdVerdict

    Examples
    --------
    >>> from bisector.kernels import is_psd
    >>> bool(is_psd([[2, 1], [1, 2]]))
    True
    >>> verdict = is_psd([[1, 2], [2, 1]])
    >>> verdict.psd, round(verdict.smallest, 12)
    (False, -1.0)
    """
    values = checked_square(K, "K")
    eps = float(np.finfo(values.dtype).eps)
    doubled = values.astype(np.float64)
    norm = float(np.abs(doubled).sum(axis=1).max(initial=0.0))
    apart = np.abs(doubled - doubled.T)
    if apart.size and apart.max() > 100 * eps * norm:
        row, column = map(int, np.unravel_index(np.argmax(apart), apart.shape))
        raise ValueError(
            f"K must be symmetric, but K[{row}, {column}] is {values[row, column]:.6g} and K[{column}, {row}] is "
            f"{values[column, row]:.6g}."
        )
    allowed = (
        len(values) * eps * norm if tolerance is None else check_finite("tolerance", tolerance, at_least=0)
    )
    smallest = (
        float(np.linalg.eigvalsh((doubled + doubled.T) / 2).min(initial=np.inf)) if len(values) else 0.0
    )
    return PsdVerdict(smallest >= -allowed, smallest, allowed)


def centre(K: ArrayLike, training: ArrayLike | None = None) -> NDArray[Any]:
    """Return the Gram matrix after the mean is moved to the origin of feature space.

    Parameters
    ----------
    K : array-like of shape (n, n), or (m, n) with `training`
        Kernel values among rows; or of other rows with the training rows.
    training : array-like of shape (n, n), optional
        The Gram matrix of the training rows, not centred, whose mean becomes the origin. By default K.

    Returns
    -------
    ndarray of the shape of K

    Examples
    --------
    >>> from bisector.kernels import Linear, centre
    >>> X, Z = [[5, 0], [3, 5], [1, 7]], [[0, 0]]
    >>> centre(Linear().gram(X))  # the rows less their mean, (3, 4)
    array([[ 20.,  -4., -16.],
           [ -4.,   1.,   3.],
           [-16.,   3.,  13.]])
    >>> centre(Linear().gram(Z, X), training=Linear().gram(X))
    array([[10., -4., -6.]])
    """
    own = checked_square(K, "K") if training is None else checked_values(K, "K")
    reference = own if training is None else checked_square(training, "training")
    if own.shape[1] != len(reference):
        raise ValueError(
            f"K has {own.shape[1]} columns, but training has {len(reference)} rows: one each is needed."
        )
    if not len(reference):
        raise ValueError("There are no training rows whose mean could become the origin.")
    columns = reference.mean(axis=0, dtype=np.float64)
    rows = columns if training is None else own.mean(axis=1, dtype=np.float64)
    centred = own - columns - rows[:, None] + columns.mean()
    return centred.astype(own.dtype, copy=False)


def normalise(K: ArrayLike, lengths: tuple[ArrayLike, ArrayLike] | None = None) -> NDArray[Any]:
    """Return cosines in feature space: k(x, y) / √(k(x, x) k(y, y)).

    A row at the origin of feature space has no direction: its cosines are 0, with itself too.

    Parameters
    ----------
    K : array-like of shape (n, n), or (m, n) with `lengths`
        Kernel values.
    lengths : pair of arrays of shape (m,) and (n,), optional
        k(x, x) for the rows, and for the columns, as ``kernel.diag`` gives them. By default the diagonal of
        K.

    Returns
    -------
    ndarray of the shape of K

    Examples
    --------
    >>> from bisector.kernels import normalise
    >>> normalise([[4, 3], [3, 9]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    if lengths is None:
        values = checked_square(K, "K")
        rows = columns = np.diag(values)
    else:
        values = checked_values(K, "K")
        rows, columns = (np.asarray(part, dtype=np.float64) for part in lengths)
        if (rows.shape, columns.shape) != ((values.shape[0],), (values.shape[1],)):
            raise ValueError(
                f"lengths must hold one number for each of the {values.shape[0]} rows and {values.shape[1]} "
                f"columns of K, but have the shapes {rows.shape} and {columns.shape}."
            )
    cosines = values.astype(np.float64)
    divide_by_lengths(cosines, split_lengths(rows), split_lengths(columns))
    return cosines.astype(values.dtype, copy=False)


class Lengths(NamedTuple):
    """Squared lengths as mantissa · 4^e with mantissas from 1 to 4, so that no product of two leaves the range.

    Attributes
    ----------
    mantissa : ndarray
        Infinite where the length is 0: whatever is divided by it becomes 0.
    shrink : ndarray
        2^-e.
    """

    mantissa: NDArray[np.float64]
    shrink: NDArray[np.float64]

    def part(self, numbers: range) -> "Lengths":
        """Return those of consecutive rows."""
        return Lengths(self.mantissa[numbers.start : numbers.stop], self.shrink[numbers.start : numbers.stop])


def split_lengths(squares: ArrayLike) -> Lengths:
    """Bring squared lengths in feature space into the form in which `divide_by_lengths` takes them."""
    squares = np.asarray(squares, dtype=np.float64)
    bad = ~(np.isfinite(squares) & (squares >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"k(x, x) of row {row} is {squares[row]}: no squared length, so that the row has no direction."
        )
    mantissa, exponent = np.frexp(squares)
    half = (exponent - 1) // 2
    mantissa = np.ldexp(mantissa, exponent - 2 * half)
    return Lengths(np.where(squares > 0, mantissa, np.inf), np.ldexp(1.0, -half))


def divide_by_lengths(values: NDArray[np.float64], rows: Lengths, columns: Lengths) -> None:
    """Divide kernel values by the lengths of their rows and columns, in place; equal rows give exactly 1."""
    values *= rows.shrink[:, None]
    values *= columns.shrink
    # The root of the square of a number is the number, to the last bit.
    values /= np.sqrt(np.multiply.outer(rows.mantissa, columns.mantissa))


def checked_values(K: Any, name: str) -> NDArray[Any]:
    """Check a matrix of kernel values: float32 or float64, finite."""
    try:
        values = np.asarray(K)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a matrix of numbers.") from None
    if values.ndim != 2:
        raise ValueError(f"{name} must be a matrix of kernel values, but has the shape {values.shape}.")
    if not np.isfinite(values).all():
        row, column = map(int, np.argwhere(~np.isfinite(values))[0])
        raise ValueError(f"{name} holds {values[row, column]} in row {row}, column {column}.")
    return values


def checked_square(K: Any, name: str) -> NDArray[Any]:
    """Check a square matrix of kernel values."""
    values = checked_values(K, name)
    if values.shape[0] != values.shape[1]:
        raise ValueError(f"{name} must be square, but has the shape {values.shape}.")
    return values
