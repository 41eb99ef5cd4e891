"""Histograms: how many rows lie in the same cell as x (LFD 6.4)."""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bisector.density.boxes import check_box, check_dense
from bisector.density.density_reasons import density_account, explain_density
from bisector.engine.explanation import Explanation, feature_names
from bisector.engine.lazy_rows import by_rows
from bisector.engine.moments import moments
from bisector.engine.row_sums import total_weight
from bisector.engine.show import number
from bisector.engine.sources import Source, is_collection, source
from bisector.engine.validation import blank, check_count, check_finite, fresh_rows, store, weighted
from bisector.solvers.cell_counts import cell_counts, cell_numbers, cell_places, column_ranges, places_among

Floats = NDArray[np.float64]

# Cells are numbered by integers of 63 bits.
_MOST_CELLS = 2**62


class HistogramDensity(BaseEstimator):
    """Density as N(x)/(N·V): the share of the rows in the cell of x, divided by the volume of the cell.

    Only cells that hold rows are kept, so that memory does not grow with the number of cells.

    Parameters
    ----------
    bins : "scott", int or list of arrays, default="scott"
        A rule, by which cells are 3.49 · σ · n^(−1/(d+2)) long in each feature; how many in each feature,
        between its lowest and highest value; or the edges in each feature.
    volume : float, optional
        V: cells are cubes of this volume, whatever `bins` says.

    Attributes
    ----------
    edges_ : list of ndarray
        Where cells begin and end in each feature.
    cells_ : ndarray of shape (n_cells, n_features)
        Those that hold rows: their places along each feature.
    shares_ : ndarray of shape (n_cells,)
        The share of the rows in each.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import HistogramDensity
    >>> model = HistogramDensity(bins=[[0.0, 1.0, 4.0]]).fit([[0.2], [0.6], [2.0], [3.0]])
    >>> np.exp(model.score_samples([[0.5], [3.5], [9.0]]))
    array([0.5       , 0.16666667, 0.        ])
    """

    def __init__(self, *, bins: Any = "scott", volume: float | None = None) -> None:
        self.bins = bins
        self.volume = volume

    edges_: list[Floats]
    cells_: NDArray[np.int64]
    shares_: Floats
    _numbers: NDArray[np.int64]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count rows.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
        """
        if is_collection(X):
            rows, stand_in = fresh_rows(self, X)
        else:
            stand_in = blank(self)
            rows = source(check_dense(stand_in, X, reset=True))
        rows = weighted(rows, sample_weight)
        edges = self._find_edges(rows)
        found = cell_counts(rows, edges)
        return store(
            self,
            stand_in,
            edges_=edges,
            cells_=cell_places(found.numbers, edges),
            shares_=found.weights / total_weight(rows),
            _numbers=found.numbers,
        )

    @by_rows
    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of the density at every row of X; −inf where a cell is empty."""
        cells = self._cells(X)
        logs = np.full(len(cells), -np.inf)
        logs[cells >= 0] = (np.log(self.shares_) - self._log_volumes())[cells[cells >= 0]]
        return logs

    def _cells(self, X: Any) -> NDArray[np.int64]:
        """Return which of the cells with rows each row of X is in; −1 for none."""
        check_is_fitted(self)
        rows = check_dense(self, X, reset=False).astype(np.float64, copy=False)
        places = places_among(rows, self.edges_)
        inside = (places >= 0).all(axis=1)
        numbers = cell_numbers(np.maximum(places, 0), self.edges_)
        found = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return np.where(inside & (self._numbers[found] == numbers), found, -1)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why the density is as high as it is at each row: the cell it is in, and the share of rows there.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        list of Explanation
            The answer is the log density; ``path`` are the sides of the cell, and the account has one part.
        """
        logs, cells = self.score_samples(X), self._cells(X)
        names, volumes = feature_names(self, len(self.edges_)), self._log_volumes()
        explained = []
        for log, cell in zip(logs.tolist(), cells.tolist(), strict=True):
            if cell < 0:
                explained.append(explain_density(log, None))
                continue
            path = [
                f"{number(float(edges[place]))} ≤ {name} < {number(float(edges[place + 1]))}"
                for name, edges, place in zip(names, self.edges_, self.cells_[cell], strict=True)
            ]
            columns = {"share of the rows": [self.shares_[cell]], "log volume": [volumes[cell]]}
            account = density_account(np.array([log]), names=["the rows in its cell"], columns=columns)
            explained.append(explain_density(log, account, path))
        return explained

    def score(self, X: Any, y: Any = None) -> float:
        """Return the logarithm of the likelihood of all rows of X together."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Draw rows: a cell by its share, and any place in it."""
        check_is_fitted(self)
        check_count("n_samples", n_samples)
        rng = check_random_state(random_state)
        cells = self.cells_[rng.choice(len(self.shares_), size=n_samples, p=self.shares_)]
        return np.stack(
            [
                edges[place] + rng.uniform(size=n_samples) * (edges[place + 1] - edges[place])
                for edges, place in zip(self.edges_, cells.T, strict=True)
            ],
            axis=1,
        )

    def integrate(self, box: ArrayLike) -> float:
        """Return the probability of a box, given as the lowest and highest value of each feature."""
        check_is_fitted(self)
        sides = check_box("box", box, self.n_features_in_)
        inside = np.ones(len(self.shares_))
        for (low, high), edges, place in zip(sides, self.edges_, self.cells_.T, strict=True):
            start, stop = edges[place], edges[place + 1]
            inside *= np.maximum(np.minimum(stop, high) - np.maximum(start, low), 0.0) / (stop - start)
        return float(self.shares_ @ inside)

    def _log_volumes(self) -> Floats:
        lengths = [np.diff(edges)[place] for edges, place in zip(self.edges_, self.cells_.T, strict=True)]
        return np.log(np.stack(lengths)).sum(axis=0)

    def _find_edges(self, rows: Source) -> list[Floats]:
        d, (lows, highs) = rows.n_features, column_ranges(rows)
        if self.volume is not None:
            side = check_finite("volume", self.volume, above=0) ** (1 / d)
            return _equal(lows, highs, np.full(d, side))
        if isinstance(self.bins, str):
            if self.bins != "scott":
                raise ValueError(
                    f"bins must be 'scott', a number or edges for each feature, not {self.bins!r}."
                )
            found = moments(rows)
            scatter = np.maximum(found.about_mean()[0].diagonal(), 0.0)
            spread = np.sqrt(scatter / found.weight) / found.of_x.scale
            sides = 3.49 * spread * found.weight ** (-1 / (d + 2))
            return _equal(lows, highs, np.where(sides > 0, sides, 1.0))
        if not isinstance(self.bins, list | tuple | np.ndarray):
            count = check_count("bins", self.bins)
            _refuse_many([count] * d)
            flat = highs <= lows
            lows, highs = np.where(flat, lows - 0.5, lows), np.where(flat, highs + 0.5, highs)
            return [np.linspace(low, high, count + 1) for low, high in zip(lows, highs, strict=True)]
        edges = [np.array(one, dtype=np.float64) for one in self.bins]
        if len(edges) != d:
            raise ValueError(f"bins must hold the edges of all {d} features, but has {len(edges)} lists.")
        for j, one in enumerate(edges):
            if one.ndim != 1 or len(one) < 2 or not (np.isfinite(one).all() and (np.diff(one) > 0).all()):
                raise ValueError(f"bins[{j}] must hold two or more finite edges in ascending order.")
        _refuse_many([len(one) - 1 for one in edges])
        return edges


def _equal(lows: Floats, highs: Floats, sides: Floats) -> list[Floats]:
    """Return edges of cells of given lengths, about the middle of the rows."""
    counts = [
        max(1, math.ceil((high - low) / side)) for low, high, side in zip(lows, highs, sides, strict=True)
    ]
    _refuse_many(counts)
    starts = (lows + highs) / 2 - sides * np.array(counts) / 2
    return [
        start + side * np.arange(count + 1) for start, side, count in zip(starts, sides, counts, strict=True)
    ]


def _refuse_many(counts: list[int]) -> None:
    cells = math.prod(counts)
    if cells > _MOST_CELLS or max(counts) > 10**8:
        raise ValueError(
            f"A histogram with {max(counts):,} cells along one of {len(counts)} features has {float(cells):.2g} "
            "cells, nearly all of them empty: use fewer features or larger cells, or KernelDensity."
        )
