"""An account of a prediction as bars: what each part adds, and what they come to."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bisector.engine.explanation import Account
from bisector.engine.show import number
from bisector.engine.validation import check_count
from bisector.plot.canvas import axes, colour, ink
from bisector.plot.models import check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure


class ExplanationDisplay:
    """The parts of an account as bars: the largest first, the rest together, and the total below.

    Parameters
    ----------
    account : Account
        Parts that add up to a total, from ``explain_rows`` of a model.

    Attributes
    ----------
    account : Account
    ax_, figure_ : Axes, Figure
    bars_ : BarContainer
        From the top down; the last is the total.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import ExplanationDisplay
    >>> from bisector.engine.explanation import Account
    >>> account = Account("score", np.array([2.0, -0.5, 0.1]), 1.6, names=["bmi", "age", "(intercept)"])
    >>> shown = ExplanationDisplay(account).plot()
    >>> [label.get_text() for label in shown.ax_.get_yticklabels()]
    ['bmi', 'age', '(intercept)', 'score']
    """

    def __init__(self, account: Account) -> None:
        if not isinstance(account, Account):
            raise TypeError(
                f"account must be an Account, one of the accounts of an explanation, not {type(account).__name__}."
            )
        self.account = account

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int = 0,
        account: int = 0,
        most: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw why a fitted model answers as it does for a row.

        Parameters
        ----------
        estimator : any with explain_rows
        X : rows
        row : int, default=0
            Which of them.
        account : int, default=0
            Which account of the explanation; the most telling is the first.
        most : int, default=10
        ax : Axes, optional
        """
        check_model(estimator, "explain_rows")
        one = X.iloc[[row]] if hasattr(X, "iloc") else X[row : row + 1]
        accounts = estimator.explain_rows(one)[0].accounts
        if not 0 <= account < len(accounts):
            raise ValueError(
                f"The explanation has {len(accounts)} account{'s' * (len(accounts) != 1)}: there is no "
                f"account {account}, counted from 0."
            )
        return cls(accounts[account]).plot(ax, most=most)

    def plot(self, ax: "Axes | None" = None, *, most: int = 10) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional
        most : int, default=10
            How many parts have bars of their own; the others are summed in one.

        Returns
        -------
        self
        """
        account, shown = self.account, self.account.largest(check_count("most", most))
        values = [float(value) for value in account.values[shown]]
        names = [self._name(int(part)) for part in shown]
        left = len(account.values) - len(shown)
        if left:
            rest = np.ones(len(account.values), dtype=bool)
            rest[shown] = False
            values.append(float(account.values[rest].sum()))
            names.append(f"{left:,} other{'s' * (left != 1)}")
        values.append(float(account.total))
        names.append(account.title)
        self.ax_ = axes(ax, figsize=(6.4, 0.34 * len(values) + 1.3))
        self.figure_: Figure | Any = self.ax_.figure
        self._draw(np.array(values), names)
        return self

    def _name(self, part: int) -> str:
        account = self.account
        if account.names is not None:
            return str(account.names[part])
        return f"row {int(account.rows[part])}" if account.rows is not None else f"part {part}"

    def _draw(self, values: Any, names: list[str]) -> None:
        places = np.arange(len(values), dtype=float)
        places[-1] += 0.4  # the total stands apart
        hues = [colour(0) if value >= 0 else colour(1) for value in values]
        self.bars_: BarContainer = self.ax_.barh(places, values, color=hues, height=0.7)
        for bar, value in zip(self.bars_, values, strict=True):
            bar.set_hatch("" if value >= 0 else "//")
        self.bars_[-1].set(facecolor="none", edgecolor=ink(), linewidth=1.5)
        self.ax_.bar_label(
            self.bars_, [number(float(value), 3) for value in values], padding=3, fontsize="small"
        )
        self.ax_.axvline(0, color=ink(), linewidth=0.8)
        self.ax_.axhline(places[-1] - 0.7, color=ink(), linewidth=0.5, alpha=0.5)
        self.ax_.set_yticks(places, names)
        self.ax_.invert_yaxis()
        self.ax_.margins(x=0.18)
        self.ax_.set(
            xlabel="what each part adds", title=f"{self.account.title}: {number(float(self.account.total))}"
        )
