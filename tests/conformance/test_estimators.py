"""Every public estimator keeps scikit-learn's contract, and replaces its namesake by a change of import.

Estimators and their variants are found, not listed: a new public name is tested from its first day.
"""

import inspect
import io
import pickle
from functools import partial

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_clusterer, is_regressor
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators as all_of_sklearn, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

import bisector

# (estimator or one variant of it, check) → why scikit-learn's check does not apply. One table; empty is best.
_NO_NEIGHBOURS = (
    "a query without neighbours within the default radius is warned of or refused, as in scikit-learn"
)
_NOT_UNIQUE = (
    "the check leaves fewer rows than features, where the best plane is not unique, which is warned of"
)
_THROUGH_ORIGIN = "planes through the origin cannot give every row to one class; scikit-learn's fail too"
_ORDER_MATTERS = "a perceptron sees rows one after the other: a weight is the row repeated in its own place"
_DRAWN_START = "the start is drawn among the rows, and the check changes their number and order"
_LIGHT_CLASS = "the best weights seen also get rows of the light class right"
_ONE_OF_MANY = (
    "a linear programme may have many solutions, and the order of the rows decides which corner is met"
)
EXPECTED_FAILURES: dict[tuple[str, str], str] = {
    **{
        ("SimilarityClassifier", f"check_sample_weight_equivalence_on_{kind}_data"): _ONE_OF_MANY
        for kind in ("dense", "sparse")
    },
    **{
        (name, f"check_sample_weight_equivalence_on_{kind}_data"): _DRAWN_START
        for name in ("KExemplars", "KMeans", "KernelKMeans", "GaussianMixtureRegressor", "MixtureClassifier")
        for kind in ("dense", "sparse")
    },
    **{
        (name, f"check_sample_weight_equivalence_on_{kind}_data"): _ORDER_MATTERS
        for name in (
            "Perceptron",
            "KernelPerceptron",
            "PerceptronRegressor()",
            "PerceptronRegressor(fit_intercept=False)",
        )
        for kind in ("dense", "sparse")
    },
    **{
        (variant, "check_class_weight_classifiers"): _LIGHT_CLASS
        for variant in (
            "Perceptron(fit_intercept=False)",
            "Perceptron(early_stopping=True)",
            "KernelPerceptron(bias=False)",
        )
    },
    (
        "Ridge",
        "check_non_transformer_estimators_n_iter",
    ): "n_iter_ is None unless the method iterates, as in scikit-learn",
    ("LogisticRegression(fit_intercept=False)", "check_class_weight_classifiers"): _THROUGH_ORIGIN,
    ("LinearSVC(fit_intercept=False)", "check_class_weight_classifiers"): _THROUGH_ORIGIN,
    ("TotalLeastSquares", "check_sample_weight_equivalence_on_dense_data"): _NOT_UNIQUE,
    ("TotalLeastSquares", "check_sample_weight_equivalence_on_sparse_data"): _NOT_UNIQUE,
    ("RadiusNeighborsClassifier", "check_sample_weight_equivalence_on_dense_data"): _NO_NEIGHBOURS,
    ("RadiusNeighborsClassifier", "check_sample_weight_equivalence_on_sparse_data"): _NO_NEIGHBOURS,
    ("RadiusNeighborsRegressor", "check_sample_weight_equivalence_on_dense_data"): _NO_NEIGHBOURS,
    ("RadiusNeighborsRegressor", "check_sample_weight_equivalence_on_sparse_data"): _NO_NEIGHBOURS,
    (
        "VoronoiCondenser",
        "check_dtype_object",
    ): "ten features span more dimensions than a Voronoi diagram can be had for",
}

# Parameters that suit the data of this file, where a default cannot.
SUITED = {name: {"radius": 9.0} for name in ("RadiusNeighborsClassifier", "RadiusNeighborsRegressor")}
SUITED |= {name: {"random_state": 0} for name in ("KMeans", "RBFNetworkClassifier", "RBFNetworkRegressor")}
SUITED["HistogramDensity"] = {"bins": 3}  # by rule, more rows have more and smaller cells

# Those that take rows; calibrators take one score a row, and are tested beside their code.
ESTIMATORS = {
    name: kind for name, kind in bisector.all_estimators() if get_tags(kind()).input_tags.two_d_array
}
THEIRS = dict(all_of_sklearn())
NAMESAKES = sorted(ESTIMATORS.keys() & THEIRS.keys())


def switches(kind):
    """The constructor's parameters that are true or false, each turned over."""
    parameters = inspect.signature(kind).parameters.values()
    return [{p.name: not p.default} for p in parameters if isinstance(p.default, bool)]


def variants():
    """An estimator as it comes, and once for every switch it has."""
    return [kind(**changed) for kind in ESTIMATORS.values() for changed in [{}, *switches(kind)]]


def expected_failures(estimator):
    names = type(estimator).__name__, repr(estimator)
    return {check: why for (ours, check), why in EXPECTED_FAILURES.items() if ours in names}


# Checks with four different rows ask for the default number of clusters.
@pytest.mark.filterwarnings("ignore:Only . of . clusters have rows")
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@parametrize_with_checks(variants(), expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_expected_failures_name_estimators_and_give_reasons():
    assert {name.partition("(")[0] for name, _ in EXPECTED_FAILURES} <= ESTIMATORS.keys()
    assert all(len(why.split()) > 3 for why in EXPECTED_FAILURES.values())


# Beside scikit-learn's own


@pytest.fixture(params=NAMESAKES)
def name(request):
    return request.param


def test_linear_regression_has_a_namesake():
    assert "LinearRegression" in NAMESAKES


def test_constructor_takes_what_the_namesake_takes(name):
    ours = inspect.signature(ESTIMATORS[name]).parameters
    for parameter in inspect.signature(THEIRS[name]).parameters.values():
        assert parameter.name in ours
        same = ours[parameter.name]
        assert (same.default, same.kind) == (parameter.default, parameter.kind), parameter.name
    theirs = inspect.signature(THEIRS[name]).parameters
    added = [parameter for parameter in ours.values() if parameter.name not in theirs]
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in added)


def test_public_methods_of_the_namesake_exist_with_their_arguments(name):
    for method, function in inspect.getmembers(THEIRS[name], inspect.isfunction):
        if method.startswith("_"):
            continue
        ours = list(inspect.signature(getattr(ESTIMATORS[name], method)).parameters)
        theirs = list(inspect.signature(function).parameters)
        assert ours[: len(theirs)] == theirs, method


def test_fitted_attributes_of_the_namesake_exist_with_shape_and_dtype(name, data):
    ours, theirs = ESTIMATORS[name]().fit(*data), THEIRS[name]().fit(*data)
    for attribute, value in vars(theirs).items():
        if attribute.endswith("_") and not attribute.startswith("_"):
            assert np.shape(getattr(ours, attribute)) == np.shape(value), attribute
            assert np.asarray(getattr(ours, attribute)).dtype == np.asarray(value).dtype, attribute


# Namesakes that stop before they are exact: how to make them more so, and how closely they can be met then.
_TIGHT = {"tol": 1e-13, "max_iter": 100_000}
INEXACT = {
    "SVR": ({"tol": 1e-8}, 1e-5),  # holds kernel values in single precision
    "ElasticNet": (_TIGHT, 1e-6),
    "ElasticNetCV": (_TIGHT, 1e-6),
    "Lasso": (_TIGHT, 1e-6),
    "LassoCV": (_TIGHT, 1e-6),
}
# Namesakes that solve another problem unless they are told not to.
TOLD = {"LinearSVC": {"intercept_scaling": 1e4}}  # else its intercept is penalised too


def test_predictions_of_the_namesake(name, data):
    X, y = data
    if not hasattr(ESTIMATORS[name], "predict"):
        pytest.skip(f"{name} predicts nothing")
    if not hasattr(THEIRS[name], "predict"):
        pytest.skip(f"the namesake of {name} predicts nothing")
    if name == "Perceptron":
        pytest.skip("no plane separates these data, and where a perceptron then stops is chance")
    if is_clusterer(ESTIMATORS[name]()):
        pytest.skip("the numbers of clusters are chance; what they are is tested beside their code")
    tight, rtol = INEXACT.get(name, ({}, 1e-9))
    ours, theirs = ESTIMATORS[name](**tight).fit(X, y), THEIRS[name](**tight, **TOLD.get(name, {})).fit(X, y)
    if is_classifier(ours):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    else:
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=rtol)


# Life among scikit-learn's tools


@pytest.fixture(params=sorted(ESTIMATORS))
def any_kind(request):
    return partial(ESTIMATORS[request.param], **SUITED.get(request.param, {}))


@pytest.fixture
def kind(any_kind):
    """An estimator that predicts."""
    if not hasattr(any_kind(), "predict"):
        pytest.skip(f"{type(any_kind()).__name__} predicts nothing")
    return any_kind


@pytest.fixture
def scored(kind):
    """An estimator that says how well it predicts."""
    if not hasattr(kind(), "score"):
        pytest.skip(f"{type(kind()).__name__} has no score")
    return kind


@pytest.fixture
def data(request):
    """Sixty rows of four features, with targets as the estimator under test wants them."""
    if "any_kind" in request.fixturenames:
        return make_data(request.getfixturevalue("any_kind")())
    return make_data(ESTIMATORS[request.getfixturevalue("name")]())


def make_data(estimator, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + [0.0, 1.0, 2.0, 30.0]
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=60)
    if is_classifier(estimator) or hasattr(estimator, "fit_resample"):
        y = np.where(y > np.median(y), "yes", "no")
    return X.astype(dtype), y.astype(dtype) if is_regressor(estimator) else y


def test_pipeline_scores_as_the_steps_do(kind, data):
    X, y = data
    piped = make_pipeline(StandardScaler(), kind()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(piped.predict(X), kind().fit(scaled, y).predict(scaled))


def test_grid_search_over_every_switch(scored, data):
    kind = scored
    grid = [{name: [value, not value] for name, value in one.items()} for one in switches(kind)]
    if not grid:
        pytest.skip(f"{type(kind()).__name__} has no switches")
    search = GridSearchCV(kind(), grid, cv=3, error_score="raise").fit(*data)
    assert len(search.cv_results_["mean_test_score"]) == 2 * len(grid)
    assert np.isfinite(search.best_score_)


def test_cross_validation_fits_and_scores_each_fold(scored, data):
    kind = scored
    X, y = data
    folds = KFold(5)
    scores = cross_val_score(kind(), X, y, cv=folds, error_score="raise")
    by_hand = [kind().fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X)]
    np.testing.assert_array_equal(scores, by_hand)


def test_cross_validation_in_processes_gives_the_same_bits(scored, data):
    kind = scored
    here, there = (cross_val_score(kind(), *data, cv=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(here, there)


def test_clone_copies_parameters_and_nothing_learned(kind, data):
    for changed in switches(kind):
        fitted = kind(**changed).fit(*data)
        copied = clone(fitted)
        assert copied.get_params() == fitted.get_params()
        assert vars(copied).keys() == fitted.get_params(deep=False).keys()


def by_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model, folder):
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


@pytest.mark.parametrize("through", [by_pickle, by_joblib])
def test_a_model_comes_back_from_a_file(kind, data, through, tmp_path):
    X, y = data
    model = kind().fit(X, y)
    back = through(model, tmp_path)
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.get_params() == model.get_params()
    back.fit(X, y)  # and learns again


def test_a_model_file_does_not_grow_with_the_training_data(any_kind, data):
    X, y = data
    few, many = io.BytesIO(), io.BytesIO()
    pickle.dump(any_kind().fit(X, y), few)
    model = any_kind().fit(np.tile(X, (50, 1)), np.tile(y, 50))
    pickle.dump(model, many)
    # What remembers its rows has to: as they came, arranged for searching or for a kernel, their targets, labels.
    kept = getattr(model, "best_estimator_", model)
    memories = ("index_", "X_fit_", "support_vectors_", "fit_resample", "labels_")
    remembers = any(hasattr(kept, name) for name in memories)
    assert many.tell() < few.tell() + (1000 if not remembers else 4 * 50 * X.nbytes)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_column_names_are_kept_and_checked(kind, data, library):
    frames = pytest.importorskip(library)
    X, y = data
    columns = {name: X[:, j] for j, name in enumerate(["age", "bmi", "sex", "bp"])}
    frame = frames.DataFrame(columns)
    model = kind().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(columns)
    assert model.feature_names_in_.dtype == object
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.predict(frame), kind().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="same order"):
        model.predict(frames.DataFrame({name: columns[name] for name in ["bmi", "age", "sex", "bp"]}))
    with pytest.raises(ValueError, match="weight"):
        model.predict(
            frames.DataFrame({"weight": X[:, 0]} | {name: columns[name] for name in list(columns)[1:]})
        )
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        kind().fit(X, y).predict(frame)


def test_float32_stays_float32(kind):
    X, y = make_data(kind(), np.float32)
    narrow, wide = kind().fit(X, y), kind().fit(X.astype(np.float64), y)
    if hasattr(narrow, "coef_"):
        assert (narrow.coef_.dtype, wide.coef_.dtype) == (np.float32, np.float64)
        # The same problem solved in float64 and then rounded: sums in float32 would lose two more digits.
        np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=2e-7)
    labels = (
        y if is_classifier(narrow) else wide.predict(X)
    )  # else components, clusters or verdicts are numbered
    assert narrow.predict(X).dtype == (np.float32 if is_regressor(narrow) else labels.dtype)


# Metadata routing


@pytest.fixture
def weighted(kind):
    if not has_fit_parameter(kind(), "sample_weight"):
        pytest.skip(f"{type(kind()).__name__} takes no weights")
    return kind


def test_weights_are_routed_when_asked_for(weighted, data):
    X, y = data
    weights = np.random.default_rng(1).integers(0, 4, size=len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(
            weighted().set_fit_request(sample_weight=True).set_score_request(sample_weight=False),
            X, y, cv=KFold(4), params={"sample_weight": weights}, error_score="raise",
        )  # fmt: skip
    by_hand = [
        weighted().fit(X[a], y[a], sample_weight=weights[a]).score(X[b], y[b]) for a, b in KFold(4).split(X)
    ]
    np.testing.assert_array_equal(routed["test_score"], by_hand)


def test_weights_nobody_asked_for_are_refused(weighted, data):
    X, y = data
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="not explicitly set as requested or not requested"),
    ):
        cross_validate(weighted(), X, y, params={"sample_weight": np.ones(len(y))}, error_score="raise")
