"""Dendrograms: lines, colours of a cut, wedges, and merges that fall."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from bisector import AgglomerativeClustering, Dendrogram, DendrogramDisplay, KMeans
from bisector.plot.canvas import colour

LINE = [[0.0], [1.0], [5.0], [7.0]]


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + np.repeat([[0, 0], [8, 0], [4, 7]], n // 3, axis=0)


def lines_of(shown):
    return np.concatenate([lines.get_segments() for lines in shown.branches_.values()])


def test_lines_by_hand():
    model = AgglomerativeClustering(2, linkage="single").fit(LINE)
    shown = DendrogramDisplay.from_estimator(model)
    expected = {0: [[0, 0], [1, 0], [1, 1], [0, 1]], 1: [[0, 2], [2, 2], [2, 3], [0, 3]]}
    for cluster, corners in expected.items():
        (drawn,) = shown.branches_[cluster].get_segments()
        np.testing.assert_array_equal(drawn, corners)
        assert tuple(shown.branches_[cluster].get_colors()[0]) == to_rgba(colour(cluster))
    (above,) = shown.branches_[-1].get_segments()
    np.testing.assert_array_equal(above, [[1, 0.5], [4, 0.5], [4, 2.5], [2, 2.5]])
    assert shown.cut_.get_xdata()[0] == 3.0
    assert shown.wedges_ == []
    assert shown.falls_ is None


def test_a_height_cuts_as_k_does():
    tree = AgglomerativeClustering(1, linkage="single").fit(LINE).dendrogram_
    by_k, by_height = DendrogramDisplay(tree, k=3).plot(), DendrogramDisplay(tree, height=1.5).plot()
    assert by_k.branches_.keys() == by_height.branches_.keys() == {-1, 0}
    assert by_height.cut_.get_xdata()[0] == 1.5
    assert by_height.ax_.get_title() == "Dendrogram of 4 rows, cut into 3 clusters"
    assert set(DendrogramDisplay(tree).plot().branches_) == {-1}


def test_names_stand_at_the_ends():
    words = ["cat", "cats", "house", "houses"]
    model = AgglomerativeClustering(2, metric="levenshtein", linkage="average").fit(words)
    shown = DendrogramDisplay.from_estimator(model, names=words)
    ticks = [label.get_text() for label in shown.ax_.get_yticklabels()]
    assert ticks == [words[row] for row in model.dendrogram_.leaf_order()]


def test_a_large_one_is_collapsed_and_says_so():
    model = AgglomerativeClustering(3).fit(blobs(300))
    whole, tree = DendrogramDisplay.from_estimator(model, most=300), model.dendrogram_
    shown = DendrogramDisplay.from_estimator(model, most=12)
    assert len(lines_of(shown)) == 11
    assert len(lines_of(whole)) == 299
    np.testing.assert_array_equal(np.sort(lines_of(shown)[:, 1, 0]), tree.levels[-11:])
    ticks = [label.get_text() for label in shown.ax_.get_yticklabels()]
    counts = [int(tick.split()[0]) if tick.endswith(" rows") else 1 for tick in ticks]
    sizes = np.bincount(tree.cut(12))
    assert sorted(counts) == sorted(sizes.tolist())
    assert len(shown.wedges_) == (sizes > 1).sum()
    assert "the last 11 of 299 merges" in shown.ax_.get_title()
    assert shown.branches_.keys() == whole.branches_.keys()


def test_collapsed_lines_are_those_of_the_whole():
    """The last merges stand at the same levels, from the same parts."""
    tree = AgglomerativeClustering(2).fit(blobs()).dendrogram_
    n = tree.n_leaves
    shown = lines_of(DendrogramDisplay(tree).plot(most=10))
    starts = np.where(tree.merges < n, 0.0, np.append(tree.levels, 0)[tree.merges - n])[-9:]
    for lines, below in zip(shown, starts, strict=True):
        np.testing.assert_allclose(np.sort(lines[[0, 3], 0]), np.sort(below))


def test_colours_are_those_of_the_labels():
    X = blobs()
    model = AgglomerativeClustering(3).fit(X)
    shown = DendrogramDisplay.from_estimator(model, most=6)
    hues = {to_rgba(wedge.get_facecolor(), 1.0) for wedge in shown.wedges_}
    assert hues == {to_rgba(colour(label)) for label in range(3)}
    # Three ends for three clusters, although fewer were asked for.
    assert len(DendrogramDisplay.from_estimator(model, most=1).wedges_) == 3
    # Cut into more clusters than ends, a wedge holds several and has the colour of none.
    low = DendrogramDisplay(model.dendrogram_, height=0.1).plot(most=4)
    assert {to_rgba(wedge.get_facecolor(), 1.0) for wedge in low.wedges_}.isdisjoint(hues)


def test_merges_that_fall_are_marked():
    three = [[0.0, 0.0], [2.0, 0.0], [1.0, 1.8]]
    model = AgglomerativeClustering(1, linkage="centroid").fit(three)
    shown = DendrogramDisplay.from_estimator(model)
    (fall,) = shown.falls_.get_segments()
    assert fall[1, 0] == pytest.approx(1.8)
    assert max(fall[0, 0], fall[3, 0]) == 2
    assert "1 merge lower than a part, the first at 1.8" in shown.ax_.get_title()
    assert shown.cut_ is None


def test_one_and_two_rows():
    one = DendrogramDisplay(Dendrogram(np.empty((0, 2), np.int64), np.empty(0), np.empty(0, np.int64))).plot()
    assert one.branches_ == {}
    two = DendrogramDisplay.from_estimator(AgglomerativeClustering(1).fit([[0.0], [1.0]]))
    assert len(lines_of(two)) == 1
    top = DendrogramDisplay.from_estimator(AgglomerativeClustering(1).fit(LINE), most=1)
    assert top.branches_ == {}
    assert top.wedges_[0].get_xy()[:, 0].max() == pytest.approx(top.dendrogram.levels[-1])


def test_bad_input_is_refused():
    tree = AgglomerativeClustering(1).fit(LINE).dendrogram_
    with pytest.raises(TypeError, match="from_linkage_matrix"):
        DendrogramDisplay(tree.linkage_matrix())
    with pytest.raises(ValueError, match="not by both"):
        DendrogramDisplay(tree, k=2, height=1.0)
    with pytest.raises(ValueError, match="4 rows, but 2 names"):
        DendrogramDisplay(tree, names=["a", "b"])
    with pytest.raises(ValueError, match="at most 4"):
        DendrogramDisplay(tree, k=5)
    with pytest.raises(AttributeError, match="KMeans has no dendrogram_"):
        DendrogramDisplay.from_estimator(KMeans(2).fit(LINE))
