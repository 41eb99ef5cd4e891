"""K-means‖: samples that do not depend on blocks, and starts as good as those of k-means++."""

import numpy as np
import pytest
import scipy.sparse

from bisector.engine.sources import source
from bisector.solvers.keyed_draws import different_rows, uniforms
from bisector.solvers.lloyd import nearest_centres
from bisector.solvers.parallel_seeding import draw_block, spread_in_passes
from bisector.solvers.row_samples import Sample
from bisector.solvers.seeding import seeds

RNG = np.random.default_rng(0)
CORNERS = 20.0 * RNG.normal(size=(12, 5))
X = CORNERS[RNG.integers(12, size=6000)] + RNG.normal(size=(6000, 5))


def inertia(rows, centres):
    return nearest_centres(source(rows), centres)[1].sum()


@pytest.mark.parametrize("seed", range(5))
def test_every_cluster_gets_a_centre(seed):
    found = spread_in_passes(source(X), 12, np.random.RandomState(seed))
    best = inertia(X, CORNERS)
    assert inertia(X, found) < 1.05 * best  # a missed cluster would cost some hundred times that


def test_better_than_k_means_plus_plus_on_average():
    few = [spread_in_passes(source(X), 8, np.random.RandomState(seed)) for seed in range(10)]
    plus = [seeds("k-means++", source(X), 8, np.random.RandomState(seed)) for seed in range(10)]
    assert np.mean([inertia(X, one) for one in few]) < np.mean([inertia(X, one) for one in plus])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_candidates_are_the_same_for_any_blocks_and_threads(weighted):
    weights = RNG.integers(0, 3, size=len(X)).astype(float) if weighted else None
    found = [
        spread_in_passes(
            source(X, sample_weight=weights, block_rows=size), 7, np.random.RandomState(1), n_jobs=jobs
        )
        for size, jobs in [(6000, 1), (100, 2), (777, 2)]
    ]
    for other in found[1:]:  # the same rows; their cells' means are summed up in another order
        np.testing.assert_allclose(other, found[0], rtol=1e-12)
    sparse = source(scipy.sparse.csr_array(X), sample_weight=weights)
    np.testing.assert_allclose(spread_in_passes(sparse, 7, np.random.RandomState(1)), found[0], rtol=1e-9)


def test_chances_are_as_the_weights():
    """Of a million draws of one row out of four, each row has its share, up to four standard errors."""
    weights = np.array([1.0, 2.0, 3.0, 0.0])
    rows = source(np.arange(4.0)[:, None], sample_weight=weights)
    block = next(rows.blocks())
    drawn = np.array([draw_block(block, None, seed, 1).numbers[0] for seed in range(20_000)])
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    expected = weights / 6
    assert (np.abs(shares - expected) <= 4 * np.sqrt(expected * (1 - expected) / len(drawn))).all()


def test_samples_merge_to_the_sample_of_all():
    keys = np.random.default_rng(3).integers(0, 40, size=1000).astype(float)  # many ties
    rows = source(np.arange(1000.0)[:, None], block_rows=90)
    parts = [
        Sample.of(
            block, 25, keys[block.first_row :][: len(block.X)], np.ones(len(block.X), bool), block.X[:, 0]
        )
        for block in rows.blocks()
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    expected = np.lexsort((np.arange(1000), keys))[:25]
    np.testing.assert_array_equal(merged.numbers, expected)
    np.testing.assert_array_equal(merged.rows[:, 0], expected)
    np.testing.assert_array_equal(merged.beside[:, 0], expected)


def test_few_different_rows_are_all_found():
    rows = np.repeat(np.arange(3.0)[:, None], 50, axis=0)
    found = spread_in_passes(source(rows), 5, np.random.RandomState(0))
    assert found.shape == (5, 1)
    assert {*found.ravel()} == {0.0, 1.0, 2.0}


def test_numbers_of_rows_are_even_and_their_own():
    whole = uniforms(5, 0, 100_000, 2)
    assert 0 < whole.min() < 1e-4
    assert 1 - 1e-4 < whole.max() < 1
    assert abs(whole.mean() - 0.5) < 4 / np.sqrt(12 * whole.size)
    assert abs(np.corrcoef(whole.T)[0, 1]) < 4 / np.sqrt(len(whole))
    np.testing.assert_array_equal(uniforms(5, 777, 20, 2), whole[777:797])
    assert not np.array_equal(uniforms(6, 0, 100, 2), whole[:100])


def test_different_rows_are_different_and_all_over():
    for n in (1000, 2**22 + 1, 10**11):
        found = different_rows(n, 500, np.random.RandomState(0))
        assert len({*found.tolist()}) == 500
        assert 0 <= found.min() < 0.05 * n
        assert 0.95 * n < found.max() < n
