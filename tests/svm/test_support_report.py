"""The report on margins: what it counts, what it lists, and that it escapes what came from the user."""

import numpy as np
import pytest

from bisector.datasets import margin_points
from bisector.svm import SVC


@pytest.fixture
def report():
    return SVC(C=5 / 16, kernel="linear").fit(*margin_points()).support_report()


def test_the_book_s_example_in_words(report):
    text = report.text()
    assert "3 of 4 rows are support vectors" in text
    assert "Margin 1.6 on each side" in text
    assert "at their limit α = C: 1; below it: 2" in text
    assert "slack at C = 0.3125" in text


def test_rows_are_counted_by_role_and_class(report):
    lines = {line.split("  ")[0]: line.split()[-4:] for line in report.text().splitlines()}
    assert lines["inside"] == ["1", "0", "1", "0.75"]
    assert lines["on margin"] == ["1", "2", "2", "0"]


def test_support_vectors_are_listed_by_their_weight():
    text = SVC(C=5 / 16, kernel="linear").fit(*margin_points()).support_report(largest=1).text()
    listed = text[text.index("Largest α") :].splitlines()[2].split()
    assert listed[:3] == ["0", "-1", "0.3125"]
    assert "Largest α" not in SVC().fit(*margin_points()).support_report(largest=0).text()


def test_the_plane_is_written_for_a_linear_kernel_only(report):
    assert "threshold t" in report.text()
    assert "threshold t" not in SVC().fit(*margin_points()).support_report().text()


def test_three_classes_have_a_part_for_each_pair():
    X = np.array([[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]])
    text = SVC(kernel="linear").fit(X, ["a", "a", "b", "b", "c", "c"]).support_report().text()
    assert [title for title in ("a or b", "a or c", "b or c") if title in text] == [
        "a or b",
        "a or c",
        "b or c",
    ]
    planes = text[text.index("Planes") :].splitlines()
    assert planes[1].split() == ["a", "or", "b", "a", "or", "c", "b", "or", "c"]


def test_a_fit_that_did_not_end_is_not_to_be_trusted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    with pytest.warns(UserWarning, match="ended after 3 steps"):
        model = SVC(max_iter=3).fit(X, X[:, 0] > 0)
    assert "do not trust the margin" in model.support_report().text()


def test_html_is_escaped():
    X, y = margin_points()
    html = SVC().fit(X, np.where(y > 0, "<b>", "a&b")).support_report()._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "a&amp;b" in html


def test_a_model_must_be_fitted_first():
    with pytest.raises(ValueError, match="not fitted"):
        SVC().support_report()
