"""Bumps as features: z(x) = (φ(d(x, μ₁)/r₁), …, φ(d(x, μ_k)/r_k)) (LFD 6.3.1, Equations 6.4 and 6.6).

Heights are made a block of rows at a time, whenever a solver reads its source: no solver that needs only sums of
products ever holds them all.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Pairs, Rows
from bisector.engine.dask_passes import Shared
from bisector.engine.dask_source import DaskSource, Place, read
from bisector.engine.sources import MemorySource, Source
from bisector.kernels.bumps import Bump
from bisector.solvers.bump_averages import metric_of_squares

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bumps:
    """Bumps around centres.

    Attributes
    ----------
    bump : Bump
        φ.
    distance : Distance
    centres : Rows
        Prepared by the distance.
    widths : ndarray of shape (1,) or (k,)
        r: one for all bumps, or one for each.
    roots : ndarray of shape (k, d, d), optional
        P with P Pᵀ = Σ⁻¹ for bumps φ(√((x − μ)ᵀΣ⁻¹(x − μ))) in place of round ones; widths do not count then.
    """

    bump: Bump
    distance: Distance
    centres: Rows
    widths: Floats
    roots: Floats | None = None

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def alike(self) -> bool:
        """Whether all have one shape, so that each is as high at another's centre as that one at its own."""
        return len(self.widths) == 1 and self.roots is None and self.distance.symmetric

    def heights(self, rows: Rows, part: range, pairs: Pairs | None = None) -> Floats:
        """Return the heights of all bumps at consecutive rows, shape (rows, k)."""
        from bisector.kernels.bump_formulas import raise_bumps

        tile = np.empty((len(part), len(self)))
        if self.roots is not None:
            points: Any = rows
            X = points.dense(part).astype(np.float64, copy=False)
            middles = self.centres.dense(range(len(self)))  # type: ignore[attr-defined]
            for j, (middle, root) in enumerate(zip(middles, self.roots, strict=True)):
                away = (X - middle) @ root
                np.einsum("ij,ij->i", away, away, out=tile[:, j])
            raise_bumps(self.bump.lower(), 1.0, True, tile, 0, 0, *tile.shape)
            return tile
        pairs = self.between(rows) if pairs is None else pairs
        pairs.write(part, range(len(self)), tile)
        squared = metric_of_squares(self.distance) is not None
        units = 1.0 / (np.square(self.widths) if squared else self.widths)
        if len(units) > 1:
            tile *= units
        factor = float(units[0]) if len(units) == 1 else 1.0
        raise_bumps(self.bump.lower(), factor, squared, tile, 0, 0, *tile.shape)
        return tile

    def between(self, rows: Rows) -> Pairs:
        """Join rows and centres into pairs whose distances, or squares of them, heights are made from."""
        return (metric_of_squares(self.distance) or self.distance).between(rows, self.centres)


class BumpFeatures(MemorySource):
    """The heights of bumps at rows, as solvers read rows.

    Parameters
    ----------
    bumps : Bumps
    rows : Rows
        Prepared by the distance of the bumps.
    y, sample_weight : ndarray, optional
    mix : ndarray of shape (k, m), optional
        Features are the heights times this.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Euclidean
    >>> from bisector.kernels import TriangularBump
    >>> from bisector.solvers.bump_features import BumpFeatures, Bumps
    >>> metric = Euclidean()
    >>> rows = metric.prepare([[0.0], [1.0], [2.0]])
    >>> bumps = Bumps(TriangularBump(), metric, rows.take(np.array([0, 2])), np.array([2.0]))
    >>> BumpFeatures(bumps, rows).take([0, 1])
    array([[1. , 0. ],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        bumps: Bumps,
        rows: Rows,
        y: NDArray[Any] | None = None,
        sample_weight: Floats | None = None,
        mix: Floats | None = None,
    ) -> None:
        self.bumps, self.prepared, self.mix = bumps, rows, mix
        self.n_rows = len(rows)
        self.n_features = len(bumps) if mix is None else mix.shape[1]
        self.dtype = np.dtype(np.float64)
        self.y, self.sample_weight = y, sample_weight

    @cached_property
    def _pairs(self) -> Pairs | None:
        return None if self.bumps.roots is not None else self.bumps.between(self.prepared)

    def between(self, first: int, last: int) -> Floats:
        return self._mixed(self.bumps.heights(self.prepared, range(first, last), self._pairs))

    def take(self, rows: ArrayLike) -> Floats:
        chosen = self.prepared.take(self.row_numbers(rows))
        return self._mixed(self.bumps.heights(chosen, range(len(chosen))))

    def _mixed(self, heights: Floats) -> Floats:
        return heights if self.mix is None else heights @ self.mix


def features_of(
    bumps: Bumps,
    rows: Rows | Source,
    y: Any = None,
    sample_weight: Any = None,
    mix: Floats | None = None,
) -> Source:
    """Return the heights of bumps at rows that are here or in a Dask collection, as solvers read rows."""
    if not isinstance(rows, Source):
        return BumpFeatures(bumps, rows, y, sample_weight, mix)
    from dask import delayed

    assert isinstance(rows, DaskSource)
    call, shared = delayed(partition_heights, pure=False), Shared(partition_heights, bumps, mix)
    node = delayed(shared, traverse=False, pure=False)
    parts = [call(place, part, node) for place, part in zip(rows.places, rows.parts, strict=True)]
    n_features = len(bumps) if mix is None else mix.shape[1]
    made = DaskSource(parts, rows.sizes, n_features, np.dtype(np.float64))
    made.y, made.sample_weight = y, sample_weight
    return made


def partition_heights(place: Place, X: Any, shared: Shared) -> Floats:
    """Return the heights of bumps at the rows of one partition, in its task."""
    bumps, mix = shared.fixed
    items = read(place, X, None, None).take(np.arange(place.n_rows)).astype(np.float64, copy=False)
    rows = bumps.distance.prepare(items, like=bumps.centres)
    return BumpFeatures(bumps, rows, mix=mix).between(0, place.n_rows)
