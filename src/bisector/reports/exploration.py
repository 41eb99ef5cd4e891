"""A table without a target: clusters, the rows that stand for them, what sets them apart, and unusual rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bisector.clustering import AgglomerativeClustering, KMeans
from bisector.density import NoveltyDetector
from bisector.engine.progress import track
from bisector.measures.number_of_clusters import NumberOfClusters, choose_k
from bisector.measures.profile import DistanceProfile, distance_profile
from bisector.measures.silhouettes import Silhouette, silhouette
from bisector.measures.structure import StructureTest, structure_test
from bisector.reports.encoding import TableEncoder
from bisector.reports.faults import TableFault

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]

# How many rows are looked at where every row is compared with every other, or with many references.
ROWS_FOR_K, ROWS_FOR_TEST, ROWS_FOR_TREE, ROWS_FOR_NOVELTY = 2_000, 300, 1_000, 5_000
FEWEST_FOR_NOVELTY = 100
_LARGEST_K = 10


def _no_rows() -> NDArray[np.int64]:
    return np.array([], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Exploration:
    """What geometry says about rows without a target.

    Attributes
    ----------
    encoder : TableEncoder
    values : ndarray of shape (n_rows, n_features)
        Standardised.
    profile : DistanceProfile
    count : NumberOfClusters or None
        This and what follows is None, or empty, where the user stopped before.
    structure : StructureTest or None
    model : Pipeline or None
        Encoder, scaling and KMeans, fitted.
    labels : ndarray of shape (n_rows,)
    exemplars : ndarray of int of shape (k,)
        The row nearest to the mean of each cluster.
    silhouette : Silhouette or None
        Of a sample of the rows; None for one cluster.
    hierarchy : AgglomerativeClustering or None
    hierarchy_rows : ndarray of int
        The rows it was made of.
    novel : ndarray of int or None
        The rows called new, the least usual first.
    alpha : float
        The share of rows that would be called new by chance.
    log_density : ndarray of shape (n_rows,)
    stopped : bool
        Whether the user stopped it.
    """

    encoder: TableEncoder
    values: Floats
    profile: DistanceProfile
    count: NumberOfClusters | None = None
    structure: StructureTest | None = None
    model: Any = None
    labels: NDArray[np.int64] = field(default_factory=_no_rows)
    exemplars: NDArray[np.int64] = field(default_factory=_no_rows)
    silhouette: Silhouette | None = None
    hierarchy: AgglomerativeClustering | None = None
    hierarchy_rows: NDArray[np.int64] = field(default_factory=_no_rows)
    novel: NDArray[np.int64] | None = None
    alpha: float = 0.0
    log_density: Floats | None = None
    stopped: bool = False


def explore(frame: "polars.DataFrame", types: Any = None, verbose: bool = False) -> Exploration:
    """Look for clusters, exemplars and novelties.

    Parameters
    ----------
    frame : polars.DataFrame
        Typed.
    types : mapping, optional
        Of `TableEncoder`.
    verbose : bool, default=False
        Whether to show progress.

    Returns
    -------
    Exploration

    Examples
    --------
    >>> from bisector import datasets
    >>> from bisector.reports import as_table
    >>> from bisector.reports.exploration import explore
    >>> found = explore(as_table(datasets.four_gaussians(100).X))
    >>> found.count.k_, len(found.exemplars)
    (4, 4)
    """
    if frame.height < 3:
        raise TableFault(
            f"The table has {frame.height} row{'s' * (frame.height > 1)}: there is nothing to compare."
        )
    with track("exploring", total=6, verbose=verbose) as bar:
        encoder = TableEncoder(types).fit(frame)
        values = StandardScaler().fit_transform(encoder.transform(frame))
        found = Exploration(encoder, values, distance_profile(values))
        bar.advance(note="distances")
        try:
            for note, step in _steps(frame, types):
                found = replace(found, **step(found))
                bar.advance(note=note)
        except KeyboardInterrupt:
            found = replace(found, stopped=True)
    return found


def _steps(
    frame: "polars.DataFrame", types: Any
) -> list[tuple[str, Callable[[Exploration], dict[str, Any]]]]:
    """Return what is explored after the distances: each step takes what was found before, and adds to it."""

    def count(found: Exploration) -> dict[str, Any]:
        few = found.values[_some(len(found.values), ROWS_FOR_K)]
        tried = range(1, min(_LARGEST_K, _distinct(found)) + 1)
        return {"count": choose_k(few, KMeans(random_state=0), tried, n_refs=10)}

    def structure(found: Exploration) -> dict[str, Any]:
        if _distinct(found) <= 6:
            return {}
        tested = found.values[_some(len(found.values), ROWS_FOR_TEST)]
        return {"structure": structure_test(tested, KMeans(random_state=0), range(1, 6))}

    def clusters(found: Exploration) -> dict[str, Any]:
        k = found.count.k_ if found.count else 1
        model = make_pipeline(TableEncoder(types), StandardScaler(), KMeans(k, random_state=0)).fit(frame)
        labels = np.asarray(model[-1].labels_, dtype=np.int64)
        several = _some(len(labels), ROWS_FOR_K)
        parted = len(np.unique(labels[several])) > 1
        return {
            "model": model,
            "labels": labels,
            "exemplars": _exemplars(found.values, labels, model[-1].cluster_centers_),
            "silhouette": silhouette(found.values[several], labels[several]) if parted else None,
        }

    def hierarchy(found: Exploration) -> dict[str, Any]:
        if _distinct(found) <= 2:
            return {}
        rows = _some(len(found.values), ROWS_FOR_TREE)
        joined = AgglomerativeClustering(max(1, len(found.exemplars))).fit(found.values[rows])
        return {"hierarchy": joined, "hierarchy_rows": rows}

    def novelties(found: Exploration) -> dict[str, Any]:
        novel, alpha, density = _novelties(found.values)
        return {"novel": novel, "alpha": alpha, "log_density": density}

    return [
        ("number of clusters", count),
        ("is there structure?", structure),
        ("clusters", clusters),
        ("hierarchy", hierarchy),
        ("novelties", novelties),
    ]


def _distinct(found: Exploration) -> int:
    """How many different rows there are, among those that are looked at for clusters."""
    return len(np.unique(found.values[_some(len(found.values), ROWS_FOR_K)], axis=0))


def sets_apart(found: Exploration, cluster: int, most: int = 3) -> list[tuple[str, float]]:
    """Return the encoded columns in which a cluster differs most from all rows, in standard deviations."""
    mean = found.values[found.labels == cluster].mean(axis=0)
    names = found.encoder.get_feature_names_out()
    order = np.argsort(-np.abs(mean), kind="stable")[:most]
    return [(str(names[j]), float(mean[j])) for j in order]


def _some(n: int, most: int) -> NDArray[np.int64]:
    """Return the numbers of at most so many rows, in order."""
    return np.sort(np.random.default_rng(0).permutation(n)[:most])


def _exemplars(values: Floats, labels: NDArray[np.int64], centres: Floats) -> NDArray[np.int64]:
    far = ((values - centres[labels]) ** 2).sum(axis=1)
    return np.array([np.flatnonzero(labels == c)[far[labels == c].argmin()] for c in range(len(centres))])


def _novelties(values: Floats) -> tuple[NDArray[np.int64], float, Floats]:
    """Return the rows that are less usual than nearly all others, by detectors that did not learn from them.

    The rows are parted in two; each half is judged by what is usual in the other.
    """
    n = len(values)
    density = np.zeros(n)
    if n < FEWEST_FOR_NOVELTY:
        return np.array([], dtype=np.int64), 0.0, density
    # A quarter of the rows is what each detector compares with: a rarer row than one of so many cannot be told.
    alpha = max(0.01, 2 / (n // 4 + 1))
    shuffled = np.random.default_rng(0).permutation(n)
    halves = np.array_split(shuffled, 2)
    novel = []
    for learned, judged in (halves, halves[::-1]):
        detector = NoveltyDetector(alpha=alpha, random_state=0).fit(values[learned[:ROWS_FOR_NOVELTY]])
        density[judged] = detector.score_samples(values[judged])
        novel.append(judged[detector.predict(values[judged]) == -1])
    found = np.concatenate(novel)
    return found[np.argsort(density[found], kind="stable")], alpha, density
