"""What holds a margin, in words and tables."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bisector.engine.show import Caution, Heading, Sheet, Table, number
from bisector.engine.validation import check_count
from bisector.svm.soft_margin import ROLES, SoftMargin

if TYPE_CHECKING:
    from bisector.svm.svc import SVC


def report_margins(model: "SVC", margins: list[SoftMargin], largest: int) -> Sheet:
    """Write the report of `SVC.support_report`."""
    largest = check_count("largest", largest, at_least=0)
    allowed = "no slack (hard margin)" if np.isinf(model.C) else f"slack at C = {number(float(model.C))}"
    parts: list[Any] = [
        Heading("Support vector machine"),
        f"Kernel {model.kernel_!r}, {allowed}; {len(model.support_)} of {model.shape_fit_[0]} rows are support "
        "vectors.",
    ]
    for margin in margins:
        names = _names(model, margin)
        if len(margins) > 1:
            parts.append(Heading(f"{names[0]} or {names[1]}"))
        parts += [_roles(margin, names), _proof(model, margin), *_holders(margin, names, largest)]
    return Sheet([*parts, *_weights(model, margins)])


def _roles(margin: SoftMargin, names: list[str]) -> Table:
    """Count the rows of each class by how they lie to the margin, and those with α > 0 among them."""
    roles, support = margin.roles, margin.plane.beta != 0
    rows = []
    for place, role in enumerate(ROLES):
        chosen = roles == place
        counts = [int(np.sum(chosen & (margin.sides == side))) for side in (-1, 1)]
        rows.append([role, *counts, int(np.sum(chosen & support)), _shown(margin.slack[chosen].sum())])
    return Table(["rows", *names, "with α > 0", "slack"], rows)


def _proof(model: "SVC", margin: SoftMargin) -> str:
    plane = margin.plane
    at_limit = int(np.sum((plane.beta != 0) & (margin.alpha == margin.costs)))
    below = int(np.sum(plane.beta != 0)) - at_limit
    lines = [
        f"Margin {number(margin.margin)} on each side (1/‖w‖ in feature space)",
        f"Support vectors at their limit α = C: {at_limit}; below it: {below}",
        f"Objective {number(plane.objective, 6)}, at most {number(plane.gap, 2)} above the minimum",
        f"Optimality conditions violated by at most {number(plane.violation, 2)}",
    ]
    return "\n".join(lines)


def _holders(margin: SoftMargin, names: list[str], largest: int) -> list[Any]:
    """List the rows with the largest α."""
    parts: list[Any] = []
    if not margin.plane.converged:
        parts.append(Caution("the solver ended before the conditions held: do not trust the margin."))
    order = np.argsort(-margin.alpha, kind="stable")
    order = order[margin.plane.beta[order] != 0][:largest]
    if not len(order):
        return parts
    roles, slack = margin.roles, margin.slack
    rows = [
        [
            int(margin.members[i]),
            names[int(margin.sides[i] > 0)],
            float(margin.alpha[i]),
            "limit" if margin.alpha[i] == margin.costs[i] else "",
            ROLES[roles[i]],
            _shown(slack[i]),
        ]
        for i in order
    ]
    return [*parts, Table(["row", "class", "α", "", "role", "slack"], rows, title="Largest α:")]


def _shown(slack: float) -> float:
    """Slack as it is shown: what rounding leaves is none."""
    return round(float(slack), 9)


def _weights(model: "SVC", margins: list[SoftMargin]) -> list[Any]:
    """Write the plane itself, where it has few weights."""
    if not hasattr(model, "coef_") or model.coef_.shape[1] > 30:
        return []
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.coef_.shape[1])])
    if len(margins) == 1:
        columns, title = ["w"], "Plane w·x = t:"
    else:
        columns = [" or ".join(_names(model, margin)) for margin in margins]
        title = "Planes w·x = t, beyond which lies the first of two classes:"
    rows = [[str(name), *map(float, model.coef_[:, j])] for j, name in enumerate(names)]
    rows.append(["threshold t", *map(float, -model.intercept_)])
    return [Table(["", *columns], rows, title=title)]


def _names(model: "SVC", margin: SoftMargin) -> list[str]:
    return [str(model.classes_[code]) for code in (margin.negative, margin.positive)]
