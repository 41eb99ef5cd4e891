"""The distance profile: whether the distances between rows vary enough for neighbours to mean anything.

In many dimensions every point is far from every other, and all about equally far: the curse of dimensionality. What
counts is not the number of features but the dimension of the set on which the rows really lie, so before a
model relies on neighbours, look at the pairwise distances of a sample (Flach, 8.3).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.distances.reductions import all_distances
from bisector.engine.show import Caution, Heading, Part, Sheet, Table, number
from bisector.engine.validation import check_number

Floats = NDArray[np.float64]

# The dimension is estimated from so many neighbours of each row: fewer vary more, more look less closely.
NEIGHBOURS = 10
# Where the farthest row is less than 1½ times, or thrice, as far as the nearest.
LOW_CONTRAST, FAIR_CONTRAST = 0.5, 2.0
_BINS = 50
# Shares of repeated rows, of ties and of unreachable pairs worth a warning.
_MANY = 0.1
# Distances that differ by less than this share are equal, but for rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class DistanceProfile:
    """How the distances between the rows of a sample are distributed.

    A row at distance zero from an earlier one repeats it; all but `repeats` is about the rows that are left.

    Attributes
    ----------
    metric : Distance
    n_rows, n_sampled : int
        How many rows there were, and how many were compared.
    repeats : float
        The share of sampled rows that are at distance zero from an earlier one.
    unreachable : float
        The share of pairs that are infinitely far apart; all else is about the other pairs.
    counts, edges : ndarray
        The histogram of the distances between all pairs.
    quantiles : ndarray of shape (5,)
        The least, quartiles, and the largest of these distances.
    nearest, farthest : ndarray of shape (n_left,)
        For each row, the distance to the nearest and to the farthest other one.
    contrast : float
        (farthest − nearest) / nearest, the median over the rows.
    relative_variance : float
        The variance of the distances over the square of their mean.
    dimension : float
        The intrinsic dimension by maximum likelihood: the reciprocal of the mean of log(tₖ/tⱼ) over all rows and
        their neighbours j < k, where tⱼ is the distance to the j-th neighbour and k = 10 (Levina and Bickel, 2004;
        averaged as MacKay and Ghahramani, 2005, propose). Beyond ten dimensions or so no sample is dense enough,
        and this is too low. NaN if it cannot be told.
    correlation_dimension : float
        The exponent by which the number of pairs closer than r grows, for r up to that within which a row has ten
        neighbours on average: the reciprocal of the mean of log(r/t) over the distances t < r (Takens, 1985).
        Dense parts count for more than in `dimension`. NaN if it cannot be told.
    ties : float
        The share of rows whose two nearest others are equally near.
    verdict : str
        One sentence on whether neighbours mean anything here.
    """

    metric: Distance
    n_rows: int
    n_sampled: int
    repeats: float
    unreachable: float
    counts: NDArray[np.int64]
    edges: Floats
    quantiles: Floats
    nearest: Floats
    farthest: Floats
    contrast: float
    relative_variance: float
    dimension: float
    correlation_dimension: float
    ties: float
    verdict: str

    def summary(self) -> Sheet:
        """Return the profile in words and tables."""
        of = f" of {self.n_rows:,}" if self.n_sampled < self.n_rows else ""
        figures = [
            ["contrast (farthest − nearest) / nearest", self.contrast],
            ["relative variance", self.relative_variance],
            ["dimension (ten neighbours)", self.dimension],
            ["dimension (correlation)", self.correlation_dimension],
        ]
        parts: list[Part | str] = [
            Heading(f"Distances among {self.n_sampled:,}{of} rows: {self.metric!r}"),
            self.verdict,
            Table(["Min", "1Q", "Median", "3Q", "Max"], [self.quantiles.tolist()], title="Distances:"),
            Table(["", "value"], figures),
        ]
        return Sheet([*parts, *map(Caution, self._cautions())])

    def _cautions(self) -> list[str]:
        said = []
        if self.repeats >= _MANY:
            said.append(
                f"{100 * self.repeats:.0f}% of the rows repeat earlier ones (distance zero); they were left out, "
                "but as neighbours they crowd out all others."
            )
        if self.ties >= _MANY:
            said.append(
                f"{100 * self.ties:.0f}% of the rows have several nearest ones: which of them counts is decided by "
                "their order, and the dimensions above are rough."
            )
        if self.unreachable > 0:
            said.append(
                f"{100 * self.unreachable:.2g}% of the pairs are infinitely far apart; they were left out."
            )
        return said

    def __repr__(self) -> str:
        return self.summary().text()

    def _repr_html_(self) -> str:
        return self.summary().html()


def distance_profile(
    X: Any, metric: Any = "euclidean", *, sample: int = 2000, seed: int = 0, n_jobs: int | None = None
) -> DistanceProfile:
    """Look at the distances between the rows of a sample, and say whether neighbours will mean anything.

    Parameters
    ----------
    X : rows
        What the distance compares: a matrix, a frame, strings, sets.
    metric : str, Distance or callable, default="euclidean"
        A name, a distance, or a function of two rows.
    sample : int, default=2000
        Of more rows, so many are chosen at random.
    seed : int, default=0
        Of the random choice.
    n_jobs : int, optional
        On how many threads; by default all cores allowed here.

    Returns
    -------
    DistanceProfile
        Prints as its summary.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.measures.profile import distance_profile
    >>> rng = np.random.default_rng(0)
    >>> distance_profile(rng.normal(size=(500, 2))).verdict
    'Neighbours mean something: ...
    >>> distance_profile(rng.normal(size=(500, 1000))).verdict
    'Neighbours mean next to nothing: ...
    """
    from bisector.distances.names import resolve

    most = int(check_number("sample", sample, at_least=3))
    distance = resolve(metric).learned(X)
    rows = distance.prepare(X)
    n = len(rows)
    if n < 2:
        raise ValueError(f"X has {n} row{'s' * (n != 1)}, but distances are between two rows: give more.")
    if n > most:
        rows = rows.take(np.sort(np.random.default_rng(seed).choice(n, most, replace=False)))
    distances = all_distances(distance, rows, None, np.empty((len(rows), len(rows))), n_jobs=n_jobs)
    return _profile(distance, n, distances)


def _profile(distance: Distance, n: int, distances: Floats) -> DistanceProfile:
    n_sampled = len(distances)
    earlier = np.tril(np.minimum(distances, distances.T) == 0, -1).any(axis=1)
    left = np.flatnonzero(~earlier)
    distances = distances[np.ix_(left, left)]
    pairs = distances[np.triu_indices(len(left), 1)]
    if not distance.symmetric:
        pairs = np.concatenate([pairs, distances.T[np.triu_indices(len(left), 1)]])
    reached = np.sort(pairs[np.isfinite(pairs)])
    np.fill_diagonal(distances, np.inf)
    ordered = np.sort(distances, axis=1)[:, :-1]
    ordered = ordered[np.isfinite(ordered).any(axis=1)]
    nearest = ordered[:, :1].ravel()
    farthest = ordered.max(axis=1, initial=0.0, where=np.isfinite(ordered))
    contrast = float(np.median((farthest - nearest) / nearest)) if len(nearest) else np.nan
    dimension = _neighbour_dimension(ordered)
    tied = ordered[:, 1:2] - ordered[:, :1] <= _ROUNDING * ordered[:, :1]
    counts, edges = np.histogram(reached, _BINS, _limits(reached))
    return DistanceProfile(
        metric=distance,
        n_rows=n,
        n_sampled=n_sampled,
        repeats=float(earlier.mean()),
        unreachable=1 - len(reached) / len(pairs) if len(pairs) else 0.0,
        counts=counts,
        edges=edges,
        quantiles=np.quantile(reached, [0, 0.25, 0.5, 0.75, 1]) if len(reached) else np.full(5, np.nan),
        nearest=nearest,
        farthest=farthest,
        contrast=contrast,
        relative_variance=float(reached.var() / reached.mean() ** 2) if len(reached) else np.nan,
        dimension=dimension,
        correlation_dimension=_correlation_dimension(reached, len(left)),
        ties=float(tied.mean()) if tied.size else 0.0,
        verdict=_verdict(len(left), contrast, dimension),
    )


def _limits(reached: Floats) -> tuple[float, float]:
    """Return from where to where the histogram of some numbers in ascending order goes."""
    if not len(reached):
        return 0.0, 1.0
    first, last = float(reached[0]), float(reached[-1])
    return (first, last) if last - first > _ROUNDING * last else (0.5 * first, 1.5 * last)


def _neighbour_dimension(ordered: Floats) -> float:
    """Estimate the dimension from the distances of each row to the others, in ascending order."""
    k = min(NEIGHBOURS, ordered.shape[1])
    if k < 2:
        return np.nan
    known = ordered[np.isfinite(ordered[:, k - 1]), :k]
    # In d dimensions the logarithms are exponential with mean 1/d; of so many the estimate without bias is this.
    return _reciprocal_mean(np.log(known[:, k - 1 :] / known[:, :-1]))


def _correlation_dimension(reached: Floats, n: int) -> float:
    """Estimate the dimension from the smallest of all distances, in ascending order."""
    count = min(NEIGHBOURS * n // 2, len(reached) // 2)
    if count < 2:
        return np.nan
    return _reciprocal_mean(np.log(reached[count] / reached[:count]))


def _reciprocal_mean(logarithms: Floats) -> float:
    total = float(logarithms.sum())
    return (logarithms.size - 1) / total if total > _ROUNDING * logarithms.size else np.nan


def _verdict(n_left: int, contrast: float, dimension: float) -> str:
    if n_left < 3 or not np.isfinite(contrast):
        return "Whether neighbours mean anything cannot be told: fewer than three rows differ and can be reached."
    ratio = f"the farthest row is typically {number(1 + contrast, 3)} times as far away as the nearest"
    spread = f", and the rows spread in about {number(dimension, 2)} dimensions" if dimension < np.inf else ""
    if contrast >= FAIR_CONTRAST:
        return f"Neighbours mean something: {ratio}{spread}."
    if contrast >= LOW_CONTRAST:
        return (
            f"Neighbours mean something, but less than they seem to: {ratio}{spread}; fewer features, chosen well, "
            "would tell more."
        )
    return (
        f"Neighbours mean next to nothing: {ratio}{spread}; choose among the features or reduce the dimension "
        "before you rely on distances."
    )
