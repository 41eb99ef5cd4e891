"""Rows on which exemplars are tested."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def tables(draw, most_rows=25, most_columns=4):
    """Rows of several kinds: scattered, on a lattice (with ties and repeats), on a line, far from zero."""
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, most_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["scattered", "lattice", "line", "far", "heavy"]))
    if kind == "lattice":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "line":
        return rng.integers(-3, 4, size=(n, 1)) * rng.normal(size=d)
    if kind == "heavy":
        return rng.standard_cauchy(size=(n, d))
    return rng.normal(size=(n, d)) + (1e6 if kind == "far" else 0.0)


@st.composite
def weighted_tables(draw, **sizes):
    X = draw(tables(**sizes))
    weights = draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)).filter(any))
    return X, np.array(weights, dtype=float)
