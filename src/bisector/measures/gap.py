"""The gap statistic: how much less rows scatter within clusters than evenly spread ones would.

G(k) = E[log W*(k)] − log W(k), where W is the scatter within k clusters, and W* that of rows without clusters
(Learning From Data, Problem 6.24; Tibshirani, Walther and Hastie, 2001).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.engine.progress import track
from bisector.engine.seeds import seed_of
from bisector.engine.show import Caution, Part, Sheet, Table
from bisector.engine.threads import parallel
from bisector.engine.validation import check_choice, check_count
from bisector.measures.uniform_references import (
    REFERENCES,
    box_of,
    check_range,
    check_values,
    clusterings,
    clusters_together,
    logarithm,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rule = Literal["one-se", "max"]
Reference = Literal["box", "principal"]


@dataclass(frozen=True, eq=False, repr=False)
class GapStatistic:
    """The gap for each number of clusters, and the numbers that it recommends.

    Attributes
    ----------
    k : ndarray of shape (n_k,)
        The numbers of clusters tried.
    log_scatter : ndarray of shape (n_k,)
        The logarithm of the scatter within k clusters of the rows; −∞ where nothing is left of it.
    log_reference : ndarray of shape (n_k,)
        The mean of the same over the references.
    gap : ndarray of shape (n_k,)
        `log_reference` − `log_scatter`.
    standard_error : ndarray of shape (n_k,)
        s·√(1 + 1/B), with the standard deviation s of the logarithms over B references.
    k_by_max : int
        Where the gap is largest.
    k_by_one_se : int
        The smallest k whose gap is not exceeded by that of the next by more than its standard error.
    k_ : int
        The number that the chosen rule recommends.
    rule : str
    n_refs : int
    reference : str
    labels : list of ndarray
        The clusters of the rows, for each k.
    """

    k: Integers
    log_scatter: Floats
    log_reference: Floats
    gap: Floats
    standard_error: Floats
    k_by_max: int
    k_by_one_se: int
    k_: int
    rule: str
    n_refs: int
    reference: str
    labels: list[NDArray[Any]]

    def table(self) -> Table:
        """Return a line for each k; the one with a star is recommended."""
        columns = (self.k, self.log_scatter, self.log_reference, self.gap, self.standard_error)
        lines = [
            [*line, "*" if line[0] == self.k_ else ""]
            for line in zip(*(c.tolist() for c in columns), strict=True)
        ]
        note = f"Largest gap: k = {self.k_by_max}. One-standard-error rule: k = {self.k_by_one_se}."
        return Table(["k", "log scatter", "reference", "gap", "std. error", ""], lines, notes=[note])

    def summary(self) -> Sheet:
        """Return the table, with what must be said of it."""
        parts: list[Part | str] = [self.table()]
        if np.isinf(self.log_scatter).any():
            k = int(self.k[np.isinf(self.log_scatter)][0])
            parts.append(
                Caution(
                    "All rows are equal: there is nothing to divide."
                    if k == 1
                    else f"With {k} clusters all rows of a cluster are equal, so that nothing is left to divide; "
                    "the gap is infinite from there on."
                )
            )
        elif self.k_by_max == self.k[-1] and len(self.k) > 1:
            parts.append(
                Caution(f"The gap is largest at the end of the range: try more than {self.k[-1]} clusters.")
            )
        return Sheet(parts)

    def __repr__(self) -> str:
        return self.summary().text()

    def _repr_html_(self) -> str:
        return self.summary().html()


def gap_statistic(
    X: Any,
    clusterer: Any,
    k_range: Iterable[int] = range(1, 11),
    n_refs: int = 20,
    *,
    reference: Reference = "box",
    rule: Rule = "one-se",
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> GapStatistic:
    """Compare the scatter within k clusters with that of evenly spread rows, for several k.

    Any clusterer falls to a smaller scatter with more clusters, clusters or not. What tells is by how much it falls
    below that of rows that have none.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_features)
        Finite numbers.
    clusterer : estimator
        With a parameter `n_clusters` and `fit_predict`; a clone of it is fitted for each k to X and to each
        reference. One that has `cluster_each`, as `KMeans`, is asked for all k at once. For k = 1 nothing is
        fitted.
    k_range : iterable of int, default=range(1, 11)
        The numbers of clusters to try.
    n_refs : int, default=20
        How many references to draw, at least 2.
    reference : {"box", "principal"}, default="box"
        Whether references fill the box around X along the axes, or along its principal axes.
    rule : {"one-se", "max"}, default="one-se"
        Which recommendation becomes `k_`.
    random_state : int, RandomState, numpy.random.Generator or None, default=0
        Of the references, and of the clusterer if its own is None.
    n_jobs : int, optional
        On how many threads; by default all cores allowed here. The answer does not depend on it.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    GapStatistic
        Prints as a table.

    References
    ----------
    Abu-Mostafa, Magdon-Ismail and Lin, *Learning From Data*, Problem 6.24. Tibshirani, Walther and Hastie,
    *Estimating the number of clusters in a data set via the gap statistic*, 2001.

    Examples
    --------
    >>> from bisector import KMeans, datasets, gap_statistic
    >>> X, _ = datasets.four_gaussians(200)
    >>> gap_statistic(X, KMeans(), range(1, 7), n_refs=10, rule="max").k_
    4
    """
    check_choice("reference", reference, REFERENCES)
    check_choice("rule", rule, ("one-se", "max"))
    n_refs = check_count("n_refs", n_refs, at_least=2)
    values = check_values(X)
    ks = check_range(k_range, len(values))
    box = box_of(values, reference)
    seeds = np.random.SeedSequence(seed_of(random_state)).generate_state(1 + 2 * n_refs)
    numbers = ks[::-1].tolist()  # the longest first
    parts = [numbers] if clusters_together(clusterer) else [[k] for k in numbers]
    items = [(b, part) for b in range(n_refs + 1) for part in parts]
    with track("gap statistic", total=(n_refs + 1) * len(ks), verbose=verbose) as bar:

        def find(item: tuple[int, list[int]]) -> list[tuple[float, NDArray[Any] | None]]:
            b, part = item
            rows = values if b == 0 else box.draw(len(values), np.random.default_rng(seeds[2 * b]))
            found = clusterings(clusterer, rows, part, int(seeds[max(0, 2 * b - 1)] >> 1))
            bar.advance(len(part))
            return [(one.scatter, one.labels if b == 0 else None) for one in found]

        done = [one for found in parallel(find, items, n_jobs=n_jobs) for one in found]
    logs = logarithm(np.array([scatter for scatter, _ in done]).reshape(n_refs + 1, len(ks))[:, ::-1])
    labels = [found for _, found in done[: len(ks)] if found is not None][::-1]
    return _gap_of(ks, logs[0], logs[1:], labels, rule, reference)


def _gap_of(
    ks: Integers, own: Floats, others: Floats, labels: list[NDArray[Any]], rule: Rule, reference: str
) -> GapStatistic:
    n_refs = len(others)
    held = np.isfinite(others).all(axis=0)  # else all rows are equal, or there are as many clusters as rows
    mean = np.where(held, np.where(held, others, 0.0).mean(axis=0), -np.inf)
    spread = np.where(held, np.where(held, others, 0.0).std(axis=0), 0.0) * np.sqrt(1 + 1 / n_refs)
    gap = np.array([0.0 if np.isinf(m) else m - o for m, o in zip(mean, own, strict=True)])
    by_max = int(ks[np.argmax(gap)])
    enough = np.append(gap[:-1] >= gap[1:] - spread[1:], True)
    by_one_se = int(ks[np.argmax(enough)])
    chosen = by_max if rule == "max" else by_one_se
    return GapStatistic(
        ks, own, mean, gap, spread, by_max, by_one_se, chosen, rule, n_refs, reference, labels
    )
