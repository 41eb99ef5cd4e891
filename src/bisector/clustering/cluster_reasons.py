"""Why a row is of its cluster: how far the exemplars are, which features make the distance, and the way out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.distances.feature_parts import feature_parts
from bisector.engine.explanation import Account, Explanation, Move, account_of, feature_names
from bisector.engine.show import number
from bisector.solvers.other_cells import Cells

Floats = NDArray[np.float64]

# Of more exemplars the nearest are told.
_TOLD = 10


def explain_clusters(
    model: Any,
    labels: NDArray[Any],
    apart: NDArray[Any],
    rows: Floats | None,
    centres: Floats | None,
    distance: Distance,
    *,
    straight: bool,
) -> list[Explanation]:
    """Explain clusters by the distances to their exemplars.

    Parameters
    ----------
    model : fitted clusterer
    labels : ndarray of int of shape (n_rows,)
        Which exemplar is nearest.
    apart : ndarray of shape (n_rows, n_clusters)
    rows, centres : ndarray, optional
        Where they are dense tables of numbers.
    distance : Distance
    straight : bool
        Whether it is Euclidean, so that boundaries are bisecting planes.
    """
    known = rows is not None and centres is not None
    cells = Cells(centres, np.arange(len(centres))) if known and straight and centres is not None else None
    explained = []
    for i, label in enumerate(labels.tolist()):
        path = told_distances(apart[i], "cluster", "at a distance of")
        accounts: list[Account] = []
        move = None
        if rows is not None and centres is not None:
            accounts = _by_features(model, rows[i], centres, label, apart[i], distance)
            move = None if cells is None else _way_out(cells, rows[i], label)
        near = f"its exemplar is the nearest, at a distance of {number(float(apart[i, label]))}"
        others = np.delete(apart[i], label)
        then = f"; the next is at {number(float(others.min()))}" if len(others) else ""
        explained.append(Explanation(label, f"Cluster {label}: {near}{then}.", accounts, path, move))
    return explained


def told_distances(values: NDArray[Any], what: str, how: str) -> list[str]:
    """List the smallest values first, each by its number and in words; of many, not all."""
    order = np.argsort(values, kind="stable")
    lines = [f"{what} {k} {how} {number(float(values[k]))}" for k in order[:_TOLD].tolist()]
    return lines + ([f"and {len(order) - _TOLD:,} farther away"] if len(order) > _TOLD else [])


def _by_features(
    model: Any, x: Floats, centres: Floats, label: int, apart: NDArray[Any], distance: Distance
) -> list[Account]:
    """Return what each feature adds to the distance from the exemplar, and to that from the next beyond it."""
    found = feature_parts(distance, x, centres[label])
    if found is None:
        return []
    title, parts = found
    names = feature_names(model, len(x))
    columns = {"value": x, "exemplar's value": centres[label]}
    accounts = [
        account_of(f"{title} from exemplar {label}", parts, names=names, columns=columns, of="features")
    ]
    others = np.flatnonzero(np.arange(len(centres)) != label)
    if len(others):
        second = int(others[np.argmin(apart[others])])
        _, beyond = feature_parts(distance, x, centres[second]) or found
        accounts.append(
            account_of(
                f"{title} from exemplar {second}, less that from {label}",
                beyond - parts,
                names=names,
                columns={**columns, "next exemplar's value": centres[second]},
                of="features",
            )
        )
    return accounts


def _way_out(cells: Cells, x: Floats, label: int) -> Move | None:
    # Of equal exemplars the first is the cluster.
    way = cells.way_out(x, label)
    return None if way is None else Move(way.to, way.length, way.exemplar, way.proved)
