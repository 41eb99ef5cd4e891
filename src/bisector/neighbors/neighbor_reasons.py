"""Why neighbours answer as they do: who they are, how near, how each votes; and the way to another answer."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.distances.minkowski import Euclidean, Minkowski
from bisector.distances.places import places_of
from bisector.engine.explanation import Account, Explanation, Move, account_of, plain, told, unnamed
from bisector.engine.moves import BEYOND, moves_towards, nearest_places
from bisector.engine.show import number
from bisector.engine.targets import Labels, Numbers
from bisector.neighbors.kept_rows import Floats, Found, Integers
from bisector.solvers.other_cells import Cells

if TYPE_CHECKING:
    from bisector.neighbors.k_neighbors import KNeighborsClassifier

# Shares of the way from a corner of a cell to its exemplar.
_ASIDE = (0.0, 1e-7, 1e-6, 1e-5, 1e-4)


def explain_votes(found: Found, vote: Floats, labels: Labels, answers: NDArray[Any]) -> list[Explanation]:
    """Explain classes by the votes of neighbours.

    Parameters
    ----------
    found : Found
    vote : ndarray
        How much each neighbour's vote counts.
    labels : Labels
        Of the kept rows.
    answers : ndarray
        What the model predicts, in the form of y.
    """
    explained = []
    for query in range(len(found.starts) - 1):
        here = slice(found.starts[query], found.starts[query + 1])
        rows, weights, apart = found.positions[here], vote[here], found.distances[here]
        own = np.atleast_1d(answers[query])
        accounts = [
            _votes_for(
                own[j], rows, weights, apart, labels.codes[:, j], classes, output=j, single=labels.single
            )
            for j, classes in enumerate(labels.classes)
        ]
        answer = plain(own[0]) if labels.single else own.tolist()
        said = _in_words(own, accounts, rows, apart)
        explained.append(Explanation(answer, said, accounts if len(rows) else []))
    return explained


def _votes_for(
    label: Any, rows: Integers, weights: Floats, apart: Floats, codes: Integers, classes: NDArray[Any],
    *, output: int, single: bool,
) -> Account:  # fmt: skip
    of = classes[codes[rows]]
    total = weights.sum()
    share = weights / (total if total > 0 else 1.0)
    columns = {"distance": apart, "class": of, "vote": share}
    title = f"probability of {told(label)}" + ("" if single else f" as output {output}")
    return account_of(title, np.where(of == label, share, 0.0), rows=rows, columns=columns, of="neighbours")


def _in_words(own: NDArray[Any], accounts: list[Account], rows: Integers, apart: Floats) -> str:
    if not len(rows):
        return f"{told(own[0])}, the label for outliers: no training row is within the radius."
    label, nearest = told(own[0]), int(np.argmin(apart))
    near = f"the nearest is row {rows[nearest]} at a distance of {number(float(apart[nearest]))}"
    if len(rows) == 1:
        return (
            f"{label}, the class of row {rows[0]}, the nearest, at a distance of {number(float(apart[0]))}."
        )
    count = int(np.sum(accounts[0].values > 0))
    return f"{label}, with {number(accounts[0].total)} of the votes, by {count} of {len(rows)} neighbours; {near}."


def explain_averages(
    found: Found, vote: Floats, targets: Numbers, answers: NDArray[Any], aggregate: Any
) -> list[Explanation]:
    """Explain numbers by the neighbours that are averaged; if not by their mean, by what share each has in it."""
    explained = []
    for query in range(len(found.starts) - 1):
        here = slice(found.starts[query], found.starts[query + 1])
        rows, weights, apart = found.positions[here], vote[here], found.distances[here]
        share = weights / weights.sum() if len(rows) else weights
        own = np.atleast_1d(answers[query])
        accounts = []
        for j in range(targets.values.shape[1]):
            of = targets.values[rows, j]
            added, title = (
                (share * of, "prediction") if aggregate == "mean" else (share, "shares of the neighbours")
            )
            title += "" if targets.single else f" of target {j}"
            columns = {"distance": apart, "target": of, "weight": share}
            accounts.append(account_of(title, added, rows=rows, columns=columns, of="neighbours"))
        if not len(rows):
            explained.append(
                Explanation(float("nan"), "No prediction: no training row is within the radius.")
            )
            continue
        nearest = int(np.argmin(apart))
        how = f"the {aggregate}" if isinstance(aggregate, str) else "what the given function makes"
        said = (
            f"Predicted {', '.join(number(float(one)) for one in own)}, {how} of {len(rows)} neighbours; the "
            f"nearest is row {rows[nearest]} at a distance of {number(float(apart[nearest]))}."
        )
        answer = float(own[0]) if targets.single else own.tolist()
        explained.append(Explanation(answer, said, accounts))
    return explained


def explain_voters(model: "KNeighborsClassifier", X: Any) -> list[Explanation]:
    """Explain the classes of a nearest-neighbour classifier, with moves after which it answers otherwise."""
    answers, labels = model.predict(X), model._labels
    explained: list[Explanation] = []
    for found, vote in model._votes(X):
        some = answers[len(explained) : len(explained) + len(found.starts) - 1]
        explained += explain_votes(found, vote, labels, some)
    if not labels.single:
        return explained
    distance = model.metric_
    rows = places_of(model._queries(X), distance)
    points = places_of(model._index.rows, distance)
    if rows is None or points is None:
        return explained
    cells = Cells(points, labels.codes[:, 0]) if decides_by_cells(model) else None
    moves = moves_of(unnamed(model), rows, answers, points, labels.decoded(labels.codes), distance, cells)
    return [replace(one, move=move) for one, move in zip(explained, moves, strict=True)]


def moves_of(
    model: Any,
    rows: Floats,
    answers: NDArray[Any],
    points: Floats,
    labels: NDArray[Any],
    distance: Distance,
    cells: Cells | None,
) -> list[Move | None]:
    """Return moves after which a model by neighbours answers otherwise.

    One neighbour under Euclidean distance decides by cells, whose boundaries are exact. Otherwise the way leads
    towards the nearest rows of other classes, as far as needed.
    """
    if cells is not None:
        codes = np.searchsorted(model.classes_, answers)
        return [_out_of_cells(cells, x, int(code), model) for x, code in zip(rows, codes, strict=True)]
    targets = [nearest_places(x, points[labels != answer]) for x, answer in zip(rows, answers, strict=True)]
    return moves_towards(rows, answers, targets, model.predict, lambda x, z: float(distance(x, z)))


def _out_of_cells(cells: Cells, x: Floats, code: int, model: Any) -> Move | None:
    way = cells.way_out(x, code)
    if way is None:
        return None
    # A corner of the other cells may be met that a straight step does not enter: a little aside, it does.
    inwards = cells.exemplar(way) - way.to
    for aside in _ASIDE:
        to = way.to + aside * inwards
        beyond = model.predict((x + BEYOND * (to - x))[None])[0]
        if beyond != model.classes_[code]:
            return Move(to, float(np.linalg.norm(to - x)), plain(beyond), way.proved)
    return None


def decides_by_cells(model: "KNeighborsClassifier") -> bool:
    """Tell whether one neighbour decides, under Euclidean distance."""
    straight = model.metric_ in (Euclidean(), Minkowski(2))
    return straight and model._n_neighbors() == 1 and model._sample_weight is None
