"""Whatever the rows: the labels of screened, bounded Lloyd are those of comparing every row with every centre."""

import numpy as np
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from bisector.engine.sources import source
from bisector.solvers.lloyd import lloyd

# Few different numbers, so that ties abound; and numbers of very different sizes.
LATTICE = st.integers(-3, 3).map(float)
WILD = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 30)), draw(st.sampled_from([1, 2, 3, 5, 9, 12]))
    X = draw(arrays.arrays(np.float64, (n, d), elements=draw(st.sampled_from([LATTICE, WILD]))))
    k = draw(st.integers(1, min(n, 6)))
    return X, X[draw(st.permutations(range(n)))[:k]]


@settings(max_examples=150, deadline=None)
@given(problems())
def test_labels_are_those_of_the_final_centres(problem):
    X, start = problem
    found = lloyd(source(X), start, max_iter=20)
    squares = np.zeros((len(X), len(start)))
    for j in range(X.shape[1]):
        squares += (X[:, j, None] - found.centres[None, :, j]) ** 2
    np.testing.assert_array_equal(found.labels, squares.argmin(axis=1))
    total = squares.min(axis=1).sum()
    assert abs(found.inertia - total) <= 1e-12 * max(1.0, total)
    rounding = 1e-12 * (1.0 + np.square(X).sum())
    assert (np.diff(found.history) <= rounding).all()
