"""Confusion matrices."""

import warnings

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, strategies as st

from bisector.measures.confusion import confusion_matrix


@st.composite
def labelled(draw):
    n, classes = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = np.array(["ant", "bee", "cat", "dog"]) if draw(st.booleans()) else np.array([3, -1, 0, 7])
    true, predicted = rng.integers(0, classes, size=(2, n))
    weight = rng.integers(0, 4, size=n).astype(float)
    weight[0] += 1
    return names[true], names[predicted], weight


# By hand: of 75 positives 60 are found, of 25 negatives 15.


@pytest.fixture
def matrix():
    true = ["neg"] * 25 + ["pos"] * 75
    return confusion_matrix(true, ["neg"] * 15 + ["pos"] * 10 + ["neg"] * 15 + ["pos"] * 60)


def test_counts_and_shares(matrix):
    np.testing.assert_array_equal(matrix.counts, [[15, 10], [15, 60]])
    np.testing.assert_allclose(matrix.joint, [[0.15, 0.1], [0.15, 0.6]])
    np.testing.assert_allclose(matrix.class_conditional, [[0.6, 0.4], [0.2, 0.8]])
    np.testing.assert_allclose(matrix.predicted_conditional, [[0.5, 1 / 7], [0.5, 6 / 7]])
    np.testing.assert_allclose(matrix.class_distribution, [0.25, 0.75])
    assert matrix.accuracy == 0.75
    np.testing.assert_allclose(matrix.recall, [0.6, 0.8])
    np.testing.assert_allclose(matrix.precision, [0.5, 6 / 7])
    assert matrix.average_recall == pytest.approx(0.7)


def test_accuracy_is_the_mean_of_recalls_weighed_by_class(matrix):
    assert matrix.accuracy == pytest.approx(matrix.class_distribution @ matrix.recall)


def test_it_stands_for_an_array(matrix):
    tn, fp, fn, tp = matrix.ravel()
    assert (tn, fp, fn, tp) == (15, 10, 15, 60)
    assert matrix[1, 0] == 15
    assert matrix.shape == (2, 2)
    assert len(matrix) == 2
    np.testing.assert_array_equal(np.asarray(matrix), matrix.counts)
    np.testing.assert_array_equal(np.array(list(matrix)), matrix.counts)
    assert np.array(matrix, dtype=float).dtype == float
    sklearn.metrics.ConfusionMatrixDisplay(np.asarray(matrix))


def test_it_prints_its_margins(matrix):
    assert repr(matrix).splitlines()[-1].split() == ["total", "30", "70", "100"]
    assert "<td" in matrix._repr_html_()


# Oracle


@given(labelled(), st.booleans(), st.sampled_from([None, "true", "pred", "all"]))
def test_equals_scikit_learn(problem, weighted, normalize):
    true, predicted, weight = problem
    weight = weight if weighted else None
    ours = confusion_matrix(true, predicted, sample_weight=weight, normalize=normalize)
    labels = np.unique([true, predicted])
    with warnings.catch_warnings(action="ignore"):  # of a single label
        theirs = sklearn.metrics.confusion_matrix(
            true, predicted, labels=labels, sample_weight=weight, normalize=normalize
        )
    np.testing.assert_allclose(np.asarray(ours), theirs)
    np.testing.assert_array_equal(ours.labels, labels)


@given(labelled())
def test_whole_weights_are_repeated_rows(problem):
    true, predicted, weight = problem
    repeats = weight.astype(int)
    labels = np.unique([true, predicted])
    weighted = confusion_matrix(true, predicted, labels=labels, sample_weight=weight)
    repeated = confusion_matrix(np.repeat(true, repeats), np.repeat(predicted, repeats), labels=labels)
    np.testing.assert_array_equal(weighted.counts, repeated.counts)


# Labels and bad input


def test_labels_choose_and_order_classes():
    true, predicted = ["a", "b", "c", "c"], ["a", "c", "b", "c"]
    chosen = confusion_matrix(true, predicted, labels=["c", "b"])
    np.testing.assert_array_equal(
        chosen.counts, sklearn.metrics.confusion_matrix(true, predicted, labels=["c", "b"])
    )
    with_stranger = confusion_matrix(true, predicted, labels=["c", "z"])
    np.testing.assert_array_equal(with_stranger.counts, [[1, 0], [0, 0]])
    np.testing.assert_array_equal(with_stranger.class_conditional, [[1, 0], [0, 0]])


def test_counts_without_weights_are_whole():
    assert confusion_matrix([0, 1], [1, 1]).counts.dtype.kind == "i"


@pytest.mark.parametrize(
    ("true", "predicted", "others", "message"),
    [
        ([0, 1], [0], {}, "inconsistent"),
        ([[0, 1]], [0, 1], {}, "one label for each row"),
        ([0, 1], ["0", "1"], {}, "both as names or both as numbers"),
        ([0.0, np.nan], [0, 1], {}, "y_true contains NaN"),
        ([0, 1], [0, 1], {"labels": [2, 3]}, "None of the labels"),
        ([0, 1], [0, 1], {"labels": [1, 1]}, "each class once"),
        ([0, 1], [0, 1], {"labels": []}, "each class once"),
        ([0, 1], [0, 1], {"normalize": "rows"}, "normalize must be one of"),
        ([0, 1], [0, 1], {"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_bad_input_is_named(true, predicted, others, message):
    with pytest.raises(ValueError, match=message):
        confusion_matrix(true, predicted, **others)
