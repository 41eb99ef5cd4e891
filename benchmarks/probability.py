"""Probabilities from scores: ROC curves, isotonic and logistic calibration."""

from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

# Where calibrations are compared: so many scores, evenly spread.
GRID = np.linspace(-3, 4, 1001)


class Scored(NamedTuple):
    scores: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None


def normal(rng: np.random.Generator, n: int, weighted: bool = False) -> Scored:
    """Normal scores of two classes, 40 % positives, their means a standard deviation apart."""
    y = (rng.random(n) < 0.4).astype(np.int64)
    scores = rng.standard_normal(n) + y
    return Scored(scores, y, rng.random(n) if weighted else None)


def described(curve: Any) -> dict[str, Any]:
    """The area, and the curve at a few false positive rates."""
    fpr, tpr, area = curve
    return {"auc": np.array([area]), "tpr": np.interp(np.linspace(0, 1, 101), fpr, tpr)}


def our_curve(data: Scored) -> Any:
    from bisector.measures.roc import roc_curve

    def curve() -> Any:
        found = roc_curve(data.y, data.scores, sample_weight=data.weight)
        return found.fpr, found.tpr, found.auc

    return curve


def their_curve(data: Scored) -> Any:
    from sklearn.metrics import auc, roc_curve

    def curve() -> Any:
        fpr, tpr, _ = roc_curve(data.y, data.scores, sample_weight=data.weight)
        return fpr, tpr, auc(fpr, tpr)

    return curve


def our_hull(data: Scored) -> Any:
    from bisector.probability import HullCalibrator

    return lambda: HullCalibrator().fit(data.scores, data.y, data.weight)


def their_isotonic(data: Scored) -> Any:
    from sklearn.isotonic import IsotonicRegression

    return lambda: IsotonicRegression(out_of_bounds="clip").fit(data.scores, data.y, data.weight)


def our_sigmoid(data: Scored) -> Any:
    from bisector.probability import LogisticCalibrator

    def calibrated() -> Any:
        return LogisticCalibrator("likelihood").fit(data.scores, data.y, data.weight).predict(GRID)

    return calibrated


def their_sigmoid(data: Scored) -> Any:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class ScoreItself(ClassifierMixin, BaseEstimator):
        """A classifier whose score is its only feature: theirs calibrates no bare scores."""

        def fit(self, X: Any, y: Any) -> Any:
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X: Any) -> Any:
            return X[:, 0]

        def predict(self, X: Any) -> Any:
            return self.classes_[(X[:, 0] > 0).astype(int)]

    base = FrozenEstimator(ScoreItself().fit(data.scores[:, None], data.y))

    def calibrated() -> Any:
        model = CalibratedClassifierCV(base, ensemble=False, cv=2)
        model.fit(data.scores[:, None], data.y)
        return model.predict_proba(GRID[:, None])[:, 1]

    return calibrated


def predictions(model: Any) -> dict[str, Any]:
    return {"probability": model.predict(GRID)}


def probabilities(p: Any) -> dict[str, Any]:
    return {"probability": p}


OUR_CURVE = Contestant("bisector", "bisector", our_curve, described)
THEIR_CURVE = Contestant("scikit-learn", "sklearn.metrics", their_curve, described)
OUR_HULL = Contestant("bisector", "bisector", our_hull, predictions)
THEIR_ISOTONIC = Contestant("scikit-learn", "sklearn.isotonic", their_isotonic, predictions)

WORKLOADS = [
    Workload(
        name="roc",
        about="The ROC curve and the area below it: sorting the scores is the floor.",
        make=normal,
        sizes={"n": 1_000_000},
        quick={"n": 50_000},
        ours=OUR_CURVE,
        peers=[THEIR_CURVE],
        goals={"scikit-learn": AtLeast(3)},
    ),
    Workload(
        name="roc_weighted",
        about="The same with weights, which must be sorted along.",
        make=normal,
        sizes={"n": 1_000_000, "weighted": True},
        quick={"n": 50_000},
        ours=OUR_CURVE,
        peers=[THEIR_CURVE],
    ),
    Workload(
        name="roc_tiny",
        about="The same on next to nothing: what a call costs before it computes.",
        make=normal,
        sizes={"n": 100},
        ours=OUR_CURVE,
        peers=[THEIR_CURVE],
        goals={"scikit-learn": AtLeast(1.0)},
    ),
    Workload(
        name="isotonic",
        about="Isotonic calibration along the ROC convex hull: pooling after the sort.",
        make=normal,
        sizes={"n": 1_000_000},
        quick={"n": 50_000},
        ours=OUR_HULL,
        peers=[THEIR_ISOTONIC],
        goals={"scikit-learn": AtLeast(4)},
    ),
    Workload(
        name="isotonic_weighted",
        about="The same with weights.",
        make=normal,
        sizes={"n": 1_000_000, "weighted": True},
        quick={"n": 50_000},
        ours=OUR_HULL,
        peers=[THEIR_ISOTONIC],
    ),
    Workload(
        name="sigmoid",
        about="Logistic calibration by the largest likelihood (Platt).",
        make=normal,
        sizes={"n": 1_000_000},
        quick={"n": 50_000},
        ours=Contestant("bisector", "bisector", our_sigmoid, probabilities),
        peers=[Contestant("scikit-learn", "sklearn.calibration", their_sigmoid, probabilities)],
        tolerance=1e-6,  # the peer's iteration ends earlier
    ),
]
