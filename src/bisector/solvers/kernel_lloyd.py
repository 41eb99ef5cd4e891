"""K-means in the feature space of a kernel, where clusters have no coordinates but their rows (Flach 8.5).

*Centroid form.* The mean of cluster k is μₖ = Σᵢ sᵢₖ φ(xᵢ), where the shares sᵢₖ are the weights of its rows
divided by their sum. Its distance from a row follows from kernel values:

    ‖φ(x) − μₖ‖² = k(x, x) − 2 Σᵢ sᵢₖ k(x, xᵢ) + Σᵢⱼ sᵢₖ sⱼₖ k(xᵢ, xⱼ).

By turns rows go to the nearest mean and means follow. The objective, Σ wᵢ‖φ(xᵢ) − μ‖² over each row's own mean,
falls until it stays. With the linear kernel this is k-means.

*Mean-distance form* (as Algorithm 8.5 is printed). A row goes to the cluster with the least mean Σᵢ sᵢₖ d(x, xᵢ) of
its distances to the rows, d(x, y) = √(k(x, x) − 2k(x, y) + k(y, y)), itself included. Nothing ensures that a turn
lowers the sum of these means: rounds end when no row moves, or when an assignment comes again; then they have not
converged.

Both need sums over all rows for every row: pairs times shares. All pairs are held if there is room for them; else
tiles are made in every round, and forgotten.
"""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Pairs, Rows
from bisector.distances.reductions import write_all
from bisector.engine.blocks import spread_rows
from bisector.engine.checkpoint import NOWHERE, Arrays, Checkpoint
from bisector.engine.memory import budget
from bisector.engine.progress import track
from bisector.kernels.kernel import Kernel
from bisector.kernels.kernel_distance import KernelDistance
from bisector.solvers.bisecting_planes import class_shares, weighted_sums

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of what a fit may plan to use, the values of all pairs take at most this share.
_SHARE = 0.5
# Data are told from others by the kernel values of all rows with so many of them.
_ROWS_TO_COMPARE = 4
# Assignments are told from each other by so many bytes.
_DIGEST = 16


class KernelPairs(ABC):
    """Kernel values and distances of all pairs of rows, as they come or as they are made.

    Attributes
    ----------
    diagonal : ndarray of shape (n_rows,)
        k(x, x).
    """

    diagonal: Floats

    @abstractmethod
    def line(self, row: int) -> Floats:
        """Return the kernel values of one row with all."""

    @abstractmethod
    def product_sums(self, shares: Floats) -> Floats:
        """Return Σⱼ k(xᵢ, xⱼ)·shares[j] for every row and every column of shares."""

    @abstractmethod
    def distance_sums(self, shares: Floats) -> Floats:
        """Return Σⱼ d(xᵢ, xⱼ)·shares[j] for every row and every column of shares."""

    def some_values(self) -> Floats:
        """Return the kernel values of all rows with themselves and with a few: what tells them from other data."""
        few = spread_rows(len(self.diagonal), _ROWS_TO_COMPARE)
        return np.stack([self.diagonal, *map(self.line, few)])


class GivenPairs(KernelPairs):
    """Pairs of a Gram matrix."""

    def __init__(self, gram: NDArray[Any]) -> None:
        self._gram = gram
        self.diagonal = np.diagonal(gram).astype(np.float64)

    def line(self, row: int) -> Floats:
        return self._gram[row].astype(np.float64)

    def product_sums(self, shares: Floats) -> Floats:
        return np.asarray(self._gram @ shares, dtype=np.float64)

    def distance_sums(self, shares: Floats) -> Floats:
        squares = self.diagonal[:, None] - 2.0 * self._gram + self.diagonal
        return np.sqrt(np.maximum(squares, 0.0)) @ shares


class ComputedPairs(KernelPairs):
    """Pairs of rows that a kernel compares."""

    def __init__(self, kernel: Kernel, rows: Rows, n_jobs: int | None) -> None:
        self._kernel, self._rows, self._n_jobs = kernel, rows, n_jobs
        self.diagonal = kernel.diagonal(rows)
        self._held: dict[str, Floats] = {}

    def line(self, row: int) -> Floats:
        products = self._kernel.between(self._rows.take(np.array([row])), self._rows)
        out = np.empty(products.shape)
        products.fill(range(1), range(len(self._rows)), out)
        return out[0]

    def product_sums(self, shares: Floats) -> Floats:
        return self._sums("products", self._kernel.between(self._rows, self._rows), shares)

    def distance_sums(self, shares: Floats) -> Floats:
        pairs = KernelDistance(self._kernel).between(self._rows, self._rows)
        return self._sums("distances", pairs, shares)

    def _sums(self, name: str, pairs: Pairs, shares: Floats) -> Floats:
        n = len(self._rows)
        if name not in self._held and 8 * n * n <= _SHARE * budget():
            self._held[name] = np.empty((n, n))
            mirrored = self._kernel.symmetric and getattr(pairs, "mirrored", True)
            write_all(pairs, self._held[name], mirrored=mirrored, n_jobs=self._n_jobs)
        if name in self._held:
            return self._held[name] @ shares
        return weighted_sums(pairs, shares, n_jobs=self._n_jobs)


@dataclass(frozen=True, eq=False)
class KernelClusters:
    """A partition of rows in feature space.

    Attributes
    ----------
    labels : ndarray of int of shape (n_rows,)
    shares : ndarray of shape (n_rows, n_clusters)
        What each row contributes to the mean of each cluster.
    squares : ndarray of shape (n_clusters,)
        ‖μₖ‖².
    history : ndarray
        The objective of each assignment. In the centroid form it never rises.
    n_iter : int
    converged : bool
    """

    labels: Integers
    shares: Floats
    squares: Floats
    history: Floats
    n_iter: int
    converged: bool


class _Assigned(NamedTuple):
    labels: Integers
    shares: Floats
    squares: Floats
    values: Floats
    objective: float


def kernel_lloyd(
    pairs: KernelPairs,
    start: Integers,
    n_clusters: int,
    weights: Floats,
    *,
    centroid: bool,
    max_iter: int,
    kept: Checkpoint = NOWHERE,
) -> KernelClusters:
    """Assign rows to clusters by turns until none moves.

    Parameters
    ----------
    pairs : KernelPairs
    start : ndarray of int of shape (n_rows,)
        The clusters to begin with.
    n_clusters : int
    weights : ndarray of shape (n_rows,)
        All positive.
    centroid : bool
        The centroid form; otherwise that of mean distances.
    max_iter : int
    kept : Checkpoint, optional
        Where rounds are noted, and from which they go on; and what was found.

    Returns
    -------
    KernelClusters
    """
    done = kept.recall("found")
    if done is not None:
        return _recalled(done, n_clusters, weights)
    known = kept.recall("rounds")
    # Distances are not noted: they follow from the labels.
    labels = start if known is None else known["labels"].astype(np.int64)
    state = _measured(pairs, labels, n_clusters, weights, centroid)
    if known is None:
        history, n_iter, seen = [state.objective], 0, {_digest(start)}
    else:
        history, n_iter = known["history"].tolist(), int(known["n_iter"])
        seen = set(map(bytes, known["seen"]))
    converged = False
    with track("kernel k-means", total=max_iter) as bar:
        while n_iter < max_iter:
            n_iter += 1
            moved = _filled(state.values.argmin(axis=1), state.values, n_clusters, weights)
            if np.array_equal(moved, state.labels):
                converged = True
                break
            after = _measured(pairs, moved, n_clusters, weights, centroid)
            if centroid and after.objective >= state.objective:
                converged = True  # only rounding moves rows now
                break
            state = after
            history.append(state.objective)
            bar.advance(note=f"objective {state.objective:.6g}")
            if _digest(moved) in seen:
                break
            seen.add(_digest(moved))
            kept.note(
                "rounds", labels=small_labels(moved, n_clusters), history=history, n_iter=n_iter,
                seen=np.frombuffer(b"".join(seen), dtype=np.uint8).reshape(-1, _DIGEST),
            )  # fmt: skip
    kept.note(
        "found", labels=small_labels(state.labels, n_clusters), squares=state.squares, history=history,
        n_iter=n_iter, converged=converged,
    )  # fmt: skip
    kept.forget("rounds")
    return KernelClusters(state.labels, state.shares, state.squares, np.array(history), n_iter, converged)


def small_labels(labels: Integers, n_clusters: int) -> NDArray[Any]:
    """Return labels in as few bytes as they need, to be noted."""
    return labels.astype(np.min_scalar_type(n_clusters - 1))


def _recalled(known: Arrays, n_clusters: int, weights: Floats) -> KernelClusters:
    """Return what was found before the fit was interrupted."""
    labels = known["labels"].astype(np.int64)
    shares, _ = class_shares(labels, weights, n_clusters)
    return KernelClusters(
        labels, shares, known["squares"], known["history"], int(known["n_iter"]), bool(known["converged"])
    )


def _digest(labels: Integers) -> bytes:
    return hashlib.blake2b(labels.tobytes(), digest_size=_DIGEST).digest()


def _measured(
    pairs: KernelPairs, labels: Integers, n_clusters: int, weights: Floats, centroid: bool
) -> _Assigned:
    """Measure how far every row is from every cluster."""
    shares, totals = class_shares(labels, weights, n_clusters)
    own = np.arange(len(labels))
    if centroid:
        sums = pairs.product_sums(shares)
        squares = np.einsum("ik,ik->k", shares, sums)
        values = pairs.diagonal[:, None] - 2.0 * sums + squares
    else:
        squares = np.zeros(n_clusters)
        values = pairs.distance_sums(shares)
    values[:, totals == 0] = np.inf
    return _Assigned(labels, shares, squares, values, float(weights @ values[own, labels]))


def _filled(labels: Integers, values: Floats, n_clusters: int, weights: Floats) -> Integers:
    """Let empty clusters take the rows that are farthest from theirs, one each, if they leave others behind."""
    sizes = np.bincount(labels, minlength=n_clusters)
    if sizes.all():
        return labels
    labels = labels.copy()
    distances = values[np.arange(len(labels)), labels]
    farthest = iter(np.argsort(-weights * distances, kind="stable"))
    for place in np.flatnonzero(sizes == 0):
        for row in farthest:
            if sizes[labels[row]] > 1 and distances[row] > 0:
                sizes[labels[row]] -= 1
                sizes[place] += 1
                labels[row] = place
                break
    return labels


def scattered_start(
    pairs: KernelPairs, n_clusters: int, weights: Floats, rng: np.random.Generator
) -> Integers:
    """Draw rows by k-means++ in feature space, and return the nearest of them for every row."""
    first = int(rng.choice(len(weights), p=weights / weights.sum()))
    chosen, squares = [first], squared_distances(pairs, first)
    while len(chosen) < n_clusters:
        chances = weights * squares
        total = chances.sum()
        row = rng.choice(len(weights), p=chances / total) if total > 0 else rng.integers(len(weights))
        chosen.append(int(row))
        squares = np.minimum(squares, squared_distances(pairs, int(row)))
    return nearest_start(pairs, np.array(chosen))


def nearest_start(pairs: KernelPairs, chosen: Integers) -> Integers:
    """Return, for every row, which of the chosen rows is nearest in feature space; the first of equals."""
    best = np.full(len(pairs.diagonal), np.inf)
    labels = np.zeros(len(best), dtype=np.int64)
    for place, row in enumerate(chosen):
        squares = squared_distances(pairs, int(row))
        labels[squares < best] = place
        best = np.minimum(best, squares)
    return labels


def squared_distances(pairs: KernelPairs, row: int) -> Floats:
    """Return the squared distances of all rows to one, in feature space."""
    squares = pairs.diagonal - 2.0 * pairs.line(row) + pairs.diagonal[row]
    squares[row] = 0.0
    return np.maximum(squares, 0.0)
