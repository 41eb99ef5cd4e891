"""What both calibrators promise."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.probability.scored import awkward_scores, normal_scores

from bisector.probability import HullCalibrator, LogisticCalibrator

EVERY = [
    LogisticCalibrator(),
    LogisticCalibrator("likelihood"),
    LogisticCalibrator("likelihood", smoothing=False),
    HullCalibrator(),
]
every = st.sampled_from(EVERY)


@pytest.fixture(params=EVERY, ids=repr)
def calibrator(request):
    return clone(request.param)


# Properties


@given(every, awkward_scores())
def test_probabilities_are_probabilities_and_keep_an_order(kind, problem):
    scores, y, weight = problem
    model = clone(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = model.fit(scores, y, weight).predict(np.sort(scores))
        both = model.predict_proba(scores)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(both.sum(axis=1), 1, rtol=1e-15)
    steps = np.diff(p)
    falling = getattr(model, "gamma_", 1.0) < 0
    assert (steps <= 1e-15).all() if falling else (steps >= -1e-15).all()


@given(every, awkward_scores())
def test_whole_weights_are_repeated_rows(kind, problem):
    scores, y, weight = problem
    repeats = weight.astype(int)
    weighted = clone(kind).fit(scores, y, weight).predict(scores)
    repeated = clone(kind).fit(np.repeat(scores, repeats), np.repeat(y, repeats)).predict(scores)
    # A variance that is nearly zero turns the rounding of a mean into log-odds.
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-9)


@given(every, awkward_scores(), st.randoms())
def test_the_order_of_rows_does_not_matter(kind, problem, random):
    scores, y, _ = problem
    order = list(range(len(y)))
    random.shuffle(order)
    mixed = clone(kind).fit(scores[order], y[order]).predict(scores)
    np.testing.assert_allclose(mixed, clone(kind).fit(scores, y).predict(scores), rtol=1e-6, atol=1e-9)


def test_threads_change_nothing(calibrator):
    scores, y = normal_scores(40_000)
    one, two = (clone(calibrator).set_params(n_jobs=n).fit(scores, y).predict(scores) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("method", ["geometric", "likelihood"])
def test_sigmoids_keep_the_area_under_the_curve(method):
    scores, y = normal_scores(500, apart=1.5)
    p = LogisticCalibrator(method).fit(scores, y).predict(scores)
    assert roc_auc_score(y, p) == roc_auc_score(y, scores)


def test_the_hull_ties_and_reaches_the_area_of_the_hull():
    scores, y = normal_scores(500, apart=1.5)
    model = HullCalibrator().fit(scores, y)
    p = model.predict(scores)
    assert len(np.unique(p)) < 50
    assert roc_auc_score(y, p) == pytest.approx(model.hull_.auc)
    assert model.hull_.auc > roc_auc_score(y, scores)


def test_on_new_rows_probabilities_come_true(calibrator):
    """Of rows with a probability of about p, a share p is positive."""
    model = calibrator.fit(*normal_scores(20_000, share=0.2))
    scores, y = normal_scores(20_000, share=0.2, seed=1)
    p = model.predict(scores)
    for low, high in [(0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1.01)]:
        inside = (p >= low) & (p < high)
        # Three standard errors of both samples; the smallest bin has over a thousand rows.
        assert abs(p[inside].mean() - y[inside].mean()) < 0.06


# What goes in


def test_labels_of_any_kind(calibrator):
    scores, y = normal_scores(50)
    named = np.where(y == 1, "yes", "no")
    model = clone(calibrator).fit(scores, named)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(scores), calibrator.fit(scores, y).predict(scores))


@pytest.mark.parametrize("form", ["column", "list", "pandas", "polars", "memory map"])
def test_scores_in_any_form(calibrator, form, tmp_path):
    scores, y = normal_scores(50)
    expected = clone(calibrator).fit(scores, y).predict(scores)
    if form == "column":
        held = scores[:, None]
    elif form == "list":
        held = scores.tolist()
    elif form == "memory map":
        np.save(tmp_path / "scores.npy", scores)
        held = np.load(tmp_path / "scores.npy", mmap_mode="r")
    else:
        held = pytest.importorskip(form).Series(scores)
    np.testing.assert_array_equal(calibrator.fit(held, y).predict(held), expected)


def test_float32_scores_give_float32_probabilities(calibrator):
    scores, y = normal_scores(200)
    narrow = scores.astype(np.float32)
    p = clone(calibrator).fit(narrow, y).predict(narrow)
    assert p.dtype == np.float32
    wide = calibrator.fit(narrow.astype(float), y).predict(narrow.astype(float))
    np.testing.assert_array_equal(p, wide.astype(np.float32))


def test_whole_number_scores(calibrator):
    scores, y = [0, 1, 2, 3, 2, 1], [0, 0, 1, 1, 0, 1]
    assert calibrator.fit(scores, y).predict(scores).dtype == np.float64


# Life among scikit-learn's tools


def test_clone_pickle_and_print(calibrator):
    scores, y = normal_scores(50)
    model = calibrator.fit(scores, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict(scores), model.predict(scores))
    assert clone(model).get_params() == model.get_params()
    assert not [name for name in vars(clone(model)) if name.endswith("_")]
    assert repr(model).startswith(type(model).__name__)


def test_transform_is_predict(calibrator):
    scores, y = normal_scores(50)
    p = clone(calibrator).fit_transform(scores, y)
    np.testing.assert_array_equal(p, calibrator.fit(scores, y).predict(scores))


def test_the_score_is_the_brier_score(calibrator):
    scores, y = normal_scores(50)
    weight = np.arange(50.0)
    model = calibrator.fit(scores, y)
    assert model.score(scores, y) == pytest.approx(-brier_score_loss(y, model.predict(scores)))
    expected = -brier_score_loss(y, model.predict(scores), sample_weight=weight)
    assert model.score(scores, y, sample_weight=weight) == pytest.approx(expected)
    assert np.isfinite(model.score(scores[:5], y[:5]))  # rows of one class only
    with pytest.raises(ValueError, match="label 2"):
        model.score([0.0], [2])


def test_cross_validation_and_search(calibrator):
    scores, y = normal_scores(90, apart=1.0)
    assert np.isfinite(cross_val_score(calibrator, scores, y, cv=3, error_score="raise")).all()
    if isinstance(calibrator, LogisticCalibrator):
        grid = {"method": ["geometric", "likelihood"], "class_ratio": ["data", 1]}
        assert np.isfinite(GridSearchCV(calibrator, grid, cv=3).fit(scores, y).best_score_)


# Bad input


@pytest.mark.parametrize(
    ("scores", "y", "weight", "message"),
    [
        ([0.0, 1.0], [1, 1], None, r"y must have rows of two classes, but has one class: \[1\]"),
        ([0.0, 1.0, 2.0], [0, 1, 2], None, "but has 3 classes"),
        ([0.0, np.nan], [0, 1], None, "scores contains NaN"),
        ([0.0, np.inf], [0, 1], None, "scores contains infinity"),
        ([[0.0, 1.0], [1.0, 2.0]], [0, 1], None, "one number for each row"),
        ([0.0, 1.0], [0, 1, 1], None, "inconsistent numbers of samples"),
        ([0.0, 1.0], None, None, "requires y to be passed"),
        ([], [], None, "minimum of 1 is required"),
        ([0.0, 1.0], [0, 1], [1.0, 0.0], "one class"),
        ([0.0, 1.0], [0, 1], [0.0, 0.0], "zero for every row"),
        ([0.0, 1.0], [0, 1], [1.0, -1.0], "negative in row 1"),
    ],
)
def test_bad_input_is_named(calibrator, scores, y, weight, message):
    with pytest.raises(ValueError, match=message):
        calibrator.fit(scores, y, weight)
    assert not hasattr(calibrator, "classes_")


def test_nothing_is_predicted_before_fit(calibrator):
    for method in ("predict", "predict_proba", "transform"):
        with pytest.raises(NotFittedError):
            getattr(calibrator, method)([0.0])


def test_a_failed_fit_leaves_the_model_as_it_was(calibrator):
    scores, y = normal_scores(50)
    before = calibrator.fit(scores, y).predict(scores)
    with pytest.raises(ValueError, match="one class"):
        calibrator.fit(scores, np.ones(50))
    np.testing.assert_array_equal(calibrator.predict(scores), before)
