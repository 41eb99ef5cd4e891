"""Scores with labels, checked once for calibrators and measures."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bisector.engine.scored_rows import check_scored_rows, check_scores

LABELS = [(0, 1), (-1, 1), (2.5, 7.0), ("no", "yes"), (False, True), (-5, -3), ("ß", "ü")]


@given(st.sampled_from(LABELS), st.lists(st.booleans(), min_size=2, max_size=20), st.booleans())
def test_the_second_label_in_ascending_order_is_positive(labels, flags, as_objects):
    flags = [True, False, *flags]
    y = np.array([labels[flag] for flag in flags], dtype=object if as_objects else None)
    rows = check_scored_rows(np.arange(len(flags)), y)
    np.testing.assert_array_equal(rows.positive, flags)
    assert rows.classes.tolist() == list(labels)


def test_rows_without_weight_are_left_out():
    rows = check_scored_rows([1.0, 2.0, 3.0, 4.0], ["a", "b", "c", "b"], [1.0, 2.0, 0.0, 0.5])
    np.testing.assert_array_equal(rows.scores, [1, 2, 4])
    assert rows.classes.tolist() == ["a", "b"]
    assert rows.class_weights == (2.5, 1.0)


def test_class_weights_count_rows():
    assert check_scored_rows([1.0, 2.0, 3.0], [0, 1, 1]).class_weights == (2, 1)


def test_a_label_against_the_rest():
    rows = check_scored_rows([1.0, 2.0, 3.0], ["a", "b", "c"], pos_label="b")
    np.testing.assert_array_equal(rows.positive, [False, True, False])
    assert rows.classes[1] == "b"


@pytest.mark.parametrize(
    ("dtype", "kept"), [(np.float32, np.float32), (np.float64, np.float64), (int, float)]
)
def test_what_type_scores_have(dtype, kept):
    rows = check_scored_rows(np.array([1, 2], dtype), [0, 1])
    assert rows.dtype == kept
    assert rows.scores.dtype == np.float64


def test_many_labels_are_not_all_listed():
    with pytest.raises(ValueError, match=r"100 classes: \[0, 1, 2, 3, 4, '…'\]"):
        check_scored_rows(np.arange(100), np.arange(100))


def test_errors_call_things_by_their_names():
    with pytest.raises(ValueError, match="p contains NaN"):
        check_scores([np.nan], "p")
    with pytest.raises(ValueError, match="labels must have rows of two classes"):
        check_scored_rows([1.0, 2.0], [1, 1], names=("p", "labels"))
