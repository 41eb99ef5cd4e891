"""Hierarchies of clusters: every linkage against the fastest library that has it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload


def normal_rows(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def ours(linkage: str) -> Callable[[np.ndarray], Any]:
    def prepare(X: np.ndarray) -> Any:
        from bisector import AgglomerativeClustering

        return lambda: AgglomerativeClustering(1, linkage=linkage).fit(X).dendrogram_.levels  # type: ignore[arg-type]

    return prepare


def fastcluster_matrix(linkage: str) -> Callable[[np.ndarray], Any]:
    def prepare(X: np.ndarray) -> Any:
        import fastcluster

        return lambda: fastcluster.linkage(X, linkage)[:, 2]

    return prepare


def fastcluster_vectors(linkage: str) -> Callable[[np.ndarray], Any]:
    def prepare(X: np.ndarray) -> Any:
        import fastcluster

        return lambda: fastcluster.linkage_vector(X, linkage)[:, 2]

    return prepare


def scipy_linkage(linkage: str) -> Callable[[np.ndarray], Any]:
    def prepare(X: np.ndarray) -> Any:
        from scipy.cluster.hierarchy import linkage as link

        return lambda: link(X, linkage)[:, 2]

    return prepare


def scikit_learn(linkage: str) -> Callable[[np.ndarray], Any]:
    def prepare(X: np.ndarray) -> Any:
        from sklearn.cluster import AgglomerativeClustering

        model = AgglomerativeClustering(1, linkage=linkage, compute_distances=True)
        return lambda: np.sort(model.fit(X).distances_)

    return prepare


def quitefastmst(X: np.ndarray) -> Any:
    import quitefastmst

    return lambda: np.sort(quitefastmst.mst_euclid(X, 1)[0])


def levels(found: Any) -> dict[str, Any]:
    return {"levels": found}


def with_matrix(linkage: str) -> Workload:
    peers = [
        Contestant("fastcluster", "fastcluster", fastcluster_matrix(linkage), levels),
        Contestant("SciPy", "scipy", scipy_linkage(linkage), levels),
    ]
    if linkage in ("complete", "average"):
        peers.append(Contestant("scikit-learn", "sklearn", scikit_learn(linkage), levels))
    return Workload(
        name=linkage,
        about=f"The dendrogram of {linkage} linkage.",
        make=normal_rows,
        sizes={"n": 20_000, "d": 10},
        quick={"n": 1_000},
        ours=Contestant("bisector", "bisector", ours(linkage), levels),
        peers=peers,
        goals={"fastcluster": AtLeast(3)},
    )


WORKLOADS = [
    *map(with_matrix, ("complete", "average", "centroid")),
    Workload(
        name="ward",
        about="The dendrogram of Ward's linkage, without a matrix of distances.",
        make=normal_rows,
        sizes={"n": 20_000, "d": 10},
        quick={"n": 1_000},
        ours=Contestant("bisector", "bisector", ours("ward"), levels),
        peers=[
            Contestant("fastcluster", "fastcluster", fastcluster_vectors("ward"), levels),
            Contestant("scikit-learn", "sklearn", scikit_learn("ward"), levels),
        ],
        goals={"fastcluster": AtLeast(2)},
    ),
    Workload(
        name="single",
        about="The dendrogram of single linkage; quitefastmst gives the spanning tree only.",
        make=normal_rows,
        sizes={"n": 20_000, "d": 10},
        quick={"n": 2_000},
        ours=Contestant("bisector", "bisector", ours("single"), levels),
        peers=[
            Contestant("quitefastmst", "quitefastmst", quitefastmst, levels),
            Contestant("fastcluster", "fastcluster", fastcluster_vectors("single"), levels),
            Contestant("scikit-learn", "sklearn", scikit_learn("single"), levels),
        ],
        goals={"quitefastmst": AtLeast(1)},
    ),
    Workload(
        name="single_large",
        about="The dendrogram of single linkage on many rows; quitefastmst gives the spanning tree only.",
        make=normal_rows,
        sizes={"n": 200_000, "d": 3},
        quick={"n": 5_000},
        ours=Contestant("bisector", "bisector", ours("single"), levels),
        peers=[Contestant("quitefastmst", "quitefastmst", quitefastmst, levels)],
        goals={"quitefastmst": AtLeast(1)},
    ),
]
