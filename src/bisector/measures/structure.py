"""Are there clusters at all? A test against rows that are spread evenly (the cure for Flach, Figure 8.18).

Every clusterer finds clusters, also where there are none. For several k, two figures tell how well it succeeds: the
average silhouette, and by how much the scatter falls from one cluster to k. Each is computed for the data and for
references without clusters, and standardised over all of these; its largest value over the k is the statistic, and
its rank among those of the references gives the p-value (1 + number of references at least as large) / (1 + number
of references).

The references fill a box along the axes, and another along the principal axes: each statistic must stand out from
both, so the larger p-value counts. Of the two statistics the smaller p-value counts, doubled since there are two.
For rows spread evenly over a box with sides along the axes, the test then says "structure" by mistake with a
probability of at most the level, whatever the clusterer and the numbers of rows and of references (Besag and
Diggle, 1977).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.progress import track
from bisector.engine.seeds import seed_of
from bisector.engine.show import Heading, Sheet, Table, number, p_value
from bisector.engine.threads import parallel
from bisector.engine.validation import check_count, check_number
from bisector.measures.silhouettes import silhouette_score
from bisector.measures.uniform_references import (
    REFERENCES,
    box_of,
    check_range,
    check_values,
    clusterings,
    scatter_within,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STATISTICS = ("silhouette", "gap")
# Where nothing is left of the scatter, it counts as so much of the whole.
_LEAST_SHARE = 1e-30


@dataclass(frozen=True, eq=False, repr=False)
class StructureTest:
    """The verdict on whether rows have clusters, and what it rests on.

    Attributes
    ----------
    structured : bool
        Whether `p_value` is at most `level`.
    p_value : float
        How probable figures as large as these are among evenly spread rows, at most.
    level : float
        The probability with which evenly spread rows are called structured, at most.
    verdict : str
        One sentence.
    k : ndarray of shape (n_k,)
        The numbers of clusters tried, from 2.
    k_ : int
        The number of clusters at which the gap is largest; 1 if there is no structure.
    statistics : tuple of str
        "silhouette", "gap".
    references : tuple of str
        "box", "principal".
    observed : ndarray of shape (n_statistics, n_k)
        The average silhouette (squared Euclidean distance), and the logarithm of the scatter for one cluster less
        that for k.
    expected : ndarray of shape (n_references, n_statistics, n_k)
        Their means over the references.
    p_values : ndarray of shape (n_references, n_statistics)
    n_refs : int
        How many references of each kind were drawn.
    """

    structured: bool
    p_value: float
    level: float
    verdict: str
    k: Integers
    k_: int
    statistics: tuple[str, ...]
    references: tuple[str, ...]
    observed: Floats
    expected: Floats
    p_values: Floats
    n_refs: int

    def table(self) -> Table:
        """Return the p-values of both statistics against both kinds of references."""
        lines = [
            [name, *map(p_value, column.tolist())]
            for name, column in zip(self.statistics, self.p_values.T, strict=True)
        ]
        return Table(["p-values", *(f"against {name}" for name in self.references)], lines)

    def curves(self) -> Table:
        """Return both figures for each k, of the rows and of the references in the box along the axes."""
        heads = ["silhouette", "of references", "log fall of scatter", "of references"]
        columns = [values for pair in zip(self.observed, self.expected[0], strict=True) for values in pair]
        return Table(["k", *heads], list(zip(self.k.tolist(), *(c.tolist() for c in columns), strict=True)))

    def summary(self) -> Sheet:
        """Return the verdict and the tables."""
        return Sheet([Heading("Are there clusters?"), self.verdict, self.table(), self.curves()])

    def __repr__(self) -> str:
        return self.summary().text()

    def _repr_html_(self) -> str:
        return self.summary().html()


def structure_test(
    X: Any,
    clusterer: Any,
    k_range: Iterable[int] = range(1, 7),
    n_refs: int = 99,
    *,
    level: float = 0.05,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> StructureTest:
    """Test whether rows have any clusters, or are as good as spread evenly.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_features)
        Finite numbers.
    clusterer : estimator
        With a parameter `n_clusters` and `fit_predict`; a clone of it is fitted for each k to X and to each
        reference. One that has `cluster_each`, as `KMeans`, is asked for all k at once.
    k_range : iterable of int, default=range(1, 7)
        The numbers of clusters to try; 1 is what the others are compared with, whether it is named or not.
    n_refs : int, default=99
        How many references of each kind to draw; at least 2 / level − 1, since the p-value is no smaller than
        2 / (n_refs + 1).
    level : float, default=0.05
        With what probability evenly spread rows may be called structured.
    random_state : int, RandomState, numpy.random.Generator or None, default=0
        Of the references, and of the clusterer if its own is None.
    n_jobs : int, optional
        On how many threads; by default all cores allowed here. The answer does not depend on it.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    StructureTest
        Prints its verdict and the figures behind it.

    Notes
    -----
    The test looks for clusters only: rows with one dense middle, such as normal ones, have fewer than evenly spread
    ones, and are not called structured.

    Examples
    --------
    >>> from bisector import KMeans, datasets, structure_test
    >>> kmeans = KMeans()
    >>> structure_test(datasets.uniform_square(50).X, kmeans, range(1, 5), n_refs=39).structured
    False
    >>> found = structure_test(datasets.four_gaussians(100).X, kmeans, range(1, 6), n_refs=39)
    >>> found.structured, found.k_
    (True, 4)
    """
    level = check_number("level", level, above=0, below=1)
    n_refs = check_count("n_refs", n_refs)
    if 2 / (n_refs + 1) > level:
        needed = int(np.ceil(2 / level)) - 1
        raise ValueError(
            f"n_refs={n_refs} references cannot give a p-value below {number(2 / (n_refs + 1))}, and the level is "
            f"{number(level)}: draw at least {needed}."
        )
    values = check_values(X)
    ks = check_range(k_range, len(values))
    ks = ks[(ks > 1) & (ks < len(values))]
    if not len(ks):
        raise ValueError(
            f"k_range holds no number between 2 and {len(values) - 1}, the numbers of clusters that "
            f"{len(values)} rows can be tested for: try range(1, 7), or give more rows."
        )
    if scatter_within(values, np.zeros(len(values))) == 0:
        return _no_structure(ks, n_refs, level)
    boxes = [box_of(values, name) for name in REFERENCES]
    seeds = np.random.SeedSequence(seed_of(random_state)).generate_state(1 + 2 * len(boxes) * n_refs)
    with track("structure test", total=1 + len(boxes) * n_refs, verbose=verbose) as bar:

        def measure(number: int) -> Floats:
            if number == 0:
                rows = values
            else:
                box = boxes[(number - 1) // n_refs]
                rows = box.draw(len(values), np.random.default_rng(seeds[2 * number]))
            found = _figures(clusterer, rows, ks, int(seeds[max(0, 2 * number - 1)] >> 1))
            bar.advance()
            return found

        figures = np.array(parallel(measure, range(1 + len(boxes) * n_refs), n_jobs=n_jobs))
    observed, others = figures[0], figures[1:].reshape(len(boxes), n_refs, *figures.shape[1:])
    p_values = np.array([_p_values(observed, references) for references in others])
    p = min(1.0, len(STATISTICS) * float(p_values.max(axis=0).min()))
    expected = others.mean(axis=1)
    clearest = int(ks[np.argmax(observed[1] - expected[0, 1])])
    return _result(ks, observed, expected, p_values, p, level, n_refs, clearest)


def _figures(clusterer: Any, rows: Floats, ks: Integers, seed: int) -> Floats:
    """Return the average silhouettes, and the falls of the logarithm of the scatter, for each k."""
    found = np.empty((2, len(ks)))
    one = scatter_within(rows, np.zeros(len(rows)))
    for place, (labels, scatter, n_clusters) in enumerate(clusterings(clusterer, rows, ks.tolist(), seed)):
        several = n_clusters > 1  # equal rows may leave a clusterer fewer clusters
        found[0, place] = silhouette_score(rows, labels, metric="sqeuclidean", n_jobs=1) if several else 0.0
        left = scatter / one if one > 0 else 1.0
        found[1, place] = -math.log(max(left, _LEAST_SHARE))
    return found


def _standardised(observed: Floats, others: Floats) -> Floats:
    """Return figures, the observed ones first, in standard deviations above the mean of all."""
    everything = np.concatenate([observed[None], others])
    spread = everything.std(axis=0)
    return np.asarray((everything - everything.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _p_values(observed: Floats, others: Floats) -> Floats:
    """Return, for each statistic, the share of all, itself included, that are at least as large as observed."""
    largest = _standardised(observed, others).max(axis=2)
    return np.asarray((largest >= largest[0]).mean(axis=0))


def _result(
    ks: Integers, observed: Floats, expected: Floats, p_values: Floats, p: float, level: float, n_refs: int, k: int
) -> StructureTest:  # fmt: skip
    structured = p <= level
    said = f"p = {p_value(p)}, at a level of {number(level)}"
    verdict = (
        f"There is cluster structure ({said}), most clearly with {k} clusters."
        if structured
        else f"No cluster structure can be seen ({said}): evenly spread rows look as clustered as these."
    )
    return StructureTest(
        structured, p, level, verdict, ks, k if structured else 1, STATISTICS, REFERENCES,
        observed, expected, p_values, n_refs,
    )  # fmt: skip


def _no_structure(ks: Integers, n_refs: int, level: float) -> StructureTest:
    """Return the verdict on rows that are all equal."""
    shape = (len(REFERENCES), len(STATISTICS))
    verdict = "No cluster structure can be seen: all rows are equal."
    nothing = np.zeros((len(STATISTICS), len(ks)))
    return StructureTest(
        False, 1.0, level, verdict, ks, 1, STATISTICS, REFERENCES,
        nothing, np.zeros((len(REFERENCES), *nothing.shape)), np.ones(shape), n_refs,
    )  # fmt: skip
