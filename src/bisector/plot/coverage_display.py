"""Coverage curves: ROC curves in counts, and how the splits of a tree bend them (Flach 2.2, 5.2)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bisector.measures.leaf_ranking import rank_leaves
from bisector.measures.roc import RocCurve
from bisector.plot.models import check_classes, check_model
from bisector.plot.roc_display import ROCDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CoverageDisplay(ROCDisplay):
    """Coverage curves: how many negatives and how many positives lie above each threshold.

    The same curves as those of `ROCDisplay`, in counts: one step across is a negative, one step up a positive, so
    that the class ratio is seen, and lines of equal accuracy have slope one whatever it is.

    Parameters
    ----------
    curves : RocCurve or mapping of str to RocCurve
        From `bisector.roc_curve`, or the ``curve`` of a tree's ``roc_segments_``.

    Attributes
    ----------
    curves, hulls_, points_, ax_, figure_, lines_, hull_lines_
        As of `ROCDisplay`, in counts.

    Examples
    --------
    >>> from bisector import CoverageDisplay, DecisionTreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1]
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> shown = CoverageDisplay.from_tree(tree)
    >>> for line in shown.lines_:
    ...     print(line.get_label(), line.get_xdata(), line.get_ydata())
    no split (area 0.5) [0. 3.] [0. 3.]
    2 leaves (area 0.833) [0. 1. 3.] [0. 3. 3.]
    3 leaves (area 0.944) [0. 0. 1. 3.] [0. 2. 3. 3.]
    """

    axis_labels: ClassVar[tuple[str, str]] = ("negatives covered", "positives covered")
    title: ClassVar[str] = "Coverage curve"

    @classmethod
    def from_tree(
        cls,
        estimator: Any,
        *,
        depths: Sequence[int] | None = None,
        pos_label: Any = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of a classification tree on its training rows, as it bends with every level of splits.

        Parameters
        ----------
        estimator : DecisionTreeClassifier
            Fitted to one label a row.
        depths : sequence of int, optional
            Up to which depths the tree is taken; by default 0, 1, 2, 4, 8 … and the whole.
        pos_label : label, optional
            The positive class; by default the second of two.
        ax : Axes, optional
        **options
            Of `plot`. Such curves are convex: no hulls are drawn.
        """
        check_model(estimator, "roc_segments_", "ranking")
        classes = np.asarray(check_classes(estimator)).tolist()
        whole = estimator.ranking(pos_label)  # it also checks the label
        tree, column = estimator.tree_, classes.index(classes[1] if pos_label is None else pos_label)
        positives = tree.weighted_n_node_samples * tree.value[:, 0, column]
        negatives = tree.weighted_n_node_samples - positives
        found: dict[str, RocCurve] = {}
        for depth in _doubling(tree.max_depth) if depths is None else depths:
            ends = np.flatnonzero((tree.depth <= depth) & (tree.is_leaf | (tree.depth == depth)))
            ranking = rank_leaves(ends, positives[ends], negatives[ends])
            name = "no split" if len(ends) == 1 else f"{len(ends):,} leaves"
            found[name] = whole.curve if len(ends) == len(whole.leaves) else ranking.curve
        return cls(found).plot(ax, **{"hull": False, **options})

    def _units(self, found: RocCurve) -> tuple[float, float]:
        return found.negatives, found.positives


def _doubling(deepest: int) -> list[int]:
    """Return 0, 1, 2, 4, 8, … up to a depth, and the depth itself."""
    return [0, *(2**i for i in range(64) if 2**i < deepest), *([deepest] if deepest else [])]
