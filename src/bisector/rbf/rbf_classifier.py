"""Classification by bumps on all rows (LFD 6.3)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation, account_of, plain, told
from bisector.engine.lazy_rows import by_rows
from bisector.engine.show import number
from bisector.engine.validation import check_choice, store
from bisector.rbf.bumps_on_rows import BumpsOnRows, Floats, best_width
from bisector.rbf.kept_labels import kept_labels


class RBFClassifier(ClassifierMixin, BumpsOnRows):
    """All rows vote on the class, each with the height of its bump at the query.

    Parameters
    ----------
    width, bump, metric, widths, n_neighbors, outside, n_jobs
        As for `RBFRegressor`; "cv" takes the width with which fewest rows are classified wrongly by all others, the
        widest of equals.
    link : {"share", "logistic"}, default="share"
        What `predict_proba` gives: each class's share of the votes, or these through the logistic function: for
        two classes θ(g) with g = share of the second less share of the first, for more the softmax of the shares.
        Predictions are the same.

    Attributes
    ----------
    classes_ : array
    width_ : float, or array of shape (n_rows,) for width="neighbor"
    widths_, errors_ : array of shape (n_widths,)
        For width="cv": the widths tried, and the share of rows that each gets wrong, every row left out in turn; a
        row that no other reaches counts as wrong.
    X_fit_ : rows
        Those with a weight, as the metric compares them.
    bump_ : Bump
    metric_ : Distance

    Examples
    --------
    >>> from bisector import RBFClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = RBFClassifier(width=0.5).fit(X, y)
    >>> model.predict([[1.4], [1.6]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_proba([[1.5]])
    array([[0.5, 0.5]])
    """

    _instead_of_gathering = "use RBFNetworkClassifier, or fit a sample of the rows"

    _shares: Floats

    def __init__(
        self,
        width: Any = "rule",
        *,
        bump: Any = "gaussian",
        metric: Any = "euclidean",
        widths: ArrayLike | None = None,
        n_neighbors: int = 5,
        outside: str = "nearest",
        link: str = "share",
        n_jobs: int | None = None,
    ) -> None:
        self.width = width
        self.bump = bump
        self.metric = metric
        self.widths = widths
        self.n_neighbors = n_neighbors
        self.outside = outside
        self.link = link
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the rows and their labels, and find the width.

        Parameters
        ----------
        X : rows
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        check_choice("link", self.link, ("share", "logistic"))
        stand_in, learned, choice = self._keep(X, sample_weight)
        codes, classes = kept_labels(self, y, learned.pop("_n_given"), learned["_kept"], least=1)
        shares = np.eye(len(classes))[codes]
        widths = choice.widths
        if choice.open:
            left_out = self._left_out(learned, shares, widths)
            wrong = np.nan_to_num(left_out, nan=-1.0).argmax(axis=2) != codes
            wrong |= np.isnan(left_out[:, :, 0])
            errors = np.average(wrong, axis=1, weights=learned["_weights"])
            learned |= {"widths_": widths[:, 0], "errors_": errors}
            widths = widths[[best_width(errors)]]
        width = float(widths[0, 0]) if widths.shape[1] == 1 else widths[0]
        return store(self, stand_in, **learned, classes_=classes, width_=width, _shares=shares)

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest share; the smallest label of equals.

        A query that no bump reaches with outside="nan" gets the first class: its probabilities are NaN.
        """
        check_is_fitted(self)
        shares = self._averages(X, self._shares)
        return self.classes_[np.nan_to_num(shares, nan=0.0).argmax(axis=1)]

    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the share of every class, or what `link` makes of it."""
        check_is_fitted(self)
        shares = self._averages(X, self._shares)
        if self.link == "share":
            return shares
        raised = np.exp(shares)
        return raised / raised.sum(axis=1, keepdims=True)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: which rows count most at it, and how each votes.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            The account adds up to the share of the predicted class, from which `link` makes the probability.
        """
        check_is_fitted(self)
        labels, explained = self.classes_[self._shares.argmax(axis=1)], []
        for found in self._influence(X):
            votes = found.shares @ self._shares[found.places]
            answer = self.classes_[int(np.argmax(votes))]
            of = labels[found.places]
            account = account_of(
                f"share of {told(answer)}",
                np.where(of == answer, found.shares, 0.0),
                rows=found.rows,
                columns={"distance": found.distances, "class": of, "vote": found.shares},
            )
            said = f"{told(answer)}, by {number(account.total)} of the weight: {found.in_words()}."
            explained.append(Explanation(plain(answer), said, [account] if len(found.rows) else []))
        return explained
