"""Accounts as bars."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.base import BaseEstimator

from bisector import ExplanationDisplay
from bisector.engine.explanation import Account, Explanation
from bisector.plot.canvas import colour


class Doubles(BaseEstimator):
    """A model that explains itself: twice the sum of a row."""

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def explain_rows(self, X):
        rows = np.asarray(X, dtype=float)
        return [
            Explanation(2 * row.sum(), "Twice.", [Account("score", 2 * row, 2 * row.sum())]) for row in rows
        ]


def bars(shown):
    return [bar.get_width() for bar in shown.bars_]


def names(shown):
    return [label.get_text() for label in shown.ax_.get_yticklabels()]


def test_largest_first_then_the_rest_then_the_total():
    values = np.array([0.5, -3.0, 1.0, 0.25, 2.0])
    account = Account("score", values, 0.75, names=list("abcde"))
    shown = ExplanationDisplay(account).plot(most=2)
    assert names(shown) == ["b", "e", "3 others", "score"]
    assert bars(shown) == [-3.0, 2.0, 1.75, 0.75]
    assert sum(bars(shown)[:-1]) == account.total
    assert [bar.get_facecolor()[:3] for bar in shown.bars_][:2] == [to_rgb(colour(1)), to_rgb(colour(0))]
    assert [bar.get_hatch() for bar in shown.bars_][:2] == ["//", ""]
    assert shown.ax_.yaxis_inverted()
    assert "0.75" in shown.ax_.get_title()
    whole = ExplanationDisplay(account).plot()
    assert names(whole) == ["b", "e", "c", "a", "d", "score"]


def test_training_rows_have_numbers():
    account = Account("votes", np.array([1.0, 2.0]), 3.0, rows=np.array([17, 4]))
    assert names(ExplanationDisplay(account).plot()) == ["row 4", "row 17", "votes"]


def test_a_model_explains_a_row():
    X = np.array([[1.0, 2.0], [3.0, -1.0]])
    for rows in (X, pd.DataFrame(X), X.tolist()):
        shown = ExplanationDisplay.from_estimator(Doubles().fit(X), rows, row=1)
        assert bars(shown) == [6.0, -2.0, 4.0]


def test_bad_input_is_refused():
    X = np.eye(2)
    with pytest.raises(TypeError, match="one of the accounts"):
        ExplanationDisplay([1.0, 2.0])
    with pytest.raises(ValueError, match="has 1 account"):
        ExplanationDisplay.from_estimator(Doubles().fit(X), X, account=1)
    with pytest.raises(TypeError, match="most"):
        ExplanationDisplay(Account("score", np.ones(2), 2.0)).plot(most=1.5)
