"""Trees on axes: the boxes and words of the layout that the SVG has too."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bisector import (
    DecisionRegionsDisplay,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LinearRegression,
    TreeDisplay,
    datasets,
)
from bisector.plot.canvas import colour

X, Y = datasets.iris()


def test_every_node_has_a_box_above_its_children():
    model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    shown, tree = TreeDisplay.from_estimator(model), model.tree_
    assert set(shown.boxes_) == set(range(tree.node_count))
    assert len(shown.lines_) == tree.node_count - 1
    middle = {node: box.get_x() + box.get_width() / 2 for node, box in shown.boxes_.items()}
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = tree.children_left[node], tree.children_right[node]
        assert middle[node] == pytest.approx((middle[left] + middle[right]) / 2)
        assert shown.boxes_[node].get_y() > shown.boxes_[left].get_y()
    leaves = np.sort([middle[node] for node in np.flatnonzero(tree.is_leaf)])
    np.testing.assert_allclose(np.diff(leaves), 1)
    # Pure leaves are darkest, in the colour of their class.
    pure = int(np.flatnonzero(tree.is_leaf & (tree.impurity == 0))[0])
    face = shown.boxes_[pure].get_facecolor()
    assert face[:3] == to_rgb(colour(int(tree.value[pure, 0].argmax())))
    assert face[3] == pytest.approx(0.6)


def test_words_are_those_of_the_svg():
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    shown, svg = TreeDisplay.from_estimator(model), model.to_svg()
    for text in shown.words_:
        assert f">{text.get_text().replace('>', '&gt;')}<" in svg


def test_a_wide_tree_is_cut_and_says_so():
    rng = np.random.default_rng(0)
    rows, target = rng.normal(size=(300, 3)), rng.normal(size=300)
    model = DecisionTreeRegressor().fit(rows, target)
    shown = TreeDisplay.from_estimator(model, max_leaves=8)
    dashed = [node for node, box in shown.boxes_.items() if box.get_linestyle() == "--"]
    assert dashed
    assert shown.layout.width <= 8
    assert "leaves are not drawn" in shown.ax_.get_title()
    for node in dashed:
        assert model.tree_.depth[node] == shown.layout.deepest
    shallow = TreeDisplay.from_estimator(model, max_depth=1)
    assert len(shallow.boxes_) == 3


def test_words_shrink_with_the_axes():
    model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    large = TreeDisplay.from_estimator(model).words_[0].get_fontsize()
    small = TreeDisplay.from_estimator(model, ax=plt.subplots(figsize=(2, 2))[1]).words_[0].get_fontsize()
    assert small < large


def test_a_single_leaf():
    shown = TreeDisplay.from_estimator(DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 2.0]))
    assert len(shown.boxes_) == 1
    assert shown.ax_.get_title() == "A tree with 1 leaf"


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match=r"model\.layout"):
        TreeDisplay("tree")
    with pytest.raises(AttributeError, match="no layout"):
        TreeDisplay.from_estimator(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))


def test_unnamed_features_are_called_as_in_other_pictures():
    rows = np.asarray(X)[:, 2:]
    model = DecisionTreeClassifier(max_depth=2).fit(rows, Y)
    words = {text.get_text() for text in TreeDisplay.from_estimator(model).words_}
    regions = DecisionRegionsDisplay.from_estimator(model, rows, Y)
    assert {regions.ax_.get_xlabel(), regions.ax_.get_ylabel()} == {"x0", "x1"} <= words
    plt.close("all")
