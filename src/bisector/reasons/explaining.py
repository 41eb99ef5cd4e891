"""Asking a model why."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.explanation import called, feature_names
from bisector.reasons.told import Reasons


def explain(model: Any, X: Any = None, *, most: int = 10, **options: Any) -> Reasons:
    """Say why a fitted model answers as it does.

    Every estimator of this library that predicts can say what its answer is made of: the features of a linear
    model, the neighbours, the support vectors, the conditions of a tree, the components of a mixture. The parts add
    up to the model's own score, probability, prediction or density; nothing is approximated by another model.
    Classifiers and clusterers also tell a move after which the answer changes, where boundaries are known exactly
    the shortest.

    Parameters
    ----------
    model : estimator with a method ``explain_rows``
        Or a pipeline that ends in one, which is explained on the rows as the steps before transformed them; or a
        search with such a ``best_estimator_``.
    X : rows, as for ``predict``
        One row of numbers may be given without its brackets.
    most : int, default=10
        How many parts of an account are told in text and tables; the others are added up.
    **options
        Of the model's ``explain_rows``, such as ``training=(X, y)`` for ridge regression.

    Returns
    -------
    Reasons
        A sequence of explanations: prints as text, shows as HTML; ``records()`` are plain data, and ``plot()``
        draws the parts.

    Examples
    --------
    >>> from bisector import BasicLinearClassifier, explain
    >>> X, y = [[0, 0], [0, 2], [4, 0], [4, 2]], ["left", "left", "right", "right"]
    >>> explain(BasicLinearClassifier().fit(X, y), [3.0, 1.0])
    Why BasicLinearClassifier answers so
    ====================================
    <BLANKLINE>
    'right', by a score of 4, 1 away from the boundary: x0 adds 12.
    <BLANKLINE>
    Score, positive for 'right':
                 adds  value  weight
    x0             12      3       4
    x1              0      1       0
    (intercept)    -8
    total           4
    <BLANKLINE>
    Moved by 1, the answer becomes 'left' (no shorter move changes it).
    <BLANKLINE>
        from  to  change
    x0     3   2      -1
    """
    if isinstance(model, type):
        raise TypeError(f"explain needs a fitted model, not the class {model.__name__}: fit one first.")
    rows, note, name = _as_rows(model, X), None, type(model).__name__
    while not hasattr(model, "explain_rows"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif _is_pipeline(model):
            model, rows, note = _last_step(model, rows)
            name = type(model).__name__
        else:
            raise TypeError(_refusal(model))
    found = model.explain_rows(rows, **options) if rows is not None else model.explain_rows(**options)
    table = _numbers(rows, len(found))
    features = feature_names(model, table.shape[1]) if table is not None else None
    return Reasons(found, model=name, rows=table, features=features, note=note, most=most)


def _is_pipeline(model: Any) -> bool:
    from sklearn.pipeline import Pipeline

    return isinstance(model, Pipeline)


def _last_step(pipeline: Any, X: Any) -> tuple[Any, Any, str | None]:
    """Return the last step of a pipeline, the rows as it sees them, and a sentence that says so."""
    last, before = pipeline[-1], pipeline[:-1]
    if not len(before):
        return last, X, None
    rows = before.transform(X)
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except (AttributeError, NotImplementedError, ValueError):
        names = []
    if names and hasattr(last, "explain_rows") and not hasattr(last, "feature_names_in_"):
        last = called(last, names)
    steps = ", ".join(type(step).__name__ for _, step in before.steps)
    return last, rows, f"Values and moves are those after {steps}, as {type(last).__name__} sees them."


def _as_rows(model: Any, X: Any) -> Any:
    """Return X as rows: one row of numbers, or one text, may come by itself."""
    if X is None or hasattr(X, "tocsr"):
        return X
    if isinstance(X, str | set | frozenset):
        return [X]
    if hasattr(X, "to_frame") and hasattr(X, "iloc"):  # one row of a frame
        return X.to_frame().T.infer_objects()
    table = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if getattr(table, "ndim", None) != 1 or not _takes_tables(model):
        return X
    if isinstance(X, list | tuple):
        return [X] if all(isinstance(cell, int | float | np.number) for cell in X) else X
    return np.asarray(X)[None] if getattr(X.dtype, "kind", "") in "fiub" else X


def _takes_tables(model: Any) -> bool:
    """Tell whether a model takes rows of numbers, rather than one number a row."""
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.two_d_array)


def _numbers(rows: Any, count: int) -> NDArray[np.float64] | None:
    """Return rows as numbers, if they are a table of them."""
    if rows is None:
        return None
    try:
        table = np.asarray(rows.toarray() if hasattr(rows, "tocsr") else rows)
        table = table.astype(np.float64)
    except (TypeError, ValueError):
        return None
    return table if table.ndim == 2 and len(table) == count else None


def _refusal(model: Any) -> str:
    from bisector.catalogue import all_estimators

    able = ", ".join(name for name, kind in all_estimators() if hasattr(kind, "explain_rows"))
    name = type(model).__name__
    return f"{name} cannot explain its answers, since it has no method explain_rows. These can: {able}."
