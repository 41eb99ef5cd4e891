"""Flach 8.5: linkages by hand, a grid, a dendrogram that turns down, and structure that is not there."""

import numpy as np
import pytest

from bisector import AgglomerativeClustering

# Two rows of four; the middle columns come first, which is how the figure's ties are broken.
GRID = np.array([(x, y) for x in (1, 2, 0, 3) for y in (0, 1)], dtype=float)


@pytest.mark.parametrize(
    ("linkage", "levels"),
    [
        ("complete", [1, 1, 1, 1, np.sqrt(2), np.sqrt(5), np.sqrt(10)]),
        ("centroid", [1, 1, 1, 1, 1, 1.5, 2]),
        ("single", [1] * 7),
    ],
)
def test_levels_on_the_grid(linkage, levels):
    found = AgglomerativeClustering(1, linkage=linkage).fit(GRID).dendrogram_.levels
    np.testing.assert_allclose(found, levels, rtol=1e-12)


@pytest.mark.parametrize(
    ("linkage", "level"),
    [("single", 2.0), ("complete", np.sqrt(8)), ("average", 1 + np.sqrt(2)), ("centroid", np.sqrt(5))],
)
def test_linkage_of_a_point_and_a_pair(linkage, level):
    # x = (0, 0) with y = (2, 0) and z = (2, 2), given as precomputed clusters by their distances.
    x, y, z = np.array([[0.0, 0.0]]), [2.0, 0.0], [2.0, 2.0]
    pair = np.array([y, z])
    apart = np.linalg.norm(pair - x, axis=1)
    by_definition = {
        "single": apart.min(),
        "complete": apart.max(),
        "average": apart.mean(),
        "centroid": np.linalg.norm(pair.mean(axis=0) - x),
    }
    assert by_definition[linkage] == pytest.approx(level)
    # Shift the pair a little together, so that it is merged first.
    rows = np.array([[0.0, 0.0], [2.0, 0.001], [2.0, 2.0]])
    tree = AgglomerativeClustering(1, linkage=linkage).fit(rows).dendrogram_
    np.testing.assert_array_equal(tree.merges[0], [1, 2])
    assert tree.levels[1] == pytest.approx(level, abs=1e-3)


def test_centroid_linkage_turns_down():
    # 1 and 2 are closer to each other than to 3, but 3 is closer to the middle of 1 and 2.
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    tree = AgglomerativeClustering(1, linkage="centroid").fit(rows).dendrogram_
    np.testing.assert_allclose(tree.levels, [1.0, 0.9])
    assert not tree.monotone
    assert (tree.monotone.merge, tree.monotone.part) == (1, 0)
    np.testing.assert_array_equal(tree.cut(height=0.95), [0, 1, 2])
    for linkage in ("single", "complete", "average", "weighted", "ward"):
        assert AgglomerativeClustering(1, linkage=linkage).fit(rows).dendrogram_.monotone


def test_uniform_points_make_a_dendrogram_that_looks_like_clusters():
    # Complete linkage of twenty uniform points: the last merge is at far more than twice the median level.
    tops = []
    for seed in range(20):
        rows = np.random.default_rng(seed).random((20, 2))
        levels = AgglomerativeClustering(1, linkage="complete").fit(rows).dendrogram_.levels
        tops.append(levels[-1] / np.median(levels))
    assert np.median(tops) > 3
