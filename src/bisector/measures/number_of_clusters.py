"""How many clusters? Silhouette, gap statistic and the elbow of the scatter, side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import Sheet, Table
from bisector.measures.gap import GapStatistic, Reference, gap_statistic
from bisector.measures.silhouettes import silhouette_score
from bisector.measures.uniform_references import check_values, scatter_within

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A gap that is larger by so many standard errors is no matter of chance.
_MANY_ERRORS = 4.0


@dataclass(frozen=True, eq=False, repr=False)
class NumberOfClusters:
    """What three rules say about the number of clusters.

    Attributes
    ----------
    k : ndarray of shape (n_k,)
        The numbers of clusters tried.
    silhouette : ndarray of shape (n_k,)
        The average silhouettes; NaN for one cluster.
    scatter : ndarray of shape (n_k,)
        The scatter within clusters.
    gap : GapStatistic
    k_by_silhouette : int or None
        Where the average silhouette is largest.
    k_by_gap : int
        By the one-standard-error rule; where that stops at one cluster although a later gap is larger by four
        standard errors, as between clusters of clusters, the smallest k whose gap is within one standard error of
        the largest.
    k_by_elbow : int or None
        Where the scatter lies farthest below the straight line from the first to the last k; None if fewer than
        three were tried.
    k_ : int
        The number that is advised.
    advice : str
        One sentence or two.
    labels : ndarray of shape (n_rows,)
        The clusters of the rows for `k_`.
    """

    k: Integers
    silhouette: Floats
    scatter: Floats
    gap: GapStatistic
    k_by_silhouette: int | None
    k_by_gap: int
    k_by_elbow: int | None
    k_: int
    advice: str
    labels: NDArray[Any]

    def table(self) -> Table:
        """Return a line for each k; stars mark what each rule recommends."""
        lines = [
            [
                k,
                None if np.isnan(score) else float(score),
                "*" if k == self.k_by_silhouette else "",
                float(gap),
                float(error),
                "*" if k == self.k_by_gap else "",
                float(scatter),
                "*" if k == self.k_by_elbow else "",
            ]
            for k, score, gap, error, scatter in zip(
                self.k.tolist(),
                self.silhouette,
                self.gap.gap,
                self.gap.standard_error,
                self.scatter,
                strict=True,
            )
        ]
        return Table(["k", "silhouette", "", "gap", "std. error", "", "scatter", ""], lines)

    def summary(self) -> Sheet:
        """Return the table and the advice."""
        return Sheet([self.table(), self.advice])

    def __repr__(self) -> str:
        return self.summary().text()

    def _repr_html_(self) -> str:
        return self.summary().html()


def choose_k(
    X: Any,
    clusterer: Any,
    k_range: Iterable[int] = range(1, 11),
    *,
    metric: Any = "sqeuclidean",
    n_refs: int = 20,
    reference: Reference = "box",
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> NumberOfClusters:
    """Ask three rules how many clusters there are, and give advice.

    The average silhouette is largest where clusters are compact and apart, but knows nothing of one cluster. The
    gap statistic compares with rows that have no clusters, and can say one. The elbow of the scatter is the oldest
    rule and the weakest: it finds an elbow in every curve.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_features)
        Finite numbers.
    clusterer : estimator
        With a parameter `n_clusters` and `fit_predict`, such as ``KMeans()``.
    k_range : iterable of int, default=range(1, 11)
        The numbers of clusters to try.
    metric : str, Distance or callable, default="sqeuclidean"
        Of the silhouettes; the default is what k-means lessens, and takes no time.
    n_refs, reference, random_state, n_jobs, verbose : as of `gap_statistic`

    Returns
    -------
    NumberOfClusters
        Prints as a table with the advice.

    Examples
    --------
    >>> from bisector import KMeans, choose_k, datasets
    >>> X, _ = datasets.four_gaussians(200)
    >>> found = choose_k(X, KMeans(), range(1, 7), n_refs=10)
    >>> found.k_
    4
    >>> print(found.advice)
    Take 4 clusters: silhouette, gap and elbow agree.
    """
    gap = gap_statistic(
        X,
        clusterer,
        k_range,
        n_refs,
        reference=reference,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    values = check_values(X)
    scatters = np.array([scatter_within(values, labels) for labels in gap.labels])
    scores = np.array(
        [
            silhouette_score(values, labels, metric=metric, n_jobs=n_jobs)
            if len(np.unique(labels)) > 1
            else np.nan
            for labels in gap.labels
        ]
    )
    by_silhouette = None if np.isnan(scores).all() else int(gap.k[np.nanargmax(scores)])
    by_elbow = _elbow(gap.k, scatters)
    by_gap = _by_gap(gap)
    chosen, advice = _advice(by_silhouette, by_gap, by_elbow)
    labels = gap.labels[int(np.searchsorted(gap.k, chosen))]
    return NumberOfClusters(
        gap.k, scores, scatters, gap, by_silhouette, by_gap, by_elbow, chosen, advice, labels
    )


def _by_gap(gap: GapStatistic) -> int:
    """Return what the gap recommends, not misled by a dip between one cluster and the right number."""
    best = int(np.argmax(gap.gap))
    doubt = _MANY_ERRORS * np.hypot(gap.standard_error[0], gap.standard_error[best])
    if gap.k_by_one_se > 1 or gap.gap[best] - gap.gap[0] <= doubt:
        return gap.k_by_one_se
    return int(gap.k[np.argmax(gap.gap >= gap.gap[best] - gap.standard_error[best])])


def _elbow(ks: Integers, scatters: Floats) -> int | None:
    """Return the k where the scatter lies farthest below the line from the first to the last."""
    if len(ks) < 3 or scatters[0] <= scatters[-1]:
        return None
    line = scatters[0] + (ks - ks[0]) / (ks[-1] - ks[0]) * (scatters[-1] - scatters[0])
    return int(ks[np.argmax(line - scatters)])


def _advice(silhouette: int | None, gap: int, elbow: int | None) -> tuple[int, str]:
    """Return the number to take, and why."""
    votes = {"silhouette": silhouette, "gap": gap, "elbow": elbow}
    if gap == 1:
        return 1, (
            "Take 1 cluster: no number of them does better than it would on evenly spread rows. The silhouette and "
            "the elbow cannot say so; structure_test can confirm it."
        )
    named = {rule: k for rule, k in votes.items() if k is not None}
    for chosen in (gap, *named.values()):
        agreeing = [rule for rule, k in named.items() if k == chosen]
        if len(agreeing) > 1:
            others = [f"the {rule} says {k}" for rule, k in named.items() if k != chosen]
            but = f"; {' and '.join(others)}" if others else ""
            return chosen, f"Take {chosen} clusters: {_joined(agreeing)} agree{but}."
    if len(named) == 1:
        return gap, f"Take {gap} cluster{'s' * (gap != 1)}, as the gap says."
    told = ", ".join(f"the {rule} says {k}" for rule, k in named.items())
    return gap, (
        f"Take {gap} clusters, but with care: {told}. Look at the silhouettes of each, and run structure_test."
    )


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]])
