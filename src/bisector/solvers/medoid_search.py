"""K-medoids as a whole: where to begin, which method, how many clusters."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.distances.reductions import nearest
from bisector.engine.blocks import spread_rows
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.solvers.distance_lines import DistanceLines, MadeLines, distance_lines
from bisector.solvers.medoid_alternate import alternate_medoids
from bisector.solvers.medoid_build import build, far_rows, random_rows, scattered_rows
from bisector.solvers.medoid_partitions import PartitionedRows, medoid_shares
from bisector.solvers.medoid_sample import sample_medoids
from bisector.solvers.medoid_swap import Medoids, swap_medoids

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Method = Literal["fasterpam", "pam", "alternate", "clara"]
Start = Literal["build", "k-medoids++", "random", "farthest-first"]

# Rows that tell data from others.
_ROWS_TO_COMPARE = 64


@dataclass(frozen=True, eq=False)
class MedoidSearch:
    """What is known before the number of clusters is; distances and the greedy start are shared by all numbers.

    Attributes
    ----------
    distance : Distance
    rows : Rows or PartitionedRows
        Prepared by it; in a collection, for CLARA only.
    weights : ndarray of shape (n_rows,)
        All positive.
    method : {"fasterpam", "pam", "alternate", "clara"}
    init : {"build", "k-medoids++", "random", "farthest-first"} or ndarray of int
        Where to begin; an array holds row numbers. CLARA begins with "build" in each sample.
    n_init : int
        How many starts are tried, if they are drawn.
    max_iter : int
    rng : numpy.random.Generator
    sample_size : int or None
        Of CLARA; by default 80 + 4k.
    n_samples : int
    most_clusters : int
        The largest number that will be asked for.
    n_jobs : int or None
    kept : Checkpoint
        Where to note what is reached.
    """

    distance: Distance
    rows: Any
    weights: Floats
    method: Method
    init: Start | Integers
    n_init: int
    max_iter: int
    rng: np.random.Generator
    sample_size: int | None
    n_samples: int
    most_clusters: int
    n_jobs: int | None
    kept: Checkpoint = NOWHERE

    @cached_property
    def _lines(self) -> DistanceLines:
        if self.method == "alternate" and self.init != "build":
            return MadeLines(self.distance, self.rows, n_jobs=self.n_jobs)
        return distance_lines(self.distance, self.rows, n_jobs=self.n_jobs)

    @cached_property
    def _built(self) -> Integers:
        return build(self._lines, self.most_clusters, self.weights, kept=self.kept)

    def find(self, n_clusters: int, kept: Checkpoint | None = None) -> Medoids:
        """Find so many medoids, the best of all starts."""
        kept = self.kept if kept is None else kept
        if self.method == "clara":
            size = 80 + 4 * n_clusters if self.sample_size is None else self.sample_size
            return sample_medoids(
                self.distance, self.rows, n_clusters, self.weights, self.rng, sample_size=max(size, n_clusters),
                n_samples=self.n_samples, max_iter=self.max_iter, n_jobs=self.n_jobs, kept=kept,
            )  # fmt: skip
        drawn = isinstance(self.init, str) and self.init in ("k-medoids++", "random")
        runs = [kept.part(f"run {number}") for number in range(self.n_init if drawn else 1)]
        return min((self._run(n_clusters, run) for run in runs), key=lambda one: one.loss)

    def _run(self, n_clusters: int, kept: Checkpoint) -> Medoids:
        """Find medoids from one start, unless it was done before."""
        start = kept.drawn("start", self.rng, lambda: {"rows": self._start(n_clusters)})["rows"]
        known = kept.recall("found")
        if known is not None:
            return Medoids.recalled(known)
        found = self._improved(start, kept)
        kept.note("found", **asdict(found))
        kept.forget("swaps")  # some numbers for each row, of no use any more
        return found

    def _start(self, n_clusters: int) -> Integers:
        if not isinstance(self.init, str):
            return self.init
        if self.init == "build":
            return self._built[:n_clusters]
        if self.init == "farthest-first":
            return far_rows(self.distance, self.rows, n_clusters, self.n_jobs)
        if self.init == "random":
            return random_rows(n_clusters, self.weights, self.rng)
        return scattered_rows(self._lines, n_clusters, self.weights, self.rng)

    def _improved(self, start: Integers, kept: Checkpoint) -> Medoids:
        if self.method == "alternate":
            return alternate_medoids(
                self.distance, self.rows, start, self.weights,
                max_iter=self.max_iter, n_jobs=self.n_jobs, kept=kept,
            )  # fmt: skip
        eager = self.method == "fasterpam"
        return swap_medoids(self._lines, start, self.weights, max_iter=self.max_iter, eager=eager, kept=kept)

    def some_distances(self) -> Floats:
        """Return distances between rows from all over, by which these data can be told from others."""
        rows = self.rows.take(spread_rows(len(self.rows), _ROWS_TO_COMPARE))
        values, places = distance_lines(self.distance, rows, n_jobs=self.n_jobs).of(np.arange(len(rows)))
        return values[places]

    def silhouette(self, medoids: Integers) -> float:
        """Return the average medoid silhouette: 1 − d₁/d₂, by the distances to the two nearest medoids.

        It is near 1 where rows are much nearer to their own medoid than to the next, and 0 where they are
        between two (van der Laan, Pollard and Bryan, 2003). With one medoid it is not defined: NaN.
        """
        if len(medoids) == 1:
            return float("nan")
        if isinstance(self.rows, PartitionedRows):
            return self.rows.judged(self.rows.take(medoids)).silhouette
        two, _ = nearest(self.distance, self.rows, self.rows.take(medoids), 2, n_jobs=self.n_jobs)
        return float(self.weights @ medoid_shares(*two.T) / self.weights.sum())

    def choose(self, numbers: Sequence[int]) -> tuple[Medoids, Floats]:
        """Find medoids for several numbers of clusters; return those with the largest silhouette, and all of these.

        Of equal silhouettes, the first of the numbers wins.
        """
        found = [self.find(n, self.kept.part(f"choice {place}")) for place, n in enumerate(numbers)]
        silhouettes = np.array([self.silhouette(one.medoids) for one in found])
        return found[int(np.argmax(silhouettes))], silhouettes
