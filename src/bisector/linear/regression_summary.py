"""The summary of a least-squares fit: R's table, and plain words on what not to trust."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks
from bisector.engine.show import Caution, Heading, Sheet, Table, number, p_value, stars
from bisector.engine.sources import Source
from bisector.measures.inference import Inference, UnivariateInference

# A slope whose variance is ten times what it would be without correlation moves with every change of the data.
LARGEST_TRUSTED_INFLATION = 10.0
# Shares of a slope's variance above this count as caused by one near-dependence (Belsley, Kuh, Welsch 1980).
LARGE_SHARE = 0.3


def summarize(
    inference: Inference, names: list[str], rows: Source | None, *, n_jobs: int | None = None
) -> Sheet:
    """Write the summary; `rows` are the training data, if they are still at hand."""
    fit = inference.fit
    n_targets = len(fit.intercept)
    head = f"Least squares on {_count(len(names), 'feature')} and {_count(fit.n_rows, 'row')}"
    if isinstance(inference, UnivariateInference):
        head += ", each feature alone"
    parts: list[Any] = [Heading(head)]
    residuals = None if rows is None else _residuals(rows, inference, n_jobs)
    for target in range(n_targets):
        if n_targets > 1:
            parts.append(Heading(f"Target {target}"))
        if residuals is not None:
            parts.append(_residual_table(residuals[:, target]))
        parts += [_coefficient_table(inference, names, target), _quality(inference, target)]
    return Sheet([*parts, *map(Caution, cautions(inference, names))])


def _residuals(rows: Source, inference: Inference, n_jobs: int | None) -> NDArray[np.float64] | None:
    """Return the residuals of all rows; None if they are too many to hold, and the table is left out."""
    try:
        return np.asarray(map_blocks(block_residual_rows, rows, inference, n_jobs=n_jobs))
    except MemoryError:
        return None


def block_residual_rows(block: Block, inference: Inference) -> NDArray[np.float64]:
    """Return y minus its prediction for one block's rows."""
    predicted = np.asarray(block.X @ inference.fit.coef) + inference.fit.intercept
    return block.targets - predicted


def _residual_table(residuals: NDArray[np.float64]) -> Table:
    if len(residuals) <= 5:
        return Table([str(i) for i in range(len(residuals))], [residuals.tolist()], title="Residuals:")
    quantiles = np.quantile(residuals, [0, 0.25, 0.5, 0.75, 1])
    return Table(["Min", "1Q", "Median", "3Q", "Max"], [quantiles.tolist()], title="Residuals:")


def _coefficient_table(inference: Inference, names: list[str], target: int) -> Table:
    p_values = inference.p_values[target].tolist()
    rows = zip(
        ["(Intercept)", *names] if inference.intercept else names,
        inference.coefficients[target].tolist(),
        inference.standard_errors[target].tolist(),
        inference.t_values[target].tolist(),
        [p_value(p) for p in p_values],
        [stars(p) for p in p_values],
        strict=True,
    )
    marks = ["Marks: *** p ≤ 0.001, ** p ≤ 0.01, * p ≤ 0.05, . p ≤ 0.1"]
    columns = ["", "Estimate", "Std. Error", "t value", "Pr(>|t|)", " "]
    return Table(columns, list(rows), title="Coefficients:", notes=marks)


def _quality(inference: Inference, target: int) -> str:
    left = inference.degrees_of_freedom
    share = f"R² {number(inference.r2[target])}"
    if left <= 0:
        return f"No degrees of freedom are left for errors. {share}."
    F, p = (float(values[target]) for values in inference.f_test)
    error = number(float(inference.residual_error[target]))
    lines = [
        f"Residual standard error {error} on {number(left)} degrees of freedom",
        f"{share}, adjusted R² {number(inference.adjusted_r2[target])}",
    ]
    if isinstance(inference, UnivariateInference):  # what features do together was not looked at
        return "\n".join(lines)
    if inference.columns.rank and inference.fit.method != "nnls":
        lines.append(
            f"F statistic {number(F)} on {inference.columns.rank} and {number(left)}, p {p_value(p)}"
        )
    lines.append(f"Condition number {number(inference.columns.condition_number)} (features in equal units)")
    return "\n".join(lines)


def cautions(inference: Inference, names: list[str]) -> list[str]:
    """Say in plain words what should not be trusted, and which features are to blame."""
    fit, columns = inference.fit, inference.columns
    said = []
    if fit.method == "nnls":
        said.append("coefficients were held at zero, so there are no standard errors or tests.")
    elif inference.tested_with <= 0:
        said.append(
            f"{number(fit.weight)} rows cannot tell the errors of {len(names) + inference.intercept} coefficients: "
            "there are no standard errors, and a perfect fit means nothing."
        )
    if not fit.converged:
        said.append(f"the solution is not exact: its last correction was {fit.gap:.0e} of its size.")
    constant = [name for name, length in zip(names, columns.lengths, strict=True) if length == 0]
    if constant:
        said.append(
            f"{_listed(constant)} never change{'s' * (len(constant) == 1)}: left out, with coefficient 0."
        )
    if isinstance(inference, UnivariateInference):
        said.append(
            "correlation between features is ignored: together the coefficients need not fit the data."
        )
    elif not columns.is_full:
        blamed = _listed(_dependent(inference, names))
        chosen = "Of all equally good coefficients the shortest are given; "
        if fit.method == "nnls":
            chosen = "Other coefficients are equally good; "
        said.append(
            f"the data cannot tell the coefficients of {blamed} apart: these features depend on each other "
            f"exactly. {chosen}leave features out to make them mean something. Predictions within the data are "
            "not affected."
        )
    else:
        said += _collinear(inference, names)
    perfect = fit.residual_norm <= 1e-12 * fit.total_norm
    if perfect.any() and inference.degrees_of_freedom > 0:
        said.append("the fit is perfect up to rounding: standard errors and tests measure rounding only.")
    return said


def _dependent(inference: Inference, names: list[str]) -> list[str]:
    inflation = inference.variance_inflation
    return [name for name, value in zip(names, inflation, strict=True) if np.isinf(value)]


def _collinear(inference: Inference, names: list[str]) -> list[str]:
    """Name the features that the data hardly tell apart."""
    with np.errstate(invalid="ignore"):
        weak = np.flatnonzero(inference.variance_inflation > LARGEST_TRUSTED_INFLATION)
    if not len(weak) or inference.fit.method == "nnls":
        return []
    weak = weak[np.argsort(-inference.variance_inflation[weak], kind="stable")]
    times = _listed([number(value, 3) for value in np.sqrt(inference.variance_inflation[weak])])
    indices, shares = inference.columns.variance_shares()
    together = np.flatnonzero(shares[np.argmax(indices)] > LARGE_SHARE)
    listed = _listed([names[j] for j in weak])
    subject = (
        f"coefficients of {listed} cannot be trusted one by one"
        if len(weak) > 1
        else (f"coefficient of {listed} cannot be trusted by itself")
    )
    words = (
        f"the {subject}: correlation with other features makes the standard error {times} times what it would be "
        "without."
    )
    if len(together) > 1:
        words += f" Hardest to tell apart: {_listed([names[j] for j in together])}."
    return [words]


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _listed(words: list[str], most: int = 8) -> str:
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
