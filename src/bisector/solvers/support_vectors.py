"""Support vector machines as quadratic problems, with what their solutions mean for the rows.

Classification, labels y = ±1 and a cost Cᵢ for each row: minimise ½‖w‖² + ΣCᵢξᵢ subject to yᵢ(w·φ(xᵢ) + b) ≥ 1 −
ξᵢ and ξ ≥ 0. With w = Σβᵢφ(xᵢ) and βᵢ = yᵢαᵢ its dual is the problem of `bisector.solvers.smo` with p = −y and β
between 0 and yᵢCᵢ (Flach, Equations 7.11 and 7.12). An infinite cost allows no slack: the hard margin.

Regression within a tube of half-width ε: minimise ½‖w‖² + ΣCᵢξᵢ subject to |yᵢ − w·φ(xᵢ) − b| ≤ ε + ξᵢ. Each row
has two variables, one that lifts and one that lowers it, with p = −y ± ε; they share the row of the Gram matrix.

Both return the gap between the two problems: what the objective may still be above its minimum.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.packed_notes import packed, unpacked
from bisector.solvers.kernel_lines import KernelLines
from bisector.solvers.low_rank_start import low_rank_start
from bisector.solvers.smo import Problem, Solution, smo

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SupportVectors:
    """A plane in feature space, w = Σ βᵢφ(xᵢ), and its certificate.

    Attributes
    ----------
    beta : ndarray of shape (n_rows,)
    values : ndarray of shape (n_rows,)
        w·φ(xᵢ) + b.
    offset : float
        b: the middle of all that are as good.
    length : float
        ‖w‖.
    objective : float
        ½‖w‖² + ΣCᵢξᵢ, of the primal problem.
    gap : float
        The objective is at most this far above its minimum.
    violation : float
        The largest violation of the Karush–Kuhn–Tucker conditions.
    iterations : int
    converged : bool
    negative_curvature : bool
        Whether the kernel was seen not to be psd.
    """

    beta: Floats
    values: Floats
    offset: float
    length: float
    objective: float
    gap: float
    violation: float
    iterations: int
    converged: bool
    negative_curvature: bool


class NoHardMargin(ValueError):
    """No plane in feature space separates the classes.

    Attributes
    ----------
    largest_margin : float
        A bound on the margin of any plane that separates them.
    pair : int
        Which of several problems it was.
    """

    def __init__(self, largest_margin: float, length: float) -> None:
        self.largest_margin = largest_margin
        self.pair = 0
        super().__init__(
            "C=inf asks for a plane in the kernel's feature space that separates the classes, but there is none: "
            f"the dual problem is unbounded, so that a margin could be at most {largest_margin:.2g} between rows "
            f"that are up to {length:.2g} long. Give a finite C, which allows slack, or another kernel."
        )


def classify(
    lines: KernelLines,
    sides: Floats,
    costs: Floats,
    *,
    tolerance: float = 1e-3,
    max_iter: int = -1,
    start: Floats | None = None,
    verbose: bool | int = False,
    kept: Checkpoint = NOWHERE,
) -> SupportVectors:
    """Find the plane of the widest soft margin between two classes.

    Parameters
    ----------
    lines : KernelLines
    sides : ndarray of shape (n_rows,)
        y: +1 or −1.
    costs : ndarray of shape (n_rows,)
        C, what a unit of slack costs at each row; may be infinite, and zero where a row does not count.
    tolerance, max_iter, verbose, kept
        As of `smo`.
    start : ndarray of shape (n_rows,), optional
        β of a similar problem, to begin with: for another C, say.

    Raises
    ------
    NoHardMargin
        If costs are infinite and no plane separates the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.kernel_lines import AllLines
    >>> from bisector.solvers.support_vectors import classify
    >>> X, y = np.array([[1.0, 2], [-1, 2], [-1, -2]]), np.array([-1.0, -1, 1])  # Flach, Example 7.5
    >>> plane = classify(AllLines(X @ X.T), y, np.full(3, np.inf), tolerance=1e-12)
    >>> plane.beta.round(6), 1 / plane.length
    (array([ 0.   , -0.125,  0.125]), 2.0)
    """
    ends = np.where(costs > 0, sides, 0.0) * np.where(costs > 0, costs, 0.0)
    problem = Problem(-sides, np.minimum(ends, 0.0), np.maximum(ends, 0.0), np.arange(len(sides)))
    known = kept.recall("crawled")
    if known is not None:
        lines.go_on(known)
        found = unpacked(Solution, known)
        near: Floats | None = known["near"]
    else:
        found = smo(
            problem, lines, tolerance=tolerance, max_iter=max_iter, start=start, verbose=verbose, kept=kept
        )
        crawled = not found.converged and max_iter < 0 and np.isfinite(costs).all()
        near = low_rank_start(lines, sides, costs) if crawled else None
        if near is not None and kept is not NOWHERE:
            kept.note("crawled", near=near, **packed(found), **lines.as_notes())
            kept.forget("turns")
            kept.forget("finishes")
    if near is not None:
        again = smo(problem, lines, tolerance=tolerance, start=near, verbose=verbose, kept=kept.part("again"))
        found = again if again.violation < found.violation else found
    if found.unbounded:
        longest = math.sqrt(float(np.abs(lines.diagonal).max(initial=0.0)))
        gained = max(-found.objective, 0.0)
        raise NoHardMargin(1 / math.sqrt(2 * gained) if gained > 0 else math.inf, longest)
    values = found.values + found.offset
    square = max(0.0, float(found.beta @ found.values))
    slack = np.maximum(0.0, 1.0 - sides * values)
    if np.isinf(costs).any():
        gap, objective = _without_slack(found, square, sides * values, costs, slack)
    else:
        gap, objective = found.gap, 0.5 * square + float(costs @ slack)
    return _planes(found, found.beta, values, square, objective, gap)


def regress(
    lines: KernelLines,
    targets: Floats,
    costs: Floats,
    epsilon: float,
    *,
    tolerance: float = 1e-3,
    max_iter: int = -1,
    start: Floats | None = None,
    verbose: bool | int = False,
    kept: Checkpoint = NOWHERE,
) -> SupportVectors:
    """Find the flattest function of which the targets lie within a tube, but for slack.

    Parameters
    ----------
    lines, costs, tolerance, max_iter, start, verbose, kept
        As of `classify`.
    targets : ndarray of shape (n_rows,)
    epsilon : float
        Half the width of the tube.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.kernel_lines import AllLines
    >>> from bisector.solvers.support_vectors import regress
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> line = regress(AllLines(np.outer(x, x)), 3 * x, np.full(3, 10.0), 0.5)  # from 0.5 to 5.5
    >>> line.values.round(6)
    array([0.5, 3. , 5.5])
    """
    n = len(targets)
    nothing = np.zeros(n)
    problem = Problem(
        np.concatenate([epsilon - targets, -epsilon - targets]),
        np.concatenate([nothing, -costs]),
        np.concatenate([costs, nothing]),
        np.tile(np.arange(n), 2),
    )
    both = None if start is None else np.concatenate([np.maximum(start, 0.0), np.minimum(start, 0.0)])
    found = smo(
        problem, lines, tolerance=tolerance, max_iter=max_iter, start=both, verbose=verbose, kept=kept
    )
    beta = found.beta[:n] + found.beta[n:]
    values = found.values + found.offset
    square = max(0.0, float(beta @ found.values))
    slack = np.maximum(0.0, np.abs(targets - values) - epsilon)
    counted = costs > 0
    objective = 0.5 * square + float(costs[counted] @ slack[counted])
    return _planes(found, beta, values, square, objective, found.gap)


def _planes(
    found: Solution, beta: Floats, values: Floats, square: float, objective: float, gap: float
) -> SupportVectors:
    return SupportVectors(
        beta=beta,
        values=values,
        offset=found.offset,
        length=math.sqrt(square),
        objective=objective,
        gap=max(0.0, gap),
        violation=found.violation,
        iterations=found.iterations,
        converged=found.converged,
        negative_curvature=found.negative_curvature,
    )


def _without_slack(
    found: Solution, square: float, margins: Floats, costs: Floats, slack: Floats
) -> tuple[float, float]:
    """Return gap and objective where some rows may have no slack.

    The plane found lets them have a little, through rounding and tolerance. Lengthened until they have none it is
    feasible, and its objective bounds the minimum from above.
    """
    hard = np.isinf(costs)
    least = float(margins[hard].min())
    if least <= 0:
        return math.inf, math.inf
    stretch = max(1.0, 1.0 / least)
    soft = np.maximum(0.0, 1.0 - stretch * margins[~hard])
    objective = 0.5 * square * stretch**2 + float(costs[~hard] @ soft)
    return objective + found.objective, objective
