"""Decision trees on axes: boxes, questions and answers."""

from typing import TYPE_CHECKING, Any, Self

from bisector.plot.canvas import axes, colour, ink
from bisector.plot.models import check_model
from bisector.trees.layout import Box, Branch, TreeLayout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyBboxPatch
    from matplotlib.text import Text

# A box is so wide and high; boxes stand one apart, and levels one below the other.
_WIDE, _HIGH = 0.9, 0.42
# So many letters fit into a box.
_LETTERS = 22


class TreeDisplay:
    """A decision tree: a box a node, darker where it is surer, and on each line what the rows below it fulfil.

    A wide tree is cut at the depth at which it has no more leaves than are drawn; the title says so, and boxes with
    dashed borders stand for what is below them.

    Parameters
    ----------
    layout : TreeLayout
        From ``model.layout()``.

    Attributes
    ----------
    layout : TreeLayout
    ax_, figure_ : Axes, Figure
    boxes_ : dict of int to FancyBboxPatch
        By the number of the node.
    lines_ : list of Line2D
    words_ : list of Text
        In the boxes and on the lines.

    Examples
    --------
    >>> from bisector import DecisionTreeClassifier, TreeDisplay
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> shown = TreeDisplay.from_estimator(tree)
    >>> [text.get_text() for text in shown.words_]
    ['≤ 1.5', '> 1.5', 'x0', '4 rows: no', 'no', '2 rows', 'yes', '2 rows']
    """

    def __init__(self, layout: TreeLayout) -> None:
        if not isinstance(layout, TreeLayout):
            raise TypeError(
                f"layout must be what model.layout() of a tree returns, not {type(layout).__name__}."
            )
        self.layout = layout

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_depth: int | None = None,
        max_leaves: int = 16,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a fitted tree.

        Parameters
        ----------
        estimator : DecisionTreeClassifier, DecisionTreeRegressor or ClusteringTree
        max_depth : int, optional
            What lies deeper is drawn as one box with a dashed border.
        max_leaves : int, default=16
            A wider tree is cut at the depth at which it has no more leaves.
        ax : Axes, optional
        """
        check_model(estimator, "layout")
        return cls(estimator.layout(max_depth, max_leaves)).plot(ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the tree; words are as large as the axes have room for.

        Parameters
        ----------
        ax : Axes, optional

        Returns
        -------
        self
        """
        tree = self.layout
        size = (min(max(1.35 * tree.width + 0.4, 3.5), 40.0), min(1.05 * (tree.deepest + 1) + 0.5, 40.0))
        self.ax_ = axes(ax, figsize=size)
        self.figure_: Figure | Any = self.ax_.figure
        self.ax_.set(xlim=(-0.55, max(tree.width, 1) - 0.45), ylim=(-tree.deepest - 0.3, 0.3))
        self.ax_.set_axis_off()
        self._letter = self._letter_size()
        self.lines_: list[Line2D] = []
        self.words_: list[Text] = []
        for branch in tree.branches:
            self._draw_branch(branch)
        self.boxes_: dict[int, FancyBboxPatch] = {
            node: self._draw_box(box) for node, box in tree.boxes.items()
        }
        leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"
        self.ax_.set_title(_broken(tree.note) if tree.note else f"A tree with {leaves}", fontsize="small")
        return self

    def _letter_size(self) -> float:
        """Return the size of letters, in points, with which words fit into boxes."""
        room = self.ax_.get_window_extent()
        dots = self.figure_.dpi / 72
        wide = _WIDE * room.width / dots / max(self.layout.width, 1)
        high = _HIGH * room.height / dots / (self.layout.deepest + 0.6)
        longest = max(max(len(box.words), len(box.more)) for box in self.layout.boxes.values())
        return float(min(wide / (0.56 * min(max(longest, 8), _LETTERS)), high / 2.8, 9.0))

    def _draw_branch(self, branch: Branch) -> None:
        above, below = self.layout.boxes[branch.parent], self.layout.boxes[branch.child]
        x, y = (above.x, below.x), (-above.depth - _HIGH / 2, -below.depth + _HIGH / 2)
        self.lines_ += self.ax_.plot(x, y, color=ink(), linewidth=0.8, alpha=0.7, zorder=1)
        # Words lie nearer to the child, where lines are farther apart.
        at = x[0] + 0.6 * (x[1] - x[0]), y[0] + 0.6 * (y[1] - y[0])
        self._write(*at, branch.words, ground=True)

    def _draw_box(self, box: Box) -> "FancyBboxPatch":
        from matplotlib.colors import to_rgba
        from matplotlib.patches import FancyBboxPatch

        round_ = "square,pad=0" if box.is_leaf or box.is_cut else "round,pad=0,rounding_size=0.08"
        patch = FancyBboxPatch(
            (box.x - _WIDE / 2, -box.depth - _HIGH / 2), _WIDE, _HIGH, boxstyle=round_,
            facecolor=to_rgba(colour(box.tone), 0.6 * box.shade), edgecolor=ink(),
            linestyle="--" if box.is_cut else "-", linewidth=0.8, zorder=2,
        )  # fmt: skip
        self.ax_.add_patch(patch)
        self._write(box.x, -box.depth + 0.09, box.words, bold=box.is_leaf)
        self._write(box.x, -box.depth - 0.10, box.more)
        return patch

    def _write(self, x: float, y: float, words: str, *, bold: bool = False, ground: bool = False) -> None:
        import matplotlib as mpl

        shown = words if len(words) <= _LETTERS else f"{words[: _LETTERS - 1]}…"
        page = {"facecolor": mpl.rcParams["axes.facecolor"], "edgecolor": "none", "pad": 1.0}
        self.words_.append(
            self.ax_.text(
                x,
                y,
                shown,
                ha="center",
                va="center",
                fontsize=self._letter,
                color=ink(),
                zorder=3,
                fontweight="bold" if bold else "normal",
                bbox=page if ground else None,
            )
        )


def _broken(note: str) -> str:
    return note.replace("; ", ";\n", 1)
