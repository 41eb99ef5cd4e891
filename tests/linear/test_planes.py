"""What classifiers made of planes share, whichever plane they choose."""

import numpy as np
import pytest
import scipy.sparse

from bisector import BasicLinearClassifier, LeastSquaresClassifier

KINDS = [BasicLinearClassifier, LeastSquaresClassifier]
X = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 4.0], [3.0, 6.0]])
Y = np.array(["no", "no", "yes", "yes"])


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def three_classes():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return rng.normal(size=(60, 4)) + np.eye(3, 4)[y] * 3, np.array(["a", "b", "c"])[y]


# The geometry


def test_scores_weights_and_threshold_say_the_same(kind):
    model = kind().fit(X, Y)
    queries = np.random.default_rng(0).normal(size=(20, 2)) * 5
    scores = model.decision_function(queries)
    np.testing.assert_allclose(scores, queries @ model.weights_ - model.threshold_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(queries) == "yes", scores > 0)
    assert model.weights_.shape == (2,)
    assert isinstance(model.threshold_, float)


def test_signed_distance_is_the_distance_to_the_plane(kind):
    model = kind().fit(X, Y)
    queries = np.array([[1.0, 2.0], [4.0, -3.0]])
    distances = model.signed_distance(queries)
    feet = queries - distances[:, None] * model.weights_ / np.linalg.norm(model.weights_)
    np.testing.assert_allclose(model.decision_function(feet), 0, atol=1e-12)
    np.testing.assert_array_equal(np.sign(distances), np.sign(model.decision_function(queries)))


def test_more_classes_have_a_plane_each(kind):
    table, y = three_classes()
    model = kind().fit(table, y)
    scores = model.decision_function(table)
    assert model.coef_.shape == model.weights_.shape == (3, 4)
    assert model.threshold_.shape == (3,)
    np.testing.assert_allclose(scores, table @ model.weights_.T - model.threshold_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(table), model.classes_[scores.argmax(axis=1)])
    lengths = np.linalg.norm(model.coef_, axis=1)
    np.testing.assert_allclose(model.signed_distance(table), scores / lengths, atol=1e-12)


def test_a_score_of_zero_belongs_to_the_first_class():
    model = BasicLinearClassifier().fit([[-1.0], [1.0]], ["minus", "plus"])
    assert model.decision_function([[0.0]]).tolist() == [0.0]
    assert model.predict([[0.0], [1e-300]]).tolist() == ["minus", "plus"]
    assert model.signed_distance([[0.0]]).tolist() == [0.0]
    three = BasicLinearClassifier().fit([[-1.0], [1.0], [3.0]], [7, 8, 9])
    assert three.predict([[0.0], [2.0]]).tolist() == [7, 8]  # of equal scores, the first


def test_without_a_direction_there_is_no_plane(kind):
    """Both classes have the same mean: every row gets the same score, at an infinite distance or on the plane."""
    model = kind().fit([[-1.0], [1.0], [-1.0], [1.0]], [0, 0, 1, 1])
    assert not model.weights_.any()
    scores = model.decision_function([[5.0], [-5.0]])
    assert scores[0] == scores[1]
    assert np.isin(np.abs(model.signed_distance([[5.0]])), [0, np.inf]).all()


# Labels


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "no", "yes", "yes"],
        ("no", "no", "yes", "yes"),
        [False, False, True, True],
        [-1, -1, 1, 1],
        [0.0, 0.0, 1.0, 1.0],
        np.array(["no", "no", "yes", "yes"], dtype=object),
        np.array([[5], [5], [6], [6]]),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_labels_of_any_kind(kind, labels):
    model = kind().fit(X, labels)
    np.testing.assert_array_equal(model.predict(X), np.ravel(labels))
    np.testing.assert_array_equal(model.classes_, np.unique(np.asarray(labels)))


def test_a_list_of_strings_is_labels_even_beside_columns_of_these_names(kind):
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame(X, columns=["no", "yes"])
    np.testing.assert_array_equal(kind().fit(frame, Y.tolist()).predict(frame), Y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_a_frame_holds_the_labels(kind, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"a": X[:, 0], "says": Y, "b": X[:, 1]})
    model = kind().fit(frame, "says")
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.coef_, kind().fit(X, Y).coef_)
    np.testing.assert_array_equal(model.predict(frame[["a", "b"]]), Y)
    with pytest.raises(ValueError, match="'what', which X does not have"):
        kind().fit(frame, "what")


@pytest.mark.parametrize("labels", [Y, np.array([0, 0, 1, 1])], ids=["strings", "numbers"])
def test_a_column_of_a_file_holds_the_labels(kind, labels, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    table = pyarrow.table({"a": X[:, 0], "says": labels, "b": X[:, 1]})
    parquet.write_table(table, path, row_group_size=2)
    model = kind().fit(path, "says")
    np.testing.assert_allclose(model.coef_, kind().fit(X, labels).coef_, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(path), labels)
    assert model.separability(path, "says").holds(path, "says")


def test_a_name_needs_columns(kind):
    with pytest.raises(TypeError, match="whose columns have no names"):
        kind().fit(X, "says")


# Weights


def test_weights_that_remove_a_class(kind):
    table, y = three_classes()
    model = kind().fit(table, y, sample_weight=(y != "b").astype(float))
    assert model.classes_.tolist() == ["a", "c"]
    np.testing.assert_allclose(model.coef_, kind().fit(table[y != "b"], y[y != "b"]).coef_, rtol=1e-9)
    sparse = kind().fit(scipy.sparse.csr_array(table), y, sample_weight=(y != "b").astype(float))
    np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-9)
    with pytest.raises(ValueError, match=r"one class with a weight: \['b'\]"):
        kind().fit(table, y, sample_weight=(y == "b").astype(float))


def test_class_weights_that_remove_a_class():
    table, y = three_classes()
    model = LeastSquaresClassifier(class_weight={"b": 0.0}).fit(table, y)
    assert model.classes_.tolist() == ["a", "c"]


def test_balanced_weights_beside_weights_that_remove_a_class():
    table, y = three_classes()
    kept = (y != "b").astype(float)
    model = LeastSquaresClassifier(class_weight="balanced").fit(table, y, sample_weight=kept)
    alone = LeastSquaresClassifier(class_weight="balanced").fit(table[y != "b"], y[y != "b"])
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-9)


# Bad input


@pytest.mark.parametrize(
    ("table", "labels", "weight", "error"),
    [
        (X, ["a"] * 4, None, "needs rows of at least two classes"),
        (X, None, None, "requires y to be passed"),
        (X, [0, 1], None, "inconsistent numbers of samples"),
        (X, [[0, 1]] * 4, None, "one label a row|multioutput|multilabel|Multioutput|Multilabel"),
        (X, [0.5, 1.5, 2.5, 0.5], None, "Unknown label type"),
        (X, [0.0, np.nan, 1.0, 1.0], None, "contains NaN"),
        (X, Y, [1, 1, -1, 1], "negative in row 2"),
        (X, Y, [0, 0, 0, 0], "zero for every row"),
        (X[:, :0], Y, None, "minimum of 1"),
        (np.where(X == 6, np.nan, X), Y, None, "X contains NaN in row 3, column 1"),
    ],
)
def test_bad_input_is_named(kind, table, labels, weight, error):
    with pytest.raises(ValueError, match=error):
        kind().fit(table, labels, sample_weight=weight)


def test_predicting_checks_its_rows(kind):
    model = kind().fit(X, Y)
    with pytest.raises(ValueError, match="X contains inf in row 0, column 1"):
        model.predict([[1.0, np.inf]])
    with pytest.raises(ValueError, match="3 features"):
        model.decision_function(np.zeros((1, 3)))
