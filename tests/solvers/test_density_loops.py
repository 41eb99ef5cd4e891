"""The compiled steps of densities on small cases; they also run as plain Python."""

import numpy as np
import pytest

from bisector.engine.blocks import Block
from bisector.engine.loops import given
from bisector.kernels import ExponentialBump, GaussianBump, WindowBump
from bisector.solvers.em import Mixture, moments_of_shares
from bisector.solvers.mixture_shapes import SHAPES
from bisector.solvers.parzen import arranged
from bisector.solvers.parzen_loops import log_sum_far, sum_outwards, sum_widths
from bisector.solvers.quadratic_shares import quadratics, share_by_quadratics

ROWS = np.random.default_rng(0).normal(size=(12, 2))
QUERIES = np.random.default_rng(1).normal(size=(3, 2))


def column_wise(queries):
    return given(np.concatenate([queries.T, np.arange(len(queries))[None]]))


def squares(queries):
    return ((queries[:, None] - ROWS) ** 2).sum(axis=2)


@pytest.mark.parametrize("bump", [GaussianBump(), WindowBump()], ids=repr)
def test_sums_outwards(bump):
    weights = np.arange(1.0, 13.0)
    held, sums = arranged(ROWS, weights, np.full(12, 0.25)), np.zeros(3)
    compared = sum_outwards(
        bump.lower(), column_wise(QUERIES), 3, held.leaves, held.sizes, held.weights, held.factors, held.lows,
        held.highs, 0.0, 0.0, sums,
    )  # fmt: skip
    assert compared == 12
    np.testing.assert_allclose(sums, bump(np.sqrt(squares(QUERIES)) / 2) @ weights, rtol=1e-13)


@pytest.mark.parametrize("bump", [GaussianBump(), ExponentialBump()], ids=repr)
def test_far_sums(bump):
    held, query = arranged(ROWS), QUERIES[:1] + 1e3
    for left_out in (-1, 4):
        found = log_sum_far(
            bump.lower(), given(query.T), held.leaves, held.sizes, held.weights, held.factors, left_out
        )
        logs = np.delete(bump.log_height(np.sqrt(squares(query)[0])), [left_out] if left_out >= 0 else [])
        assert found == pytest.approx(logs.max() + np.log(np.exp(logs - logs.max()).sum()), rel=1e-12)


def test_every_width_without_the_row_itself():
    bases = np.array([0.3, 0.4])
    held, sums = arranged(ROWS, np.full(12, 2.0)), np.zeros((10, 12))
    aside = arranged(ROWS, np.ones(12))
    sum_widths(
        GaussianBump().lower(), column_wise(ROWS), 12, held.leaves, held.sizes, held.weights, aside.weights,
        held.lows, held.highs, given(bases), 5, 0.0, sums,
    )  # fmt: skip
    for power in range(5):
        for b, base in enumerate(bases):
            heights = np.exp(-0.5 * base * 2**power * squares(ROWS))
            expected = 2 * heights.sum(axis=1) - 1
            np.testing.assert_allclose(sums[2 * power + b], expected, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 9])
def test_every_width_of_rows_that_weigh_differently(n):
    """Rows are added four at a time: here some are left over, and no two have the same weight."""
    rows, weights, left_out = ROWS[:n], np.arange(1.5, n + 1), np.linspace(0.5, 1.0, n)
    held, aside, sums = arranged(rows, weights), arranged(rows, left_out), np.zeros((12, n))
    sum_widths(
        GaussianBump().lower(), column_wise(rows), n, held.leaves, held.sizes, held.weights, aside.weights,
        held.lows, held.highs, given(np.array([0.3, 0.4])), 6, 0.0, sums,
    )  # fmt: skip
    for line, factor in enumerate(np.outer(2.0 ** np.arange(6), [0.3, 0.4]).ravel()):
        heights = np.exp(-0.5 * factor * squares(rows)[:, :n])
        np.testing.assert_allclose(sums[line], heights @ weights - left_out, rtol=1e-12)  # five squarings


def test_shares_by_quadratics_equal_shares_component_by_component():
    rng = np.random.default_rng(2)
    matrices = np.array([np.eye(2), [[2.0, 0.5], [0.5, 1.0]], 0.1 * np.eye(2)])
    mixture = Mixture(np.array([0.2, 0.5, 0.3]), 7 + rng.normal(size=(3, 2)), matrices, SHAPES["full"])
    weights = rng.uniform(size=12)
    of = quadratics(mixture)
    found = share_by_quadratics(Block(0, 7 + ROWS, None, weights), of)
    logs = mixture.log_parts(7 + ROWS)
    shares = np.exp(logs) * (weights / np.exp(logs).sum(axis=1))[:, None]
    expected = moments_of_shares(7 + ROWS, shares, np.tile(of.centre, (3, 1)), mixture.shape)
    for one, other in zip(
        found.unpacked(of), (expected.counts, expected.sums, expected.squares), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    assert found.likelihood == pytest.approx(weights @ np.log(np.exp(logs).sum(axis=1)), rel=1e-13)
    assert found.weight == pytest.approx(weights.sum())
