"""The tables that scikit-learn brings: the same numbers under readable names."""

import numpy as np
import pytest
import sklearn.datasets
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from bisector import datasets


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "linnerud"])
def test_the_numbers_are_those_of_scikit_learn(name):
    options = {"scaled": True} if name == "diabetes" else {}
    ours = datasets.load(name, **options)
    theirs = getattr(sklearn.datasets, f"load_{name}")()
    np.testing.assert_array_equal(ours.X, theirs.data)
    np.testing.assert_array_equal(ours.y, theirs.target)
    assert list(ours.feature_names) == list(theirs.feature_names)
    names = ours.target_names if name == "linnerud" else ours.class_names
    assert list(names) == list(theirs.get("target_names", []))
    assert all(type(word) is str for word in [*ours.feature_names, *names])


def test_diabetes_comes_in_its_own_units_unless_asked():
    raw, scaled = datasets.diabetes(), datasets.diabetes(scaled=True)
    assert raw.X[:, 0].min() >= 19
    assert raw.X[:, 0].max() <= 79
    np.testing.assert_allclose((scaled.X**2).sum(axis=0), 1, rtol=1e-6)
    for j in range(10):
        assert np.corrcoef(raw.X[:, j], scaled.X[:, j])[0, 1] == pytest.approx(1, abs=1e-6)


def test_scikit_learn_keeps_its_arrays():
    ours = datasets.iris()
    ours.X[:] = 0
    ours.y[:] = 0
    assert sklearn.datasets.load_iris().data[0, 0] == 5.1
    assert datasets.iris().y[-1] == 2


# Digits


def by_hand(image):
    """Intensity and symmetry, pixel by pixel."""
    pixels = [(i, j) for i in range(8) for j in range(8)]
    intensity = sum(image[i][j] for i, j in pixels) / 64 / 16
    sideways = sum(abs(image[i][j] - image[i][7 - j]) for i, j in pixels) / 64 / 16
    upside_down = sum(abs(image[i][j] - image[7 - i][j]) for i, j in pixels) / 64 / 16
    return intensity, -(sideways + upside_down) / 2


def test_features_as_computed_by_hand():
    images = sklearn.datasets.load_digits().images
    X, y = datasets.digit_features()
    assert X.shape == (1797, 2)
    for row in (0, 1, 900, 1796):
        np.testing.assert_allclose(X[row], by_hand(images[row]), rtol=1e-12)
    np.testing.assert_array_equal(y, sklearn.datasets.load_digits().target)


def test_features_keep_to_their_ranges():
    X, _ = datasets.digit_features()
    assert 0 < X[:, 0].min() < X[:, 0].max() < 1
    assert -1 < X[:, 1].min() < X[:, 1].max() <= 0


@pytest.mark.parametrize("digit", [0, 1, 9])
def test_one_digit_against_the_rest(digit):
    ten, two = datasets.digit_features(), datasets.digit_features(positive=digit)
    np.testing.assert_array_equal(two.X, ten.X)
    np.testing.assert_array_equal(two.y, np.where(ten.y == digit, 1, -1))
    assert two.target_names == (f"is_{digit}",)


def test_a_sample_has_no_row_twice():
    whole, sample = datasets.digit_features(), datasets.digit_features(n=500)
    assert sample.X.shape == (500, 2)
    rows = {(*x, d): 0 for x, d in zip(whole.X.tolist(), whole.y.tolist(), strict=True)}
    for x, d in zip(whole.X.tolist(), whole.y.tolist(), strict=True):
        rows[(*x, d)] += 1
    for x, d in zip(sample.X.tolist(), sample.y.tolist(), strict=True):
        rows[(*x, d)] -= 1
    assert min(rows.values()) >= 0
    assert sum(rows.values()) == 1797 - 500


def test_a_sample_does_not_depend_on_how_rows_are_labelled():
    ten, two = datasets.digit_features(n=500), datasets.digit_features(n=500, positive=3)
    np.testing.assert_array_equal(ten.X, two.X)
    np.testing.assert_array_equal(ten.y == 3, two.y > 0)


def test_all_rows_as_a_sample_are_all_rows():
    whole, sample = datasets.digit_features(), datasets.digit_features(n=1797)
    np.testing.assert_array_equal(np.sort(sample.X, axis=0), np.sort(whole.X, axis=0))
    assert (sample.y != whole.y).any()


def test_zero_is_told_best_and_one_worst():
    def auc(digit):
        X, y = datasets.digit_features(positive=digit)
        p = cross_val_predict(KNeighborsClassifier(21), X / X.std(axis=0), y, cv=5, method="predict_proba")
        return roc_auc_score(y, p[:, 1])

    found = [auc(digit) for digit in range(10)]
    assert np.argmax(found) == 0
    assert np.argmin(found) == 1
    assert found[0] > 0.85
