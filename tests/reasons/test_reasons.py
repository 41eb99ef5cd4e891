"""Explanations in words, HTML, data and pictures."""

import json

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.reasons.explained_models import CALIBRATORS, OF_ROWS, data, fitted

import bisector
from bisector import explain
from bisector.engine.explanation import Account, Explanation
from bisector.reasons import Reasons

HOSTILE = '<script>alert("x")</script>\n\x1b[31m'


def test_one_row_may_come_without_brackets():
    made, asked = fitted(bisector.LogisticRegression(), 0)
    for one in (asked[0], asked[0].tolist(), asked[:1]):
        assert len(explain(made, one)) == 1
    assert len(explain(made, asked)) == 6


def test_a_row_of_a_frame():
    import pandas as pd

    X, y, _ = data(0)
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    model = bisector.LogisticRegression().fit(frame, y)
    reasons = explain(model, frame.iloc[3])
    assert reasons[0].answer == model.predict(frame.iloc[[3]])[0]
    assert reasons.features == ["p", "q", "r"]


def test_words_are_rows():
    model = bisector.KNeighborsClassifier(1, metric="levenshtein").fit(["cat", "house"], [0, 1])
    assert [one.answer for one in explain(model, ["hat", "mouse"])] == [0, 1]
    assert len(explain(model, "hat")) == 1


def test_scores_are_rows():
    calibrator = CALIBRATORS[1].fit([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1])
    assert len(explain(calibrator, [-1.0, 0.0, 3.0])) == 3


def test_reasons_are_a_sequence():
    made, asked = fitted(bisector.KMeans(2, random_state=0), 0)
    reasons = explain(made, asked)
    assert [one.answer for one in reasons] == made.predict(asked).tolist()
    assert isinstance(reasons[1:3], Reasons)
    assert len(reasons[1:3]) == 2
    assert reasons[-1] is reasons.explanations[-1]
    np.testing.assert_array_equal(reasons[1:3].rows, asked[1:3])


@pytest.mark.parametrize("model", OF_ROWS, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_all_can_be_printed_shown_and_written(model):
    made, asked = fitted(model, 1)
    reasons = explain(made, asked)
    text, html = str(reasons), reasons._repr_html_()
    assert reasons[0].summary.split()[0] in text
    assert text == repr(reasons)
    assert html.count("<table") == html.count("</table>")
    assert "1 more row:" in text  # five of six are told
    back = json.loads(json.dumps(reasons.to_dict(), allow_nan=False))
    assert back["model"] == type(model).__name__
    assert back["rows"] == reasons.records()
    assert len(back["rows"]) == 6


def test_records_hold_the_numbers():
    model = bisector.BasicLinearClassifier().fit([[0, 0], [0, 2], [4, 0], [4, 2]], [3, 3, 7, 7])
    (record,) = explain(model, [3.0, 1.0]).records()
    assert record["answer"] == 7
    assert record["accounts"][0]["total"] == 4.0
    assert record["accounts"][0]["parts"][0] == {"name": "x0", "adds": 12.0, "value": 3.0, "weight": 4.0}
    assert record["move"] == {"to": {"x0": 2.0, "x1": 1.0}, "length": 1.0, "answer": 3, "smallest": True}


def test_rest_is_added_up():
    account = Account("score", np.arange(1.0, 6.0), 15.0, names=list("abcde"))
    text = str(Reasons([Explanation(1, "It is.", [account])], model="M", most=2))
    assert "(3 more)" in text
    assert text.splitlines()[-1].split() == ["total", "15"]
    assert [line.split()[0] for line in text.splitlines() if line.startswith(("e", "d"))] == ["e", "d"]


def test_hostile_names_are_escaped():
    import pandas as pd

    frame = pd.DataFrame({HOSTILE: [0.0, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0, 1.0]})
    labels = ["<b>no</b>", "<b>no</b>", "yes", "yes"]
    for model in (
        bisector.LogisticRegression(),
        bisector.DecisionTreeClassifier(),
        bisector.KNeighborsClassifier(1),
    ):
        reasons = explain(model.fit(frame, labels), frame)
        html, text = reasons._repr_html_(), str(reasons)
        assert "<script>" not in html
        assert "<b>" not in html
        assert "\x1b" not in text
        assert "\x1b" not in html.replace("\x1b[31m", "") or "&lt;script&gt;" in html


# Pipelines and searches


def test_a_pipeline_is_explained_by_its_last_step():
    X, y, _ = data(0)
    model = make_pipeline(StandardScaler(), bisector.LogisticRegression()).fit(X, y)
    reasons = explain(model, X[:2])
    assert "after StandardScaler" in reasons.note
    assert reasons.note in " ".join(str(reasons).split())
    assert [one.answer for one in reasons] == model.predict(X[:2]).tolist()
    np.testing.assert_allclose(reasons.rows, model[:-1].transform(X[:2]))
    assert reasons[0].accounts[0].total == pytest.approx(model.decision_function(X[:1])[0].max())


def test_names_pass_through_a_pipeline():
    import pandas as pd

    X, y, _ = data(0)
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    scaled = make_pipeline(StandardScaler(), bisector.LogisticRegression()).fit(frame, y)
    assert explain(scaled, frame[:1])[0].accounts[0].names[:3] == ["p", "q", "r"]
    turned = make_pipeline(StandardScaler(), PCA(2), bisector.DecisionTreeClassifier(max_depth=2)).fit(
        frame, y
    )
    assert "pca" in explain(turned, frame[:1])[0].path[0]


def test_a_search_is_explained_by_its_best():
    X, y, _ = data(0)
    search = GridSearchCV(bisector.KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=3).fit(X, y)
    assert explain(search, X[0])[0].answer == search.predict(X[:1])[0]


# Bad input


def test_a_model_that_cannot_says_which_can():
    X, y, _ = data(0)
    with pytest.raises(TypeError, match=r"SGDClassifier cannot explain.*LinearRegression"):
        explain(SGDClassifier().fit(X, y), X)
    with pytest.raises(TypeError, match="SGDClassifier cannot"):
        explain(make_pipeline(StandardScaler(), SGDClassifier()).fit(X, y), X)
    with pytest.raises(TypeError, match="not the class Lasso"):
        explain(bisector.Lasso, X)


def test_options_reach_the_model():
    X, _, y = data(0)
    model = bisector.RidgeCV().fit(X, y)
    assert len(explain(model, X[:1], training=(X, y))[0].accounts) == 2
    with pytest.raises(ValueError, match="most must be"):
        explain(model, X[:1], most=0)
    merged = bisector.AgglomerativeClustering(2).fit(X)
    assert len(explain(merged, rows=[3, 4])) == 2


# Pictures


def test_bars_are_the_parts():
    import matplotlib as mpl

    mpl.use("agg")
    made, asked = fitted(bisector.LogisticRegression(), 0)
    reasons = explain(made, asked)
    shown = reasons.plot(row=2, most=2)
    account = reasons[2].accounts[0]
    widths = [bar.get_width() for bar in shown.bars_]
    largest = account.values[account.largest(2)]
    np.testing.assert_allclose(widths[:2], largest)
    assert widths[-1] == pytest.approx(account.total)
    assert sum(widths[:-1]) == pytest.approx(account.total)
    with pytest.raises(ValueError, match="no account 7"):
        reasons.plot(account=7)
    mpl.pyplot.close("all")
