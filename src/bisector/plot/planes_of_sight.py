"""Planes through a space of many features, in which a model can be looked at."""

from dataclasses import dataclass
from textwrap import fill
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Sight(Protocol):
    """A plane: where rows are seen in it, and which rows its places stand for."""

    @property
    def axis_names(self) -> tuple[str, str]:
        """What is seen across and up."""

    @property
    def words(self) -> str:
        """What to say of the plane in a title."""

    def seen(self, rows: Floats) -> Floats:
        """Return where rows are seen, as (across, up)."""

    def looked_at(self, places: Floats) -> Floats:
        """Return the rows that a model has to be asked about."""

    def spread(self, answers: NDArray[Any], resolution: int) -> NDArray[Any]:
        """Return the answers as an array of shape (up, across, …)."""


@dataclass(frozen=True)
class FlatSlice:
    """Two features as they are, while the others are held."""

    chosen: tuple[int, int]
    held: Floats
    axis_names: tuple[str, str]
    words: str

    @classmethod
    def of(cls, rows: Floats, names: list[str], chosen: tuple[int, int], slice_at: Any) -> Self:
        """Hold all features but two at the values given, else at their medians."""
        held, given = np.median(rows, axis=0), np.zeros(len(names), dtype=bool)
        if isinstance(slice_at, dict):
            for feature, value in slice_at.items():
                place = feature_number(feature, names)
                held[place], given[place] = value, True
        elif slice_at is not None:
            held, given[:] = np.asarray(slice_at, dtype=np.float64), True
            if held.shape != (len(names),):
                raise ValueError(
                    f"slice_at has the shape {held.shape}, but there are {len(names)} features: give a value for "
                    "each (those of the two that are drawn do not matter), or a dict."
                )
        others = [j for j in range(len(names)) if j not in chosen]
        axis_names = (names[chosen[0]], names[chosen[1]])
        return cls(chosen, held, axis_names, _held_words(others, names, held, given))

    def seen(self, rows: Floats) -> Floats:
        return rows[:, list(self.chosen)]

    def looked_at(self, places: Floats) -> Floats:
        rows = np.tile(self.held, (len(places), 1))
        rows[:, list(self.chosen)] = places
        return rows

    def spread(self, answers: NDArray[Any], resolution: int) -> NDArray[Any]:
        return answers.reshape(resolution, resolution, *answers.shape[1:])


def _held_words(others: list[int], names: list[str], held: Floats, given: NDArray[np.bool_]) -> str:
    """Say at which values a slice is taken."""
    if not others:
        return ""
    if len(others) <= 3:
        values = ", ".join(f"{names[j]} = {held[j]:.3g}" for j in others)
        medians = "" if given[others].any() else " (medians)"
        return _on_lines(f"a slice at {values}{medians}; rows lie before and behind it")
    where = "values given for the others" if given[others].any() else "the medians"
    return _on_lines(f"a slice at {where} of {len(others)} features; rows lie before and behind it")


def _on_lines(words: str) -> str:
    """Break words that would be wider than a picture, and begin a new line with them."""
    return "\n" + fill(words, 56)


@dataclass(frozen=True)
class OwnPlane:
    """The distance from a linear boundary, and the direction within it in which rows are spread most."""

    normal: Floats
    offset: float
    axis: Floats
    centre: Floats
    axis_names: tuple[str, str] = ("signed distance from the boundary", "first principal axis within it")
    words: str = "\nseen along its own boundary: nothing is sliced off"

    @classmethod
    def of(cls, estimator: Any, rows: Floats) -> Self:
        """Look along the boundary of a linear model of two classes."""
        weights = getattr(estimator, "coef_", None)
        intercept = np.ravel(getattr(estimator, "intercept_", ()))
        if weights is not None:
            weights = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, np.float64)
            weights = np.atleast_2d(weights)
        if weights is None or len(weights) != 1 or len(intercept) != 1:
            raise ValueError(
                f'plane="own" is for linear models of two classes, with one row of coef_: of '
                f"{type(estimator).__name__} draw two features instead, features=(i, j)."
            )
        length = float(np.linalg.norm(weights[0]))
        if length == 0:
            raise ValueError("All weights of the model are zero: it has no boundary to look along.")
        normal, offset = weights[0] / length, float(intercept[0]) / length
        mean = rows.mean(axis=0)
        centre = mean - (mean @ normal + offset) * normal
        within = rows - mean
        within = within - np.outer(within @ normal, normal)
        axis = np.linalg.eigh(within.T @ within)[1][:, -1]
        # If nothing is spread there (one feature), any direction at right angles will do.
        axis = axis - (axis @ normal) * normal
        size = np.linalg.norm(axis)
        axis = axis / size if size > 1e-9 else np.zeros_like(axis)
        # Up is where its largest coordinate grows.
        return cls(normal, offset, axis * (np.sign(axis[np.abs(axis).argmax()]) or 1.0), centre)

    def seen(self, rows: Floats) -> Floats:
        return np.column_stack([rows @ self.normal + self.offset, (rows - self.centre) @ self.axis])

    def looked_at(self, places: Floats) -> Floats:
        # Along the boundary nothing changes: one line of places across it tells all.
        along = np.unique(places[:, 0])
        return self.centre + np.outer(along, self.normal)

    def spread(self, answers: NDArray[Any], resolution: int) -> NDArray[Any]:
        return np.broadcast_to(answers[None], (resolution, *answers.shape))


def chosen_features(features: Any, names: list[str], estimator: Any) -> tuple[int, int]:
    """Return the numbers of the two features to draw."""
    if features is None:
        if len(names) == 2:
            return 0, 1
        if len(names) < 2:
            raise ValueError("X has one feature, but regions are drawn in a plane of two: give two features.")
        raise ValueError(
            f"X has {len(names)} features, of which two can be drawn: choose them by features=(i, j), the others "
            'are held at slice_at; or plane="own" for a linear model of two classes.'
        )
    try:
        first, second = features
    except (TypeError, ValueError):
        raise ValueError(f"features must be a pair of features, not {features!r}.") from None
    chosen = feature_number(first, names), feature_number(second, names)
    if chosen[0] == chosen[1]:
        raise ValueError(f"features must be two different ones, not {features!r}.")
    return chosen


def feature_number(feature: Any, names: list[str]) -> int:
    """Return the number of a feature given by name or number."""
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"There is no feature {feature!r}: there are {', '.join(names[:20])}.")
        return names.index(feature)
    if (
        isinstance(feature, bool)
        or not isinstance(feature, int | np.integer)
        or not 0 <= feature < len(names)
    ):
        raise ValueError(f"A feature is a name or a number from 0 to {len(names) - 1}, not {feature!r}.")
    return int(feature)
