"""What regression and classification by a few bumps share: the network of LFD 6.3.1 and 6.3.2."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.distances.distance import Distance, Rows
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.precomputed import Precomputed
from bisector.engine.checkpoint import Checkpoint, checkpoint_of_pairs
from bisector.engine.map_reduce import map_blocks
from bisector.engine.progress import track
from bisector.engine.row_sums import total_weight
from bisector.engine.seeds import seed_of
from bisector.engine.validation import (
    blank,
    check_choice,
    check_count,
    check_finite,
    check_weights,
)
from bisector.engine.values import HoldsValues
from bisector.kernels.bumps import GaussianBump, resolve_bump
from bisector.rbf.widths import network_widths
from bisector.solvers.bump_centres import WAYS, Centres, n_distinct, place_centres
from bisector.solvers.bump_features import BumpFeatures, Bumps
from bisector.solvers.bump_weights import MISSED, SHARES, BumpWeights, least_error
from bisector.solvers.distance_lines import telling_lines
from bisector.solvers.mixture_shapes import SHAPES

Floats = NDArray[np.float64]

_USUAL, _FOLDS = 10, 5
# Numbers of centres that "cv" tries, as far as there are rows for them; and strengths of the penalty.
_COUNTS = (2, 4, 8, 16, 32, 64, 128)
_STRENGTHS = SHARES[12::4]


class Task(NamedTuple):
    """Rows and what is to be learned of them.

    Attributes
    ----------
    rows : Rows, or Source of a Dask collection
    targets : ndarray, or column of the collection, of shape (n_rows, n_targets)
        Numbers; or codes of classes in one column.
    weights : ndarray of shape (n_rows,), or column, or None
        Positive; in a collection, some may be zero, and all are one if there are none.
    n_classes : int
        Of codes.
    """

    rows: Any
    targets: Any
    weights: Any
    n_classes: int = 0

    def part(self, numbers: NDArray[np.int64]) -> "Task":
        """Return some of the rows."""
        return Task(self.rows.take(numbers), self.targets[numbers], self.weights[numbers], self.n_classes)


class Network(NamedTuple):
    """Bumps and their weights; which rows the centres are, if they are rows; whether all rows have one."""

    bumps: Bumps
    weights: BumpWeights
    numbers: NDArray[np.int64] | None = None
    on_all: bool = False

    def signals(self, rows: Rows, n_jobs: int | None) -> Floats:
        """Return w₀ + w·z at rows, shape (n_rows, n_targets)."""
        features = BumpFeatures(self.bumps, rows)
        if not features.n_rows:
            return np.empty((0, len(self.weights.intercept)))
        made: Floats = map_blocks(_block_signals, features, self.weights, n_jobs=n_jobs)
        return made


def _block_signals(block: Any, weights: BumpWeights) -> Floats:
    made: Floats = block.X @ weights.coef + weights.intercept
    return made


def in_double(items: Any) -> Any:
    """Return rows of numbers as float64: what bumps weigh is found to more digits than float32 has."""
    return items.astype(np.float64) if getattr(items, "dtype", None) == np.float32 else items


def dtype_of(X: Any) -> Any:
    """Return the type in which coefficients are told: float32 if the rows are, else float64."""
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64


class BumpNetwork(HoldsValues, BaseEstimator):
    """Places bumps, and fits their weights."""

    n_centers: Any
    centers: Any
    width: Any
    alpha: Any
    penalty: Any
    bump: Any
    metric: Any
    random_state: Any
    n_jobs: Any
    checkpoint: Any

    _network: Network
    metric_: Distance
    n_centers_: int
    center_indices_: Any

    def _checked_metric(self) -> Distance:
        """Check the parameters; return the metric."""
        check_choice("penalty", self.penalty, ("weights", "curvature"))
        if isinstance(self.centers, str):
            check_choice("centers", self.centers, WAYS)
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("gcv", "cv"))
        else:
            check_finite("alpha", self.alpha, at_least=0)
        if self.penalty == "curvature" and isinstance(self.alpha, float | int) and self.alpha == 0:
            raise ValueError(
                "penalty='curvature' with alpha=0 is no penalty: give alpha > 0, or penalty='weights'."
            )
        distance = resolve(self.metric)
        if isinstance(distance, Precomputed):
            raise ValueError(
                "A network compares new rows with its centres, which metric='precomputed' cannot: give the metric."
            )
        return distance

    def _start(self, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Distance, Rows, Floats]:
        """Check the parameters and the rows; return a stand-in, the metric, the rows and their weights."""
        distance, stand_in = self._checked_metric(), blank(self)
        items = in_double(check_items(stand_in, X, distance, reset=True))
        distance = distance.learned(items)
        rows = distance.prepare(items)
        weights = check_weights(sample_weight, len(rows))
        return stand_in, distance, rows, np.ones(len(rows)) if weights is None else weights

    def _noting(self, distance: Distance, task: Task) -> AbstractContextManager[Checkpoint]:
        """Open the checkpoint of a fit to rows that are here.

        They are known by distances; and rows of numbers by their sums too, since means are noted.
        """

        def told() -> Floats:
            sums = task.rows.values.sum(axis=0) if isinstance(task.rows, NumericRows) else ()
            return np.append(telling_lines(distance, task.rows, n_jobs=self.n_jobs), sums)

        return checkpoint_of_pairs(
            self.checkpoint, self, told, len(task.rows), weights=task.weights, targets=task.targets
        )

    @abstractmethod
    def _solve(
        self, bumps: Bumps, task: Task, labels: Any, alpha: float | None, kept: Checkpoint
    ) -> BumpWeights:
        """Fit the weights of bumps."""

    @abstractmethod
    def _loss(self, signals: Floats, targets: Floats, weights: Floats) -> float:
        """Return the total loss of signals."""

    def _learn(
        self,
        distance: Distance,
        task: Task,
        numbers: NDArray[np.int64],
        kept: Checkpoint,
        whole: Task | None = None,
    ) -> dict[str, Any]:
        """Fit a network, after choosing what is left to cross-validation; return what is learned.

        `numbers` are those of the task's rows among the rows as they came. These may be a sample of the `whole`,
        on which the heights are fitted.
        """
        total = float(task.weights.sum()) if whole is None else total_weight(whole.rows)
        counts, alphas = self._counts(distance, task), self._alphas(task, total)
        seed = seed_of(self.random_state, kept)
        learned: dict[str, Any] = {}
        chosen, settled = (0, 0), True
        if len(counts) > 1 or len(alphas) > 1:
            errors, settled = self._validated(distance, task, counts, alphas, seed, total, kept)
            chosen = divmod(least_error(errors.ravel()), len(alphas))
            learned = {"cv_n_centers_": np.array(counts), "cv_errors_": errors}
            if len(alphas) > 1:
                learned["cv_alphas_"] = np.array(alphas)
        last = kept.part("network")
        bumps, labels, on_rows = self._placed(distance, task, counts[chosen[0]], seed, last)
        weights = self._solve(bumps, task if whole is None else whole, labels, alphas[chosen[1]], last)
        weights = replace(weights, converged=weights.converged and settled)
        network = Network(bumps, weights, on_rows, labels is not None)
        own = len(bumps.widths) > 1
        return {
            **learned,
            "metric_": distance,
            "bump_": bumps.bump,
            "n_centers_": len(bumps),
            "center_indices_": None if on_rows is None else numbers[on_rows],
            "centers_": getattr(bumps.centres, "values", None),
            "width_": bumps.widths if own else float(bumps.widths[0]),
            "precision_roots_": bumps.roots,
            "alpha_": weights.alpha,
            "alphas_": weights.alphas,
            "gcv_errors_": weights.errors,
            "degrees_of_freedom_": weights.degrees_of_freedom,
            "gap_": weights.gap,
            "_network": network,
        }

    def _warn(self, network: Network) -> None:
        """Warn of a network that is not what was asked for; called by `fit`."""
        weights = network.weights
        if not weights.converged:
            warnings.warn(
                "The weights still improved when Newton's method ended: raise alpha, or use fewer bumps.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if weights.alpha == 0 and network.on_all and weights.gap > MISSED:
            warnings.warn(
                "The bumps are so wide that floating point does not tell them apart: the network misses a target "
                f"by {weights.gap:.2g} of the largest. Give a smaller width, or alpha above zero.",
                stacklevel=3,
            )

    def _counts(self, distance: Distance, task: Task) -> list[int]:
        if not isinstance(self.centers, str):
            return [np.shape(self.centers)[0]]
        if self.centers == "all":
            return [len(task.rows)]
        asked = self.n_centers
        if isinstance(asked, str):
            if check_choice("n_centers", asked, ("auto", "cv")) == "auto":
                return [min(_USUAL, n_distinct(distance, task.rows, _USUAL))]
            most = len(task.rows) * (_FOLDS - 1) // _FOLDS // 2
            return [k for k in _COUNTS if k <= most] or [1]
        if np.ndim(asked) == 0:
            return [check_count("n_centers", asked)]
        counts = sorted({check_count("n_centers", k) for k in asked})
        if not counts:
            raise ValueError("n_centers is an empty list: give the numbers of centres to choose from.")
        return counts

    def _alphas(self, task: Task, total: float) -> list[float | None]:
        if isinstance(self.alpha, str):
            if self.alpha == "cv" or not self._has_gcv:
                return list(_STRENGTHS * total)
            if len(task.rows) < 2:
                raise ValueError(
                    "alpha='gcv' needs at least two rows, but n_samples=1: give alpha as a number."
                )
            return [None]
        return [float(self.alpha)]

    @property
    def _has_gcv(self) -> bool:
        """Whether generalised cross-validation is there for the fit."""
        return True

    def _validated(
        self,
        distance: Distance,
        task: Task,
        counts: list[int],
        alphas: list[float | None],
        seed: int,
        total: float,
        kept: Checkpoint,
    ) -> tuple[Floats, bool]:
        """Return the mean loss at rows left out, five parts in turn, for every number of centres and alpha.

        An alpha is meant for rows of a `total` weight. Also tell whether all networks converged.
        """
        n = len(task.rows)
        if n < 2 * _FOLDS:
            raise ValueError(
                f"Cross-validation by {_FOLDS} parts needs at least {2 * _FOLDS} rows, but n_samples={n}: give "
                "n_centers and alpha as numbers."
            )
        part_of = np.random.RandomState(seed).permutation(n) % _FOLDS
        errors, n_done, settled = np.zeros((len(counts), len(alphas))), 0, True
        known = kept.recall("validated")
        if known is not None:
            errors, n_done, settled = known["errors"], int(known["n_done"]), bool(known["settled"])
        with track("validating", total=_FOLDS * errors.size) as bar:
            for fold in range(_FOLDS):
                learned = task.part(np.flatnonzero(part_of != fold))
                asked = task.part(np.flatnonzero(part_of == fold))
                share = learned.weights.sum() / total
                for i, count in enumerate(counts):
                    before = (fold * len(counts) + i) * len(alphas)
                    if n_done >= before + len(alphas):
                        continue
                    name = f"part {fold}, number {i}"
                    own = kept.part(name)
                    bumps, labels, _ = self._placed(distance, learned, count, seed, own)
                    for j in range(n_done - before, len(alphas)):
                        alpha, solving = alphas[j], f"alpha {j}"
                        strength = None if alpha is None else alpha * share
                        found = self._solve(bumps, learned, labels, strength, own.part(solving))
                        signals = Network(bumps, found).signals(asked.rows, self.n_jobs)
                        errors[i, j] += self._loss(signals, asked.targets, asked.weights)
                        n_done, settled = n_done + 1, settled and found.converged
                        kept.note("validated", errors=errors, n_done=n_done, settled=settled)
                        own.forget(solving)
                        bar.advance()
                    kept.forget(name)
        return errors / task.weights.sum(), settled

    def _placed(
        self, distance: Distance, task: Task, k: int, seed: int, kept: Checkpoint
    ) -> tuple[Bumps, NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """Return bumps; on which of them each row stands, if there is one on all; and which rows they are."""
        random = np.random.RandomState(seed)
        if isinstance(self.centers, str):
            placed = place_centres(
                self.centers, k, distance, task.rows, task.weights, random, n_jobs=self.n_jobs, kept=kept
            )
        else:
            placed = Centres(distance.prepare(self.centers, like=task.rows, name="centers"))
        bump = resolve_bump(self.bump)
        if placed.covariances is not None and isinstance(self.width, str) and self.width == "own":
            if not isinstance(bump, GaussianBump):
                raise ValueError("Bumps with covariances of their own are Gaussian: use bump='gaussian'.")
            roots = SHAPES["full"].roots(placed.covariances)
            return Bumps(bump, distance, placed.rows, np.ones(1), roots), None, None
        widths = network_widths(self.width, distance, task.rows, placed.rows, n_jobs=self.n_jobs)
        return Bumps(bump, distance, placed.rows, widths), placed.labels, placed.numbers

    def _signals(self, X: Any) -> Floats:
        check_is_fitted(self)
        items = check_items(self, X, self.metric_, reset=False)
        rows = self.metric_.prepare(items, like=self._network.bumps.centres)
        return self._network.signals(rows, self.n_jobs)

    def _height_blocks(self, X: Any) -> Iterator[Floats]:
        """Yield the heights of all bumps at some rows at a time."""
        check_is_fitted(self)
        items = check_items(self, X, self.metric_, reset=False)
        bumps = self._network.bumps
        for block in BumpFeatures(bumps, self.metric_.prepare(items, like=bumps.centres)).blocks():
            yield block.X

    def _bump_names(self) -> list[str]:
        """Return what the bumps are called: by their numbers, and the rows they stand on."""
        if self.center_indices_ is None:
            return [f"bump {j}" for j in range(self.n_centers_)]
        return [f"bump {j} on row {row}" for j, row in enumerate(self.center_indices_.tolist())]

    def __sklearn_tags__(self) -> Tags:
        return tell_input_tags(super().__sklearn_tags__(), self.metric)
