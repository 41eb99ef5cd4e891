"""The distance profile: histogram, contrast, dimension, and one sentence."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from bisector.distances import Euclidean, Manhattan
from bisector.distances.boards import Bishop, Pawn
from bisector.measures.profile import distance_profile


def on_sphere(n, d, seed):
    X = np.random.default_rng(seed).normal(size=(n, d + 1))
    return X / np.linalg.norm(X, axis=1)[:, None]


# By hand


def test_three_points_on_a_line():
    profile = distance_profile([[0.0], [1.0], [5.0]])
    np.testing.assert_array_equal(profile.nearest, [1, 1, 4])
    np.testing.assert_array_equal(profile.farthest, [5, 4, 5])
    assert profile.contrast == 3.0  # the middle one of 4, 3 and 1/4
    np.testing.assert_array_equal(profile.quantiles, [1, 2.5, 4, 4.5, 5])
    assert profile.relative_variance == pytest.approx(np.var([1, 4, 5]) / np.mean([1, 4, 5]) ** 2)
    assert profile.counts.sum() == 3
    assert (profile.edges[0], profile.edges[-1]) == (1, 5)
    # log(t₂/t₁) is log 5, log 4 and log 5/4; of three exponentials 2/sum is the estimate without bias.
    assert profile.dimension == pytest.approx(2 / np.log(25))


def test_repeated_rows_are_counted_and_left_out():
    X = [[0.0], [1.0], [5.0]]
    plain, repeated = distance_profile(X), distance_profile([*X, *X, [1.0]])
    assert repeated.repeats == pytest.approx(4 / 7)
    assert repeated.contrast == plain.contrast
    assert repeated.dimension == plain.dimension
    np.testing.assert_array_equal(repeated.counts, plain.counts)
    assert "57% of the rows repeat earlier ones" in repr(repeated)
    assert "repeat" not in repr(plain)


# Oracle


def test_distances_are_those_of_the_sample():
    X = np.random.default_rng(0).normal(size=(300, 4))
    profile = distance_profile(X, "manhattan")
    distances = pdist(X, "cityblock")
    np.testing.assert_allclose(profile.quantiles, np.quantile(distances, [0, 0.25, 0.5, 0.75, 1]), rtol=1e-12)
    assert profile.relative_variance == pytest.approx(distances.var() / distances.mean() ** 2, rel=1e-10)
    counts, edges = np.histogram(distances, 50)
    np.testing.assert_array_equal(profile.counts, counts)
    np.testing.assert_allclose(profile.edges, edges, rtol=1e-12)
    assert profile.metric == Manhattan()


@pytest.mark.parametrize(("d", "spread"), [(1, 0.0144), (2, 0.030)])
def test_dimension_of_a_sphere(d, spread):
    """On the circle with arcs, and on the sphere with chords, the share of points closer than r is exactly
    proportional to r^d, so that both estimates are unbiased. Their standard deviation for 1,000 points was found
    by drawing 200 samples; five of it are exceeded once in a million draws (and the seed is fixed)."""
    if d == 1:
        X, metric = np.random.default_rng(3).uniform(0, 2 * np.pi, (1000, 1)), _arc
    else:
        X, metric = on_sphere(1000, 2, seed=3), Euclidean()
    profile = distance_profile(X, metric)
    assert abs(profile.dimension - d) < 5 * spread
    assert abs(profile.correlation_dimension - d) < 5 * spread


def _arc(x, y):
    way = abs(x[0] - y[0])
    return min(way, 2 * np.pi - way)


def test_dimension_is_that_of_the_set_and_not_of_the_space():
    plane = np.random.default_rng(0).uniform(size=(800, 2))
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(50, 50)))
    lifted = plane @ rotation[:2] * 7 + 100
    assert distance_profile(lifted).dimension == pytest.approx(distance_profile(plane).dimension, rel=1e-6)
    # Rows at the edge have neighbours on one side only, which tells against the full dimension a little.
    assert distance_profile(plane).dimension == pytest.approx(2, abs=0.2)


def test_the_curse_of_dimensionality():
    rng = np.random.default_rng(0)
    profiles = [distance_profile(rng.normal(size=(500, d))) for d in (2, 20, 1000)]
    contrasts = [profile.contrast for profile in profiles]
    assert contrasts == sorted(contrasts, reverse=True)
    openings = [
        "Neighbours mean something: ",
        "Neighbours mean something, but less",
        "Neighbours mean next to nothing",
    ]
    for profile, opening in zip(profiles, openings, strict=True):
        assert profile.verdict.startswith(opening)
        assert profile.verdict.count(".") - profile.verdict.count("0.") >= 1
        assert profile.verdict in profile.summary().text().replace("\n", " ")


def test_irrelevant_features_drown_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    noisy = np.column_stack([X, rng.normal(size=(400, 300))])
    assert distance_profile(noisy).contrast < distance_profile(X).contrast / 10


# The sample


def test_a_sample_is_seeded_and_stated():
    X = np.random.default_rng(0).normal(size=(500, 2))
    some = distance_profile(X, sample=100)
    assert (some.n_rows, some.n_sampled, len(some.nearest)) == (500, 100, 100)
    np.testing.assert_array_equal(some.nearest, distance_profile(X, sample=100, seed=0).nearest)
    assert not np.array_equal(some.nearest, distance_profile(X, sample=100, seed=1).nearest)
    assert "100 of 500 rows" in repr(some)
    assert "of 500" not in repr(distance_profile(X))


def test_threads_change_nothing():
    X = np.random.default_rng(0).normal(size=(600, 30))
    one, two = distance_profile(X, n_jobs=1), distance_profile(X, n_jobs=2)
    np.testing.assert_array_equal(one.nearest, two.nearest)
    assert one.dimension == two.dimension


# Rows of all kinds


def test_frames_float32_and_words():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    plain = distance_profile(X.astype(float))
    assert distance_profile(X).contrast == pytest.approx(plain.contrast, rel=1e-12)
    assert distance_profile(pd.DataFrame(X, columns=list("abc"))).contrast == pytest.approx(
        plain.contrast, rel=1e-12
    )
    with pytest.warns(UserWarning, match="runs as Python"):
        words = distance_profile(
            ["cat", "cut", "cow", "dog"], lambda x, y: sum(a != b for a, b in zip(x, y, strict=True))
        )
    assert words.ties > 0
    assert "several nearest ones" in repr(words)


def test_pairs_that_cannot_be_reached():
    squares = [[0, 0], [0, 1], [0, 2], [0, 3], [7, 7], [5, 1]]
    profile = distance_profile(squares, Bishop())
    assert 0 < profile.unreachable < 1
    assert np.isfinite(profile.nearest).all()
    assert np.isfinite(profile.farthest).all()
    assert "infinitely far apart" in repr(profile)


def test_a_distance_that_is_not_symmetric():
    profile = distance_profile([[0, 0], [1, 0], [3, 0]], Pawn())
    assert profile.counts.sum() == 3  # of six ways, three lead up the board
    assert profile.unreachable == pytest.approx(0.5)


# Edges


@pytest.mark.parametrize("X", [[[0.0], [1.0]], [[2.0], [2.0], [2.0]], [[0, 0], [0, 1]]])
def test_too_few_rows_to_tell(X):
    metric = Bishop() if len(X[0]) == 2 else "euclidean"
    profile = distance_profile(X, metric)
    assert profile.verdict.startswith("Whether neighbours mean anything cannot be told")
    assert np.isnan(profile.dimension)
    assert profile.summary().text()


def test_equally_far_rows_have_no_dimension():
    profile = distance_profile(np.eye(20))
    assert profile.contrast == pytest.approx(0, abs=1e-12)  # all distances are √2, but for rounding
    assert profile.ties == 1
    assert np.isnan(profile.dimension)
    assert np.isnan(profile.correlation_dimension)
    assert "dimensions" not in profile.verdict.split(";")[0]


def test_it_prints_and_pickles():
    profile = distance_profile(np.random.default_rng(0).normal(size=(50, 2)))
    assert repr(profile).startswith("Distances among 50 rows: Euclidean()")
    assert "<table" in profile._repr_html_()
    assert pickle.loads(pickle.dumps(profile)).contrast == profile.contrast


def test_bad_input():
    with pytest.raises(ValueError, match="X has 1 row, but distances are between two rows"):
        distance_profile([[0.0]])
    with pytest.raises(ValueError, match="sample must be a number at least 3"):
        distance_profile([[0.0], [1.0]], sample=2)
    with pytest.raises(ValueError, match="NaN in row 0"):
        distance_profile([[np.nan], [1.0]])
