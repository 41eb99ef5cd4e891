"""A tree of questions that ends in classes (Flach 5.1, 5.2)."""

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation
from bisector.engine.frames import split_column
from bisector.engine.lazy_rows import by_rows
from bisector.engine.targets import Labels, check_labels, row_weights
from bisector.engine.validation import check_choice, check_finite, check_weights, store
from bisector.measures.leaf_ranking import LeafRanking, rank_leaves
from bisector.measures.roc import OperatingPoint
from bisector.solvers.grow_tree import Limits
from bisector.solvers.impurities import class_impurity
from bisector.solvers.prune_tree import reduced_error, same_below
from bisector.solvers.tree_arrays import Floats, Integers, Tree
from bisector.trees.columns import TreeColumns, read_training
from bisector.trees.reading import disjunction
from bisector.trees.tree_model import TreeModel, check_monotone, weights_of

Criterion = Literal["gini", "entropy", "log_loss", "sqrt-gini", "minority"]
Estimate = Literal["empirical", "laplace", "add-k", "m-estimate"]

_CRITERIA = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "sqrt-gini": "sqrt-gini",
    "minority": "minority",
}
_ESTIMATES = ("empirical", "laplace", "add-k", "m-estimate")


class DecisionTreeClassifier(ClassifierMixin, TreeModel):
    """Split the rows by the question that makes the classes purest, and each part again, until parts are pure.

    A drop-in for scikit-learn's estimator. Splits are exact: the best of all thresholds between values as they came
    (scikit-learn rounds them to single precision). Among equal splits the feature with the smaller number wins,
    then the smaller threshold, so that a fit needs no seed.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "sqrt-gini", "minority"}, default="gini"
        The impurity that splits reduce; "log_loss" is another word for entropy. The root of the Gini index is the
        one whose choice does not depend on how frequent two classes are. With "minority", what the majority gets
        wrong, the Gini index decides among equals.
    splitter : {"best", "random"}, default="best"
        Whether thresholds are the best, or drawn.
    max_depth : int, default=None
        The most splits on a way.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        The fewest rows that are split, and that a leaf may have; floats are shares of all rows.
    min_weight_fraction_leaf : float, default=0.0
        The least share of the weight of all rows that a leaf may have.
    max_features : int, float, "sqrt" or "log2", default=None
        How many features a node looks at, drawn at random.
    random_state : int, RandomState or None, default=None
        Used for drawing only.
    max_leaf_nodes : int, default=None
        Grow the tree by its largest gains first, up to so many leaves.
    min_impurity_decrease : float, default=0.0
        The least gain of a split, times the share of the rows that it splits.
    class_weight : dict, list of dicts or "balanced", default=None
    ccp_alpha : float, default=0.0
        How much a leaf costs: prunes the tree to the one that minimises impurity + ccp_alpha · leaves.
    monotonic_cst : array of -1, 0 and 1, default=None
        For two classes: whether the probability of the second must fall (-1) or rise (1) with a feature.
    categorical_features : "from_dtype", None, or array of names, numbers or flags, default="from_dtype"
        Columns to be split by category. By default those columns of a frame that hold categories or words; ordered
        categories are split by threshold.
    multiway : bool, default=False
        Whether a split by category has one child a value (the feature tree of Flach 5.1), rather than two groups.
    probabilities : {"empirical", "laplace", "add-k", "m-estimate"}, default="empirical"
        How a leaf with n_c of n rows of class c, of C classes, estimates probabilities: n_c/n; (n_c + 1)/(n + C);
        (n_c + k)/(n + kC); (n_c + m·prior_c)/(n + m), the prior being the share among all rows.
    smoothing : float, default=1.0
        The k or m of these.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. The tree is the same.

    Attributes
    ----------
    tree_ : Tree
        The nodes, under scikit-learn's names; see `bisector.solvers.tree_arrays.Tree`.
    classes_ : ndarray, or list of ndarrays for several outputs
    n_classes_, n_outputs_, n_features_in_, feature_names_in_, max_features_
        As in scikit-learn.
    feature_importances_, feature_gains_ : ndarray
        What each feature takes off the impurity, as a share of all and a row.
    roc_segments_ : LeafRanking
        For two classes: the leaves in descending order of probability, which are the segments of the ROC curve on
        the training rows.

    Notes
    -----
    Missing values go to the side where they help more; at a split where none was missing, to the larger child.
    So do categories that training rows did not have. With several classes, the best grouping of categories is
    sought among those that the share of a class orders; with two classes this is the best of all. A value
    without rows at a node whose values have children of their own gets the label of that node.

    References
    ----------
    Flach, *Machine Learning* (2012), chapter 5. Breiman, Friedman, Olshen and Stone, *Classification and Regression
    Trees* (1984).

    Examples
    --------
    >>> from bisector import DecisionTreeClassifier, datasets
    >>> X, y = datasets.iris()
    >>> model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> print(model.to_text())
    x2 ≤ 2.45: 0 (50 rows)
    x2 > 2.45:
      x3 ≤ 1.75: 1 (54 rows)
      x3 > 1.75: 2 (46 rows)
    >>> print(model.disjunction(2))
    (x2 > 2.45 and x3 > 1.75)
    """

    # `check_input` is there for scikit-learn's sake, and nothing to be routed.
    __metadata_request__fit: ClassVar = {"check_input": UNUSED}
    __metadata_request__predict: ClassVar = {"check_input": UNUSED}
    __metadata_request__predict_proba: ClassVar = {"check_input": UNUSED}

    classes_: Any
    _labels: Labels

    def __init__(
        self,
        *,
        criterion: Criterion = "gini",
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: Any = "from_dtype",
        multiway: bool = False,
        probabilities: Estimate = "empirical",
        smoothing: float = 1.0,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.multiway = multiway
        self.probabilities = probabilities
        self.smoothing = smoothing
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
            Values may be missing (NaN), and infinite: only their order counts. Of a sparse matrix every column is
            sorted, zeros included.
        y : array of shape (n_rows,) or (n_rows, n_outputs), or the name of a column of X
        sample_weight : array of shape (n_rows,), default=None
        check_input : bool, default=True
            Without effect.

        Returns
        -------
        self
        """
        criterion = _CRITERIA[check_choice("criterion", self.criterion, tuple(_CRITERIA))]
        self._check_estimates()
        if isinstance(y, str):
            X, y = split_column(X, y)
        matrix, columns, stand_in = read_training(self, X, self.categorical_features)
        n_rows = matrix.shape[0]
        labels = check_labels(self, y, n_rows)
        weight = check_weights(sample_weight, n_rows)
        if weight is not None and not weight.all():
            kept = weight > 0
            matrix, weight = matrix[kept], weight[kept]
            labels = check_labels(self, labels.decoded(labels.codes[kept]), int(kept.sum()))
        weight = self._weighted(labels, weight)
        tree, n_drawn = self._tree_of(matrix, columns, labels, weight, criterion)
        sizes = np.array([len(classes) for classes in labels.classes], dtype=np.intp)
        one = labels.single
        return store(
            self,
            stand_in,
            tree_=tree,
            _columns=columns,
            _labels=labels._replace(codes=np.empty((0, len(sizes)), np.int64)),
            classes_=labels.classes[0] if one else labels.classes,
            n_classes_=sizes[0] if one else sizes,
            n_outputs_=len(sizes),
            max_features_=n_drawn,
        )

    def _weighted(self, labels: Labels, weight: Floats | None) -> Floats | None:
        """Multiply what rows weigh by what their classes weigh, output by output."""
        by_output = self.class_weight if isinstance(self.class_weight, list) else None
        if by_output is not None and len(by_output) != len(labels.classes):
            raise ValueError(
                f"class_weight has {len(by_output)} entries, but y has {len(labels.classes)} outputs: "
                "give one an output."
            )
        for o, classes in enumerate(labels.classes):
            chosen = self.class_weight if by_output is None else by_output[o]
            weight = row_weights(chosen, labels.codes[:, o], classes, weight)
        return weight

    def _tree_of(
        self, matrix: Any, columns: TreeColumns, labels: Labels, weight: Floats | None, criterion: str
    ) -> tuple[Tree, int]:
        from bisector.solvers.split_costs_loops import LabelTargets

        n_rows, n_features = matrix.shape
        sizes = np.array([len(classes) for classes in labels.classes], np.int64)
        limits, n_drawn = self._limits(n_rows, n_features, n_rows if weight is None else weight.sum())
        limits = self._constrained(limits, columns, labels)
        widest = int(max(sizes.max(), 2))
        targets = LabelTargets(
            class_impurity(criterion, widest, weight, n_rows),
            np.ascontiguousarray(labels.codes.T, dtype=np.int16 if widest < 2**15 else np.int32),
            weights_of(weight),
            sizes,
        )
        tree = self._grown(matrix, columns, targets, limits, (len(sizes), widest))
        shares = tree.value / tree.weighted_n_node_samples[:, None, None]
        tree = _classed(tree, shares[:, :, : sizes.max()], sizes)
        return self._pruned_by_cost(tree), n_drawn

    def _constrained(self, limits: Limits, columns: TreeColumns, labels: Labels) -> Limits:
        monotone = check_monotone(self.monotonic_cst, columns.n_categories)
        if monotone is None:
            return limits
        if not labels.single:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        if len(labels.classes[0]) > 2:
            raise ValueError("Monotonicity constraints are not supported with multiclass classification.")
        return replace(limits, monotone=monotone)

    def _check_estimates(self) -> tuple[str, float]:
        estimate = check_choice("probabilities", self.probabilities, _ESTIMATES)
        return estimate, check_finite("smoothing", self.smoothing, at_least=0)

    # Answers

    def _estimated(self, output: int = 0) -> Floats:
        """Return the probabilities of all nodes."""
        tree, estimate, strength = self.tree_, *self._check_estimates()
        shares = tree.value[:, output, : tree.n_classes[output]]
        if estimate == "empirical":
            return shares
        weight = tree.weighted_n_node_samples[:, None]
        if estimate == "m-estimate":
            added = strength * shares[0]
        else:
            added = np.full(shares.shape[1], 1.0 if estimate == "laplace" else strength)
        estimated: Floats = (weight * shares + added) / (weight + added.sum())
        return estimated

    @by_rows
    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the most probable class of every row; among equals the smaller label."""
        leaves = self._leaves(X)
        chosen = [np.argmax(self._estimated(o), axis=1) for o in range(self.tree_.n_outputs)]
        return self._labels.decoded(np.stack(chosen, axis=1)[leaves])

    @by_rows
    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the probabilities of the classes, in the order of `classes_`; a list for several outputs."""
        leaves = self._leaves(X)
        found = [self._estimated(o)[leaves] for o in range(self.tree_.n_outputs)]
        return found[0] if self._labels.single else found

    @by_rows
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of `predict_proba`."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(found) if self._labels.single else [np.log(output) for output in found]

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: the conditions on its way, and what each changes.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            ``path`` are the conditions. The first account follows the probability of the predicted class from the
            root to the leaf, the second are the probabilities of all classes there. ``move`` is the shortest
            step, in a straight line, into a leaf with another answer; categories and missing values stay.
        """
        from bisector.trees.class_reasons import explain_classes

        return explain_classes(self, X)

    # Ranking

    def ranking(self, pos_label: Any = None) -> LeafRanking:
        """Rank the leaves by their share of one class, which gives the ROC curve on the training rows.

        Parameters
        ----------
        pos_label : label, default=None
            The positive class; by default the second of two. All others count as negative.
        """
        check_is_fitted(self)
        if not self._labels.single:
            raise ValueError("A ranking needs one label a row: fit one tree an output.")
        classes = self._labels.classes[0].tolist()
        if pos_label is None:
            if len(classes) != 2:
                raise ValueError(
                    f"y had {len(classes)} classes, {classes}: say which is positive by pos_label, where there are "
                    "others to rank it against."
                )
            pos_label = classes[1]
        if pos_label not in classes:
            raise ValueError(f"pos_label is {pos_label!r}, but y had the classes {classes}.")
        leaves = np.flatnonzero(self.tree_.is_leaf)
        weight = self.tree_.weighted_n_node_samples[leaves]
        positives = weight * self.tree_.value[leaves, 0, classes.index(pos_label)]
        return rank_leaves(leaves, positives, weight - positives)

    @property
    def roc_segments_(self) -> LeafRanking:
        """The leaves in descending order of probability: the segments of the training ROC curve."""
        try:
            return self.ranking()
        except ValueError as error:  # hasattr must be able to ask
            raise AttributeError(str(error)) from error

    def operating_point(
        self,
        *,
        false_positive_cost: float = 1.0,
        false_negative_cost: float = 1.0,
        class_ratio: float | Literal["data"] = "data",
    ) -> tuple[OperatingPoint, dict[int, Any]]:
        """Choose the label of every leaf for given costs and a given ratio of the classes.

        Parameters
        ----------
        false_positive_cost, false_negative_cost : float, default=1.0
            Not negative, and not both zero. The second class is the positive one.
        class_ratio : float or "data", default="data"
            Positives over negatives, where the tree will be used.

        Returns
        -------
        point : OperatingPoint
            Where on the training ROC curve the expected cost is least, and what to expect there.
        labels : dict
            The label of every leaf; `predict_at` takes it.
        """
        ranking = self.ranking()
        point = ranking.curve.operating_point(
            false_positive_cost=false_positive_cost,
            false_negative_cost=false_negative_cost,
            class_ratio=class_ratio,
        )
        positive = ranking.probability >= point.threshold
        labels = self._labels.classes[0][positive.astype(np.int64)]
        return point, dict(zip(ranking.leaves.tolist(), labels.tolist(), strict=True))

    def predict_at(self, X: Any, labels: dict[int, Any]) -> NDArray[Any]:
        """Return the label of the leaf of every row, from what `operating_point` chose."""
        check_is_fitted(self)
        missing = sorted(set(np.flatnonzero(self.tree_.is_leaf).tolist()) - set(labels))
        if missing:
            raise ValueError(f"labels has no entry for leaf {missing[0]}: take them from operating_point().")
        nodes = np.argmax(self._estimated(), axis=1)
        codes = {label: code for code, label in enumerate(self._labels.classes[0].tolist())}
        for leaf, label in labels.items():
            nodes[leaf] = codes[label]
        return self._labels.decoded(nodes[self._leaves(X)][:, None])

    # Pruning

    def prune(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Prune the tree by rows that did not grow it: cut whatever does not get more of them right.

        Parameters
        ----------
        X, y, sample_weight
            The pruning set; a label that the tree does not know is wrong at every node.

        Returns
        -------
        DecisionTreeClassifier
            A pruned copy, whose accuracy on the pruning set is not lower, and on the training rows not higher.
        """
        if not self._fitted_single():
            raise ValueError("prune takes one label a row: fit one tree an output.")
        if isinstance(y, str):
            X, y = split_column(X, y)
        leaves = self._leaves(X)
        given = check_labels(self, y, len(leaves))
        weight = check_weights(sample_weight, len(leaves))
        classes = self._labels.classes[0]
        labels = given.decoded(given.codes)
        known = {label: code for code, label in enumerate(classes.tolist())}
        codes = np.array([known.get(label, -1) for label in labels.tolist()], np.int64)
        errors = self._errors_of_nodes(leaves, codes, weight)
        return self._with_tree(self.tree_.without_below(reduced_error(self.tree_, errors)))

    def merge_equal_leaves(self) -> Self:
        """Return a copy in which subtrees whose leaves have one label are leaves; predictions stay."""
        if not self._fitted_single():
            raise ValueError("merge_equal_leaves takes one label a row: fit one tree an output.")
        same = same_below(self.tree_, np.argmax(self._estimated(), axis=1))
        return self._with_tree(self.tree_.without_below(same))

    def _fitted_single(self) -> bool:
        check_is_fitted(self)
        return self._labels.single

    def _errors_of_nodes(self, leaves: Integers, codes: Integers, weight: Floats | None) -> Floats:
        """Return the weight of the rows that each node would get wrong as a leaf."""
        n_nodes, n_classes = self.tree_.node_count, len(self._labels.classes[0])
        # One more class, for labels that the tree does not know.
        places = leaves * (n_classes + 1) + np.where(codes < 0, n_classes, codes)
        counts = np.bincount(places, weight, n_nodes * (n_classes + 1)).reshape(n_nodes, -1)
        passed = self.tree_.gathered(counts.astype(np.float64))
        answers = np.argmax(self._estimated(), axis=1)
        errors: Floats = passed.sum(axis=1) - passed[np.arange(n_nodes), answers]
        return errors

    # Reading

    def disjunction(self, label: Any) -> str:
        """Write when a class is predicted: the disjunctive normal form of the rules that predict it."""
        if not self._fitted_single():
            raise ValueError("A disjunction needs one label a row: fit one tree an output.")
        classes = self._labels.classes[0].tolist()
        if label not in classes:
            raise ValueError(f"label is {label!r}, but y had the classes {classes}.")
        chosen = np.argmax(self._estimated(), axis=1) == classes.index(label)
        return disjunction([rule for rule in self.rules() if chosen[rule.leaf]])

    def _answers(self) -> list[str]:
        columns = [
            self._labels.classes[o][np.argmax(self._estimated(o), axis=1)].astype(str).tolist()
            for o in range(self.tree_.n_outputs)
        ]
        return [", ".join(answers) for answers in zip(*columns, strict=True)]

    def _tones(self) -> Integers:
        tones: Integers = np.argmax(self._estimated(), axis=1)
        return tones

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _classed(tree: Tree, shares: Floats, sizes: Integers) -> Tree:
    return replace(tree, value=np.ascontiguousarray(shares), n_classes=sizes)
