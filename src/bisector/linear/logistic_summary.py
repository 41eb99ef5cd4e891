"""How sure a logistic regression by maximum likelihood is, and its summary: R's table, and what not to trust.

The covariance of the coefficients is the inverse of the Fisher information Σ wᵢpᵢ(1 − pᵢ)xᵢxᵢᵀ at the solution; an
estimate over its standard error is about normal when the coefficient is zero (Wald's test).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri

from bisector.engine.row_sums import rows_with_weight, total_weight, weight_by_class
from bisector.engine.show import Caution, Heading, Sheet, Table, number, p_value, stars
from bisector.engine.sources import Source
from bisector.solvers.logistic_task import LogisticFit

Floats = NDArray[np.float64]

# With fewer rows for a coefficient, maximum likelihood is visibly biased (Peduzzi et al., 1996).
FEWEST_ROWS_PER_COEFFICIENT = 10


@dataclass(frozen=True)
class LogisticInference:
    """What follows from maximum likelihood about its own precision.

    Attributes
    ----------
    coefficients, standard_errors : (planes, n_coefficients), the intercept first if there is one
    n_rows : rows with a positive weight
    weight : sum of the weights
    deviance, null_deviance : twice minus the log-likelihood, of the fit and of constant probabilities
    n_estimated : coefficients that the data determine, which are the degrees of freedom of the fit
    n_intercepts : intercepts among them
    iterations : Newton steps
    separable, known : whether the likelihood has no maximum; whether there are standard errors at all
    """

    coefficients: Floats
    standard_errors: Floats
    n_rows: int
    weight: float
    deviance: float
    null_deviance: float
    n_estimated: int
    n_intercepts: int
    iterations: int
    separable: bool
    known: bool

    @classmethod
    def of(
        cls, fits: list[LogisticFit], rows: Source, n_classes: int, intercept: bool
    ) -> "LogisticInference":
        """Gather what one fit, or one a class, says."""
        coef = np.concatenate([fit.coef for fit in fits])
        offsets = np.concatenate([fit.intercept for fit in fits])
        coefficients = np.column_stack([offsets, coef]) if intercept else coef
        errors = np.full(coefficients.shape, np.nan)
        known = all(fit.errors is not None for fit in fits)
        planes = max(1, len(coefficients) - 1) if len(fits) == 1 else len(fits)
        estimated = planes * coefficients.shape[1]
        if known:
            errors = np.concatenate([np.asarray(fit.errors) for fit in fits])
            estimated = sum(fit.rank or 0 for fit in fits)
        weight, n_rows = total_weight(rows), rows_with_weight(rows)
        return cls(
            coefficients,
            errors,
            n_rows,
            weight,
            2.0 * weight * sum(fit.loss for fit in fits),
            _null_deviance(rows, fits, n_classes, intercept),
            estimated,
            planes * intercept,
            sum(fit.iterations for fit in fits),
            any(fit.separable for fit in fits),
            known,
        )

    @property
    def z_values(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coefficients / self.standard_errors

    @property
    def p_values(self) -> Floats:
        """Probabilities of a larger |z| if the coefficient were zero."""
        return np.asarray(2.0 * ndtr(-np.abs(self.z_values)))

    @property
    def aic(self) -> float:
        return self.deviance + 2.0 * self.n_estimated

    def confidence_intervals(self, level: float) -> Floats:
        """Return lower and upper ends (planes, n_coefficients, 2)."""
        half = float(ndtri(0.5 + level / 2)) * self.standard_errors
        return np.stack([self.coefficients - half, self.coefficients + half], axis=-1)

    @property
    def likelihood_ratio(self) -> tuple[float, int, float]:
        """Statistic of all slopes being zero, its degrees of freedom and its p-value."""
        freedom = self.n_estimated - self.n_intercepts
        statistic = max(0.0, self.null_deviance - self.deviance)
        return statistic, freedom, float(chdtrc(freedom, statistic)) if freedom > 0 else np.nan


def _null_deviance(rows: Source, fits: list[LogisticFit], n_classes: int, intercept: bool) -> float:
    """Twice minus the log-likelihood of the best constant, or without an intercept of equal probabilities."""
    counts = weight_by_class(rows, n_classes)
    problems = [counts] if len(fits) == 1 else [np.array([counts.sum() - c, c]) for c in counts]
    total = 0.0
    for parts in problems:
        shares = parts / parts.sum() if intercept else np.full(len(parts), 1 / len(parts))
        total -= 2.0 * float(parts @ np.log(shares))
    return total


def summarize(inference: LogisticInference, names: list[str], classes: Sequence[str]) -> Sheet:
    """Write the summary."""
    several = len(inference.coefficients) > 1
    head = f"Logistic regression on {_count(len(names), 'feature')} and {_count(inference.n_rows, 'row')}"
    parts: list[Any] = [Heading(head)]
    if not several:
        parts.append(f"Log-odds of {classes[1]} against {classes[0]}.")
    for plane in range(len(inference.coefficients)):
        if several:
            parts.append(Heading(f"Class {classes[plane]}"))
        parts.append(_coefficient_table(inference, names, plane))
    parts.append(_quality(inference))
    return Sheet([*parts, *map(Caution, cautions(inference, names))])


def _coefficient_table(inference: LogisticInference, names: list[str], plane: int) -> Table:
    p_values = inference.p_values[plane].tolist()
    rows = zip(
        ["(Intercept)", *names] if inference.n_intercepts else names,
        inference.coefficients[plane].tolist(),
        inference.standard_errors[plane].tolist(),
        inference.z_values[plane].tolist(),
        [p_value(p) for p in p_values],
        [stars(p) for p in p_values],
        strict=True,
    )
    marks = ["Marks: *** p ≤ 0.001, ** p ≤ 0.01, * p ≤ 0.05, . p ≤ 0.1"]
    columns = ["", "Estimate", "Std. Error", "z value", "Pr(>|z|)", " "]
    return Table(columns, list(rows), title="Coefficients:", notes=marks)


def _quality(inference: LogisticInference) -> str:
    statistic, freedom, p = inference.likelihood_ratio
    left = inference.weight - inference.n_estimated
    lines = [
        f"Null deviance {number(inference.null_deviance)}, residual deviance {number(inference.deviance)} on "
        f"{number(left)} degrees of freedom",
        f"AIC {number(inference.aic)}, Newton steps {inference.iterations}",
    ]
    if freedom > 0 and not inference.separable:
        lines.append(f"Likelihood ratio {number(statistic)} on {freedom}, p {p_value(p)}")
    return "\n".join(lines)


def cautions(inference: LogisticInference, names: list[str]) -> list[str]:
    """Say in plain words what should not be trusted."""
    if inference.separable:
        return [
            "planes separate the classes, so the likelihood has no maximum: there are no standard errors, and "
            "coefficients mean nothing. Fit with a penalty (a finite C)."
        ]
    if not inference.known:
        return [
            "there are too many coefficients for the products of every two of them: there are no standard errors. "
            'Choose among the features, or set solver="newton-cholesky".'
        ]
    said = []
    slopes = inference.standard_errors[0][int(inference.n_intercepts > 0) :]
    lost = [name for name, error in zip(names, slopes, strict=True) if np.isnan(error)]
    if lost:
        one = len(lost) == 1
        said.append(
            f"the data do not determine the coefficient{'s' * (not one)} of {_listed(lost)}: "
            f"{'this feature is' if one else 'these features are'} constant, or depend{'s' * one} on others. "
            "Of all equally good coefficients the shortest are given."
        )
    if inference.weight <= FEWEST_ROWS_PER_COEFFICIENT * inference.n_estimated:
        said.append(
            f"{number(inference.weight)} rows are few for {inference.n_estimated} coefficients: estimates are too "
            "large on average, and their standard errors too small."
        )
    return said


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _listed(words: list[str], most: int = 8) -> str:
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
