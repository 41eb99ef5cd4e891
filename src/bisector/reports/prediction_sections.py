"""The sections of a report on predicting a target."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import Table, number
from bisector.measures.confusion import confusion_matrix
from bisector.measures.roc import roc_curve
from bisector.plot import CalibrationDisplay, ConfusionDisplay, RegressionDisplay, ROCDisplay
from bisector.reports.chosen import Chosen
from bisector.reports.comparison import Comparison, overall_score
from bisector.reports.parts import Figures, Piece, Section, Words
from bisector.reports.pictures import drawn
from bisector.reports.scores import BALANCED

Floats = NDArray[np.float64]

MEANINGS = {
    "accuracy": "the share of rows predicted right, each by a model that was not trained on it",
    "balanced accuracy": "the share of each class that was predicted right, by models not trained on the row, and "
    "the mean of that over the classes: rare ones count as much as frequent ones",
    "R²": "the share of the target's variance that is predicted, each row by a model that was not trained on it; 0 "
    "is no better than the mean",
    "in sample": "the same on the rows the model was trained on: what exceeds the score was learned by heart",
    "behind the best": "the mean difference to the best model over the same folds",
    "interval": "where the difference lies with a probability of 95%, corrected for folds that share training rows",
    "as good?": "whether the interval leaves out zero",
    "seconds": "how long all folds took, with the choice of parameters",
}
_MOST_CLASSES_SHOWN = 20


def compared(comparison: Comparison, n_rows: int) -> Section:
    """Say how the models did."""
    folds = len(comparison.outcomes[0].scores)
    ideas = {outcome.candidate.name: outcome.candidate.idea for outcome in comparison.outcomes}
    chosen_inside = (
        f" Where a model has a parameter to choose, {comparison.inner.get_n_splits()} folds within the training "
        "rows chose it."
        if comparison.inner is not None
        else ""
    )
    pieces: list[Piece] = [
        Words(
            f"All models were tested on the same {folds} folds of {n_rows:,} rows: each row is predicted by a "
            f"model that was trained on other rows.{chosen_inside}"
        ),
        Figures("Models, the highest score first", comparison.table(), MEANINGS),
        Figures("What they do", Table(["model", "idea"], [list(pair) for pair in ideas.items()])),
    ]
    if comparison.measure == BALANCED:
        pieces.insert(1, Words(_why_balanced(comparison)))
    if comparison.stopped:
        pieces.insert(0, Words("The comparison was stopped before it was complete."))
    return Section("models", "Which model to use", pieces)


def _why_balanced(comparison: Comparison) -> str:
    classes, counts = np.unique(comparison.target.y, return_counts=True)
    rare, frequent = int(counts.argmin()), int(counts.argmax())
    return (
        f"The classes are very unequal: {str(classes[frequent])!r} has {counts[frequent]:,} rows, "
        f"{str(classes[rare])!r} {counts[rare]:,}. Always naming the first would be right in "
        f"{100 * counts[frequent] / counts.sum():.1f}% of cases and find none of the others, so accuracy would say "
        "little. Models are compared by balanced accuracy instead, in which every class counts the same, and those "
        "that can are told to weigh the classes equally."
    )


def errors(comparison: Comparison, chosen: Chosen) -> Section:
    """Show the errors of the advised model on rows it was not trained on."""
    target, outcome = comparison.target, comparison.outcomes[comparison.advised]
    name = outcome.candidate.name
    if target.kind == "number":
        return _errors_of_numbers(comparison, name)
    predictions = predicted(comparison, chosen)
    matrix = confusion_matrix(target.y, predictions)
    pieces: list[Piece] = [
        Words(
            f"Of rows it was not trained on, {name} predicts {100 * matrix.accuracy:.1f}% right"
            f"{' after calibration' if chosen.calibrated else ''}; if all classes were equally frequent, it would "
            f"be {100 * matrix.average_recall:.1f}%."
        ),
        drawn(
            "confusion",
            "What was predicted (columns) for each true class (rows): counts, and shares of the true class",
            lambda: ConfusionDisplay(matrix).plot(),
        ),
    ]
    if len(matrix.labels) <= _MOST_CLASSES_SHOWN:
        pieces += [_shares("Joint: shares of all rows", matrix.joint, matrix), _by_class(matrix)]
        pieces.append(
            _shares("Class-conditional: shares of each true class", matrix.class_conditional, matrix)
        )
    return Section("errors", "Its errors", pieces)


def predicted(comparison: Comparison, chosen: Chosen) -> NDArray[Any]:
    """Return what the advised model predicts for rows it was not trained on, calibrated if it is."""
    if chosen.calibrated and chosen.probabilities is not None:
        return np.asarray(np.unique(comparison.target.y)[chosen.probabilities.argmax(axis=1)])
    return comparison.outcomes[comparison.advised].predictions


def _shares(caption: str, shares: Floats, matrix: Any) -> Figures:
    names = [str(label) for label in matrix.labels]
    rows = [
        [name, *(f"{100 * share:.1f}%" for share in line)] for name, line in zip(names, shares, strict=True)
    ]
    return Figures(caption, Table(["true \\ predicted", *names], rows))


def _by_class(matrix: Any) -> Figures:
    rows = [
        [str(label), int(count), float(np.round(recall, 3)), float(np.round(precision, 3))]
        for label, count, recall, precision in zip(
            matrix.labels, matrix.counts.sum(axis=1), matrix.recall, matrix.precision, strict=True
        )
    ]
    meanings = {
        "recall": "the share of the class's rows that were found",
        "precision": "the share of predictions of the class that are right",
    }
    return Figures("By class", Table(["class", "rows", "recall", "precision"], rows), meanings)


def _errors_of_numbers(comparison: Comparison, name: str) -> Section:
    target, outcome = comparison.target, comparison.outcomes[comparison.advised]
    residuals = target.y - outcome.predictions
    usual = target.y - comparison.outcomes[0].predictions
    rows = [
        [label, float(np.sqrt((left**2).mean())), float(np.abs(left).mean()), float(np.median(np.abs(left)))]
        for label, left in ((name, residuals), ("baseline", usual))
    ]
    meanings = {
        "root mean square": "errors in the unit of the target, large ones counting more",
        "mean size": "the mean of the errors without their signs",
        "median size": "half of the errors are smaller",
    }
    heads = ["model", "root mean square", "mean size", "median size"]

    return Section(
        "errors",
        "Its errors",
        [
            Words(
                f"On rows it was not trained on, {name} is wrong by {number(float(np.abs(residuals).mean()), 3)} "
                f"on average; always predicting the mean would be by {number(float(np.abs(usual).mean()), 3)}."
            ),
            Figures("Errors", Table(heads, rows), meanings),
            drawn(
                "residuals",
                "What is left of the target, against what was predicted",
                lambda: RegressionDisplay.from_predictions(
                    target.y, outcome.predictions, target_name=target.name
                ),
            ),
        ],
    )


def probabilities(comparison: Comparison, chosen: Chosen) -> Section | None:
    """Say whether the probabilities can be believed."""
    target, p = comparison.target, chosen.probabilities
    if p is None or not chosen.squared_errors:
        return None
    said = {
        "calibrated": "Probabilities were calibrated: a sigmoid learned on rows left out made them better.",
        "as they are": "Probabilities are used as they are: calibrating them did not make them better.",
        "rare": "Probabilities are used as they are, as if all classes were equally frequent: those of rare "
        "classes are too high. Calibrated ones would be better, but would hardly ever name a rare class.",
    }
    which = "calibrated" if chosen.calibrated else "rare" if chosen.keeps_rare else "as they are"
    rows = [[name, float(np.round(value, 4))] for name, value in chosen.squared_errors.items()]
    means = {
        "squared error": "half the mean squared distance from what came true (Brier score); lower is better"
    }
    classes = np.unique(target.y)
    pieces: list[Piece] = [
        Words(said[which]),
        Figures("Probabilities", Table(["probabilities", "squared error"], rows), means),
        drawn(
            "reliability",
            "How often it came true (up) where a probability is given (across); the diagonal can be believed",
            lambda: _reliability(target.y, p, classes),
        ),
    ]
    if len(classes) == 2:
        area = roc_curve(target.y, p[:, 1], pos_label=classes[1]).auc
        pieces += [
            Words(
                f"Of two rows, one of each class, the one of {str(classes[1])!r} gets the higher probability in "
                f"{100 * area:.1f}% of cases (the area under the ROC curve)."
            ),
            drawn(
                "roc",
                f"True against false positive rate of {str(classes[1])!r}, for every threshold",
                lambda: ROCDisplay.from_predictions(target.y, p[:, 1]),
            ),
        ]
    return Section("probabilities", "Its probabilities", pieces)


def _reliability(y: NDArray[Any], p: Floats, classes: NDArray[Any]) -> Any:
    """Of two classes the second; of more, whether the class that was predicted is the true one."""
    if len(classes) == 2:
        return CalibrationDisplay.from_predictions(
            y, {f"probability of {classes[1]}": p[:, 1]}, pos_label=classes[1]
        )
    right = (classes[p.argmax(axis=1)] == y).astype(int)
    return CalibrationDisplay.from_predictions(
        right, {"probability of the prediction": p.max(axis=1)}, pos_label=1
    )


def unsure(comparison: Comparison, chosen: Chosen, rows: NDArray[np.int64], most: int = 10) -> Section:
    """List the rows of which the model is least sure, or which it misses by most."""
    target = comparison.target
    if target.kind == "number":
        answers = comparison.outcomes[comparison.advised].predictions
        left = np.abs(target.y - answers)
        order = np.argsort(-left, kind="stable")[:most]
        lines = [
            [int(rows[i]), float(target.y[i]), float(answers[i]), float(target.y[i] - answers[i])]
            for i in order
        ]
        table = Table(["row", target.name, "predicted", "error"], lines)
        words = "The rows that are farthest from their predictions: look whether they are errors of the data."
        return Section(
            "unsure", "Where it is most wrong", [Words(words), Figures("Largest errors", table, _ROW)]
        )
    answers = predicted(comparison, chosen)
    if chosen.probabilities is None:
        first = np.flatnonzero(answers != target.y)[:most]
        wrongly: list[list[object]] = [[int(rows[i]), str(target.y[i]), str(answers[i])] for i in first]
        return Section(
            "unsure",
            "Where it is wrong",
            [Figures("Rows predicted wrong", Table(["row", "true", "predicted"], wrongly), _ROW)],
        )
    sureness = chosen.probabilities.max(axis=1)
    order = np.argsort(sureness, kind="stable")
    tenth = order[: max(1, len(order) // 10)]
    rest = order[len(tenth) :]
    wrong = answers != target.y
    words = (
        "In the tenth of the rows of which it is least sure (probability up to "
        f"{number(float(sureness[tenth].max()), 2)}), it errs in {100 * wrong[tenth].mean():.0f}% of cases"
        + (f"; in the others in {100 * wrong[rest].mean():.1f}%." if len(rest) else ".")
    )
    listed: list[list[object]] = [
        [int(rows[i]), str(target.y[i]), str(answers[i]), float(np.round(sureness[i], 3))]
        for i in order[:most]
    ]
    meanings = {**_ROW, "probability": "of what was predicted, by a model that was not trained on the row"}
    table = Table(["row", "true", "predicted", "probability"], listed)
    return Section(
        "unsure", "Where it is unsure", [Words(words), Figures("The least sure rows", table, meanings)]
    )


_ROW = {"row": "the number of the row in the table, from 0"}


def score_of(comparison: Comparison, chosen: Chosen) -> float:
    """Return the score of the model as it was chosen, on rows it was not trained on."""
    return overall_score(comparison.target, predicted(comparison, chosen))
