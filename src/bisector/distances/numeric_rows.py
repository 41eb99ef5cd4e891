"""Rows of numbers: checked once, dense or sparse, as float32 or float64."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.engine.frames import frame_source, is_frame
from bisector.engine.sources import float_dtype, refuse_collections


@dataclass(frozen=True)
class NumericRows(Rows):
    """Rows of numbers, as they came or transformed.

    Attributes
    ----------
    values : ndarray or CSR matrix
        float32 or float64; an array is C-contiguous, a sparse matrix has sorted indices.
    dtype : dtype
        That of the rows as they came, and so of distances between them.
    n_features : int
        How many columns the rows came with.
    names : tuple of str or None
        The names of these, when the rows came as a frame.
    origin : ndarray of shape (n_features,) or None
        What was subtracted before the rows were transformed; rows compared with these subtract the same.
    before : NumericRows or None
        The rows before they were transformed, where pairs that are close need them.
    blur : ndarray of shape (n_rows,) or None
        How far a transformed row may be off by rounding.
    """

    values: Any
    dtype: np.dtype[Any]
    n_features: int
    names: tuple[str, ...] | None = None
    origin: NDArray[np.float64] | None = None
    before: "NumericRows | None" = None
    blur: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def take(self, numbers: NDArray[np.int64]) -> "NumericRows":
        before = None if self.before is None else self.before.take(numbers)
        blur = None if self.blur is None else self.blur[numbers]
        return replace(self, values=self.values[numbers], before=before, blur=blur)

    def joined(self, others: Sequence[Rows]) -> "NumericRows":
        parts = [self, *(rows for rows in others if isinstance(rows, NumericRows))]
        if self.sparse:
            import scipy.sparse

            values = scipy.sparse.vstack([rows.values for rows in parts], format="csr")
        else:
            values = np.concatenate([rows.dense(range(len(rows))) for rows in parts])
        before = [rows.before for rows in parts if rows.before is not None]
        blur = [rows.blur for rows in parts if rows.blur is not None]
        return replace(
            self,
            values=values,
            dtype=np.result_type(*(rows.dtype for rows in parts)),
            before=before[0].joined(before[1:]) if before else None,
            blur=np.concatenate(blur) if blur else None,
        )

    @property
    def sparse(self) -> bool:
        """Whether the values are a sparse matrix."""
        return hasattr(self.values, "tocsr")

    def dense(self, numbers: range) -> NDArray[Any]:
        """Return consecutive rows as an array."""
        part = self.values[numbers.start : numbers.stop]
        return part.toarray() if self.sparse else part

    def centred(self, like: "NumericRows | None") -> "NumericRows":
        """Subtract the origin of the rows these are compared with; by default, their mean.

        A transformation rounds; near the origin it rounds little, wherever the rows lie. Sparse rows become dense.
        """
        values = self.dense(range(len(self))).astype(np.float64, copy=False)
        if like is not None and like.origin is not None:
            origin = like.origin
        elif len(self):
            origin = np.sum(values / len(self), axis=0)  # a sum of the values themselves might overflow
        else:
            origin = np.zeros(self.n_features)
        return replace(self, values=values - origin, origin=origin)

    def of_unit_length(self) -> "NumericRows":
        """Divide every row by its length, and append a column that is 1 where a row was zero.

        So a row without direction is of unit length too, and at a right angle to every row that has one.
        """
        # Scaled by a power of two first, so that no square overflows or vanishes. Squares are added in the order of
        # the columns, so that no length depends on other rows or on whether the rows are sparse.
        if self.sparse:
            import scipy.sparse

            values = self.values.astype(np.float64)
            owner = np.repeat(np.arange(len(self)), np.diff(values.indptr))
            largest = np.zeros(len(self))
            np.maximum.at(largest, owner, np.abs(values.data))
            values.data = np.ldexp(values.data, -np.frexp(largest)[1][owner])
            lengths = np.sqrt(np.bincount(owner, values.data**2, minlength=len(self)))
            values.data /= np.where(lengths > 0, lengths, 1.0)[owner]
            zero = scipy.sparse.csr_matrix((lengths == 0).astype(np.float64)[:, None])
            return replace(self, values=scipy.sparse.hstack([values, zero], format="csr"))
        values = self.values.astype(np.float64)
        values = np.ldexp(values, -np.frexp(np.abs(values).max(axis=1, initial=0.0))[1][:, None])
        lengths = np.sqrt(np.cumsum(values * values, axis=1)[:, -1])
        unit = np.zeros((len(self), self.n_features + 1))
        np.divide(values, np.where(lengths > 0, lengths, 1.0)[:, None], out=unit[:, :-1])
        unit[:, -1] = lengths == 0
        # Rounding turns a row by its last digits only; that of its length hardly changes a chord.
        blur = np.full(len(self), 4 * np.finfo(np.float64).eps)
        return replace(self, values=unit, before=replace(self, values=values), blur=blur)

    def mapped(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> "NumericRows":
        """Transform the rows as a float64 array; the function must treat each row by itself."""
        values = self.values.toarray() if self.sparse else self.values
        return replace(self, values=np.ascontiguousarray(function(values.astype(np.float64, copy=False))))


def numeric_rows(X: Any, like: Rows | None, name: str, *, missing: bool = False) -> NumericRows:
    """Check rows of numbers; NaN is refused unless values may be missing, infinity always."""
    refuse_collections(X)
    values, names = _of_frame(X, name) if is_frame(X) else (_matrix(X, name), None)
    rows = NumericRows(values, values.dtype, int(values.shape[1]), names)
    _check_finite(values, names, name, missing)
    if isinstance(like, NumericRows):
        _check_alike(rows, like, name)
    return rows


def numeric_vector(x: Any, name: str, *, missing: bool = False) -> NumericRows:
    """Check one row of numbers."""
    if not (is_frame(x) or hasattr(x, "tocsr")):
        x = x if isinstance(x, np.ndarray) else np.asarray(x)
        if x.ndim not in (1, 2):
            raise ValueError(f"{name} must be one row, but has the shape {x.shape}.")
        x = x[None, :] if x.ndim == 1 else x
    rows = numeric_rows(x, None, name, missing=missing)
    if len(rows) != 1:
        raise ValueError(f"{name} must be one row, but has {len(rows)}: use pairwise for several.")
    return rows


def _of_frame(X: Any, name: str) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Return the numbers of a frame, missing ones as NaN, and the names of its columns."""
    try:
        columns = frame_source(X, [], single_target=False)
    except ValueError as error:
        raise ValueError(f"{name}: {error} Gower() compares tables of mixed columns as they are.") from None
    if not columns.n_features:
        raise ValueError(f"{name} has no columns: there is nothing to compare.")
    names = columns.feature_names
    return columns.between(0, columns.n_rows), None if names is None else tuple(names)


def _matrix(X: Any, name: str) -> Any:
    if hasattr(X, "tocsr"):
        values = X.tocsr()
        if values.ndim != 2:
            raise ValueError(f"{name} must have rows and columns, but has the shape {values.shape}.")
        if values.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} holds values of type {values.dtype}, but this distance compares numbers."
            )
        if not values.shape[1]:
            raise ValueError(f"{name} has no columns: there is nothing to compare.")
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        if not values.has_canonical_format:
            values = values.copy()
            values.sum_duplicates()
        return values
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    try:
        values = np.asarray(X)
    except ValueError:
        raise ValueError(f"{name} must have rows and columns, but its rows have different lengths.") from None
    if values.dtype.kind == "O":  # integers and floats of several columns of a frame, say
        with contextlib.suppress(TypeError, ValueError):
            values = values.astype(np.float64)
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} holds values of type {values.dtype}, but this distance compares numbers: for strings "
            "take Levenshtein(), for sets Jaccard(), for tables of mixed columns Gower()."
        )
    if values.ndim != 2:
        raise ValueError(
            f"{name} must have rows and columns, but has the shape {values.shape}: "
            "reshape(-1, 1) makes a column of it, reshape(1, -1) a row."
        )
    if not values.shape[1]:
        raise ValueError(f"{name} has no columns: there is nothing to compare.")
    return np.ascontiguousarray(values, dtype=float_dtype([values.dtype]))


def _check_finite(values: Any, names: tuple[str, ...] | None, name: str, missing: bool) -> None:
    numbers = values.data if hasattr(values, "tocsr") else values
    if missing:
        bad = np.isinf(numbers)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(np.sum(numbers, dtype=np.float64)):
                return
        bad = ~np.isfinite(numbers)
    if not bad.any():
        return
    if hasattr(values, "tocsr"):
        place = int(np.argmax(bad))
        row = int(np.searchsorted(values.indptr, place, side="right")) - 1
        column, value = int(values.indices[place]), numbers[place]
    else:
        row, column = map(int, np.argwhere(bad)[0])
        value = numbers[row, column]
    called = f" ({names[column]!r})" if names else ""
    remedy = (
        "fill it, leave such rows out, or pass skip_missing=True where the distance has it"
        if np.isnan(value)
        else "replace it by a number or leave such rows out"
    )
    word = "NaN" if np.isnan(value) else "inf"
    raise ValueError(f"{name} holds {word} in row {row}, column {column}{called}: {remedy}.")


def _check_alike(rows: NumericRows, like: NumericRows, name: str) -> None:
    if rows.names is not None and like.names is not None and rows.names != like.names:
        only = [column for column in rows.names if column not in like.names]
        lacking = [column for column in like.names if column not in rows.names]
        said = [f"{column!r} is only in {name}" for column in only[:3]]
        said += [f"{column!r} is missing in {name}" for column in lacking[:3]]
        raise ValueError(
            f"The columns of {name} and of the rows it is compared with differ: "
            + ("; ".join(said) if said else "they stand in another order")
            + ". Select the same columns, in the same order."
        )
    if rows.n_features != like.n_features:
        raise ValueError(
            f"{name} has {rows.n_features} columns, but the rows it is compared with have {like.n_features}."
        )
