"""Rows as distances hold them, checked when they come from a file: compiled loops trust their shapes."""

from dataclasses import replace
from typing import Any

import numpy as np

from bisector.distances.distance import Distance, Rows
from bisector.distances.mixed import Gower
from bisector.distances.mixed_rows import MixedRows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.set_rows import WORD, BitRows, ListRows
from bisector.distances.string_rows import StringRows


def check_rows(rows: Rows, distance: Distance | None, width: int | None) -> None:
    """Refuse rows that are not in the form their distance compares.

    Parameters
    ----------
    rows : Rows
    distance : Distance or None
        What compares them, if that is known.
    width : int or None
        How many columns rows come with to the estimator that holds these.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import Euclidean
    >>> from bisector.reports.checked_rows import check_rows
    >>> rows = Euclidean().prepare(np.eye(3))
    >>> check_rows(rows, Euclidean(), 3)
    >>> check_rows(rows, Euclidean(), 4)
    Traceback (most recent call last):
    ...
    ValueError: rows that are kept have 3 columns, and rows that come 4
    """
    if isinstance(rows, NumericRows):
        _check_numeric(rows, distance, width)
    elif isinstance(rows, MixedRows):
        _check_mixed(rows, distance)
    elif isinstance(rows, ListRows):
        _check_lists(rows)
    elif isinstance(rows, BitRows):
        _check_bits(rows)
    elif isinstance(rows, StringRows):
        if not all(type(word) is str for word in rows.strings):
            raise ValueError("words that are kept are no words")
    else:
        raise ValueError(f"rows of the kind {type(rows).__name__} cannot be checked")


def _check_numeric(rows: NumericRows, distance: Distance | None, width: int | None) -> None:
    own = rows.n_features
    if width is not None and own != width:
        raise ValueError(f"rows that are kept have {own} columns, and rows that come {width}")
    if rows.values.ndim != 2 or rows.values.dtype not in (np.float32, np.float64):
        raise ValueError("rows that are kept are no matrix of floats")
    if rows.origin is not None and rows.origin.shape != (own,):
        raise ValueError("rows that are kept have an origin of other columns")
    if rows.blur is not None and rows.blur.shape != (len(rows),):
        raise ValueError("rows that are kept have another number of errors")
    if rows.before is not None:
        _check_numeric(rows.before, None, own)
        if len(rows.before) != len(rows):
            raise ValueError("rows that are kept were other rows before")
    expected = own if distance is None or not len(rows) else _width_compared(rows, distance)
    if rows.values.shape[1] != expected:
        raise ValueError(f"rows that are kept have {rows.values.shape[1]} columns instead of {expected}")


def _width_compared(rows: NumericRows, distance: Distance) -> int:
    """Return how many columns the distance makes of a row that comes: those kept must have as many."""
    as_they_came = rows.values.shape[1] == rows.n_features
    one = rows.dense(range(1)) if as_they_came else np.zeros((1, rows.n_features))
    made: Any = distance.prepare(one, like=replace(rows, names=None))
    return int(made.values.shape[1])


def _check_mixed(rows: MixedRows, distance: Distance | None) -> None:
    columns = len(rows.levels)
    if rows.values.ndim != 2 or rows.values.shape[1] != columns or rows.values.dtype != np.float64:
        raise ValueError("rows of a table have another number of columns")
    if isinstance(distance, Gower) and not len(distance._weights) == len(distance._asymmetric) == columns:
        raise ValueError("rows of a table have other columns than their distance")


def _check_lists(rows: ListRows) -> None:
    starts, elements = rows.starts, rows.elements
    if starts.ndim != 1 or elements.ndim != 1 or {starts.dtype.kind, elements.dtype.kind} != {"i"}:
        raise ValueError("sets that are kept are no lists")
    whole = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(elements)
    if not whole or (np.diff(starts) < 0).any():
        raise ValueError("sets that are kept begin or end elsewhere")
    if len(elements) and not 0 <= elements.min() <= elements.max() < rows.n_elements:
        raise ValueError("sets that are kept have elements that there are not")


def _check_bits(rows: BitRows) -> None:
    _check_numeric(rows.header, None, None)
    words = -(-rows.n_elements // WORD)
    if rows.words.shape != (len(rows.sizes), words) or rows.words.dtype.kind != "i" or rows.sizes.ndim != 1:
        raise ValueError("sets that are kept have another number of elements")
