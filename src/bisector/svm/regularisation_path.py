"""The support vector machine for every C: where its solution bends, and what it is anywhere in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.engine.memory import require
from bisector.engine.show import Table
from bisector.engine.sources import refuse_collections
from bisector.engine.targets import check_labels
from bisector.engine.validation import check_number, check_weights
from bisector.kernels.custom import Precomputed
from bisector.kernels.gram_matrices import checked_square
from bisector.kernels.kernel import Kernel
from bisector.kernels.names import resolve
from bisector.kernels.polynomial import Linear
from bisector.kernels.tiles import all_products
from bisector.solvers.hinge_path import HingePath, hinge_path
from bisector.svm.soft_margin import ROLES, lies
from bisector.svm.training_lines import TrainingLines, negative_eigenvalue

Floats = NDArray[np.float64]

# Scores so near to the margin are on it.
ON_MARGIN = 1e-8
# A longer path is printed by its two ends.
MOST_LINES = 12


@dataclass(frozen=True, eq=False)
class SVMAtC:
    """The support vector machine at one C.

    Attributes
    ----------
    C : float
    alpha : array of shape (n_samples,)
        Multipliers, between 0 and C times the row's weight.
    threshold : float
        A row is positive if Σαᵢyᵢk(xᵢ, x) exceeds it; the middle, if several are best.
    weights : array of shape (n_features,), or None
        w = Σαᵢyᵢxᵢ, for the linear kernel.
    margin : float
        1/‖w‖ in feature space.
    roles : array of str of shape (n_samples,)
        "outside", "on margin", "inside" (the margin, on the right side) or "misclassified".
    slack : array of shape (n_samples,)
        What each row lacks to its margin.
    """

    C: float
    alpha: Floats
    threshold: float
    weights: Floats | None
    margin: float
    roles: NDArray[np.str_]
    slack: Floats


@dataclass(frozen=True, repr=False, eq=False)
class SVMPath:
    """The exact path of a support vector machine; made by `svm_path`.

    Between two knots every multiplier and the threshold are linear in C.

    Attributes
    ----------
    knots : array of shape (n_knots,)
        The values of C where the solution bends, largest first. Above the first it goes on as it was (and if the
        classes can be separated, does not change any more); below the last all multipliers shrink with C.
    classes : array of shape (2,)
        The labels; the second is the positive class.
    kernel : Kernel
        With what it learned from the rows.
    violation : float
        The certificate: over all knots, the most that any row's margin is off what its multiplier requires.
    largest_C : float
        Up to which C the path is known: infinity, unless rounding cannot tell the kernel's matrix from a
        singular one.
    """

    knots: Floats
    classes: NDArray[Any]
    kernel: Kernel
    violation: float
    largest_C: float
    _training: "_Training"

    def at(self, C: float) -> SVMAtC:
        """Return the machine at any C, as a fit there would find it.

        Parameters
        ----------
        C : float
            Above zero, and at most ``largest_C``.

        Returns
        -------
        SVMAtC
        """
        C = self._known(C)
        known = self._training
        solution, side = known.path.at(C), known.side
        alpha = np.zeros(len(side))
        alpha[known.present] = solution.alpha
        pulls = alpha * side
        score = known.gram @ pulls + solution.intercept
        length = float(np.sqrt(max(float(pulls @ (score - solution.intercept)), 0.0)))
        beyond = side * score - 1
        roles = np.array(ROLES)[lies(score, side, ON_MARGIN)]
        weights, threshold = None, -solution.intercept
        if known.centre is not None:
            weights = np.asarray(known.vectors.T @ pulls, dtype=np.float64)
            moved = float(weights @ known.centre)
            # What is left when the two cancel is rounding.
            threshold = threshold + moved if abs(threshold + moved) > 1e-14 * abs(moved) else 0.0
        with np.errstate(divide="ignore"):
            margin = float(np.divide(1.0, length))
        slack = np.where(np.abs(beyond) <= ON_MARGIN, 0.0, np.maximum(-beyond, 0.0))
        return SVMAtC(float(C), alpha, threshold + 0.0, weights, margin, roles, slack)

    def decision_function(self, X: Any, C: float) -> Floats:
        """Return the scores of rows by the machine at C: positive for ``classes[1]``.

        Parameters
        ----------
        X : rows as the kernel takes them
            For ``kernel="precomputed"``, their kernel values with the training rows.
        C : float

        Returns
        -------
        array of shape (n_samples,)
        """
        machine, known = self.at(C), self._training
        if known.rows is None:
            values = np.asarray(X)
            if values.ndim != 2 or values.shape[1] != len(known.side):
                raise ValueError(
                    f"X must hold the kernel values of each row with the {len(known.side)} training rows, but has "
                    f"the shape {values.shape}."
                )
        else:
            values = all_products(self.kernel, self.kernel.prepare(X, like=known.rows), known.rows)
        return np.asarray(values @ (machine.alpha * known.side) - machine.threshold, dtype=np.float64)

    def _known(self, C: float) -> float:
        C = check_number("C", C, above=0)
        if np.isinf(C):
            raise ValueError(
                "C must be finite: above the first knot of separable classes nothing changes any more."
            )
        if self.largest_C < C:
            raise ValueError(
                f"The path is known up to C={self.largest_C:g} only: beyond, rounding cannot tell the kernel's "
                "matrix from a singular one; use a narrower kernel, or a smaller C."
            )
        return C

    def table(self) -> Table:
        """Return the knots as a table; of many, those at both ends."""
        n = len(self.knots)
        shown: Sequence[int] = range(n)
        if n > MOST_LINES:
            shown = [*range(MOST_LINES // 2), *range(n - MOST_LINES // 2, n)]
        lines = []
        for k in shown:
            machine = self.at(self.knots[k])
            count = [int((machine.roles == role).sum()) for role in ("on margin", "inside", "misclassified")]
            lines.append([machine.C, machine.margin, machine.threshold, *count])
        columns = ["C", "margin", "threshold", "on margin", "inside", "misclassified"]
        notes = [f"{n - len(lines)} knots in the middle are not shown."] if n > len(lines) else []
        title = f"Path of support vector machines: {n} knots, {len(self._training.side)} rows"
        return Table(columns, lines, title=title, notes=notes)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


@dataclass(frozen=True)
class _Training:
    """What a path was made of: its rows, of which those without weight are no part of the path."""

    path: HingePath
    rows: Rows | None
    side: Floats
    present: NDArray[np.int64]
    gram: Floats
    vectors: Any
    centre: Floats | None


def svm_path(
    X: Any,
    y: ArrayLike,
    kernel: Any = "linear",
    *,
    gamma: Any = None,
    coef0: Any = None,
    degree: Any = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> SVMPath:
    """Find the support vector machine with the hinge loss for every C at once.

    Parameters
    ----------
    X : rows as the kernel takes them
        Vectors for most kernels; the Gram matrix for ``kernel="precomputed"``.
    y : array of shape (n_samples,)
        Two labels; the larger one is the positive class.
    kernel : str, Kernel or callable, default="linear"
        As for `bisector.kernels.resolve`; one whose matrix has a negative eigenvalue is refused.
    gamma, coef0, degree : optional
        scikit-learn's parameters of named kernels.
    sample_weight : array of shape (n_samples,), optional
        What multiplies C for each row: a row of weight 2 is as good as two equal rows, one of weight 0 as none.
    n_jobs : int, optional
        Number of threads for the kernel matrix; the path itself is followed by one.

    Returns
    -------
    SVMPath

    Notes
    -----
    Rows that tie, repeated rows and classes of unequal size are followed exactly. With unequal
    classes that overlap so much that the mean of the smaller one could be a weighted mean of the larger, the
    best w is zero for every C, and the path has no knots. Memory is needed for the matrix of all kernel values.

    References
    ----------
    Hastie, Rosset, Tibshirani and Zhu, *The entire regularization path for the support vector machine* (2004).
    Flach, *Machine Learning* (2012), section 7.3.

    Examples
    --------
    Example 7.6 of Flach:

    >>> from bisector import svm_path
    >>> path = svm_path([[1, 2], [-1, 2], [-1, -2], [3, 1]], [-1, -1, 1, 1])
    >>> path
    Path of support vector machines: 4 knots, 4 rows
         C  margin  threshold  on margin  inside  misclassified
       0.5       1          0          3       0              0
    0.3125     1.6     -0.375          3       1              0
    0.1875     1.6     -0.375          3       1              0
       0.1   1.857       -0.2          2       2              0
    >>> path.at(0.25).alpha
    array([0.25     , 0.0390625, 0.0703125, 0.21875  ])
    """
    refuse_collections(X, svm_path)
    learned = resolve(kernel, gamma=gamma, coef0=coef0, degree=degree).learned(X)
    rows = None if isinstance(learned, Precomputed) else learned.prepare(X)
    n = len(X) if rows is None else len(rows)
    found = check_labels(svm_path, y, n)
    if not found.single or len(found.classes[0]) != 2:
        kinds = len(found.classes[0]) if found.single else "several columns"
        raise ValueError(f"svm_path needs y with two labels, one a row, but it has {kinds}.")
    weight = check_weights(sample_weight, n)
    weight = np.ones(n) if weight is None else weight
    side = np.where(found.codes[:, 0] == 1, 1.0, -1.0)
    present = np.flatnonzero(weight)
    if len(np.unique(side[present])) < 2:
        raise ValueError("svm_path needs rows of both classes with a weight above zero.")
    require(
        3 * 8 * n * n,
        doing=f"Following the path of {n:,} rows",
        holding=f"{n:,} × {n:,} kernel values and an inverse of as many",
        instead="use a part of the rows, or SVC at a single C",
    )
    if rows is None:
        gram, vectors, centre = checked_square(X, "X"), None, None
    else:
        gram, vectors, centre = _gram(learned, rows, n_jobs)
    if not np.isfinite(gram).all():
        raise ValueError(
            "The kernel gives NaN or infinity for some rows: look at its values, kernel.gram(X)."
        )
    if not learned.psd:
        _check_psd(gram, learned)
    gram = np.asarray(gram, dtype=np.float64, order="C")
    inner = gram if len(present) == n else np.ascontiguousarray(gram[np.ix_(present, present)])
    path = hinge_path(inner, side[present], weight[present])
    if path.reach == 0:
        raise ValueError(
            "Rounding cannot tell the kernel's matrix from a singular one, so that no path can be followed: use a "
            "narrower kernel, or SVC at single values of C."
        )
    return SVMPath(
        path.knots[::-1].copy(),
        found.classes[0],
        learned,
        path.worst,
        path.reach,
        _Training(path, rows, side, present, gram, vectors, centre),
    )


# In place of the path: the plane for one C, from passes over the collection; or the path of fewer rows.
svm_path._instead_of_gathering = (  # type: ignore[attr-defined]
    "use LinearSVC(loss='hinge') for one C at a time, or follow the path of a sample of the rows"
)


def _check_psd(gram: NDArray[Any], kernel: Kernel) -> None:
    """Refuse kernels that are no dot products: the problem then has no one solution that a path could follow."""
    smallest = negative_eigenvalue(gram, TrainingLines.of_gram(gram, kernel).precision)
    if smallest is not None:
        raise ValueError(
            "svm_path needs a kernel that is positive semi-definite, but its matrix has the eigenvalue "
            f"{smallest:.3g}: use another kernel, or SVC at single values of C."
        )


def _gram(kernel: Kernel, rows: Rows, n_jobs: int | None) -> tuple[Floats, Any, Floats | None]:
    """Return the kernel's values; and of a linear kernel, the vectors and what they were centred by.

    Balanced multipliers do not feel a shift of the rows, but products of rows far from zero lose their digits.
    """
    if isinstance(kernel, Linear) and isinstance(rows, NumericRows):
        if rows.sparse:
            return _products(kernel, rows, n_jobs), rows.values, np.zeros(rows.n_features)
        centre = rows.values.mean(axis=0, dtype=np.float64)
        moved = rows.values - centre
        return moved @ moved.T, moved, centre
    return _products(kernel, rows, n_jobs), None, None


def _products(kernel: Kernel, rows: Rows, n_jobs: int | None) -> Floats:
    return all_products(kernel, rows, out=np.empty((len(rows), len(rows))), n_jobs=n_jobs)
