"""The Python code that gives a report's scores and its model again."""

from typing import Any

from bisector.reports.chosen import Chosen
from bisector.reports.comparison import Comparison
from bisector.reports.scores import FUNCTIONS
from bisector.reports.source_code import SourceCode


def prediction_code(reading: str, comparison: Comparison, chosen: Chosen, most_rows: int, types: Any) -> str:
    """Return code that prints the advised model's score, and fits it.

    Parameters
    ----------
    reading : str
        The expression that makes the table.
    comparison : Comparison
    chosen : Chosen
    most_rows : int
        How many rows were compared on at most.
    types : mapping or None
        Of the columns.
    """
    from sklearn.pipeline import make_pipeline

    from bisector.reports.encoding import TableEncoder

    code = SourceCode()
    code.need(
        "bisector.reports", "as_table", "split_target", *(["built_in"] if "built_in(" in reading else [])
    )
    code.need("sklearn.model_selection", "cross_val_predict")
    measure = FUNCTIONS[comparison.measure]
    code.need("sklearn.metrics", measure)
    candidate = comparison.outcomes[comparison.advised].candidate
    judged = code.expression(make_pipeline(TableEncoder(types), candidate.chooser(comparison.inner)))
    final = code.expression(chosen.unfitted)
    folds = code.expression(comparison.folds)
    kept = f", most_rows={chosen.most_rows}" if chosen.most_rows is not None else ""
    return "\n".join(
        [
            code.imports(),
            "",
            f"table = {reading}",
            "",
            f"# The score of {candidate.name}: every row is predicted by a model that was not trained on it.",
            f"X, y = split_target(table, {comparison.target.name!r}, most_rows={most_rows})",
            f"judged = {judged}",
            f"folds = {folds}",
            f"print({measure}(y, cross_val_predict(judged, X, y, cv=folds)))",
            "",
            "# The model itself.",
            f"X, y = split_target(table, {comparison.target.name!r}{kept})",
            f"model = {final}",
            "model.fit(X, y)",
        ]
    )


def exploration_code(reading: str, model: Any) -> str:
    """Return code that fits the clusters of a report without a target."""
    code = SourceCode()
    code.need("bisector.reports", "as_table", *(["built_in"] if "built_in(" in reading else []))
    final = code.expression(model)
    return "\n".join(
        [code.imports(), "", f"table = {reading}", f"model = {final}", "print(model.fit_predict(table))"]
    )
