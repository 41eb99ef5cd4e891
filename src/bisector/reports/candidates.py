"""The models that a report compares, from the simplest to the most flexible."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# Models that keep their rows, or compare all pairs, are fitted to no more than this.
MOST_KEPT_ROWS = 20_000
INNER_FOLDS = 3


@dataclass(frozen=True)
class Candidate:
    """A model with the one parameter that is chosen for it.

    Attributes
    ----------
    name : str
    idea : str
        What it does, in a few words.
    estimator : estimator
        Not fitted.
    parameter : str
        The name of the parameter that an inner cross-validation chooses; empty if there is none, or if the model
        chooses by itself.
    values : tuple
        What is tried for it, in ascending order.
    keeps_rows : bool
        Whether it keeps training rows, so that all rows of a large table are too many.
    scoring : str or None
        What the inner cross-validation chooses by; None is accuracy or R².
    """

    name: str
    idea: str
    estimator: Any
    parameter: str = ""
    values: tuple[Any, ...] = ()
    keeps_rows: bool = False
    scoring: str | None = None

    def with_fewer_values(self, most: int) -> "Candidate":
        """Return the candidate with at most so many values, those in the middle."""
        if most >= len(self.values):
            return self
        if most < 2:
            return replace(self, parameter="", values=())
        first = (len(self.values) - most) // 2
        return replace(self, values=self.values[first : first + most])

    def slowest(self) -> Any:
        """Return the model that takes longest to fit: that of the last value."""
        model = clone(self.estimator)
        return model.set_params(**{self.parameter: self.values[-1]}) if self.parameter else model

    def chooser(self, inner: Any) -> Any:
        """Return the model that chooses its parameter by an inner cross-validation when it is fitted."""
        if not self.parameter or inner is None:
            return clone(self.estimator)
        tried = {self.parameter: list(self.values)}
        return GridSearchCV(clone(self.estimator), tried, scoring=self.scoring, cv=inner)

    def for_rare_classes(self, scoring: str) -> "Candidate":
        """Return the candidate with classes weighed so that each counts the same, where the model can do that."""
        wanted = [name for name in self.estimator.get_params() if name.split("__")[-1] == "class_weight"]
        estimator = clone(self.estimator).set_params(**dict.fromkeys(wanted, "balanced"))
        return replace(self, estimator=estimator, scoring=scoring)

    def chosen(self, fitted: Any) -> Any:
        """Return the model with the parameter that a fitted chooser found, not fitted."""
        found = getattr(fitted, "best_params_", {})
        return clone(self.estimator).set_params(**found)


def candidates_for(kind: str, scoring: str | None = None) -> list[Candidate]:
    """Return the candidates for classes or for a number, the simplest first.

    Parameters
    ----------
    kind : {"classes", "number"}
    scoring : str, optional
        What parameters are chosen by where classes are very unequal; models then weigh classes equally.

    Examples
    --------
    >>> from bisector.reports.candidates import candidates_for
    >>> for candidate in candidates_for("classes")[:3]:
    ...     print(f"{candidate.name}: {candidate.idea}")
    baseline: always the most frequent class
    nearest exemplar: the class whose mean is nearest
    logistic regression: a plane, with probabilities
    """
    candidates = _classifiers() if kind == "classes" else _regressors()
    return [one.for_rare_classes(scoring) for one in candidates] if scoring else candidates


def folds_for(kind: str, smallest: int, n: int) -> tuple[Any, Any]:
    """Return how rows are divided: outer folds that judge, and inner ones that choose parameters (or None).

    Parameters
    ----------
    kind : {"classes", "number"}
    smallest : int
        How many rows the smallest class has; for a number, all rows.
    n : int
        How many rows there are.
    """
    outer = max(2, min(10 if n <= 1_000 else 5, smallest))
    left = smallest - -(-smallest // outer)
    inner = min(INNER_FOLDS, left)
    divide = StratifiedKFold if kind == "classes" else KFold
    return divide(outer, shuffle=True, random_state=0), (
        divide(inner, shuffle=True, random_state=0) if inner > 1 else None
    )


def _classifiers() -> list[Candidate]:
    import bisector as b

    return [
        Candidate("baseline", "always the most frequent class", DummyClassifier(strategy="prior")),
        Candidate("nearest exemplar", "the class whose mean is nearest", _scaled(b.NearestExemplarClassifier())),
        Candidate(
            "logistic regression", "a plane, with probabilities", _scaled(b.LogisticRegression(max_iter=1000)),
            "logisticregression__C", (0.01, 0.1, 1.0, 10.0, 100.0),
        ),
        Candidate(
            "linear SVM", "a plane with a margin", _scaled(b.LinearSVC(random_state=0, max_iter=10_000)),
            "linearsvc__C", (0.01, 0.1, 1.0, 10.0),
        ),
        Candidate(
            "decision tree", "a few questions, one after the other",
            b.DecisionTreeClassifier(probabilities="laplace", min_samples_leaf=2, random_state=0),
            "max_leaf_nodes", (2, 4, 8, 16, 32, 64),
        ),
        Candidate(
            "k nearest neighbours", "the vote of similar rows", _scaled(b.KNeighborsClassifierCV()), keeps_rows=True
        ),
        Candidate(
            "RBF network", "a weighted sum of bumps", _scaled(b.RBFNetworkClassifier(random_state=0)),
        ),
        Candidate(
            "SVM with Gaussian kernel", "a curved boundary with a margin", _scaled(b.SVC()),
            "svc__C", (0.1, 1.0, 10.0, 100.0), keeps_rows=True,
        ),
    ]  # fmt: skip


def _regressors() -> list[Candidate]:
    import bisector as b

    in_units = {"transformer": StandardScaler()}
    return [
        Candidate("baseline", "always the mean", DummyRegressor()),
        Candidate("least squares", "a plane", _scaled(b.LinearRegression())),
        Candidate(
            "ridge", "a plane with small coefficients",
            _scaled(b.RidgeCV(alphas=(0.01, 0.1, 1.0, 10.0, 100.0, 1000.0))),
        ),
        Candidate("lasso", "a plane on a few features", _scaled(b.LassoCV(cv=5, random_state=0))),
        Candidate(
            "regression tree", "a few questions, one after the other",
            b.DecisionTreeRegressor(min_samples_leaf=3, random_state=0), "max_leaf_nodes", (2, 4, 8, 16, 32, 64),
        ),
        Candidate(
            "k nearest neighbours", "the mean of similar rows", _scaled(b.KNeighborsRegressorCV()), keeps_rows=True
        ),
        Candidate("RBF network", "a weighted sum of bumps", _scaled(b.RBFNetworkRegressor(random_state=0))),
        Candidate(
            "SVM with Gaussian kernel", "a smooth surface within a tube",
            _scaled(TransformedTargetRegressor(b.SVR(), **in_units)),
            "transformedtargetregressor__regressor__C", (0.1, 1.0, 10.0, 100.0), keeps_rows=True,
        ),
    ]  # fmt: skip


def _scaled(model: Any) -> Any:
    """Return the model behind columns of mean 0 and standard deviation 1: units must not decide what is near."""
    return make_pipeline(StandardScaler(), model)


def names_of(candidates: Sequence[Candidate]) -> list[str]:
    """Return the names of candidates."""
    return [candidate.name for candidate in candidates]
