"""Double-double sums against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from bisector.solvers.double_double import Pair, add, residual_sums, residuals, scale, two_prod, two_sum

# Promised is about 2⁻¹⁰⁰ of the sum of the absolute terms; a few hundred terms may lose some bits of it.
TOLERANCE = Fraction(1, 2**95)


def exact(pair, index):
    return Fraction(float(pair[0][index])) + Fraction(float(pair[1][index]))


def pair_of(rng, shape):
    """Numbers with 106 random bits."""
    hi = rng.normal(size=shape)
    return hi, np.spacing(np.abs(hi)) * rng.uniform(-0.5, 0.5, size=shape)


def cancelling(rng, n_rows, n_features, n_targets=1, dtype=np.float64):
    """Powers of numbers near 100 with targets that a linear model fits to the last bit of float64."""
    base = 100 + rng.uniform(-1, 1, size=(n_rows, 1))
    X = (base ** np.arange(1, n_features + 1)).astype(dtype)
    coef, intercept = pair_of(rng, (n_features, n_targets)), pair_of(rng, n_targets)
    return X, X.astype(np.float64) @ coef[0] + intercept[0], rng.uniform(0.5, 2, size=n_rows), coef, intercept


def wide(rng, n_rows, n_features, n_targets=1, dtype=np.float64):
    """Terms of alternating signs between 1e-30 and 1e30."""
    scales = 10.0 ** rng.integers(-15, 16, size=(n_rows, n_features))
    X = (rng.normal(size=(n_rows, n_features)) * scales).astype(dtype)
    Y = rng.normal(size=(n_rows, n_targets)) * 10.0 ** rng.integers(-15, 16, size=(n_rows, n_targets))
    return (
        X,
        Y,
        rng.uniform(0, 1e6, size=n_rows),
        pair_of(rng, (n_features, n_targets)),
        pair_of(rng, n_targets),
    )


def rational(X, Y, weight, coef, intercept, k):
    """Everything for target k by exact arithmetic, each value with the sum of its absolute terms."""
    rows = [[Fraction(float(x)) for x in row] for row in X]
    slopes = [exact(coef, (j, k)) for j in range(X.shape[1])]
    residual, size = [], []
    for row, y in zip(rows, Y[:, k], strict=True):
        terms = [Fraction(float(y)), -exact(intercept, k)]
        terms += [-x * slope for x, slope in zip(row, slopes, strict=True)]
        residual.append(sum(terms))
        size.append(sum(map(abs, terms)))
    weights = [Fraction(float(w)) for w in weight]
    triples = list(zip(weights, residual, size, strict=True))
    gradient = [
        sum(row[j] * w * r for row, (w, r, _) in zip(rows, triples, strict=True)) for j in range(X.shape[1])
    ]
    gradient_size = [
        sum(abs(row[j]) * w * s for row, (w, _, s) in zip(rows, triples, strict=True))
        for j in range(X.shape[1])
    ]
    return {
        "residual": (residual, size),
        "gradient": (gradient, gradient_size),
        "total": ([sum(w * r for w, r, _ in triples)], [sum(w * s for w, _, s in triples)]),
        "rss": ([sum(w * r * r for w, r, _ in triples)], [sum(w * s * s for w, _, s in triples)]),
    }


def assert_close(pair, expected, k):
    values, sizes = expected
    for i, (value, size) in enumerate(zip(values, sizes, strict=True)):
        index = (i, k) if pair[0].ndim == 2 else k
        assert abs(exact(pair, index) - value) <= TOLERANCE * size


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("problem", [cancelling, wide])
@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_targets"),
    [(1, 1, 1), (7, 1, 1), (64, 3, 2), (300, 5, 1), (515, 2, 1), (70, 600, 1)],
)
def test_equals_rational_arithmetic(problem, n_rows, n_features, n_targets, dtype):
    rng = np.random.default_rng([n_rows, n_features])
    if problem is cancelling and n_features > 10:
        n_features = 10
    X, Y, weight, coef, intercept = problem(rng, n_rows, n_features, n_targets, dtype)
    left = residuals(X, Y, coef, intercept)
    sums = residual_sums(X, Y, weight, coef, intercept)
    for k in range(n_targets):
        expected = rational(X, Y, weight, coef, intercept, k)
        assert_close(left, expected["residual"], k)
        assert_close(sums.gradient, expected["gradient"], k)
        assert_close(sums.total, expected["total"], k)
        assert_close(sums.rss, expected["rss"], k)


def test_float64_would_have_lost_every_digit():
    """The problems above are as nasty as they are meant to be."""
    X, Y, _, coef, intercept = cancelling(np.random.default_rng(3), 100, 5)
    naive = Y - intercept[0] - X @ coef[0]
    right = residuals(X, Y, coef, intercept).hi
    assert np.median(np.abs(naive - right) / np.abs(right)) > 0.5


def test_by_hand():
    X, Y = np.array([[1.0], [2.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    coef, intercept = (np.array([[1.0, 2.0]]), np.zeros((1, 2))), (np.array([1.0, 0.0]), np.zeros(2))
    np.testing.assert_array_equal(residuals(X, Y, coef, intercept).hi, [[-1.0, -2.0], [-3.0, -3.0]])
    sums = residual_sums(X, Y, np.array([1.0, 10.0]), coef, intercept)
    np.testing.assert_array_equal(sums.gradient.hi, [[-61.0, -62.0]])
    np.testing.assert_array_equal(sums.total.hi, [-31.0, -32.0])
    np.testing.assert_array_equal(sums.rss.hi, [91.0, 94.0])


def test_targets_of_zero_give_the_fitted_values():
    X, Y, _, coef, intercept = cancelling(np.random.default_rng(4), 20, 4)
    fitted = residuals(X, np.zeros_like(Y), coef, intercept)
    for i, row in enumerate(X):
        terms = [Fraction(float(x)) * exact(coef, (j, 0)) for j, x in enumerate(row)] + [exact(intercept, 0)]
        assert abs(exact(fitted, (i, 0)) + sum(terms)) <= TOLERANCE * sum(map(abs, terms))


@pytest.mark.parametrize("cut", [0, 1, 64, 300, 599, 600])
def test_blocks_merge_to_the_whole(cut):
    X, Y, weight, coef, intercept = cancelling(np.random.default_rng(5), 600, 3, 2)
    whole = residual_sums(X, Y, weight, coef, intercept)
    merged = residual_sums(X[:cut], Y[:cut], weight[:cut], coef, intercept).merge(
        residual_sums(X[cut:], Y[cut:], weight[cut:], coef, intercept)
    )
    for k in range(2):
        expected = rational(X, Y, weight, coef, intercept, k)
        for name in ("gradient", "total", "rss"):
            sizes = expected[name][1]
            values = [
                exact(getattr(whole, name), (i, k) if name == "gradient" else k) for i in range(len(sizes))
            ]
            assert_close(getattr(merged, name), (values, sizes), k)


def test_no_rows():
    sums = residual_sums(
        np.empty((0, 2)), np.empty((0, 3)), np.empty(0), (np.ones((2, 3)),) * 2, (np.ones(3),) * 2
    )
    assert sums.gradient.hi.shape == (2, 3)
    assert sums.rss.lo.shape == (3,)
    assert not any(np.any(half) for pair in sums for half in pair)
    assert residuals(
        np.empty((0, 2)), np.empty((0, 3)), (np.ones((2, 3)),) * 2, (np.ones(3),) * 2
    ).hi.shape == (0, 3)


def test_no_features():
    sums = residual_sums(
        np.empty((3, 0)),
        np.ones((3, 1)),
        np.ones(3),
        (np.empty((0, 1)),) * 2,
        (np.full(1, 0.25), np.zeros(1)),
    )
    assert sums.gradient.hi.shape == (0, 1)
    assert sums.total.hi[0] == 2.25


def test_integers_and_fortran_order_are_taken_as_numbers():
    rng = np.random.default_rng(6)
    X = rng.integers(-9, 9, size=(40, 3))
    Y, coef, intercept = rng.normal(size=(40, 1)), pair_of(rng, (3, 1)), pair_of(rng, 1)
    expected = residual_sums(X.astype(float), Y, np.ones(40), coef, intercept)
    for same in (X, X.astype(np.int8), np.asfortranarray(X.astype(float))):
        for pair, wanted in zip(residual_sums(same, Y, np.ones(40), coef, intercept), expected, strict=True):
            np.testing.assert_array_equal(pair, wanted)


def test_nan_reaches_its_own_target_only():
    rng = np.random.default_rng(7)
    X, Y, weight, coef, intercept = wide(rng, 300, 2, 2)
    clean = residual_sums(X, Y, weight, coef, intercept)
    Y[290, 0] = np.inf
    with np.errstate(invalid="ignore"):  # as plain Python, the loops run on NumPy scalars, which warn
        dirty = residual_sums(X, Y, weight, coef, intercept)
    for pair, before in zip(dirty, clean, strict=True):
        assert np.isnan(pair.hi[..., 0]).all()
        np.testing.assert_array_equal(pair.hi[..., 1], before.hi[..., 1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"X": np.ones((5, 2))},
        {"X": np.ones(4)},
        {"Y": np.ones(4)},
        {"weight": np.ones(5)},
        {"coef": (np.ones((3, 1)),) * 2},
        {"intercept": (np.ones(2),) * 2},
    ],
)
def test_shapes_that_do_not_fit_are_refused(wrong):
    right = {
        "X": np.ones((4, 2)),
        "Y": np.ones((4, 1)),
        "weight": np.ones(4),
        "coef": (np.ones((2, 1)),) * 2,
        "intercept": (np.ones(1),) * 2,
    }
    with pytest.raises(ValueError, match="shape"):
        residual_sums(**(right | wrong))


def test_pair_arithmetic_is_exact_or_nearly():
    rng = np.random.default_rng(8)
    a, b = Pair(*pair_of(rng, 200)), Pair(*pair_of(rng, 200))
    factor = rng.normal(size=200) * 10.0 ** rng.integers(-20, 20, size=200)
    total, lost = two_sum(a.hi, factor)
    product, lost_product = two_prod(a.hi, factor)
    for i in range(200):
        x, y = exact(a, i), exact(b, i)
        f, h = Fraction(float(factor[i])), Fraction(float(a.hi[i]))
        assert exact((total, lost), i) == h + f
        assert exact((product, lost_product), i) == h * f
        # Two to four roundings of the last of 106 bits.
        assert abs(exact(add(a, b), i) - (x + y)) <= Fraction(4, 2**106) * (abs(x) + abs(y))
        assert abs(exact(scale(a, factor), i) - x * f) <= Fraction(4, 2**106) * abs(x * f)


PRINT_BITS = """
import numpy as np
from bisector.solvers.double_double import residual_sums, residuals
rng = np.random.default_rng(9)
for dtype in (np.float32, np.float64):
    X = (rng.normal(size=(70, 2)) * 10.0 ** rng.integers(-9, 9, size=(70, 2))).astype(dtype)
    Y, coef, intercept = rng.normal(size=(70, 1)), rng.normal(size=(2, 2, 1)), rng.normal(size=(2, 1))
    pairs = [residuals(X, Y, coef, intercept), *residual_sums(X, Y, rng.uniform(size=70), coef, intercept)]
    print([half.tobytes().hex() for pair in pairs for half in pair])
"""


def test_compiled_and_plain_python_agree_in_every_bit(printed_both_ways):
    outputs = printed_both_ways(PRINT_BITS)
    assert len(outputs[0]) > 1000
    assert outputs[0] == outputs[1]
