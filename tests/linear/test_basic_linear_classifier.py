"""The basic linear classifier: means, bisectors, feature spaces, rows that arrive later."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NearestCentroid
from tests.properties.strategies import awkward_tables, in_some_form, plain_tables, weights

from bisector import BasicLinearClassifier, Gaussian, Polynomial, Spectrum, datasets
from bisector.solvers.class_sums import FEW_CLASSES

quickly = settings(max_examples=60, deadline=None)

# Two squares: means (1, 1) and (5, 3).
X = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 0.0], [1.0, 2.0], [4.0, 3.0], [6.0, 3.0]])
Y = np.array(["left", "left", "left", "left", "right", "right"])


# By hand


def test_two_squares():
    model = BasicLinearClassifier().fit(X, Y)
    np.testing.assert_allclose(model.means_, [[1, 1], [5, 3]], rtol=1e-15)
    np.testing.assert_allclose(model.coef_, [[4, 2]], rtol=1e-15)
    assert model.threshold_ == pytest.approx((34 - 2) / 2)  # (‖(5, 3)‖² − ‖(1, 1)‖²)/2
    assert model.class_count_.tolist() == [4, 2]
    assert model.predict([[3.0, 2.0], [3.0, 2.001]]).tolist() == [
        "left",
        "right",
    ]  # the middle is on the plane
    assert model.signed_distance([[5.0, 3.0]])[0] == pytest.approx(np.sqrt(20) / 2)


def test_weights_move_the_means():
    model = BasicLinearClassifier().fit([[0.0], [3.0], [9.0]], [0, 0, 1], sample_weight=[1, 2, 5])
    np.testing.assert_allclose(model.means_, [[2], [9]])
    assert model.class_count_.tolist() == [3, 5]


# Oracles


def by_distances(means, rows):
    return ((rows[:, None] - means) ** 2).sum(axis=2)


@pytest.mark.parametrize("n_classes", [2, 3, FEW_CLASSES + 4])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_the_nearest_mean_decides(n_classes, form):
    rng = np.random.default_rng(n_classes)
    codes = np.arange(400) % n_classes
    table = rng.normal(size=(400, 5)) * (rng.random((400, 5)) < 0.6) + codes[:, None] % 3
    model = BasicLinearClassifier().fit(form(table), codes)
    means = np.array([table[codes == k].mean(axis=0) for k in range(n_classes)])
    np.testing.assert_allclose(model.means_, means, rtol=1e-12, atol=1e-12)
    squares = by_distances(means, table)
    np.testing.assert_array_equal(model.predict(form(table)), squares.argmin(axis=1))
    peer = NearestCentroid().fit(table, codes)
    assert (peer.predict(table) == model.predict(form(table))).mean() > 0.99  # ties are rounded differently
    if n_classes == 2:
        np.testing.assert_allclose(model.decision_function(form(table)), (squares @ [1, -1]) / 2, atol=1e-12)
    else:  # half of what the square of the distance is less than that from the centre of the means
        centre = by_distances(means.mean(axis=0)[None], table)
        np.testing.assert_allclose(model.decision_function(form(table)), (centre - squares) / 2, atol=1e-11)


def test_linear_kernel_is_no_kernel():
    for y in (np.arange(60) % 2, np.arange(60) % 3):
        table = np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]
        weight = np.random.default_rng(1).integers(0, 3, size=60)
        plain = BasicLinearClassifier().fit(table, y, weight)
        dual = BasicLinearClassifier(kernel="linear").fit(table, y, weight)
        given = BasicLinearClassifier(kernel="precomputed").fit(table @ table.T, y, weight)
        scores = plain.decision_function(table)
        np.testing.assert_allclose(dual.decision_function(table), scores, atol=1e-12)
        np.testing.assert_allclose(given.decision_function(table @ table.T), scores, atol=1e-12)
        np.testing.assert_allclose(dual.signed_distance(table), plain.signed_distance(table), atol=1e-12)
        np.testing.assert_allclose(dual.dual_coef_ @ dual.exemplars_, plain.coef_, atol=1e-12)
        np.testing.assert_allclose(dual.threshold_, plain.threshold_, atol=1e-12)


def test_feature_map_and_kernel_agree():
    table, y = datasets.disc_and_ring()
    kernel = Polynomial(2, 1.0)
    there = BasicLinearClassifier().fit(kernel.feature_map(table), y)
    here = BasicLinearClassifier(kernel=kernel).fit(table, y)
    np.testing.assert_allclose(
        here.decision_function(table), there.decision_function(kernel.feature_map(table)), atol=1e-11
    )
    assert here.score(table, y) > 0.9 > 0.8 > BasicLinearClassifier().fit(table, y).score(table, y)


def test_kernel_sums_in_tiles_equal_the_gram_matrix():
    rng = np.random.default_rng(3)
    table, y = rng.normal(size=(900, 3)), np.arange(900) % 2
    model = BasicLinearClassifier(kernel=Gaussian(0.7)).fit(table, y)
    gram = Gaussian(0.7).gram(table)
    means = np.array([gram[:, y == k].mean(axis=1) for k in (0, 1)])
    squares = [means[k, y == k].mean() for k in (0, 1)]
    expected = means[1] - means[0] - (squares[1] - squares[0]) / 2
    np.testing.assert_allclose(model.decision_function(table), expected, atol=1e-12)


def test_words_have_means_too():
    words = ["banana", "ananas", "cabana", "kitten", "mitten", "bitten"]
    model = BasicLinearClassifier(kernel=Spectrum(2)).fit(words, list("fffkkk"))
    assert model.predict(["bananas", "written"]).tolist() == ["f", "k"]
    assert model.exemplars_ == words
    assert not hasattr(model, "n_features_in_")
    np.testing.assert_allclose(model.dual_coef_, [[-1 / 3] * 3 + [1 / 3] * 3])
    assert cross_val_score(model, words, list("fffkkk"), cv=3).shape == (3,)


def test_sets_have_means_too():
    animals = [{"gills", "teeth"}, {"gills", "beak"}, {"wings", "beak"}, {"wings", "feathers"}]
    model = BasicLinearClassifier(kernel="intersection").fit(animals, [0, 0, 1, 1])
    assert model.predict([{"gills"}, {"feathers"}]).tolist() == [0, 1]


def test_a_kernel_learns_from_rows_with_a_weight_only():
    table = np.array([[0.0], [1.0], [5.0], [6.0], [1000.0]])
    weighted = BasicLinearClassifier(kernel=Gaussian("median")).fit(table, [0, 0, 1, 1, 1], [1, 1, 1, 1, 0])
    without = BasicLinearClassifier(kernel=Gaussian("median")).fit(table[:4], [0, 0, 1, 1])
    assert weighted.kernel_ == without.kernel_
    np.testing.assert_array_equal(weighted.decision_function(table), without.decision_function(table))


def test_parameters_of_the_kernel_can_be_searched():
    model = BasicLinearClassifier(kernel=Gaussian(1.0)).set_params(kernel__bandwidth=2.0)
    assert model.kernel == Gaussian(2.0)


# Rows that arrive later


@pytest.mark.parametrize("n_classes", [2, 4])
def test_batches_give_the_means_of_all(n_classes):
    rng = np.random.default_rng(5)
    table, y = rng.normal(size=(300, 4)) + 1e6, rng.integers(n_classes, size=300)
    weight = rng.integers(0, 3, size=300).astype(float)
    whole = BasicLinearClassifier().fit(table, y, weight)
    online = BasicLinearClassifier()
    for part in np.array_split(np.arange(300), 7):
        online.partial_fit(table[part], y[part], classes=np.arange(n_classes), sample_weight=weight[part])
    np.testing.assert_allclose(online.means_, whole.means_, rtol=1e-15)
    # The shift comes from the first batch: differences of means of a million agree to their own last digits.
    np.testing.assert_allclose(online.coef_, whole.coef_, rtol=1e-11)
    np.testing.assert_array_equal(online.predict(table), whole.predict(table))


def test_a_class_that_has_not_come_is_never_predicted():
    model = BasicLinearClassifier().partial_fit([[0.0], [1.0]], ["b", "b"], classes=["a", "b"])
    assert model.predict([[-100.0], [100.0]]).tolist() == ["b", "b"]
    model.partial_fit([[9.0]], ["a"])
    assert model.predict([[-100.0], [100.0]]).tolist() == ["b", "a"]
    three = BasicLinearClassifier().partial_fit([[0.0], [9.0]], [0, 2], classes=[0, 1, 2])
    assert three.predict([[4.0], [5.0]]).tolist() == [0, 2]
    only = BasicLinearClassifier().partial_fit([[0.0], [9.0]], [1, 1], classes=[0, 1, 2])
    assert only.predict([[4.0]]).tolist() == [1]


def test_partial_fit_goes_on_after_fit_and_after_a_file():
    model = pickle.loads(pickle.dumps(BasicLinearClassifier().fit(X[:5], Y[:5])))
    model.partial_fit(X[5:], Y[5:])
    np.testing.assert_allclose(model.coef_, [[4, 2]], rtol=1e-15)


def test_partial_fit_says_what_it_lacks():
    with pytest.raises(ValueError, match="needs classes"):
        BasicLinearClassifier().partial_fit(X, Y)
    with pytest.raises(ValueError, match="at least two classes"):
        BasicLinearClassifier().partial_fit(X, Y, classes=["left"])
    model = BasicLinearClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="not among classes"):
        model.partial_fit(X, ["up"] * 6)
    with pytest.raises(ValueError, match="cannot be changed"):
        model.partial_fit(X, Y, classes=["left", "up"])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1], Y)
    with pytest.raises(AttributeError, match="partial_fit"):
        BasicLinearClassifier(kernel="rbf").partial_fit(X, Y, classes=["left", "right"])


# Edges and bad input


def test_far_from_zero_nothing_is_lost():
    moved = BasicLinearClassifier().fit(X + 1e8, Y)
    np.testing.assert_allclose(moved.coef_, [[4, 2]], rtol=1e-14)
    np.testing.assert_array_equal(moved.predict(X + 1e8), Y)


def test_constant_columns_do_not_count():
    table = np.column_stack([X, np.full(6, 7.1)])
    assert BasicLinearClassifier().fit(table, Y).coef_[0, 2] == 0
    same = BasicLinearClassifier().fit(np.full((6, 2), 7.1), Y)
    assert not same.coef_.any()
    assert (same.predict(X) == "left").all()
    assert not same.signed_distance(X).any()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (X * 1e200, "so far from each other that the square of their distance is no float64"),
        (X * 1e-200, "so near to each other that the square of their distance is no float64"),
        (np.float32(X * 1e30), "give the features in other units or X as float64"),
    ],
)
def test_means_whose_distance_is_no_number_are_refused(table, words):
    with pytest.raises(ValueError, match=words):
        BasicLinearClassifier().fit(table, Y)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="at least two classes"):
        BasicLinearClassifier(kernel="rbf").fit(X, ["a"] * 6)
    with pytest.raises(ValueError, match="with a weight"):
        BasicLinearClassifier(kernel="rbf").fit(X, Y, sample_weight=[0, 0, 0, 0, 1, 1])
    with pytest.raises(ValueError, match="square matrix"):
        BasicLinearClassifier(kernel="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="kernel"):
        BasicLinearClassifier(kernel="bogus").fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN in row 1, column 0"):
        BasicLinearClassifier().fit([[1.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="contains inf in row 0, column 1"):
        BasicLinearClassifier().fit([[1.0, np.inf], [2.0, 3.0]], [0, 1])


def test_float32_is_kept_and_summed_in_float64():
    rng = np.random.default_rng(0)
    table = (rng.normal(size=(3000, 3)) + 1000).astype(np.float32)
    y = np.arange(3000) % 2
    model = BasicLinearClassifier().fit(table, y)
    assert {model.coef_.dtype, model.intercept_.dtype, model.means_.dtype} == {np.dtype(np.float32)}
    exact = BasicLinearClassifier().fit(table.astype(np.float64), y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6)


# Properties


def labels_for(table, n_classes=3):
    return np.arange(len(table)) % min(n_classes, len(table))


@quickly
@given(st.data())
def test_weights_are_repeated_rows(data):
    table = data.draw(plain_tables(min_rows=6))
    weight = data.draw(weights(len(table), whole_numbers=True))
    weight[:2] += 1.0  # rows of two classes
    y = labels_for(table, 2)
    weighted = BasicLinearClassifier().fit(table, y, weight)
    repeated = BasicLinearClassifier().fit(
        np.repeat(table, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-12)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-12)


@quickly
@given(awkward_tables(min_rows=2), st.data())
def test_fits_or_says_why_in_any_form(table, data):
    y = labels_for(table)
    form = data.draw(in_some_form(table))
    try:
        model = BasicLinearClassifier().fit(form, y)
    except ValueError as error:
        assert "square of their distance" in str(error)  # noqa: PT017  either way is right
        return
    assert np.isfinite(model.coef_).all()
    assert set(model.predict(form)) <= set(y)


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(60_000, 7)), rng.integers(3, size=60_000)
    one, four = (BasicLinearClassifier(n_jobs=n).fit(table, y) for n in (1, 4))
    np.testing.assert_array_equal(one.coef_, four.coef_)
    np.testing.assert_array_equal(one.decision_function(table), four.decision_function(table))
    one, four = (
        BasicLinearClassifier(kernel=Gaussian(), n_jobs=n).fit(table[:1500], y[:1500]) for n in (1, 4)
    )
    np.testing.assert_array_equal(one.decision_function(table[:700]), four.decision_function(table[:700]))
