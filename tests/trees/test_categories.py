"""Columns of categories: read from frames, grouped, and met again later."""

import numpy as np
import pytest

from bisector import DecisionTreeClassifier, DecisionTreeRegressor

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

COLOURS = ["red", "green", "blue", "red", None, "blue", "green", "red"]
SIZES = [1.0, 2.0, 3.0, 4.0, 5.0, np.nan, 7.0, 8.0]
KINDS = ["a", "b", "a", "a", "b", "a", "b", "a"]


def pandas_frame(kind):
    colours = {"words": COLOURS, "categories": pandas.Categorical(COLOURS)}[kind]
    return pandas.DataFrame({"colour": colours, "size": SIZES})


def polars_frame(kind):
    column = polars.Series(COLOURS)
    column = column if kind == "words" else column.cast(polars.Categorical)
    return polars.DataFrame({"colour": column, "size": SIZES})


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
@pytest.mark.parametrize("kind", ["words", "categories"])
@pytest.mark.parametrize("multiway", [False, True])
def test_words_are_split_directly(frame, kind, multiway):
    X = frame(kind)
    model = DecisionTreeClassifier(multiway=multiway).fit(X, KINDS)
    assert model.get_depth() == 1
    assert model.feature_names_in_.tolist() == ["colour", "size"]
    assert model.predict(X).tolist() == KINDS
    assert model.get_n_leaves() == (4 if multiway else 2)
    text = model.to_text()
    assert "colour = red" in text if multiway else "colour in {blue, red}: a (5 rows)" in text


def test_unseen_categories_and_missing_ones_take_the_larger_child():
    X = pandas.DataFrame({"colour": ["red"] * 5 + ["green"] * 3})
    model = DecisionTreeClassifier().fit(X, ["a"] * 5 + ["b"] * 3)
    assert model.predict(pandas.DataFrame({"colour": ["pink", None, "green"]})).tolist() == ["a", "a", "b"]
    # Where missing values were met, they have a place of their own.
    X = pandas.DataFrame({"colour": ["red"] * 5 + [None] * 3})
    model = DecisionTreeClassifier().fit(X, ["a"] * 5 + ["b"] * 3)
    assert model.predict(pandas.DataFrame({"colour": ["pink", None]})).tolist() == ["a", "b"]


def test_an_empty_child_takes_the_label_of_its_parent():
    X = pandas.DataFrame(
        {
            "colour": ["red", "red", "blue", "blue", "grey"],
            "shape": ["round", "round", "round", "flat", "flat"],
        }
    )
    y = ["a", "a", "b", "c", "c"]
    model = DecisionTreeClassifier(multiway=True).fit(X, y)
    new = pandas.DataFrame({"colour": ["grey"], "shape": ["round"]})
    leaf = model.apply(new)[0]
    path = model.decision_path(new).indices
    assert leaf == path[-1]
    assert model.predict(new)[0] in y


def test_more_categories_than_fit_into_two_groups_by_chance():
    """As many categories as rows: a tree can memorise them, and new ones take the larger child."""
    X = pandas.DataFrame({"name": [f"n{i}" for i in range(50)]})
    y = np.arange(50) % 2
    for multiway in (False, True):
        model = DecisionTreeClassifier(multiway=multiway).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.predict(pandas.DataFrame({"name": ["new"]})).tolist() in ([0], [1])
    assert model.get_n_leaves() == 50


def test_ordered_categories_are_split_by_threshold():
    grades = pandas.Categorical(list("CABBCA"), categories=["A", "B", "C"], ordered=True)
    X = pandas.DataFrame({"grade": grades})
    model = DecisionTreeRegressor(max_depth=1).fit(X, [3.0, 1.0, 1.0, 1.0, 3.0, 1.0])
    assert model.tree_.threshold[0] == 1.5
    assert model.predict(X).tolist() == [3.0, 1.0, 1.0, 1.0, 3.0, 1.0]


def test_columns_of_an_array_by_number_and_mask():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(80, 2)).astype(float)
    y = np.isin(X[:, 0], [1, 4]).astype(int)
    by_number = DecisionTreeClassifier(categorical_features=[0]).fit(X, y)
    by_mask = DecisionTreeClassifier(categorical_features=[True, False]).fit(X, y)
    assert by_number.get_depth() == by_mask.get_depth() == 1
    assert DecisionTreeClassifier().fit(X, y).get_depth() > 1
    words = np.array([["x", 1], ["y", 2], ["x", 3]], dtype=object)
    model = DecisionTreeClassifier(categorical_features=[0]).fit(words, [0, 1, 0])
    assert model.predict(words).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="flags"):
        DecisionTreeClassifier(categorical_features=[True]).fit(X, y)
    with pytest.raises(ValueError, match="holds no numbers"):
        DecisionTreeClassifier(categorical_features=None).fit(pandas_frame("words"), KINDS)


def test_a_column_that_changes_its_kind_is_refused():
    model = DecisionTreeClassifier().fit(pandas_frame("words"), KINDS)
    with pytest.raises(ValueError, match="'size' holds 'big' in row 0"):
        model.predict(pandas.DataFrame({"colour": ["red"], "size": ["big"]}))


def test_rules_name_the_categories():
    model = DecisionTreeClassifier().fit(pandas_frame("words"), KINDS)
    assert [str(rule) for rule in model.rules()] == [
        "colour in {blue, red}: a (5 rows)",
        "colour in {green, missing}: b (3 rows)",
    ]


def test_multiway_needs_squares():
    with pytest.raises(ValueError, match="multiway=True needs squared errors"):
        DecisionTreeRegressor(criterion="absolute", multiway=True).fit(pandas_frame("words"), np.arange(8.0))
    model = DecisionTreeRegressor(multiway=True, max_depth=1).fit(
        pandas_frame("words"), [1, 2, 3, 1, 9, 3, 2, 1]
    )
    assert model.get_n_leaves() == 4


def test_categories_have_no_direction():
    with pytest.raises(ValueError, match="no order"):
        DecisionTreeClassifier(monotonic_cst=[1, 0]).fit(pandas_frame("words"), KINDS)
