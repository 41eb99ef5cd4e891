"""Rules, text and drawings."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from bisector import DecisionTreeClassifier, DecisionTreeRegressor, datasets


def noise(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, rng.integers(0, 3, size=n)


def test_exactly_one_rule_applies_to_a_row():
    X, y = noise(400)
    model = DecisionTreeClassifier(max_depth=7).fit(X, y)
    rows = np.vstack([X, noise(400, 1)[0]])
    covered = np.stack([rule.covers(rows) for rule in model.rules()])
    assert (covered.sum(axis=0) == 1).all()
    leaves = np.array([rule.leaf for rule in model.rules()])
    np.testing.assert_array_equal(leaves[covered.argmax(axis=0)], model.apply(rows))
    # One condition a feature: intervals are joined.
    assert all(len({c.feature for c in rule.conditions}) == len(rule.conditions) for rule in model.rules())


def test_rules_in_words():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    model = DecisionTreeClassifier().fit(X, ["a", "b", "b", "a"])
    assert [str(rule) for rule in model.rules()] == [
        "x0 ≤ 1.5: a (1 row)",
        "1.5 < x0 ≤ 3.5: b (2 rows)",
        "x0 > 3.5: a (1 row)",
    ]
    assert model.disjunction("a") == "(x0 ≤ 1.5)\nor (x0 > 3.5)"
    assert model.disjunction("b") == "(1.5 < x0 ≤ 3.5)"
    with pytest.raises(ValueError, match="had the classes"):
        model.disjunction("c")
    present = DecisionTreeClassifier().fit([[1.0], [2.0], [np.nan]], [0, 0, 1])
    assert [rule.premise for rule in present.rules()] == ["x0 is present", "x0 is missing"]


def test_text_says_what_it_leaves_out():
    X, y = noise(300)
    model = DecisionTreeClassifier().fit(X, y)
    text = model.to_text(max_depth=2)
    counted = sum(int(found) for found in re.findall(r"… (\d+) leaves below", text))
    assert counted + len(re.findall(r"\(\d+ rows?\)", text)) == model.get_n_leaves()
    assert DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] == X[:, 0]).to_text().count("rows") == 2


def test_drawings_are_svg_and_escape_names():
    pandas = pytest.importorskip("pandas")
    X, y = datasets.iris()
    name = "<script>alert('&')</script>"
    frame = pandas.DataFrame({name: np.asarray(X)[:, 2], "b": np.asarray(X)[:, 3]})
    model = DecisionTreeClassifier(max_depth=2).fit(frame, y)
    drawn = model.to_svg()
    assert "<script" not in drawn
    root = ElementTree.fromstring(drawn)
    rectangles = root.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(rectangles) == model.tree_.node_count
    assert any(name == title.text for title in root.iter("{http://www.w3.org/2000/svg}title"))


def test_boxes_do_not_overlap():
    X, y = noise(200)
    root = ElementTree.fromstring(DecisionTreeClassifier(max_depth=4).fit(X, y).to_svg())
    boxes = [
        (float(box.get("y")), float(box.get("x")), float(box.get("width")))
        for box in root.findall(".//{http://www.w3.org/2000/svg}rect")
    ]
    for (y1, x1, width), (y2, x2, _) in zip(sorted(boxes), sorted(boxes)[1:], strict=False):
        assert y1 != y2 or x2 >= x1 + width


def test_a_tree_of_ten_thousand_leaves_is_collapsed_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40_000, 4)), rng.integers(0, 2, size=40_000)
    model = DecisionTreeClassifier().fit(X, y)
    assert model.get_n_leaves() > 10_000
    drawn = model.to_svg()
    assert f"The tree has {model.get_n_leaves():,} leaves" in drawn
    assert "not drawn" in drawn
    assert len(drawn) < 200_000
    root = ElementTree.fromstring(drawn)
    assert len(root.findall(".//{http://www.w3.org/2000/svg}rect")) < 130
    assert "not drawn" in model.to_svg(max_depth=2)


def test_gains_add_up_to_what_the_tree_takes_off():
    X, y = noise(300)
    tree = (model := DecisionTreeClassifier(max_depth=4).fit(X, y)).tree_
    left = (tree.impurity * tree.n_node_samples)[tree.is_leaf].sum() / 300
    assert model.feature_gains_.sum() == pytest.approx(tree.impurity[0] - left)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_notebook_shows_the_drawing_of_a_fitted_tree():
    model = DecisionTreeClassifier(max_depth=1)
    assert "<svg xmlns" not in model._repr_mimebundle_()["text/html"]
    assert "A tree with 2 leaves" in model.fit(*noise(30))._repr_mimebundle_()["text/html"]
