"""Learning From Data, chapter 6: half rings, bumps and a curve."""

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from bisector import datasets

# The double semi-circle


SHAPES = [{}, {"separation": 0.2}, {"separation": -5.0}, {"radius": 1.0, "thickness": 3.0, "separation": 0.0}]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_lies_in_its_half_ring(shape):
    X, y = datasets.double_semicircle(**shape)
    size = {"radius": 10.0, "thickness": 5.0, "separation": 5.0, **shape}
    inner, outer = size["radius"], size["radius"] + size["thickness"]
    upper = X[y < 0]
    lower = X[y > 0] - [inner + size["thickness"] / 2, -size["separation"]]
    rounding = 1e-9
    assert upper[:, 1].min() >= 0
    assert lower[:, 1].max() <= rounding
    for points in (upper, lower):
        distance = np.hypot(*points.T)
        assert distance.min() >= inner - rounding
        assert distance.max() <= outer + rounding


def test_there_are_two_thousand_rows_in_about_equal_classes():
    _, y = datasets.double_semicircle()
    assert len(y) == 2000
    assert (y > 0).sum() == pytest.approx(1000, abs=4 * np.sqrt(500))


def test_half_rings_are_filled_evenly():
    X, y = datasets.double_semicircle(40_000)
    upper = X[y < 0]
    four_errors = 4 * 0.5 / np.sqrt(len(upper))
    halfway = np.sqrt((10**2 + 15**2) / 2)
    assert (np.hypot(*upper.T) < halfway).mean() == pytest.approx(0.5, abs=four_errors)
    assert (upper[:, 0] < 0).mean() == pytest.approx(0.5, abs=four_errors)
    assert (np.arctan2(*upper.T[::-1]) < np.pi / 4).mean() == pytest.approx(0.25, abs=four_errors)


@pytest.mark.parametrize(("separation", "parted"), [(5.0, True), (0.2, True), (-5.0, False)])
def test_the_gap_decides_whether_a_line_parts_them(separation, parted, a_line_parts):
    X, y = datasets.double_semicircle(separation=separation)
    assert a_line_parts(X, y) == parted


def test_the_gap_is_as_wide_as_asked():
    X, y = datasets.double_semicircle(separation=3.0)
    gap = X[y < 0, 1].min() - X[y > 0, 1].max()
    assert 3 <= gap < 3.5  # with a thousand rows each, some lie near the edge


def test_neighbours_need_no_line():
    train, test = (
        datasets.double_semicircle(separation=-5.0),
        datasets.double_semicircle(separation=-5.0, seed=1),
    )
    assert KNeighborsClassifier(1).fit(*train).score(*test) > 0.99


# Four normal clusters


def test_four_bumps_on_the_unit_circle():
    n = 20_000
    X, y = datasets.four_gaussians(n)
    centres = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    bump = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    counts = np.bincount(bump)
    assert ((counts - n / 4) ** 2 / (n / 4)).sum() < chi2.ppf(0.999, 3)
    # The nearest centre is the row's own but for about one in a million: √2/2 is 4.7 deviations.
    assert (np.where(bump % 2 == 0, 1, -1) != y).mean() < 1e-3
    for j, centre in enumerate(centres):
        error = 0.15 / np.sqrt(counts[j])
        assert (np.abs(X[bump == j].mean(axis=0) - centre) < 4 * error).all()
        np.testing.assert_allclose(X[bump == j].std(axis=0), 0.15, rtol=4 / np.sqrt(2 * counts[j]))


def test_the_deviation_is_a_standard_deviation():
    wide, narrow = datasets.four_gaussians(deviation=0.3), datasets.four_gaussians(deviation=0)
    np.testing.assert_array_equal(wide.y, narrow.y)
    assert (wide.X - narrow.X).std() == pytest.approx(0.3, rel=4 / np.sqrt(2 * 2000))
    assert len(np.unique(narrow.X, axis=0)) == 4


def test_the_gap_statistic_counts_four():
    """Problem 6.24, on the data of Problem 6.13."""
    X, _ = datasets.four_gaussians()
    rng = np.random.default_rng(0)
    low, side = X.min(axis=0), np.ptp(X, axis=0).max()
    evenly = [low + side * rng.random(X.shape) for _ in range(3)]

    def error(points, k):
        return KMeans(k, n_init=2, random_state=0).fit(points).inertia_

    gaps = [
        np.log(np.mean([error(points, k) for points in evenly])) - np.log(error(X, k)) for k in range(1, 7)
    ]
    assert 1 + np.argmax(gaps) == 4


# A mixture anywhere


def test_rows_come_from_their_bumps():
    X, y = datasets.random_mixture()
    assert X.shape == (10_000, 2)
    assert sorted(set(y.tolist())) == list(range(10))
    counts = np.bincount(y)
    assert ((counts - 1000) ** 2 / 1000).sum() < chi2.ppf(0.999, 9)
    centres = datasets.random_mixture(deviation=0).X
    assert ((centres >= 0) & (centres < 1)).all()
    assert len(np.unique(centres, axis=0)) == 10
    assert (X - centres).std() == pytest.approx(0.1, rel=4 / np.sqrt(2 * 20_000))


def share_examined(X, queries, n_clusters=10):
    """How many of the rows a search by branch and bound looks at, with farthest-first centres moved to means."""
    centres = X[:1]
    for _ in range(n_clusters - 1):
        nearest = ((X[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
        centres = np.vstack([centres, X[nearest.argmax()]])
    for _ in range(2):
        cluster = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([X[cluster == j].mean(axis=0) for j in range(n_clusters)])
    parts = [X[cluster == j] for j in range(n_clusters)]
    radius = np.array(
        [np.linalg.norm(part - c, axis=1).max() for part, c in zip(parts, centres, strict=True)]
    )
    examined = 0
    for query in queries:
        to_centre, best = np.linalg.norm(query - centres, axis=1), np.inf
        for j in to_centre.argsort():
            if to_centre[j] - radius[j] <= best:
                examined += len(parts[j])
                best = min(best, np.linalg.norm(parts[j] - query, axis=1).min())
    return examined / len(queries) / len(X)


def test_branch_and_bound_gains_from_tight_clusters_only():
    """Problem 6.16."""

    def examined(data):
        return share_examined(data.X[:5000], data.X[5000:5100])

    evenly = examined(datasets.uniform_square(5100))
    loose, tight = (examined(datasets.random_mixture(5100, deviation=s)) for s in (0.1, 0.02))
    assert tight < evenly < loose


# A curve under noise


def test_the_curve_and_its_noise():
    n = 20_000
    seen, true = datasets.noisy_curve(n), datasets.noisy_curve(n, noise=0)
    x = seen.X[:, 0]
    np.testing.assert_array_equal(x, true.X[:, 0])
    assert (np.diff(x) > 0).all()
    assert 0 <= x[0] < x[-1] < 1
    np.testing.assert_allclose(true.y, np.sin(2 * np.pi * x) + x, rtol=1e-15)
    assert np.std(seen.y - true.y) == pytest.approx(0.2, rel=4 / np.sqrt(2 * n))


def test_few_neighbours_follow_the_noise_and_many_miss_the_curve():
    """Figure 6.7: k = 1, 3, 11 of 20 rows; averaged over samples, the middle one is nearest to the truth."""
    errors = {}
    for k in (1, 3, 11):
        samples = [(datasets.noisy_curve(seed=s), datasets.noisy_curve(seed=s, noise=0)) for s in range(20)]
        fits = [KNeighborsRegressor(k).fit(*seen).predict(true.X) - true.y for seen, true in samples]
        errors[k] = np.mean(np.square(fits))
    assert errors[3] < errors[1] < errors[11]
