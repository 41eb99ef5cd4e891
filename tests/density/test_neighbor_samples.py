"""Places drawn from the density of nearest neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chisquare, kstest

from bisector import NearestNeighborDensity
from bisector.density.neighbor_samples import cover

ROWS = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 3.0]
WIDE = [(-10.0, 10.0), (-20.0, 20.0)]


@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), n=st.integers(3, 60), copies=st.integers(1, 2))
@settings(max_examples=60)
def test_heights_are_never_exceeded_and_cells_fill_the_box(seed, d, n, copies):
    rng = np.random.default_rng(seed)
    rows = np.repeat(rng.normal(size=(n, d)), copies, axis=0)
    box = np.stack([rows.min(axis=0) - 1.0, rows.max(axis=0) + 0.5], axis=1)
    model = NearestNeighborDensity(copies + 1, box=box).fit(rows)
    floor = model._own_reach().min() / 2
    cells = cover(model._reach, box, floor)
    places = rng.uniform(box[:, 0], box[:, 1], size=(500, d))
    near_rows = np.clip(rows + rng.normal(scale=1e-3, size=rows.shape), box[:, 0], box[:, 1])
    places = np.concatenate([places, near_rows])
    inside = (np.abs(places[:, None] - cells.middle) <= cells.half * (1 + 1e-12)).all(axis=2)
    assert inside.any(axis=1).all()
    least = np.where(inside, cells.least, 0.0).max(axis=1)
    assert (model._reach(places) >= least * (1 - 1e-12)).all()
    assert np.prod(2 * cells.half, axis=1).sum() == pytest.approx(np.prod(box[:, 1] - box[:, 0]))
    assert cells.shares().sum() == pytest.approx(1.0)


def test_on_a_line_draws_follow_the_density():
    """Kolmogorov's test on 5,000 draws: of 10,000 seeds one would raise a false alarm; ours is fixed."""
    rows = np.random.default_rng(1).normal(size=(60, 1))
    model = NearestNeighborDensity(4, box=[(-4.0, 5.0)]).fit(rows)
    grid = np.linspace(-4.0, 5.0, 200_001)
    height = np.exp(model.score_samples(grid[:, None]))
    below = np.concatenate([[0.0], np.cumsum((height[1:] + height[:-1]) / 2)])
    drawn = model.sample(5000, random_state=0)
    assert drawn.shape == (5000, 1)
    assert kstest(drawn[:, 0], lambda x: np.interp(x, grid, below / below[-1])).pvalue > 1e-4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_in_the_plane_draws_fall_into_parts_by_their_probability(dtype):
    """Of 10,000 seeds one would raise a false alarm; the probabilities are summed on a fine grid."""
    model = NearestNeighborDensity(box=WIDE).fit(ROWS.astype(dtype))
    steps = [np.linspace(low, high, 1601) for low, high in WIDE]
    middles = [(side[1:] + side[:-1]) / 2 for side in steps]
    grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    shares = np.exp(model.score_samples(grid)).reshape(8, 200, 8, 200).sum(axis=(1, 3)).ravel()
    drawn = model.sample(4000, random_state=1)
    counts, *_ = np.histogram2d(*drawn.T, bins=8, range=WIDE)
    assert counts.sum() == 4000
    assert chisquare(counts.ravel(), 4000 * shares / shares.sum()).pvalue > 1e-4


def test_the_same_seed_draws_the_same_rows():
    model = NearestNeighborDensity(box=WIDE).fit(ROWS)
    one, other = model.sample(10, random_state=3), model.sample(10, random_state=3)
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, model.sample(10, random_state=4))


def test_refusals():
    with pytest.raises(ValueError, match="give the box"):
        NearestNeighborDensity(3).fit(ROWS).sample()
    with pytest.raises(ValueError, match="n_samples"):
        NearestNeighborDensity(3, box=WIDE).fit(ROWS).sample(0)


def test_in_many_dimensions_it_gives_up_with_advice(monkeypatch):
    monkeypatch.setattr("bisector.density.neighbor_samples.PATIENCE", 2**15)
    rows = np.random.default_rng(2).normal(size=(200, 20))
    model = NearestNeighborDensity(3, box=[(-6.0, 6.0)] * 20).fit(rows)
    with pytest.raises(ValueError, match=r"in 20 dimensions only 0 could be kept.*KernelDensity"):
        model.sample(10, random_state=0)
