"""Histograms and nearest-neighbour densities (LFD 6.4)."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bisector import HistogramDensity, NearestNeighborDensity

ROWS = np.random.default_rng(0).normal(size=(500, 2)) * [1.0, 3.0]


def test_equals_numpy():
    counts, *edges = np.histogramdd(ROWS, bins=7, density=True)
    model = HistogramDensity(bins=7).fit(ROWS)
    for ours, theirs in zip(model.edges_, edges[0], strict=True):
        np.testing.assert_allclose(ours, theirs)
    middles = [(one[1:] + one[:-1]) / 2 for one in edges[0]]
    places = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(np.exp(model.score_samples(places)), counts.ravel(), rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"bins": 5}, {"volume": 0.5}, {"bins": [[-9.0, 0.0, 9.0], [-20.0, 1.0, 20.0]]}]
)
def test_a_density(options):
    """Its parts add up to one; samples fall into cells by their shares (false alarms: 1 in 10,000 seeds)."""
    model = HistogramDensity(**options).fit(ROWS)
    assert model.integrate([(-np.inf, np.inf)] * 2) == pytest.approx(1.0)
    assert model.integrate([(0, np.inf), (-np.inf, np.inf)]) + model.integrate(
        [(-np.inf, 0), (-np.inf, np.inf)]
    ) == pytest.approx(1.0)
    volumes = np.exp(model._log_volumes())
    centres = np.stack(
        [(e[p] + e[p + 1]) / 2 for e, p in zip(model.edges_, model.cells_.T, strict=True)], axis=1
    )
    np.testing.assert_allclose(np.exp(model.score_samples(centres)) * volumes, model.shares_, rtol=1e-10)
    drawn = model.sample(5000, random_state=0)
    counts = np.array([
        ((drawn >= [e[p] for e, p in zip(model.edges_, cell, strict=True)])
         & (drawn < [e[p + 1] for e, p in zip(model.edges_, cell, strict=True)])).all(axis=1).sum()
        for cell in model.cells_
    ])  # fmt: skip
    assert chisquare(counts, 5000 * model.shares_).pvalue > 1e-4


def test_weights_edges_and_three_dimensions():
    weights = np.random.default_rng(1).integers(0, 3, size=500)
    one, other = (
        HistogramDensity().fit(ROWS, sample_weight=weights),
        HistogramDensity().fit(np.repeat(ROWS, weights, axis=0)),
    )
    np.testing.assert_allclose(one.score_samples(ROWS), other.score_samples(ROWS))
    flat = HistogramDensity().fit(np.ones((4, 3)))
    assert np.exp(flat.score_samples(np.ones((1, 3))))[0] == pytest.approx(1.0)
    assert HistogramDensity(bins=1).fit([[0.0], [2.0]]).score_samples([[2.0], [2.1]]).tolist() == [
        np.log(0.5),
        -np.inf,
    ]
    many = HistogramDensity(bins=4).fit(np.random.default_rng(2).normal(size=(50, 20)))  # 4^20 cells, 50 kept
    assert len(many.shares_) <= 50


@pytest.mark.parametrize(("options", "words"), [
    ({"bins": 0}, "bins"), ({"bins": "fine"}, "bins"), ({"volume": -1.0}, "volume"), ({"bins": [[0.0, 1.0]]},
    "all 2"), ({"bins": [[0.0], [0.0, 1.0]]}, "two or more"), ({"bins": [[0.0, 1.0], [0.0, 1.0]]}, "outside"),
])  # fmt: skip
def test_bad_input(options, words):
    with pytest.raises(ValueError, match=words):
        HistogramDensity(**options).fit(ROWS)


def test_too_many_dimensions_are_refused_with_a_size():
    with pytest.raises(ValueError, match=r"1e\+40 cells"):
        HistogramDensity(bins=10).fit(np.random.default_rng(3).normal(size=(20, 40)))


# Nearest neighbours


def test_by_hand():
    """Three rows; the ball about 0 that holds two has radius 1, and volume 2 on a line, π in the plane."""
    line = NearestNeighborDensity(2).fit([[0.0], [1.0], [5.0]])
    assert np.exp(line.score_samples([[0.0]]))[0] == pytest.approx(2 / 3 / 2)
    plane = NearestNeighborDensity(2).fit([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0]])
    assert np.exp(plane.score_samples([[0.0, 0.0]]))[0] == pytest.approx(2 / 3 / np.pi)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_integrates_to_one_in_its_box(d):
    rows = np.random.default_rng(d).uniform(size=(100, d))
    model = NearestNeighborDensity(10, box=[(0, 1)] * d).fit(rows)
    side = {1: 4000, 2: 150, 3: 40}[d]
    axis = (np.arange(side) + 0.5) / side
    places = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
    assert np.exp(model.score_samples(places)).mean() == pytest.approx(1.0, abs=0.01)
    assert model.integrate([(0, 1)] * d) == pytest.approx(1.0, abs=1e-9)
    assert model.integrate([(0, 0.5)] + [(0, 1)] * (d - 1)) == pytest.approx(0.5, abs=0.2)
    assert model.normalised_
    assert model.log_factor_error_ < 0.01
    assert model.score_samples(np.full((1, d), 2.0))[0] == -np.inf


def test_unbounded_space_is_said_to_be_so():
    model = NearestNeighborDensity(3).fit(ROWS)
    assert not model.normalised_
    with pytest.raises(ValueError, match="no integral"):
        model.integrate([(0, 1)] * 2)
    with pytest.raises(ValueError, match="bounded"):
        NearestNeighborDensity(3, box=[(-np.inf, np.inf)] * 2).fit(ROWS)
    with pytest.raises(ValueError, match="raise n_neighbors"):
        NearestNeighborDensity(3, box=[(-20, 20)] * 2).fit(np.concatenate([ROWS, ROWS, ROWS]))
    with pytest.raises(ValueError, match="only 500 rows"):
        NearestNeighborDensity(501).fit(ROWS)
