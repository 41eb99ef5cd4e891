"""Why there is no hard margin, for rows in the space where they live."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.sources import source
from bisector.kernels import Kernel, Linear
from bisector.solvers.separability import separate
from bisector.solvers.support_vectors import NoHardMargin

# So many rows of a common point are named.
_NAMED = 6


def refusal(
    failed: NoHardMargin,
    kernel: Kernel,
    items: Any,
    members: NDArray[np.int64],
    sides: NDArray[np.float64],
    names: tuple[Any, Any],
) -> ValueError:
    """Return the error to raise: with the point that the classes have in common, if the kernel is linear.

    In the space of the rows it can be shown: convex combinations of the rows of both classes that are equal. In
    other feature spaces the unbounded dual must do.
    """
    if not isinstance(kernel, Linear):
        return failed
    verdict = separate(source(items[members], y=(sides > 0).astype(np.int64)))
    if verdict.meeting is None:
        margin = 0.0 if verdict.plane is None else verdict.plane.margin
        return ValueError(
            f"C=inf asks for the widest margin between the classes {names[0]!r} and {names[1]!r}, which is too "
            f"small to be found: a plane that separates them has one of {margin:.2g}. Give a large, finite C."
        )
    rows = members[verdict.meeting.rows]
    first, second = (rows[sides[verdict.meeting.rows] == side].tolist() for side in (-1.0, 1.0))
    return ValueError(
        f"C=inf asks for a plane that separates the classes {names[0]!r} and {names[1]!r}, but there is none: a "
        f"mean of {_named(first)} of the one is equal to a mean of {_named(second)} of the other. Give a finite C, "
        "which allows slack."
    )


def _named(rows: list[int]) -> str:
    if len(rows) == 1:
        return f"row {rows[0]}"
    shown = ", ".join(map(str, rows[:_NAMED]))
    return f"rows {shown}" + (" …" if len(rows) > _NAMED else "")
