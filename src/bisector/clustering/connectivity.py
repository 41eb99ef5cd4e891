"""The graph along which clusters may be merged, as users give it: checked, and as a list of edges."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def check_connectivity(connectivity: Any, X: Any, n: int) -> Integers:
    """Return the edges of a graph of n rows, each once, the smaller row first, in the order of the rows.

    Parameters
    ----------
    connectivity : array-like, sparse matrix or callable
        Where an entry is not zero is an edge, whichever its sign, and on either side of the diagonal. Entries on
        the diagonal join a row to itself, and say nothing. A callable makes the matrix from X.
    X : rows
    n : int
        How many rows there are.

    Examples
    --------
    >>> from bisector.clustering.connectivity import check_connectivity
    >>> check_connectivity([[1, 0, 2], [0, 0, 0], [0, 1, 0]], None, 3)
    array([[0, 2],
           [1, 2]])
    """
    matrix = connectivity(X) if callable(connectivity) else connectivity
    sparse = hasattr(matrix, "tocsr")
    if not sparse:
        try:
            matrix = np.asarray(matrix)
        except ValueError:
            raise ValueError("connectivity must be a matrix, but its rows have different lengths.") from None
    if matrix.shape != (n, n):
        raise ValueError(
            f"connectivity must have one row and one column for each of the {n} rows of X, but has the shape "
            f"{matrix.shape}."
        )
    if matrix.dtype.kind == "O":
        matrix = _numbers(matrix)
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"connectivity must hold numbers or Booleans, not values of type {matrix.dtype}.")
    if sparse:
        matrix = matrix.tocsr()
        if not matrix.has_canonical_format:  # entries in one place add up
            matrix = matrix.copy()
            matrix.sum_duplicates()
    _refuse_not_finite(matrix)
    return _edges(matrix)


def warn_of_components(count: int) -> None:
    """Warn of a graph that falls into several components."""
    if count > 1:
        warnings.warn(
            f"the number of connected components of the connectivity matrix is {count} > 1: any two of them are "
            "joined by their nearest rows, so that the tree has one root.",
            UserWarning,
            stacklevel=3,
        )


def _edges(matrix: Any) -> Integers:
    """List the pairs of rows that an entry on either side of the diagonal joins."""
    from scipy.sparse import csr_array

    pattern = csr_array(matrix != 0)  # of Booleans, so that no entry is lost where two signs meet
    both = (pattern + pattern.T).tocsr()
    both.sort_indices()
    first = np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))
    above = first < both.indices
    return np.stack([first[above], both.indices[above].astype(np.int64)], axis=1)


def _numbers(matrix: Any) -> Any:
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        return matrix


def _refuse_not_finite(matrix: Any) -> None:
    values = matrix.data if hasattr(matrix, "tocsr") else matrix
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        bad = ~np.isfinite(values)
        raise ValueError(
            f"connectivity holds {values[bad][0]}: write 1 where two rows are neighbours and 0 where they are not."
        )
