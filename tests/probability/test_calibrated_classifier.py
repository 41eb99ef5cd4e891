"""Calibrated classifiers: probabilities that predictions follow."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from bisector.probability import CalibratedClassifier, HullCalibrator, LogisticCalibrator

METHODS = ("sigmoid", "geometric", "isotonic", "hull")


def standardised(data):
    X, y = data
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module")
def cancer():
    return standardised(load_breast_cancer(return_X_y=True))


@pytest.fixture(scope="module")
def iris():
    return standardised(load_iris(return_X_y=True))


@pytest.fixture(params=["two classes", "three classes"])
def data(request, cancer, iris):
    return cancer if request.param == "two classes" else iris


class OffBoundary(ClassifierMixin, BaseEstimator):
    """Scores the first feature, moved so that its own decision is nearly always positive."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0] + 10.0

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


# What is promised


@given(
    st.sampled_from(METHODS),
    st.booleans(),
    st.integers(2, 4),
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=40)
def test_predictions_follow_probabilities_on_every_row(method, ensemble, n_classes, seed, dtype):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c", "d"])[np.arange(60) % n_classes]
    X = (np.round(rng.normal(size=(60, 2)), 1) + (np.arange(60) % n_classes)[:, None]).astype(dtype)
    model = CalibratedClassifier(RidgeClassifier(), method=method, ensemble=ensemble).fit(X, y)
    queries = (4 * rng.normal(size=(200, 2))).astype(dtype)
    p = model.predict_proba(queries)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(queries))
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6 if dtype == np.float32 else 1e-14)


def test_predictions_follow_a_boundary_that_moved():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 1)) + 3 * (y[:, None] - 0.5)
    model = CalibratedClassifier(OffBoundary()).fit(X, y)
    assert (OffBoundary().fit(X, y).predict(X) == 1).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("method", ["sigmoid", "geometric"])
def test_sigmoids_of_one_estimator_keep_the_area_under_the_curve(cancer, method):
    X, y = cancer
    base = LinearSVC(C=1e-3).fit(X, y)
    model = CalibratedClassifier(base, method=method, cv="prefit").fit(X, y)
    scores, p = base.decision_function(X), model.predict_proba(X)[:, 1]
    assert roc_auc_score(y, p) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_change_nothing(data, n_jobs):
    expected = CalibratedClassifier(n_jobs=None).fit(*data).predict_proba(data[0])
    np.testing.assert_array_equal(
        CalibratedClassifier(n_jobs=n_jobs).fit(*data).predict_proba(data[0]), expected
    )


# Oracle


@pytest.mark.parametrize("ensemble", [True, False, "auto"])
@pytest.mark.parametrize("base", [LinearSVC(random_state=0), KNeighborsClassifier()])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_equals_scikit_learn(data, base, ensemble, method):
    X, y = data
    ours = CalibratedClassifier(base, method=method, ensemble=ensemble).fit(X, y)
    theirs = CalibratedClassifierCV(base, method=method, ensemble=ensemble).fit(X, y)
    # Their sigmoids end earlier; the rest is rounding.
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_)


@pytest.mark.parametrize("ensemble", [True, False])
def test_weighted_equals_scikit_learn(cancer, ensemble):
    X, y = cancer
    weight = np.random.default_rng(0).random(len(y))
    ours = CalibratedClassifier(RidgeClassifier(), ensemble=ensemble).fit(X, y, weight)
    theirs = CalibratedClassifierCV(RidgeClassifier(), ensemble=ensemble).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


# Estimators fitted before


@pytest.mark.parametrize("method", METHODS)
def test_prefit_and_frozen_are_the_same(data, method):
    X, y = data
    base = LinearSVC(random_state=0).fit(X[::2], y[::2])
    coef = base.coef_.copy()
    named = CalibratedClassifier(base, method=method, cv="prefit").fit(X[1::2], y[1::2])
    frozen = CalibratedClassifier(FrozenEstimator(base), method=method).fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(named.predict_proba(X), frozen.predict_proba(X))
    np.testing.assert_array_equal(base.coef_, coef)
    assert len(named.calibrated_classifiers_) == 1
    assert named.calibrated_classifiers_[0].estimator is base


def test_prefit_wants_a_fitted_estimator(iris):
    with pytest.raises(NotFittedError):
        CalibratedClassifier(LinearSVC(), cv="prefit").fit(*iris)


def test_prefit_wants_rows_of_every_class(iris):
    X, y = iris
    base = LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match="knows the class 2, of which y has no row"):
        CalibratedClassifier(base, cv="prefit").fit(X[:100], y[:100])


def test_a_frozen_estimator_can_have_an_ensemble_of_calibrators(iris):
    X, y = iris
    model = CalibratedClassifier(FrozenEstimator(LinearSVC().fit(X, y)), ensemble=True).fit(X, y)
    assert len(model.calibrated_classifiers_) == 5


# Methods


def test_a_calibrator_with_its_own_parameters(cancer):
    X, y = cancer
    given_one = LogisticCalibrator("geometric", class_ratio=1.0)
    model = CalibratedClassifier(method=given_one).fit(X, y)
    assert not hasattr(given_one, "gamma_")
    assert model.calibrated_classifiers_[0].calibrators[0].class_ratio_ == 1
    assert CalibratedClassifier(method=given_one).set_params(method__class_ratio=2).method.class_ratio == 2


def test_calibrators_can_be_looked_at(iris):
    model = CalibratedClassifier(method="hull", ensemble=False).fit(*iris)
    (pair,) = model.calibrated_classifiers_
    assert all(isinstance(calibrator, HullCalibrator) for calibrator in pair.calibrators)
    assert len(pair.calibrators) == 3
    assert "probability" in str(pair.calibrators[0].plateaus())


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"method": "platt"}, ValueError, "There is no calibration named 'platt'"),
        ({"method": GaussianNB()}, TypeError, "method must be a name or a calibrator"),
        ({"cv": "fitted"}, ValueError, "cv must be one of 'prefit'"),
        ({"cv": 200}, ValueError, "too few for 200 folds"),
        ({"ensemble": "yes"}, ValueError, "ensemble must be True or False"),
    ],
)
def test_bad_parameters_are_named(iris, parameters, error, message):
    with pytest.raises(error, match=message):
        CalibratedClassifier(**parameters).fit(*iris)


# Folds


def test_few_rows_make_fewer_folds():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(CalibratedClassifier().fit(X, y).calibrated_classifiers_) == 3


def test_one_row_of_a_class_is_too_few():
    with pytest.raises(ValueError, match=r"only 1 sample\(s\), too few for 2 folds"):
        CalibratedClassifier().fit(np.arange(5.0)[:, None], [0, 0, 0, 0, 1])


def test_folds_without_a_class_are_named(iris):
    X, y = iris  # sorted by class
    with pytest.raises(ValueError, match="no row of the class"):
        CalibratedClassifier(cv=KFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="no row of the class 0 to train on"):
        CalibratedClassifier(cv=KFold(3), ensemble=False).fit(X, y)


def test_an_estimator_that_did_not_meet_a_class_gives_it_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 3
    known, test = np.flatnonzero(y < 2)[:40], np.arange(90)
    model = CalibratedClassifier(cv=[(known, test), (test, test)]).fit(X, y)
    first = model.calibrated_classifiers_[0].predict_proba(X)
    assert first.shape == (90, 3)
    assert (first[:, 2] == 0).all()
    assert (model.predict_proba(X)[:, 2] > 0).all()


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3, shuffle=True, random_state=0), "rows"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_ways_to_divide_rows(iris, cv, ensemble):
    X, y = iris
    cv = list(StratifiedKFold(3).split(X, y)) if cv == "rows" else cv
    model = CalibratedClassifier(cv=cv, ensemble=ensemble).fit(X, y)
    assert len(model.calibrated_classifiers_) == (3 if ensemble else 1)
    assert model.score(X, y) > 0.75


# Weights


def test_a_row_without_weight_is_absent(data):
    X, y = data
    weight = (np.arange(len(y)) % 5 > 0).astype(float)
    kept = weight > 0
    without = CalibratedClassifier(method="hull").fit(X[kept], y[kept]).predict_proba(X)
    np.testing.assert_allclose(
        CalibratedClassifier(method="hull").fit(X, y, weight).predict_proba(X), without, atol=1e-9
    )


def test_a_class_without_weight_is_absent(iris):
    X, y = iris
    model = CalibratedClassifier().fit(X, y, (y > 0).astype(float))
    assert model.classes_.tolist() == [1, 2]


def test_an_estimator_without_weights_is_warned_of(iris):
    X, y = iris
    with pytest.warns(UserWarning, match="KNeighborsClassifier.fit takes no sample_weight"):
        CalibratedClassifier(KNeighborsClassifier()).fit(X, y, np.ones(len(y)))


def test_arguments_of_fit_are_divided_along(iris):
    seen = []

    class Listens(RidgeClassifier):
        def fit(self, X, y, sample_weight=None, notes=None, word=None):
            seen.append((len(X), len(notes), word))
            return super().fit(X, y, sample_weight)

    CalibratedClassifier(Listens(), cv=3, n_jobs=1).fit(*iris, notes=list(range(150)), word="yes")
    assert seen == [(100, 100, "yes")] * 3


def test_metadata_are_routed_to_estimator_and_splitter(iris):
    X, y = iris
    groups, weight = np.arange(150) % 5, np.random.default_rng(0).random(150)
    with sklearn.config_context(enable_metadata_routing=True):
        base = RidgeClassifier().set_fit_request(sample_weight=True)
        model = CalibratedClassifier(base, cv=GroupKFold(5)).fit(X, y, sample_weight=weight, groups=groups)
    folds = list(GroupKFold(5).split(X, y, groups))
    by_hand = CalibratedClassifier(RidgeClassifier(), cv=folds).fit(X, y, weight)
    np.testing.assert_array_equal(model.predict_proba(X), by_hand.predict_proba(X))


def test_routing_without_metadata(iris):
    X, y = iris
    expected = CalibratedClassifier().fit(X, y).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(CalibratedClassifier().fit(X, y).predict_proba(X), expected)
        prefit = CalibratedClassifier(RidgeClassifier().fit(X, y), cv="prefit")
        assert prefit.fit(X, y, sample_weight=np.ones(150)).score(X, y) > 0.7


def test_groups_of_rows_without_weight_are_left_out(iris):
    X, y = iris
    groups, weight = np.arange(150) % 5, (np.arange(150) % 7 > 0).astype(float)
    kept = weight > 0
    with sklearn.config_context(enable_metadata_routing=True):
        base = RidgeClassifier().set_fit_request(sample_weight=True)
        model = CalibratedClassifier(base, cv=GroupKFold(5))
        weighted = model.fit(X, y, sample_weight=weight, groups=groups).predict_proba(X)
        without = model.fit(X[kept], y[kept], groups=groups[kept]).predict_proba(X)
    np.testing.assert_allclose(weighted, without, atol=1e-12)


def test_weights_of_rows_for_a_fitted_estimator_need_no_warning(iris):
    X, y = iris
    base = KNeighborsClassifier().fit(X, y)
    for model in (
        CalibratedClassifier(base, cv="prefit"),
        CalibratedClassifier(FrozenEstimator(base)),
        CalibratedClassifier(FrozenEstimator(KNeighborsClassifier(15).fit(X, y)), ensemble=True),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.fit(X, y, np.ones(150)).score(X, y) > 0.9


# What goes in


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_sparse_rows(data, container):
    X, y = data
    dense = CalibratedClassifier(LinearSVC(random_state=0)).fit(X, y).predict_proba(X)
    sparse = CalibratedClassifier(LinearSVC(random_state=0)).fit(container(X), y).predict_proba(container(X))
    np.testing.assert_allclose(sparse, dense, atol=1e-4)  # to the tolerance of the estimator


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(iris, library):
    frames = pytest.importorskip(library)
    X, y = iris
    frame = frames.DataFrame({f"x{j}": X[:, j] for j in range(4)})
    model = CalibratedClassifier().fit(frame, frames.Series(y))
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    # The estimator sums columns in another order.
    np.testing.assert_allclose(
        model.predict_proba(frame), CalibratedClassifier().fit(X, y).predict_proba(X), rtol=1e-12
    )


def test_rows_that_only_the_estimator_understands():
    texts = ["good day", "bad day", "good film", "bad film", "good book", "bad book"] * 5
    labels = ["up", "down"] * 15
    model = CalibratedClassifier(make_pipeline(CountVectorizer(), MultinomialNB())).fit(texts, labels)
    assert model.predict(["good", "bad"]).tolist() == ["up", "down"]
    assert not hasattr(model, "n_features_in_")


def test_float32_rows_give_float32_probabilities(data):
    X, y = data
    narrow = CalibratedClassifier().fit(X.astype(np.float32), y).predict_proba(X.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, CalibratedClassifier().fit(X, y).predict_proba(X), atol=1e-4)


def test_scores_of_pairs_of_classes_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 4
    with pytest.raises(ValueError, match="6 scores a row for 4 classes"):
        CalibratedClassifier(SVC(decision_function_shape="ovo")).fit(X, y)


def test_no_scores_to_calibrate(iris):
    class Mute(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        CalibratedClassifier(Mute()).fit(*iris)


@pytest.mark.parametrize(
    ("y", "message"), [([1] * 10, "one class"), ([0.5] * 5 + [1.5] * 5, "Unknown label type"), (None, "y is None")]
)  # fmt: skip
def test_bad_labels_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        CalibratedClassifier().fit(np.arange(10.0)[:, None], y)


def test_a_matrix_of_pairs_has_no_folds(iris):
    X, y = iris
    with pytest.raises(ValueError, match="matrix of all pairs"):
        CalibratedClassifier(SVC(kernel="precomputed")).fit(X @ X.T, y)
    half = slice(None, None, 2)
    base = SVC(kernel="precomputed").fit(X[half] @ X[half].T, y[half])
    model = CalibratedClassifier(base, cv="prefit").fit(X[1::2] @ X[half].T, y[1::2])
    assert model.score(X[1::2] @ X[half].T, y[1::2]) > 0.9
