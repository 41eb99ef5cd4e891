"""Why the nearest exemplars give a row its class."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bisector.distances.feature_parts import feature_parts
from bisector.distances.places import places_of
from bisector.engine.explanation import Account, Explanation, account_of, feature_names, plain, told, unnamed
from bisector.engine.show import number
from bisector.neighbors.kept_rows import Floats, Found
from bisector.neighbors.neighbor_reasons import decides_by_cells, moves_of
from bisector.solvers.other_cells import Cells

if TYPE_CHECKING:
    from bisector.neighbors.nearest_exemplar import NearestExemplarClassifier


def explain_exemplars(model: "NearestExemplarClassifier", items: Any) -> list[Explanation]:
    """Explain the classes of items that were checked."""
    voters, distance = model._voters, model.metric_
    answers = model.classes_[voters.predict(items)]
    labels = model.exemplar_labels_
    names = [f"exemplar {i} of {told(label)}" for i, label in enumerate(labels)]
    explained: list[Explanation] = []
    for found, vote in voters._votes(items):
        for query in range(len(found.starts) - 1):
            here = slice(found.starts[query], found.starts[query + 1])
            explained.append(_explained(model, _one(found, here), vote[here], answers[len(explained)], names))
    rows, points = places_of(voters._queries(items), distance), places_of(voters._index.rows, distance)
    if rows is None or points is None:
        return explained
    codes = np.asarray(np.searchsorted(model.classes_, labels), np.int64)
    cells = Cells(points, codes) if decides_by_cells(voters) else None
    moves = moves_of(unnamed(model), rows, answers, points, labels, distance, cells)
    whole = []
    for one, x, move in zip(explained, rows, moves, strict=True):
        extra = [] if len(one.accounts[0].values) > 1 else _by_features(model, x, points, one.accounts[0])
        whole.append(replace(one, accounts=[*one.accounts, *extra], move=move))
    return whole


def _one(found: Found, here: slice) -> Found:
    counts = None if found.counts is None else found.counts[here]
    size = here.stop - here.start
    return Found(np.array([0, size]), found.positions[here], found.distances[here], counts)


def _explained(
    model: "NearestExemplarClassifier", found: Found, vote: Floats, answer: Any, names: list[str]
) -> Explanation:
    share = vote / vote.sum()
    own = model.exemplar_labels_[found.positions] == answer
    rows = model.exemplar_indices_[found.positions] if hasattr(model, "exemplar_indices_") else None
    columns = {"distance": found.distances, "exemplar": found.positions}
    account = account_of(
        f"probability of {told(answer)}",
        np.where(own, share, 0.0),
        names=[names[place] for place in found.positions],
        rows=rows,
        columns=columns,
        of="exemplars",
    )
    first = f"{names[found.positions[0]]}, at a distance of {number(float(found.distances[0]))}"
    voted = (
        "" if len(share) == 1 else f", with {number(account.total)} of the votes of {len(share)} exemplars"
    )
    said = f"{told(answer)}{voted}: the nearest is {first}."
    return Explanation(plain(answer), said, [account])


def _by_features(
    model: "NearestExemplarClassifier", x: Floats, points: Floats, votes: Account
) -> list[Account]:
    """Return what each feature adds to the distance from the one exemplar that decides."""
    place = int(votes.columns["exemplar"][0])
    found = feature_parts(model.metric_, x, points[place])
    if found is None:
        return []
    title, parts = found
    columns = {"value": x, "exemplar's value": points[place]}
    names = feature_names(model, len(x))
    name = f"{title} from exemplar {place}"
    return [account_of(name, parts, names=names, columns=columns, of="features")]
