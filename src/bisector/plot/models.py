"""What pictures ask of a model: that it is fitted and has what is drawn, its scores, and names of its features."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def check_model(estimator: Any, *wanted: str) -> str:
    """Return which of some methods or attributes a fitted estimator has: the first of them.

    Examples
    --------
    >>> from bisector import KMeans
    >>> from bisector.plot.models import check_model
    >>> check_model(KMeans(2).fit([[0.0], [1.0], [5.0]]), "predict_proba", "predict")
    'predict'
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    for name in wanted:
        if hasattr(estimator, name):
            return name
    raise AttributeError(
        f"{type(estimator).__name__} has no {' and no '.join(wanted)}, which this picture is drawn from: give a "
        "model that has."
    )


def named(things: Any, default: str | None = None) -> dict[Any, Any]:
    """Return things by their names: those of a mapping, or one thing alone."""
    return dict(things) if isinstance(things, Mapping) else {default: things}


def class_scores(estimator: Any, X: Any, pos_label: Any = None) -> tuple[Floats, Any]:
    """Return how strongly a fitted classifier takes each row for the positive class, and which class that is.

    Parameters
    ----------
    estimator : classifier
        With a `decision_function` or, if it has none, `predict_proba`.
    X : rows
    pos_label : label, optional
        The positive class; by default the second of two.
    """
    method = check_model(estimator, "decision_function", "predict_proba")
    classes = np.asarray(check_classes(estimator)).tolist()
    if pos_label is None and len(classes) != 2:
        raise ValueError(
            f"{type(estimator).__name__} knows {len(classes)} classes, {classes}: say by pos_label which of them "
            "stands against the others."
        )
    label = classes[1] if pos_label is None else pos_label
    if label not in classes:
        raise ValueError(f"pos_label is {pos_label!r}, but the classes are {classes}.")
    scores = np.asarray(getattr(estimator, method)(X))
    if scores.ndim == 2:
        return scores[:, classes.index(label)], label
    return (scores if label == classes[1] else -scores), label


def check_classes(estimator: Any) -> Any:
    """Return the classes of a fitted classifier."""
    return getattr(estimator, check_model(estimator, "classes_"))


def feature_names(estimator: Any, X: Any, n_features: int) -> list[str]:
    """Return what the features are called: as the model knows them, as a frame has them, or x0, x1, …."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or len(names) != n_features:
        return numbered(n_features)
    return [str(name) for name in names]


def numbered(n_features: int) -> list[str]:
    """Return names for features that have none: x0, x1, …, as scikit-learn calls them."""
    return [f"x{j}" for j in range(n_features)]
