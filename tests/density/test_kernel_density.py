"""Parzen windows: by hand, against scikit-learn, SciPy and brute force, and as densities."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import gaussian_kde, kstest
from sklearn.neighbors import KernelDensity as Theirs

from bisector import KernelDensity, KernelDensityCV
from bisector.kernels import GaussianBump
from bisector.solvers.parzen import arranged, parzen_sums

KERNELS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 2.0]


def density(model, x):
    return np.exp(model.score_samples(x))


def test_by_hand():
    """LFD 6.4: two windows of radius 1 on a line; each is 1/2 high, and counts half."""
    model = KernelDensity(kernel="tophat").fit([[0.0], [1.0]])
    np.testing.assert_allclose(density(model, [[-0.5], [0.5], [1.5], [3.0]]), [0.25, 0.5, 0.25, 0.0])
    assert model.integrate([(-np.inf, 0.0)]) == pytest.approx(0.25)


def test_equals_scikit_learn(kernel, rows):
    """Near the rows, to rounding; far away its sums keep what they added and took away (issue 25623 there)."""
    queries = np.random.default_rng(1).normal(size=(50, 2))
    weights = np.random.default_rng(2).uniform(0.1, 3.0, size=len(rows))
    for width in (0.8, "scott", "silverman"):
        if kernel == "cosine":  # the peer's constant is wrong in even dimensions
            continue
        theirs = Theirs(kernel=kernel, bandwidth=width).fit(rows)
        ours = KernelDensity(kernel=kernel, bandwidth=width).fit(rows)
        assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_, rel=1e-14)
        kept = theirs.score_samples(queries) > -12
        np.testing.assert_allclose(
            ours.score_samples(queries)[kept], theirs.score_samples(queries)[kept], rtol=1e-10, atol=1e-10
        )
    ours = KernelDensity(kernel=kernel).fit(rows[:, :1], sample_weight=weights)
    theirs = Theirs(kernel=kernel).fit(rows[:, :1], sample_weight=weights)
    assert ours.score(queries[:, :1]) == pytest.approx(theirs.score(queries[:, :1]), rel=1e-10)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_other_metrics_equal_scikit_learn(metric, rows):
    ours, theirs = (kind(metric=metric, bandwidth=0.8).fit(rows) for kind in (KernelDensity, Theirs))
    near = rows[:60] + 0.1
    np.testing.assert_allclose(ours.score_samples(near), theirs.score_samples(near), rtol=1e-10)


def test_bumps_in_the_shape_of_the_data_equal_scipy(rows):
    model = KernelDensity(bandwidth="scott", scale="covariance").fit(rows)
    np.testing.assert_allclose(density(model, rows), gaussian_kde(rows.T)(rows.T), rtol=1e-12)
    np.testing.assert_allclose(model.bandwidth_, gaussian_kde(rows.T).covariance, rtol=1e-12)


def test_sums_equal_brute_force_near_and_far(rows):
    queries = np.concatenate([rows[:40], rows[:5] + 300.0])
    squares = ((queries[:, None] - rows) ** 2).sum(axis=2)
    for width in (0.02, 0.5, 50.0):
        found = parzen_sums(GaussianBump(), arranged(rows / width), queries / width)
        # Where the exponent is 1e8, its rounding is 1e-8.
        expected = logsumexp(-squares / (2 * width**2), axis=1)
        np.testing.assert_allclose(found.logs, expected, rtol=1e-12, atol=1e-15)


def test_error_allowed_is_kept_and_used():
    rng = np.random.default_rng(3)
    rows, queries = rng.normal(size=(5000, 3)), rng.normal(size=(300, 3))
    exact = density(KernelDensity(bandwidth=0.2).fit(rows), queries)
    for rtol, atol in ((1e-2, 0.0), (1e-6, 0.0), (0.0, 1e-4)):
        rough = density(KernelDensity(bandwidth=0.2, rtol=rtol, atol=atol).fit(rows), queries)
        assert (exact - rough <= rtol * exact + atol * (1 + 1e-9) + 1e-15).all()
        assert (rough <= exact * (1 + 1e-12)).all()
    units = arranged(rows / 0.05)
    assert parzen_sums(GaussianBump(), units, rows / 0.05, relative=1e-2).compared < 0.7


def test_far_from_all_rows_there_is_a_number(kernel):
    found = KernelDensity(kernel=kernel).fit([[0.0], [1.0]]).score_samples([[1e5]])
    if kernel == "gaussian":
        expected = -((1e5 - 1) ** 2) / 2 - 0.5 * np.log(2 * np.pi) - np.log(2)
        assert found[0] == pytest.approx(expected, rel=1e-12)
    elif kernel == "exponential":
        assert found[0] == pytest.approx(-(1e5 - 1), rel=1e-4)
    else:
        assert found[0] == -np.inf


@pytest.mark.parametrize("options", [
    {}, {"adaptive": True}, {"scale": "features", "bandwidth": "consistent"},
    {"bounds": [(-4, 4), (-8, np.inf)], "bandwidth": 0.7},
])  # fmt: skip
def test_integrates_to_one(kernel, rows, options):
    rows = np.clip(rows, [-3.9, -7.9], [3.9, 7.9])[:100]
    model = KernelDensity(kernel=kernel, **options).fit(rows)
    side = 200
    reach = 14.0 if kernel == "exponential" else 9.0
    limits = np.array(options.get("bounds", [(-np.inf, np.inf)] * 2))
    lows = np.maximum(rows.min(axis=0) - reach, limits[:, 0])
    highs = np.minimum(rows.max(axis=0) + reach, limits[:, 1])
    grids = [
        low + (np.arange(side) + 0.5) * (high - low) / side for low, high in zip(lows, highs, strict=True)
    ]
    places = np.stack(np.meshgrid(*grids), axis=-1).reshape(-1, 2)
    total = density(model, places).sum() * np.prod((highs - lows) / side)
    assert total == pytest.approx(1.0, abs=5e-3)  # the grid cuts windows, and the tails of the adaptive ones


def test_integrates_to_one_in_three_dimensions():
    rows = np.random.default_rng(4).normal(size=(40, 3))
    model = KernelDensity(bandwidth=0.8, scale="covariance").fit(rows)
    grid = np.arange(-7, 7, 0.25)
    places = np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3)
    assert density(model, places).sum() * 0.25**3 == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("options", [{}, {"adaptive": True}, {"bounds": [(0.0, np.inf)]}])
def test_samples_follow_the_density(kernel, options):
    """Kolmogorov's test on 2,000 draws: of 10,000 seeds one would raise a false alarm; ours is fixed."""
    rows = np.random.default_rng(5).exponential(size=(60, 1))
    model = KernelDensity(kernel=kernel, bandwidth=0.4, **options).fit(rows)
    drawn = model.sample(2000, random_state=0)[:, 0]
    low = 0.0 if "bounds" in options else -np.inf
    below = np.array([model.integrate([(low, x)]) if x > low else 0.0 for x in np.sort(drawn)])
    assert kstest(below, "uniform").pvalue > 1e-4


def test_samples_in_the_plane(kernel, rows):
    """Distances from the one centre follow their law: E[z²] by quadrature, within five standard errors."""
    model = KernelDensity(kernel=kernel, bandwidth=2.0).fit([[1.0, -1.0]])
    drawn = model.sample(4000, random_state=1)
    z = np.linspace(0, 60, 600_001)
    heights = model._bump(z) * z
    expected = (heights * z**2).sum() / heights.sum()
    squares = ((drawn - [1.0, -1.0]) ** 2).sum(axis=1) / 4
    assert abs(squares.mean() - expected) < 5 * squares.std() / np.sqrt(len(squares))


def test_weights_are_repeated_rows(rows):
    weights = np.random.default_rng(6).integers(0, 4, size=len(rows))
    repeated = np.repeat(rows, weights, axis=0)
    for options in (
        {},
        {"bandwidth": "scott", "scale": "covariance"},
        {"adaptive": True, "scale": "features"},
    ):
        one = KernelDensity(**options).fit(rows, sample_weight=weights)
        other = KernelDensity(**options).fit(repeated)
        np.testing.assert_allclose(one.score_samples(rows), other.score_samples(rows), rtol=1e-10)


def test_bounds_take_the_bias_from_an_edge():
    """At the edge of a uniform density half of every bump leaks out; reflected, nothing is lost."""
    rows = (np.arange(1000)[:, None] + 0.5) / 1000
    leaking, kept = (KernelDensity(bandwidth=0.1, bounds=bounds).fit(rows) for bounds in (None, [(0, 1)]))
    assert density(leaking, [[0.0]])[0] == pytest.approx(0.5, abs=1e-3)
    np.testing.assert_allclose(density(kept, [[0.0], [0.5], [1.0]]), 1.0, rtol=1e-3)
    assert kept.score_samples([[1.1]])[0] == -np.inf


def test_same_bits_for_any_number_of_threads(rows):
    one, two = (KernelDensity(n_jobs=n).fit(rows).score_samples(rows) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_edges():
    assert density(KernelDensity().fit([[3.0]]), [[3.0]])[0] == pytest.approx(1 / np.sqrt(2 * np.pi))
    equal = KernelDensity().fit(np.ones((20, 3)))
    assert density(equal, np.ones((1, 3)))[0] == pytest.approx((2 * np.pi) ** -1.5)
    rows = np.random.default_rng(7).normal(size=(30, 2))
    narrow, wide = (
        KernelDensity().fit(rows.astype(kind)).score_samples(rows) for kind in (np.float32, float)
    )
    np.testing.assert_allclose(narrow, wide, rtol=1e-5)
    assert len(KernelDensity().fit(rows).tree_) == 30


@pytest.mark.parametrize(("options", "words"), [
    ({"bandwidth": 0.0}, "above 0"), ({"bandwidth": -1.0}, "above 0"), ({"bandwidth": "wide"}, "must be one of"),
    ({"bandwidth": [1.0, 0.0]}, r"bandwidth\[1\]"), ({"bandwidth": [1.0]}, "shape"),
    ({"bandwidth": [[1.0, 2.0], [2.0, 1.0]]}, "positive definite"), ({"rtol": -1}, "rtol"),
    ({"bounds": [(0, 1), (0, 1)]}, "outside of bounds"), ({"bounds": [(1, 0), (0, 1)]}, "empty in feature 0"),
    ({"kernel": "flat"}, "bump"), ({"scale": "features", "bandwidth": [1.0, 1.0]}, "leave scale"),
])  # fmt: skip
def test_bad_input(rows, options, words):
    with pytest.raises(ValueError, match=words):
        KernelDensity(**options).fit(rows)


def test_flat_data_has_no_scale():
    for scale in ("common", "features", "covariance"):
        with pytest.raises(ValueError, match="no width"):
            KernelDensity(scale=scale).fit(np.ones((5, 2)))


# Choosing the width


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "tophat"])
def test_leave_one_out_equals_leaving_each_out(kernel):
    rng = np.random.default_rng(8)
    rows, weights = rng.normal(size=(30, 2)), rng.integers(1, 3, size=30)
    model = KernelDensityCV(bandwidths=12, kernel=kernel, scale=None).fit(rows, sample_weight=weights)
    repeated = np.repeat(rows, weights, axis=0)
    for width, score in zip(model.bandwidths_, model.scores_, strict=True):
        logs = [
            KernelDensity(bandwidth=width, kernel=kernel)
            .fit(np.delete(repeated, i, axis=0))
            .score(repeated[[i]])
            for i in range(len(repeated))
        ]
        np.testing.assert_allclose(score, np.mean(logs), rtol=1e-10)


def test_widths_far_too_narrow_still_have_a_score():
    """Every term underflows: the nearest row decides."""
    rows = np.arange(6.0)[:, None]
    model = KernelDensityCV(bandwidths=[0.01, 0.5, 1.0], scale=None).fit(rows)
    constant = -0.5 * np.log(2 * np.pi) - np.log(0.01) - np.log(5)
    inner = 4 * np.log(2)  # four rows have two nearest
    assert model.scores_[0] == pytest.approx(-0.5e4 + constant + inner / 6, rel=1e-12)
    assert model.best_bandwidth_ == 1.0


def test_the_chosen_width_is_near_the_best_one():
    """For normal rows the width that is best on average is about 1.06 n^(−1/5); here within a factor of three."""
    rows = np.random.default_rng(9).normal(size=(500, 1)) * 7
    model = KernelDensityCV().fit(rows)
    assert 1 / 3 < model.bandwidth_ / (7 * 1.06 * 500**-0.2) < 3
    assert model.score(rows) == pytest.approx(model.best_estimator_.score(rows))
    assert model.integrate([(-np.inf, np.inf)]) == pytest.approx(1.0)
    assert model.sample(5, random_state=0).shape == (5, 1)


def test_bad_widths(rows):
    for bad in ([0.0, 1.0], [-1.0], []):
        with pytest.raises(ValueError, match="bandwidths"):
            KernelDensityCV(bandwidths=bad).fit(rows)
    with pytest.raises(ValueError, match="larger bandwidths"):
        KernelDensityCV(bandwidths=[1e-9], kernel="tophat").fit(rows)
