"""Hypothesis strategies for data that models meet in practice and forget in tests.

`awkward_tables` draws the values (constant and repeated columns, dependent ones, columns far from zero, of tiny
or huge size, more columns than rows), `in_some_form` what holds them (dtype, memory order, flags, sparse
formats), and `problems` puts targets and weights beside them. `plain_problems` are what textbooks assume.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from hypothesis import assume, strategies as st


class Problem(NamedTuple):
    """Rows with targets, and weights or None."""

    X: Any
    y: np.ndarray
    sample_weight: np.ndarray | None = None


# What holds the values


def read_only(table):
    held = table.copy()
    held.setflags(write=False)
    return held


def strided(table):
    """A view that skips rows and columns of a larger array and runs through them backwards."""
    larger = np.full((2 * len(table), 2 * table.shape[1]), np.nan, table.dtype)
    larger[::-2, ::-2] = table
    return larger[::-2, ::-2]


def unaligned(table):
    held = np.empty(table.nbytes + 1, np.uint8)[1:].view(table.dtype).reshape(table.shape)
    held[:] = table
    return held


DENSE_FORMS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "strided": strided,
    "unaligned": unaligned,
    "foreign byte order": lambda table: table.astype(table.dtype.newbyteorder("S")),
    "nested lists": lambda table: table.tolist(),
}
SPARSE_FORMS = {
    "csr array": scipy.sparse.csr_array,
    "csc array": scipy.sparse.csc_array,
    "coo array": scipy.sparse.coo_array,
    "csr matrix": scipy.sparse.csr_matrix,
}
FORMS = DENSE_FORMS | SPARSE_FORMS


def as_dense(X):
    """The values that a form holds."""
    return X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)


@st.composite
def in_some_form(draw, table, forms=tuple(FORMS)):
    """The same values, held in another way."""
    return FORMS[draw(st.sampled_from(forms))](table)


# The values


@st.composite
def plain_tables(draw, min_rows=1, max_rows=40, max_features=5, spare_rows=None):
    """Independent columns around zero, of size one; `spare_rows` asks for so many more rows than columns."""
    d = draw(st.integers(1, max_features))
    least = min_rows if spare_rows is None else max(min_rows, d + spare_rows)
    n = draw(st.integers(least, max(max_rows, least)))
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=(n, d))


def constant(table, j, k):
    table[:, j] = 7.1


def zero(table, j, k):
    table[:, j] = 0.0


def repeated(table, j, k):
    table[:, j] = table[:, k]


def opposite(table, j, k):
    table[:, j] = -3.0 * table[:, k]


def summed(table, j, k):
    table[:, j] = table[:, :j].sum(axis=1)


def nearly_repeated(table, j, k):
    table[:, j] = table[:, k] * (1 + 1e-7 * np.arange(len(table)))


def whole(table, j, k):
    table[:, j] = np.round(3 * table[:, j])


def yes_or_no(table, j, k):
    table[:, j] = table[:, j] > 0


def offset(table, j, k):
    table[:, j] += 1e8


def tiny(table, j, k):
    table[:, j] *= 1e-30


def huge(table, j, k):
    table[:, j] *= 1e30


def vanishing(table, j, k):
    table[:, j] *= 1e-170


def enormous(table, j, k):
    table[:, j] *= 1e170


def one_outlier(table, j, k):
    table[-1, j] = 1e6


TROUBLES = (
    constant, zero, repeated, opposite, summed, nearly_repeated, whole, yes_or_no, offset, tiny, huge,
    one_outlier,
)  # fmt: skip
# Their squares are no float64 numbers; no float32 is so large or small.
EXTREMES = (vanishing, enormous)


@st.composite
def awkward_tables(draw, min_rows=1, max_rows=25, max_features=6, troubles=TROUBLES + EXTREMES):
    """Tables with up to three troubles, often with more columns than rows."""
    table = draw(plain_tables(min_rows=min_rows, max_rows=max_rows, max_features=max_features))
    columns = st.integers(0, table.shape[1] - 1)
    for _ in range(draw(st.integers(0, 3))):
        with np.errstate(over="ignore"):
            draw(st.sampled_from(troubles))(table, draw(columns), draw(columns))
    assume(np.isfinite(table).all())
    return table


# Targets and weights beside them


@st.composite
def weights(draw, n_rows, whole_numbers=False):
    """Weights that are not all zero: whole numbers, or anything between 0 and 10."""
    elements = st.integers(0, 3).map(float) if whole_numbers else st.floats(0, 10, width=16)
    drawn = np.array(draw(st.lists(elements, min_size=n_rows, max_size=n_rows)))
    drawn[draw(st.integers(0, n_rows - 1))] += 1.0
    return drawn


@st.composite
def targets(draw, table):
    """Targets that depend on the features, do not, are constant, or several at once."""
    n = len(table)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = np.maximum(np.abs(table).max(axis=0), np.finfo(np.float64).tiny)
    related = (table / sizes) @ rng.normal(size=table.shape[1])
    kinds = {
        "noise": rng.normal(size=n),
        "related": related + rng.normal(size=n),
        "exact": related,
        "constant": np.full(n, 3.7),
        "far": 1e8 + related + rng.normal(size=n),
        "tiny": 1e-30 * rng.normal(size=n),
        "two": np.column_stack([related, rng.normal(size=n)]),
    }
    return kinds[draw(st.sampled_from(sorted(kinds)))]


@st.composite
def problems(draw, forms=tuple(FORMS), dtypes=(np.float64, np.float32), **shape):
    """Awkward tables in awkward forms, with targets and perhaps weights."""
    dtype = draw(st.sampled_from(dtypes))
    troubles = TROUBLES if dtype == np.float32 else TROUBLES + EXTREMES
    table = draw(awkward_tables(troubles=troubles, **shape))
    y = draw(targets(table))
    weight = draw(st.none() | weights(len(table)))
    with np.errstate(over="ignore"):
        narrowed = table.astype(dtype)
    assume(np.isfinite(narrowed).all())
    return Problem(draw(in_some_form(narrowed, forms)), y, weight)


@st.composite
def plain_problems(draw, weighted=False, spare_rows=3, **shape):
    """Independent columns, more rows than columns, targets with noise."""
    table = draw(plain_tables(spare_rows=spare_rows, **shape))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = table @ rng.normal(size=table.shape[1]) + 2.0 + rng.normal(size=len(table))
    return Problem(table, y, draw(weights(len(table))) if weighted else None)


@st.composite
def lattices(draw):
    """Rows with whole coordinates, of which many are equal or equally far, and queries among and between them."""
    d = draw(st.integers(1, 4))
    n = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    side = draw(st.sampled_from([1, 2, 5]))
    X = rng.integers(0, side, size=(n, d)).astype(float)
    Q = rng.integers(-1, 2 * side, size=(draw(st.integers(1, 6)), d)) / 2
    return X, Q
