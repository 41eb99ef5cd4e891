"""A tree of questions that ends in numbers, or in planes (Flach 5.3)."""

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Account, Explanation
from bisector.engine.frames import split_column
from bisector.engine.lazy_rows import by_rows
from bisector.engine.plane_reasons import feature_account
from bisector.engine.show import number
from bisector.engine.targets import Numbers, check_numbers
from bisector.engine.validation import check_choice, check_finite, check_weights, store
from bisector.solvers.prune_tree import reduced_error
from bisector.solvers.tree_arrays import Floats, Integers, Tree
from bisector.trees.columns import TreeColumns, read_training
from bisector.trees.leaf_planes import LeafPlanes, fit_planes
from bisector.trees.tree_model import TreeModel, check_monotone, walk, weights_of
from bisector.trees.tree_reasons import Way, dense_rows, gains, told_way, way_to

Criterion = Literal["squared_error", "variance", "absolute_error", "absolute", "poisson"]

_CRITERIA = {
    "squared_error": "squared",
    "variance": "squared",
    "absolute_error": "absolute",
    "absolute": "absolute",
    "poisson": "poisson",
}


class DecisionTreeRegressor(MultiOutputMixin, RegressorMixin, TreeModel):
    """Split the rows by the question that reduces the scatter of the targets most, and each part again.

    A drop-in for scikit-learn's estimator, which rounds features to single precision; this one does not. Among
    equal splits the feature with the smaller number wins, then the smaller threshold.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What splits reduce: squares about the mean ("variance" is another word), absolute deviations from the median
        ("absolute"), which takes no longer, or the Poisson deviance of counts.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, random_state
        As of `DecisionTreeClassifier`.
    max_leaf_nodes, min_impurity_decrease, ccp_alpha
        As of `DecisionTreeClassifier`.
    monotonic_cst : array of -1, 0 and 1, default=None
        For one output and squared errors: whether predictions must fall (-1) or rise (1) with a feature.
    leaf : {"mean", "linear"}, default="mean"
        What a leaf answers: a number (the median, for absolute errors), or a plane fitted to its rows by least
        squares on the columns of numbers: a model tree. Leaves with no more rows than a plane has coefficients
        keep their number, so give such a tree a depth.
    leaf_penalty : float, default=0.0
        The ridge penalty of the planes.
    categorical_features, multiway, n_jobs
        As of `DecisionTreeClassifier`. The best grouping of categories is that of all groupings for squared errors;
        for the others it is sought among those that the mean target orders.

    Attributes
    ----------
    tree_ : Tree
    n_outputs_, n_features_in_, feature_names_in_, max_features_
        As in scikit-learn.
    feature_importances_, feature_gains_ : ndarray
        What each feature takes off the impurity, as a share of all and a row.

    Notes
    -----
    Missing values and unknown categories are sent as by `DecisionTreeClassifier`. With very unequal weights,
    finding the medians of absolute errors may take more steps than rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import DecisionTreeRegressor
    >>> X = np.arange(8.0)[:, None]
    >>> y = np.array([1.0, 1.0, 1.0, 1.0, 5.0, 6.0, 7.0, 8.0])
    >>> print(DecisionTreeRegressor(max_depth=1).fit(X, y).to_text())
    x0 ≤ 3.5: 1 (4 rows)
    x0 > 3.5: 6.5 (4 rows)
    >>> DecisionTreeRegressor(max_depth=1, leaf="linear").fit(X, y).predict([[2.0], [9.0]])
    array([ 1., 10.])
    """

    # `check_input` is there for scikit-learn's sake, and nothing to be routed.
    __metadata_request__fit: ClassVar = {"check_input": UNUSED}
    __metadata_request__predict: ClassVar = {"check_input": UNUSED}

    _numbers: Numbers
    _planes: LeafPlanes | None

    def __init__(
        self,
        *,
        criterion: Criterion = "squared_error",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: ArrayLike | None = None,
        leaf: Literal["mean", "linear"] = "mean",
        leaf_penalty: float = 0.0,
        categorical_features: Any = "from_dtype",
        multiway: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.leaf = leaf
        self.leaf_penalty = leaf_penalty
        self.categorical_features = categorical_features
        self.multiway = multiway
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
            Values may be missing (NaN), and infinite: only their order counts.
        y : array of shape (n_rows,) or (n_rows, n_outputs), or the name of a column of X
        sample_weight : array of shape (n_rows,), default=None
        check_input : bool, default=True
            Without effect.

        Returns
        -------
        self
        """
        criterion = _CRITERIA[check_choice("criterion", self.criterion, tuple(_CRITERIA))]
        linear = check_choice("leaf", self.leaf, ("mean", "linear")) == "linear"
        penalty = check_finite("leaf_penalty", self.leaf_penalty, at_least=0)
        if isinstance(y, str):
            X, y = split_column(X, y)
        matrix, columns, stand_in = read_training(self, X, self.categorical_features)
        numbers = check_numbers(self, y, matrix.shape[0])
        weight = check_weights(sample_weight, matrix.shape[0])
        if weight is not None and not weight.all():
            kept = weight > 0
            matrix, weight = matrix[kept], weight[kept]
            numbers = numbers._replace(values=numbers.values[kept])
        tree, n_drawn = self._tree_of(matrix, columns, numbers, weight, criterion)
        planes = None
        if linear:
            numeric = columns.n_categories == 0
            leaves = walk(tree, matrix, self.n_jobs)
            planes = fit_planes(tree, leaves, matrix, numeric, numbers.values, weight, penalty, self.n_jobs)
        return store(
            self,
            stand_in,
            tree_=tree,
            _columns=columns,
            _numbers=numbers._replace(values=np.empty((0, numbers.values.shape[1]))),
            _planes=planes,
            n_outputs_=numbers.values.shape[1],
            max_features_=n_drawn,
        )

    def _tree_of(
        self, matrix: Any, columns: TreeColumns, numbers: Numbers, weight: Floats | None, criterion: str
    ) -> tuple[Tree, int]:
        n_rows, n_features = matrix.shape
        n_outputs = numbers.values.shape[1]
        limits, n_drawn = self._limits(n_rows, n_features, n_rows if weight is None else weight.sum())
        monotone = check_monotone(self.monotonic_cst, columns.n_categories)
        if monotone is not None:
            if n_outputs > 1:
                raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
            if criterion != "squared":
                raise ValueError(f"Monotonicity constraints need squared errors, not {self.criterion!r}.")
            limits = replace(limits, monotone=monotone)
        if limits.multiway and criterion != "squared":
            raise ValueError(f"multiway=True needs squared errors, not {self.criterion!r}.")
        targets = _targets(criterion, numbers.values, weight)
        tree = self._grown(matrix, columns, targets, limits, (n_outputs, 1))
        return self._pruned_by_cost(tree), n_drawn

    @by_rows
    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return what the leaf of every row answers; `check_input` has no effect."""
        leaves = self._leaves(X)
        if self._planes is None:
            return self._numbers.shaped(self.tree_.value[:, :, 0].astype(self._numbers.dtype)[leaves])
        return self._numbers.shaped(self._planes.values(self._rows(X), leaves))

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: the conditions on its way, and what each changes.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            ``path`` are the conditions. The accounts, one a target, add up to the prediction: the value of the root
            and what every split changes, or, where leaves are planes, what each feature adds.
        """
        leaves, matrix, reading = self._leaves(X), self._rows(X), self._read()
        explained = []
        for i, leaf in enumerate(leaves.tolist()):
            x, way = dense_rows(matrix, np.array([i]))[0], way_to(reading, leaf)
            accounts = [self._account(x, o, leaf, way, reading.names) for o in range(self.n_outputs_)]
            totals = [account.total for account in accounts]
            said = (
                f"Predicted {', '.join(map(number, totals))}: {len(way.conditions)} conditions lead to a leaf with "
                f"{int(self.tree_.n_node_samples[leaf]):,} training rows."
            )
            answer = totals[0] if self._numbers.single else totals
            explained.append(Explanation(answer, said, accounts, told_way(reading, way, x)))
        return explained

    def _account(self, x: Floats, output: int, leaf: int, way: Way, names: list[str]) -> Account:
        title = "prediction" if self._numbers.single else f"prediction of target {output}"
        if self._planes is None:
            return gains(title, self.tree_.value[:, output, 0], way)
        plane = self._planes.at(np.array([leaf]))
        filled = np.where(np.isnan(x), plane.means[0], x)
        return feature_account(title, filled, plane.coef[0, output], float(plane.intercept[0, output]), names)

    def prune(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Prune the tree by rows that did not grow it: cut whatever does not predict them better.

        Returns
        -------
        DecisionTreeRegressor
            A pruned copy, whose error on the pruning set is not higher: of squares, or absolute, as the tree was
            grown; for counts, of squares.
        """
        check_is_fitted(self)
        if isinstance(y, str):
            X, y = split_column(X, y)
        leaves = self._leaves(X)
        targets = check_numbers(self, y, len(leaves)).values
        if targets.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y has {targets.shape[1]} outputs, but the tree was grown for {self.n_outputs_}."
            )
        weight = check_weights(sample_weight, len(leaves))
        cut = reduced_error(self.tree_, self._errors_of_nodes(X, leaves, targets, weight))
        made = self._with_tree(self.tree_.without_below(cut))
        if self._planes is not None:
            made._planes = self._planes.at(self.tree_.kept_without_below(cut))
        return made

    def _errors_of_nodes(self, X: Any, leaves: Integers, y: Floats, weight: Floats | None) -> Floats:
        """Return the error of every node as a leaf, on the rows that pass it."""
        passed = self.tree_.paths_to(leaves).tocoo()
        if self._planes is None:
            answers = self.tree_.value[passed.col, :, 0]
        else:
            answers = self._planes.values(self._rows(X)[passed.row], passed.col)
        off = np.abs(y[passed.row] - answers)
        if _CRITERIA[self.criterion] != "absolute":
            off = off**2
        errors = off.sum(axis=1) if weight is None else off.sum(axis=1) * weight[passed.row]
        return np.bincount(passed.col, errors, self.tree_.node_count).astype(np.float64)

    def _answers(self) -> list[str]:
        values = self.tree_.value[:, :, 0]
        plane = "" if self._planes is None else "plane about "
        return [plane + ", ".join(number(float(v)) for v in row) for row in values]


def _targets(criterion: str, values: Floats, weight: Floats | None) -> Any:
    from bisector.solvers.deviation_costs_loops import AbsoluteTargets
    from bisector.solvers.grow_tree_loops import note_places
    from bisector.solvers.split_costs_loops import PoissonTargets, SquaredTargets

    y = np.ascontiguousarray(values.T)
    weights = weights_of(weight)
    if criterion == "squared":
        return SquaredTargets(y, weights)
    if criterion == "poisson":
        if (y < 0).any():
            raise ValueError("Some value(s) of y are negative which is not allowed for Poisson regression.")
        if not (y.sum(axis=1) > 0).all():
            raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")
        return PoissonTargets(y, weights, 1e-15)
    orders = np.ascontiguousarray(np.argsort(y, axis=1, kind="stable"))
    places = np.empty_like(orders)
    note_places(orders, np.zeros(1, np.int64), np.array([y.shape[1]]), places)
    return AbsoluteTargets(y, weights, orders, places)
