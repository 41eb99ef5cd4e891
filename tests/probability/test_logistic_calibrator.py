"""Logistic calibration, from geometry and by likelihood."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from tests.probability.scored import normal_scores

from bisector.probability import LogisticCalibrator

# By hand


def test_six_scores():
    """Means −1 and 1, variance 2/3: γ = 3."""
    model = LogisticCalibrator().fit([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0], [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(model.means_, [-1, 1])
    assert model.variance_ == pytest.approx(2 / 3)
    assert model.gamma_ == pytest.approx(3)
    assert (model.d0_, model.class_ratio_) == (0, 1)
    np.testing.assert_allclose(model.predict([-1.0, 0.0, 2.0]), expit([-3.0, 0.0, 6.0]))


def test_the_ratio_of_classes_moves_the_threshold():
    """p = LR/(LR + 1/clr): at d0 the likelihood ratio is one, and p is the share of positives."""
    scores, y = [-1.5, -0.5, -1.0, 0.5, 1.5], [0, 0, 0, 1, 1]
    for ratio, expected in [("data", 0.4), (1, 0.5), (4.0, 0.8)]:
        model = LogisticCalibrator(class_ratio=ratio).fit(scores, y)
        assert model.predict([model.d0_])[0] == pytest.approx(expected)


def test_log_odds_are_a_line():
    scores, y = normal_scores(100, share=0.3)
    for method in ("geometric", "likelihood"):
        model = LogisticCalibrator(method).fit(scores, y)
        z = model.log_odds(scores)
        np.testing.assert_allclose(z, logit(model.predict(scores)), atol=1e-9)
        line = model.gamma_ * (scores - model.d0_) + np.log(model.class_ratio_)
        np.testing.assert_allclose(z, line, atol=1e-12)


def test_log_odds_tell_apart_what_rounds_to_one():
    model = LogisticCalibrator().fit([-1.1, -0.9, 0.9, 1.1], [0, 0, 1, 1])
    p, z = model.predict([1.0, 1.1]), model.log_odds([1.0, 1.1])
    assert p[0] == p[1] == 1
    assert z[0] < z[1]
    assert (model.predict_proba([1.0])[:, 0] > 0).all()  # the small probability keeps its digits


# Oracles


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator")
@pytest.mark.parametrize("weighted", [False, True])
def test_likelihood_equals_scikit_learns_sigmoid(weighted):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, size=120)
    X[:, 0] += y
    weight = rng.random(120) if weighted else None
    base = RidgeClassifier().fit(X, y)
    theirs = CalibratedClassifierCV(FrozenEstimator(base)).fit(X, y, sample_weight=weight)
    ours = LogisticCalibrator("likelihood").fit(base.decision_function(X), y, weight)
    # Their iteration ends earlier.
    np.testing.assert_allclose(
        ours.predict(base.decision_function(X)), theirs.predict_proba(X)[:, 1], atol=1e-7
    )


def test_without_smoothing_mean_probability_is_the_share_of_positives():
    scores, y = normal_scores(200, share=0.3)
    p = LogisticCalibrator("likelihood", smoothing=False).fit(scores, y).predict(scores)
    assert p.mean() == pytest.approx(y.mean(), rel=1e-10)


def test_both_methods_agree_on_data_of_the_model():
    scores, y = normal_scores(100_000, share=0.3)
    one, two = (LogisticCalibrator(method).fit(scores, y) for method in ("geometric", "likelihood"))
    # The standard error of a slope from a hundred thousand rows is about 0.015.
    assert one.gamma_ == pytest.approx(two.gamma_, abs=0.05)
    assert one.d0_ == pytest.approx(two.d0_, abs=0.05)


def test_likelihood_is_larger_than_that_of_the_closed_form():
    scores, y = normal_scores(300, share=0.3)
    scores = scores**3  # no longer normal
    losses = [
        -np.log(np.where(y == 1, p, 1 - p)).mean()
        for p in (
            LogisticCalibrator("likelihood", smoothing=False).fit(scores, y).predict(scores),
            LogisticCalibrator("geometric").fit(scores, y).predict(scores),
        )
    ]
    assert losses[0] < losses[1]


@pytest.mark.parametrize("method", ["geometric", "likelihood"])
def test_another_class_ratio_multiplies_the_odds(method):
    scores, y = normal_scores(200, share=0.2)
    own, equal = (LogisticCalibrator(method, class_ratio=ratio).fit(scores, y) for ratio in ("data", 1))
    np.testing.assert_allclose(own.log_odds(scores), equal.log_odds(scores) + np.log(0.25), atol=1e-12)
    assert own.d0_ == equal.d0_
    assert own.gamma_ == equal.gamma_


@pytest.mark.parametrize("method", ["geometric", "likelihood"])
def test_units_and_origin_of_scores_do_not_matter(method):
    scores, y = normal_scores(200, share=0.3)
    p = LogisticCalibrator(method).fit(scores, y).predict(scores)
    moved = 5 * scores + 100
    model = LogisticCalibrator(method).fit(moved, y)
    np.testing.assert_allclose(model.predict(moved), p, rtol=1e-9)


# Edges


def test_scores_that_point_the_other_way():
    scores, y = normal_scores(100)
    forth, back = LogisticCalibrator().fit(scores, y), LogisticCalibrator().fit(-scores, y)
    assert back.gamma_ == pytest.approx(-forth.gamma_)
    np.testing.assert_allclose(back.predict(-scores), forth.predict(scores))


@pytest.mark.parametrize("method", ["geometric", "likelihood"])
def test_constant_scores_give_the_share_of_positives(method):
    model = LogisticCalibrator(method, smoothing=False).fit([2.0, 2.0, 2.0, 2.0], [0, 1, 1, 1])
    assert model.gamma_ == 0
    assert model.d0_ == 2
    np.testing.assert_allclose(model.predict([-5.0, 2.0, 9.0]), 0.75)


def test_scores_that_are_the_labels():
    model = LogisticCalibrator().fit([0.0, 0.0, 1.0, 1.0], [0, 0, 1, 1])
    assert model.gamma_ == np.inf
    np.testing.assert_array_equal(model.predict([0.0, 0.5, 1.0]), [0, 0.5, 1])


def test_separated_scores_by_likelihood():
    scores, y = [0.0, 1.0, 3.0, 4.0], [0, 0, 1, 1]
    smooth, sharp = (LogisticCalibrator("likelihood", smoothing=s).fit(scores, y) for s in (True, False))
    assert 0 < smooth.gamma_ < np.inf
    assert sharp.gamma_ == np.inf
    assert sharp.d0_ == smooth.d0_ == 2
    assert smooth.gap_ < 1e-15


def test_the_closed_form_has_no_gap_to_tell():
    model = LogisticCalibrator().fit([0.0, 1.0], [0, 1])
    assert np.isnan(model.gap_)
    assert model.n_iter_ == 0


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"method": "platt"}, ValueError, "method must be one of 'geometric', 'likelihood'"),
        ({"class_ratio": "even"}, ValueError, "class_ratio must be one of 'data'"),
        ({"class_ratio": 0}, ValueError, "class_ratio must be a number above 0"),
        ({"class_ratio": np.inf}, ValueError, "class_ratio"),
        ({"class_ratio": None}, TypeError, "class_ratio must be a number"),
        ({"smoothing": "yes"}, ValueError, "smoothing must be True or False"),
        ({"method": "likelihood", "n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(parameters, error, message):
    with pytest.raises(error, match=message):
        LogisticCalibrator(**parameters).fit(*normal_scores(40_000))


def test_log_odds_need_a_fit():
    with pytest.raises(NotFittedError):
        LogisticCalibrator().log_odds([0.0])


def test_it_does_not_load_numba():
    code = (
        "import sys; from bisector.probability import LogisticCalibrator;"
        "[LogisticCalibrator(method).fit([0., 1, 2, 3], [0, 1, 0, 1]).predict([1.])"
        " for method in ('geometric', 'likelihood')];"
        "print('numba' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
