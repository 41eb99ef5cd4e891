"""Classification by the widest margin: conditions, other programs, kernels of all kinds, and awkward data."""

import contextlib
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from tests.properties.strategies import TROUBLES, awkward_tables, in_some_form, weights

from bisector.kernels import Gaussian, Intersection, Laplacian, Linear, Polynomial, Spectrum
from bisector.kernels.sigmoid import Sigmoid
from bisector.svm import SVC

IRIS = load_iris(return_X_y=True)
CANCER = scale(load_breast_cancer().data), load_breast_cancer().target


def two_classes(n=80, d=3, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, -1] + noise * rng.normal(size=n) > 0, "b", "a")


def violations(model, X, y, costs):
    """How far each row is from the conditions, in units of f(x), recomputed from α and the kernel."""
    sides = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    alpha = model.alpha_
    assert ((alpha >= 0) & (alpha <= costs)).all()
    assert alpha @ sides == pytest.approx(0, abs=1e-9 * (1 + alpha.sum()))
    K = model.kernel_.gram(X).astype(np.float64)
    reached = sides * (K @ (alpha * sides) + model.intercept_[0])
    missed = np.where(alpha < costs, np.maximum(0.0, 1.0 - reached), 0.0)
    return np.maximum(missed, np.where(alpha > 0, np.maximum(0.0, reached - 1.0), 0.0))


# By hand


def test_two_points_have_their_bisector():
    model = SVC(kernel="linear", C=10).fit([[0.0, 0.0], [4.0, 0.0]], ["left", "right"])
    np.testing.assert_allclose(model.weights_, [0.5, 0.0])
    assert (model.threshold_, model.margin_) == pytest.approx((1.0, 2.0))
    np.testing.assert_allclose(model.signed_distance([[2.0, 5.0], [5.0, 0.0]]), [0.0, 3.0], atol=1e-12)
    assert model.predict([[1.9, 0.0], [2.1, 0.0], [2.0, 0.0]]).tolist() == ["left", "right", "left"]


def test_a_kernel_separates_a_ring_from_what_is_inside():
    angle = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    X, y = np.concatenate([ring, 3 * ring]), np.repeat([0, 1], 8)
    model = SVC(C=np.inf, kernel=Polynomial(degree=2)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    np.testing.assert_allclose(model.decision_function([[np.sqrt(5), 0.0]]), 0, atol=1e-9)  # (1 + 9)/2 = 5
    assert set(model.role_) == {"on margin"}


# Certificate

KERNELS = {
    "linear": Linear(),
    "gaussian": Gaussian("median"),
    "laplacian": Laplacian("scale"),
    "cubic": Polynomial(degree=3, bias=1.0, scale="scale"),
    "sum": Linear() + Gaussian(),
}


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    awkward_tables(min_rows=2, troubles=TROUBLES),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.integers(0, 2**32 - 1),
)
def test_conditions_hold_on_awkward_tables(X, kernel, C, seed):
    y = np.random.default_rng(seed).integers(2, size=len(X))
    assume(0 < y.sum() < len(y))
    assume(kernel != "gaussian" or len(np.unique(X, axis=0)) > 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if np.abs(X).max() > 1e20 and kernel == "cubic":
            # 10³⁰ to the sixth power, and sums of such numbers, need not be float64 numbers.
            with contextlib.suppress(ValueError):
                SVC(C=C, kernel=KERNELS[kernel], tol=1e-4).fit(X, y)
            return
        model = SVC(C=C, kernel=KERNELS[kernel], tol=1e-4).fit(X, y)
    assert model.role_.shape == model.alpha_.shape == y.shape
    assert (model.alpha_ <= C).all()
    if not any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
        assert model.fit_status_ == 0
        assert model.kkt_violation_ <= 1e-4
        assert model.dual_gap_ <= 1e-4 * (1 + C * len(y))
    if np.abs(X).max() < 100:  # where rounding cannot be mistaken for anything else
        assert model.fit_status_ == 0
        assert violations(model, X, y, np.full(len(y), C)).max() <= 2e-4


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_conditions_hold_on_real_data(kernel, C):
    X, y = CANCER
    model = SVC(C=C, kernel=kernel).fit(X, y)
    assert violations(model, X, y, np.full(len(y), C)).max() <= 1e-3
    assert model.dual_gap_ <= 1e-6 * model.objective_
    lower = model.objective_ - model.dual_gap_
    K, beta = model.kernel_.gram(X), model.alpha_ * np.where(y, 1.0, -1.0)
    assert model.alpha_.sum() - 0.5 * beta @ K @ beta == pytest.approx(lower, rel=1e-6)


def test_one_feature_and_a_polynomial_of_degree_four():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 1))
    y = x[:, 0] ** 2 + 0.3 * rng.normal(size=150) > 1
    model = SVC(kernel="poly", degree=4, C=100, gamma=2.0, coef0=1.0).fit(x, y)
    assert model.fit_status_ == 0
    assert model.dual_gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_one_feature_on_a_scale_of_its_own_and_a_polynomial_of_degree_four(coef0):
    """Kernel values go up to 1e12: pairs of multipliers crawl, and the last digit of a sum is worth 0.01."""
    rng = np.random.default_rng(0)
    x = 10 * rng.normal(size=(200, 1))
    y = np.sin(x[:, 0]) + 0.3 * rng.normal(size=200) > 0
    model = SVC(kernel="poly", degree=4, C=100, gamma=1.0, coef0=coef0).fit(x, y)
    assert model.fit_status_ == 0
    assert model.dual_gap_ <= 1e-5 * model.objective_


# Oracle


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(
    "params", [{}, {"kernel": "poly"}, {"kernel": "linear", "C": 0.1}, {"C": 5, "gamma": 0.02}]
)
def test_decision_values_of_scikit_learn(params, tol):
    X, y = CANCER
    ours, theirs = SVC(tol=tol, **params).fit(X, y), sklearn.svm.SVC(tol=tol / 10, **params).fit(X, y)
    apart = np.abs(ours.decision_function(X) - theirs.decision_function(X))
    # The peer keeps kernel values in single precision: at tight tolerances, the rest of the difference is its own.
    assert apart.max() <= max(tol, 2e-6 if params.get("kernel") != "poly" else 2e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(("shape", "break_ties"), [("ovr", False), ("ovr", True), ("ovo", False)])
def test_three_classes_as_scikit_learn_has_them(shape, break_ties):
    X, y = IRIS
    params = {"tol": 1e-8, "decision_function_shape": shape, "break_ties": break_ties, "kernel": "linear"}
    ours, theirs = SVC(**params).fit(X, y), sklearn.svm.SVC(**params).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    # The peer keeps kernel values in single precision.
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_class_weights_of_scikit_learn(class_weight):
    X, y = IRIS
    ours, theirs = (kind(class_weight=class_weight, tol=1e-8).fit(X, y) for kind in (SVC, sklearn.svm.SVC))
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


def test_probabilities_are_refused_and_say_what_to_use():
    X, y = IRIS
    with pytest.raises(ValueError, match="Calibrated"):
        SVC(probability=True).fit(X, y)
    model = SVC(probability=False).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as refused:
        model.predict_proba(X)
    assert "calibrate its scores" in str(refused.value.__cause__)


# Many rows: lines are made as they are needed, in single precision


def test_many_rows_as_scikit_learn_has_them():
    X, y = two_classes(2600, d=4)
    ours, theirs = SVC().fit(X, y), sklearn.svm.SVC(tol=1e-5).fit(X, y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() <= 2e-3
    beta = np.zeros(len(y))
    beta[theirs.support_] = theirs.dual_coef_[0]
    dual = np.abs(beta).sum() - 0.5 * beta @ ours.kernel_.gram(X) @ beta
    assert ours.objective_ - ours.dual_gap_ == pytest.approx(dual, rel=1e-5)
    assert violations(ours, X, y, np.ones(len(y))).max() <= 1.1e-3


def test_threads_change_no_bit():
    X, y = two_classes(2300)
    models = [SVC(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(models[0].alpha_, models[1].alpha_)
    np.testing.assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))
    X, y = IRIS
    models = [SVC(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)


# Kernels of all kinds


def test_a_gram_matrix_takes_the_place_of_rows():
    X, y = two_classes()
    K = Gaussian().gram(X)
    model, given = SVC(kernel=Gaussian()).fit(X, y), SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), model.decision_function(X), atol=1e-10)
    assert given.support_vectors_.shape == (0, 0)
    assert given.__sklearn_tags__().input_tags.pairwise
    with pytest.raises(ValueError, match="80 features"):
        given.predict(K[:, :3])


def test_a_function_is_a_kernel():
    X, y = IRIS
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    expected = SVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-8)


def test_strings_are_compared_by_their_runs():
    words = ["banana", "ananas", "bananas", "nanana", "kiwi", "wiki", "kiwis", "wikis"]
    kind = ["long"] * 4 + ["short"] * 4
    model = SVC(kernel=Spectrum(n=2)).fit(words, kind)
    assert model.predict(["anana", "iwik"]).tolist() == ["long", "short"]
    assert all(isinstance(word, str) for word in model.support_vectors_)
    assert not hasattr(model, "n_features_in_")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(words), model.decision_function(words))


def test_sets_are_compared_by_what_they_share():
    baskets = [{"milk", "bread"}, {"milk", "butter", "bread"}, {"beer", "nuts"}, {"beer", "crisps", "nuts"}]
    model = SVC(kernel=Intersection(), C=10).fit(baskets, [0, 0, 1, 1])
    assert model.predict([{"bread"}, {"beer", "milk", "nuts"}]).tolist() == [0, 1]


def test_kernels_among_the_parameters_can_be_searched():
    model = SVC(kernel=Gaussian()).set_params(kernel__bandwidth=3.0)
    assert model.kernel == Gaussian(bandwidth=3.0)


def test_a_kernel_that_is_none_is_solved_and_its_eigenvalue_told():
    X, y = two_classes()
    with pytest.warns(UserWarning, match=r"not positive semi-definite: a Gram matrix has the eigenvalue -\d"):
        model = SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert model.fit_status_ == 0
    eigenvalue = np.linalg.eigvalsh(Sigmoid(bias=-1.0).gram(X)).min()
    with pytest.warns(UserWarning, match=f"{eigenvalue:.3g}"):
        SVC(kernel="precomputed").fit(Sigmoid(bias=-1.0).gram(X), y)


def test_psd_matrices_are_not_suspected():
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(kernel="precomputed").fit(Linear().gram(X), y)  # of rank 3
        SVC(kernel="precomputed").fit(Gaussian().gram(X).astype(np.float32), y)
        cancer, labels = CANCER
        SVC(kernel="precomputed").fit((cancer @ cancer.T).astype(np.float32), labels)


# Weights


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.data())
def test_weights_count_rows(seed, data):
    X, y = two_classes(30, seed=seed)
    weight = data.draw(weights(30, whole_numbers=True))
    times = weight.astype(int)
    repeated = np.repeat(y, times)
    assume(len(set(repeated)) == 2)
    model = SVC(C=2.0).fit(X, y, sample_weight=weight)
    again = SVC(C=2.0).fit(np.repeat(X, times, axis=0), repeated)
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-7)
    assert (model.alpha_ <= 2.0 * weight).all()
    assert set(model.role_[weight == 0]) <= {""}


def test_a_class_without_weight_is_absent():
    X, y = IRIS
    model = SVC().fit(X, y, sample_weight=(y != 1).astype(float))
    only = SVC().fit(X[y != 1], y[y != 1])
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(model.decision_function(X), only.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    with pytest.raises(ValueError, match="one class with a weight"):
        SVC().fit(X, y, sample_weight=(y == 1).astype(float))


# What holds the rows


@settings(max_examples=25)
@given(st.data())
def test_forms_of_the_same_rows(data):
    X, y = two_classes(25)
    form = data.draw(in_some_form(X))
    for kernel in ("rbf", "linear"):
        found, expected = SVC(kernel=kernel).fit(form, y), SVC(kernel=kernel).fit(X, y)
        np.testing.assert_allclose(found.decision_function(form), expected.decision_function(X), atol=1e-8)


def test_frames_and_files_with_labels_in_a_column(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = two_classes()
    frame = pd.DataFrame(X, columns=["p", "q", "r"]).assign(kind=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = SVC().fit(X, y)
    for source in (frame, tmp_path / "rows.parquet"):
        model = SVC().fit(source, "kind")
        np.testing.assert_allclose(model.alpha_, expected.alpha_, atol=1e-9)
        assert model.feature_names_in_.tolist() == ["p", "q", "r"]
        np.testing.assert_array_equal(model.predict(frame[["p", "q", "r"]]), expected.predict(X))


def test_a_series_of_strings_with_an_index_of_its_own():
    pd = pytest.importorskip("pandas")
    words = ["banana", "ananas", "kiwi", "wiki"]
    model = SVC(kernel=Spectrum(n=2)).fit(pd.Series(words, index=[7, 3, 9, 1]), [0, 0, 1, 1])
    np.testing.assert_array_equal(
        model.decision_function(pd.Series(words, index=[4, 5, 6, 7])),
        SVC(kernel=Spectrum(n=2)).fit(words, [0, 0, 1, 1]).decision_function(words),
    )


def test_sparse_rows_stay_sparse():
    X, y = two_classes()
    model = SVC(kernel="linear").fit(scipy.sparse.csr_array(X), y)
    assert scipy.sparse.issparse(model.support_vectors_)
    np.testing.assert_allclose(model.coef_, SVC(kernel="linear").fit(X, y).coef_, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_float32_stays(kernel):
    X, y = two_classes()
    narrow, wide = SVC(kernel=kernel).fit(X.astype(np.float32), y), SVC(kernel=kernel).fit(X, y)
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert narrow.support_vectors_.dtype == np.float32
    np.testing.assert_allclose(narrow.decision_function(X), wide.decision_function(X), atol=1e-5)


def test_rows_far_from_the_origin():
    X, y = two_classes()
    near, far = SVC(kernel="linear").fit(X, y), SVC(kernel="linear").fit(X + 1e7, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    np.testing.assert_allclose(far.slack_, near.slack_, atol=1e-6)


# Warm starts


def test_steps_along_C_begin_where_the_last_ended():
    X, y = CANCER
    model = SVC(C=1.0, warm_start=True).fit(X, y)
    cold = SVC(C=1.1).fit(X, y)
    warm = model.set_params(C=1.1).fit(X, y)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-7)
    other = model.fit(X[:50], y[:50])  # of another shape: from the beginning
    np.testing.assert_array_equal(other.alpha_, SVC(C=1.1).fit(X[:50], y[:50]).alpha_)


# Bad input


@pytest.mark.parametrize("C", [0, -1.0, float("nan")])
def test_C_must_be_above_zero(C):
    with pytest.raises(ValueError, match="C must be a number above 0"):
        SVC(C=C).fit(*IRIS)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"kernel": "rfb"}, "Did you mean"),
        ({"gamma": "wide"}, "gamma must be"),
        ({"gamma": -1.0}, "gamma"),
        ({"tol": 0.0}, "tol must be a number above 0"),
        ({"max_iter": -2}, "max_iter"),
        ({"decision_function_shape": "ovx"}, "decision_function_shape must be one of"),
        ({"class_weight": {7: 1.0}}, "names the class 7"),
    ],
)
def test_parameters_are_checked(params, match):
    with pytest.raises(ValueError, match=match):
        SVC(**params).fit(*IRIS)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes, but y has one"):
        SVC().fit(IRIS[0], np.zeros(150))


def test_nan_is_located():
    X = IRIS[0].copy()
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in row 7, column 2"):
        SVC().fit(X, IRIS[1])
    for kernel in ("linear", "rbf"):
        with pytest.raises(ValueError, match="NaN in row 7, column 2"):
            SVC(kernel=kernel).fit(*IRIS).predict(X)


def test_nan_from_a_function_is_located():
    def broken(A, B):
        K = A @ B.T
        K[2, 3] = np.nan
        return K

    with pytest.raises(ValueError, match="returned nan for rows 2 and 3"):
        SVC(kernel=broken).fit(*IRIS)


def test_a_matrix_that_is_no_gram_matrix_is_refused():
    y = [0, 0, 1]
    with pytest.raises(ValueError, match="square"):
        SVC(kernel="precomputed").fit(np.ones((3, 2)), y)
    with pytest.raises(ValueError, match="symmetric, but the value of rows 0 and 1"):
        SVC(kernel="precomputed").fit([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], y)
    with pytest.raises(TypeError, match="must be dense"):
        SVC(kernel="precomputed").fit(scipy.sparse.eye_array(3).tocsr(), y)


def test_a_hard_margin_that_is_impossible_says_where_the_classes_meet():
    X = [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [5.0, 1.0]]
    with pytest.raises(
        ValueError, match=r"mean of rows 0, 1 of the one is equal to a mean of row 2 of the other"
    ):
        SVC(C=np.inf, kernel="linear").fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="dual problem is unbounded"):
        SVC(C=np.inf, kernel="rbf").fit([[0.0], [0.0], [1.0]], [0, 1, 1])


def test_an_early_end_is_warned_of():
    X, y = CANCER
    with pytest.warns(
        ConvergenceWarning, match="ended after 5 steps, with the optimality conditions violated"
    ):
        model = SVC(max_iter=5).fit(X, y)
    assert model.fit_status_ == 1
    assert model.kkt_violation_ > 1e-3
    assert model.dual_gap_ > 0


def test_equal_rows_of_both_classes_and_constant_features():
    X = np.array([[1.0, 7.0]] * 4 + [[2.0, 7.0]] * 4)
    model = SVC().fit(X, [0, 0, 0, 1, 1, 1, 1, 0])
    assert model.predict([[1.0, 7.0], [2.0, 7.0]]).tolist() == [0, 1]
    everywhere = SVC().fit(np.ones((6, 2)), [0, 1] * 3)
    assert everywhere.margin_ == np.inf
    assert everywhere.fit_status_ == 0


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = SVC().fit(*IRIS)
    before = model.predict(IRIS[0])
    with pytest.raises(ValueError, match="two classes"):
        model.fit(IRIS[0], np.zeros(150))
    np.testing.assert_array_equal(model.predict(IRIS[0]), before)


def test_a_hard_margin_with_rows_that_do_not_count():
    X, y = [[0.0], [1.0], [0.4], [2.0], [3.0]], [0, 0, 1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(C=np.inf, kernel="linear").fit(X, y, sample_weight=[1, 1, 0, 1, 1])
    assert (model.threshold_ / model.weights_[0], model.margin_) == pytest.approx((1.5, 0.5))
    assert model.role_.tolist() == ["outside", "on margin", "", "on margin", "outside"]
