"""What all trees share: their parameters, growing, walking, pruning, and what can be read off them."""

from abc import abstractmethod
from copy import copy
from math import ceil
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch, Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import feature_names
from bisector.engine.memory import budget
from bisector.engine.validation import check_choice, check_count, check_finite, check_flag, check_number
from bisector.solvers.grow_tree import Limits, best_first, grow_tree
from bisector.solvers.prune_tree import cost_complexity, weakest_links
from bisector.solvers.sort_columns import sort_columns
from bisector.solvers.tree_arrays import Floats, Integers, Tree
from bisector.trees.columns import TreeColumns, column_reader, read_rows
from bisector.trees.drawing import tree_svg
from bisector.trees.layout import TreeLayout, lay_out
from bisector.trees.reading import Reading, Rule, tree_rules, tree_text


class TreeModel(BaseEstimator):
    """Base of models that are a tree."""

    _instead_of_gathering = "grow the tree on a sample of the rows"
    splitter: Any
    max_depth: Any
    min_samples_split: Any
    min_samples_leaf: Any
    min_weight_fraction_leaf: Any
    max_features: Any
    random_state: Any
    max_leaf_nodes: Any
    min_impurity_decrease: Any
    ccp_alpha: Any
    monotonic_cst: Any
    categorical_features: Any
    multiway: Any
    n_jobs: Any

    tree_: Tree
    _columns: TreeColumns

    # Growing

    def _limits(self, n_rows: int, n_features: int, weight: float) -> tuple[Limits, int]:
        """Check what limits the tree; also return how many features are drawn at a node."""
        n_drawn = _drawn(self.max_features, n_features)
        depth, leaves = self.max_depth, self.max_leaf_nodes
        min_leaf = _rows_of("min_samples_leaf", self.min_samples_leaf, n_rows, at_least=1)
        share = check_number("min_weight_fraction_leaf", self.min_weight_fraction_leaf, at_least=0)
        if share > 0.5:
            raise ValueError(f"min_weight_fraction_leaf must be at most 0.5, not {share!r}.")
        limits = Limits(
            max_depth=None if depth is None else check_count("max_depth", depth),
            max_leaves=None if leaves is None else check_count("max_leaf_nodes", leaves, at_least=2),
            min_split=_rows_of("min_samples_split", self.min_samples_split, n_rows, at_least=2),
            min_leaf=min_leaf,
            min_weight=share * weight,
            min_decrease=check_finite("min_impurity_decrease", self.min_impurity_decrease, at_least=0),
            n_drawn=n_drawn,
            at_random=check_choice("splitter", self.splitter, ("best", "random")) == "random",
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            monotone=None,
            multiway=check_flag("multiway", self.multiway),
        )
        return limits, n_drawn

    def _grown(
        self, matrix: Any, columns: TreeColumns, targets: Any, limits: Limits, shape: tuple[int, int]
    ) -> Tree:
        sorted_columns = sort_columns(
            column_reader(matrix), matrix.shape[0], columns.n_categories, n_jobs=self.n_jobs
        )
        tree, gain = grow_tree(
            targets, sorted_columns, limits, n_rows=matrix.shape[0], stats_shape=shape, n_jobs=self.n_jobs
        )
        if limits.max_leaves is not None:
            return best_first(tree, gain, limits.max_leaves)
        return tree.in_preorder()

    def _pruned_by_cost(self, tree: Tree) -> Tree:
        alpha = check_finite("ccp_alpha", self.ccp_alpha, at_least=0)
        return cost_complexity(tree, alpha) if alpha > 0 else tree

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the strengths at which cost-complexity pruning cuts the tree of these rows, and what is left.

        Returns
        -------
        Bunch
            ``ccp_alphas``, and the ``impurities`` of the leaves of the tree that each gives.
        """
        whole = copy(self)
        whole.ccp_alpha = 0.0
        path = weakest_links(whole.fit(X, y, sample_weight).tree_)
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    def _with_tree(self, tree: Tree) -> Self:
        """Return a copy of the fitted model that has another tree."""
        made = copy(self)
        made.tree_ = tree
        return made

    # Walking

    def _leaves(self, X: Any) -> Integers:
        """Return where the rows of X end."""
        check_is_fitted(self)
        return walk(self.tree_, self._rows(X), self.n_jobs)

    def _rows(self, X: Any) -> Any:
        """Read rows as `fit` read them."""
        return read_rows(self, self._columns, X)

    def apply(self, X: Any, check_input: bool = True) -> Integers:
        """Return the number of the leaf that every row of X ends in; `check_input` has no effect."""
        return self._leaves(X)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Return which nodes every row of X passes, as a CSR matrix; `check_input` has no effect."""
        return self.tree_.paths_to(self._leaves(X))

    def get_depth(self) -> int:
        """Return the most splits between the root and a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    # Reading

    @property
    def feature_importances_(self) -> Floats:
        """The share of the whole gain that the splits on each feature have."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    @property
    def feature_gains_(self) -> Floats:
        """What the splits on each feature take off the impurity, a row of training data."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances(normalize=False)

    @abstractmethod
    def _answers(self) -> list[str]:
        """Say in a few words what every node answers."""

    def _shades(self) -> Floats:
        """Say how sure every node is, from 0 to 1."""
        highest = self.tree_.impurity.max()
        return 1 - self.tree_.impurity / (highest if highest > 0 else 1.0)

    def _tones(self) -> Integers:
        """Choose one of a few colours for every node."""
        return np.zeros(self.tree_.node_count, np.int64)

    def _read(self) -> Reading:
        check_is_fitted(self)
        return Reading(
            self.tree_, feature_names(self, self.tree_.n_features), self._columns.categories, self._answers()
        )

    def rules(self) -> list[Rule]:
        """Return one rule a leaf: what holds on the way to it, in its simplest form, and what it answers.

        No two rules apply to one row, and to every row one does.
        """
        return tree_rules(self._read())

    def to_text(self, max_depth: int | None = None) -> str:
        """Write the tree as indented lines; what lies deeper than `max_depth` is counted."""
        return tree_text(self._read(), max_depth)

    def to_svg(self, max_depth: int | None = None, max_leaves: int = 32) -> str:
        """Draw the tree as SVG, without any other program.

        Parameters
        ----------
        max_depth : int, optional
            What lies deeper is drawn as one stub, which says how many leaves it stands for.
        max_leaves : int, default=32
            A wider tree is cut at the depth at which it has no more leaves, and says so.
        """
        return tree_svg(self.layout(max_depth, max_leaves))

    def layout(self, max_depth: int | None = None, max_leaves: int = 32) -> TreeLayout:
        """Return the boxes and lines of a drawing; parameters as of `to_svg`."""
        return lay_out(self._read(), self._shades(), self._tones(), max_depth, max_leaves)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Add the drawing of a fitted tree to what a notebook shows."""
        shown: dict[str, Any] = super()._repr_mimebundle_(**options)
        if "text/html" in shown and hasattr(self, "tree_"):
            shown["text/html"] += f'<div style="overflow-x: auto">{self.to_svg()}</div>'
        return shown

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def walk(tree: Tree, matrix: Any, n_jobs: int | None) -> Integers:
    """Return the leaf of every row of an array or a sparse matrix."""
    if not hasattr(matrix, "tocsr"):
        return tree.apply(matrix, n_jobs=n_jobs)
    at_once = max(1, min(2**16, budget() // (16 * max(1, matrix.shape[1]))))
    parts = [
        tree.apply(matrix[start : start + at_once].toarray(), n_jobs=n_jobs)
        for start in range(0, matrix.shape[0], at_once)
    ]
    return np.concatenate(parts)


def _rows_of(name: str, value: Any, n_rows: int, *, at_least: int) -> int:
    """Turn a number of rows, or a share of all, into a number of rows."""
    if isinstance(value, float | np.floating):
        share = check_number(name, value, above=0)
        if share > 1.0 or (name == "min_samples_leaf" and share == 1.0):
            raise ValueError(f"{name} as a share of the rows must be below 1, not {value!r}.")
        return max(at_least, ceil(share * n_rows))
    return check_count(name, value, at_least=at_least)


def _drawn(value: Any, n_features: int) -> int:
    """Turn `max_features` into a number of features."""
    if value is None:
        return n_features
    if isinstance(value, str):
        root = {"sqrt": np.sqrt, "log2": np.log2}[check_choice("max_features", value, ("sqrt", "log2"))]
        return max(1, int(root(n_features)))
    if isinstance(value, float | np.floating):
        share = check_number("max_features", value, above=0)
        if share > 1.0:
            raise ValueError(f"max_features as a share of the features must be at most 1, not {value!r}.")
        return max(1, int(share * n_features))
    return check_count("max_features", value)


def check_monotone(value: Any, categories: Integers) -> Integers | None:
    """Check monotonicity constraints for columns with so many categories, 0 for numbers."""
    if value is None:
        return None
    n_features = len(categories)
    found = np.asarray(value)
    if found.shape != (n_features,):
        raise ValueError(
            f"monotonic_cst has shape {found.shape} but the input data X has {n_features} features."
        )
    if not np.isin(found, (-1, 0, 1)).all():
        raise ValueError(
            f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {found.tolist()}."
        )
    if (categories[found != 0] > 0).any():
        raise ValueError("monotonic_cst constrains a column of categories, which have no order.")
    return found.astype(np.int64)


def weights_of(weight: Floats | None) -> Floats:
    """Return weights as loops take them: an array of our own, empty if all rows weigh one."""
    return np.empty(0) if weight is None else weight.copy()
