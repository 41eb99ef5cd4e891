"""Moves that change an answer: over the nearest of some planes, or towards rows that are answered otherwise."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .explanation import Move, plain

Floats = NDArray[np.float64]
Predict = Callable[[Floats], NDArray[Any]]

# A step this much longer than to the boundary shows that the answer changes there: far above rounding, and far
# below what anybody would call a longer step.
BEYOND = 1 + 1e-6
# Halvings of a line: after so many its ends are as near as numbers can tell.
_HALVINGS = 50


def least_move(x: Floats, leads: Floats, slopes: Floats, answers: NDArray[Any]) -> Move | None:
    """Return the shortest move after which another answer is as high as the one given.

    The answer leads each of the others by ``leads[j] + slopes[j] @ (z - x)`` at z, and stays while all leads are
    positive: in a region bounded by planes, which is left nearest at the nearest of them.

    Parameters
    ----------
    x : ndarray of shape (n_features,)
    leads : ndarray of shape (n_others,)
        None negative.
    slopes : ndarray of shape (n_others, n_features)
    answers : ndarray of shape (n_others,)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.moves import least_move
    >>> move = least_move(np.zeros(2), np.array([2.0, 9.0]), np.array([[-1.0, 0], [0, 3.0]]), np.array(["b", "c"]))
    >>> move.to, move.length, move.answer
    (array([2., 0.]), 2.0, 'b')
    """
    distances = distances_to_planes(leads, slopes)
    nearest = int(np.argmin(distances)) if len(distances) else 0
    if not len(distances) or not np.isfinite(distances[nearest]):
        return None
    return Move(
        _foot(x, leads[nearest], slopes[nearest]), float(distances[nearest]), plain(answers[nearest]), True
    )


def distances_to_planes(scores: Floats, slopes: Floats) -> Floats:
    """Return |score|/‖slope‖ of every plane; infinite for one that is nowhere or everywhere."""
    lengths = np.linalg.norm(slopes, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.abs(scores) / lengths
    return np.where((lengths > 0) & np.isfinite(distances), distances, np.inf)


def move_over_planes(
    x: Floats, scores: Floats, slopes: Floats, answer: Any, decide: Callable[[Floats], Any]
) -> Move | None:
    """Return the move over one of several planes, the nearest first, whose crossing changes the answer.

    No shorter move can change it if that plane is the nearest: until then, none is crossed.

    Parameters
    ----------
    x : ndarray of shape (n_features,)
    scores, slopes : ndarray of shape (n_planes,) and (n_planes, n_features)
        Of each plane.
    answer : object
        What `decide` makes of the scores.
    decide : callable
        From the scores of all planes to the answer.
    """
    distances = distances_to_planes(scores, slopes)
    for place, plane in enumerate(np.argsort(distances, kind="stable")):
        if not np.isfinite(distances[plane]):
            return None
        to = _foot(x, scores[plane], slopes[plane])
        step = BEYOND * (to - x)
        # Where the plane is met its score is zero but for rounding; what decides is that one steps beyond.
        moved = scores + slopes @ step
        moved[plane] = np.finfo(np.float64).tiny * (-1.0 if scores[plane] > 0 else 1.0)
        other = decide(moved)
        if other != answer:
            return Move(to, float(distances[plane]), plain(other), place == 0)
    return None


def _foot(x: Floats, score: float, slope: Floats) -> Floats:
    # Scaled first: the square of a very long or very short normal would not be a number.
    length = np.linalg.norm(slope)
    return np.asarray(x - (score / length) * (slope / length))


def moves_towards(
    X: Floats, answers: NDArray[Any], targets: list[Floats], predict: Predict, length: Callable[..., float]
) -> list[Move | None]:
    """Return moves that are known to change the answers, each on the way to a place that is answered otherwise.

    Of all ways the one with the shortest move is taken; other moves may be shorter still.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    answers : ndarray of shape (n_rows,)
        What `predict` says of them.
    targets : list of ndarray of shape (n_targets, n_features)
        Places to look towards, for each row; those that are answered as the row is are left out.
    predict : callable
        From rows to answers.
    length : callable
        The distance of two rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.moves import moves_towards
    >>> move, = moves_towards(
    ...     np.array([[0.0]]), np.array([False]), [np.array([[4.0]])], lambda Z: Z[:, 0] > 1,
    ...     lambda x, z: float(abs(x - z)[0]),
    ... )
    >>> round(move.length, 6), move.answer, move.smallest
    (1.0, True, False)
    """
    found: list[Move | None] = [None] * len(X)
    owners = np.repeat(np.arange(len(X)), [len(places) for places in targets])
    if not len(owners):
        return found
    ends = np.concatenate(targets)
    kept = predict(ends) != answers[owners]
    owners, starts, steps = owners[kept], X[owners[kept]], ends[kept] - X[owners[kept]]
    if not len(owners):
        return found
    low, high = np.zeros(len(owners)), np.ones(len(owners))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        changed = predict(starts + middle[:, None] * steps) != answers[owners]
        low, high = np.where(changed, low, middle), np.where(changed, middle, high)
    beyond = predict(starts + (BEYOND * high)[:, None] * steps)
    for place in range(len(owners)):
        row = int(owners[place])
        to = starts[place] + high[place] * steps[place]
        if beyond[place] == answers[row]:
            continue  # a sliver that is crossed again at once
        far, best = length(X[row], to), found[row]
        if best is None or far < best.length:
            found[row] = Move(to, float(far), plain(beyond[place]), False)
    return found


def nearest_places(x: Floats, places: Floats, most: int = 5) -> Floats:
    """Return the places nearest to x in a straight line, at most so many."""
    squares = np.square(places - x).sum(axis=1)
    order = np.argsort(squares, kind="stable")[:most]
    return np.asarray(places[order])
