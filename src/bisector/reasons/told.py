"""Explanations in words, tables and pictures."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from bisector.engine.explanation import Account, Explanation, Move, told
from bisector.engine.show import Heading, Part, Sheet, Table, number
from bisector.engine.validation import check_count
from bisector.reasons.plain_data import explanation_data

# Of more rows the first are told.
_ROWS_TOLD = 5


class Reasons(Sequence[Explanation]):
    """Why a model answers as it does: one explanation a row, to print, to show, to draw or to take apart.

    Made by `bisector.explain`. Printing it writes text, a notebook shows it as HTML; ``reasons[3]`` is the
    explanation of row 3, plain data, and ``reasons[3:5]`` are those of two rows.

    Parameters
    ----------
    explanations : sequence of Explanation
    model : str
        What the model is called.
    rows : ndarray of shape (n_rows, n_features), optional
        The rows as the model saw them, if they are numbers: moves are told as changes.
    features : list of str, optional
        What their columns are called.
    note : str, optional
        What was done to the rows before.
    most : int, default=10
        How many parts of an account are told; the others are added up.

    Examples
    --------
    >>> from bisector import LinearRegression, explain
    >>> model = LinearRegression().fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]], [1.0, 3.0, 4.0, 9.0])
    >>> reasons = explain(model, [1.0, 2.0])
    >>> len(reasons), round(reasons[0].answer, 6)
    (1, 4.527778)
    >>> [part["name"] for part in reasons.records()[0]["accounts"][0]["parts"]]
    ['x0', 'x1', '(intercept)']
    """

    def __init__(
        self,
        explanations: Sequence[Explanation],
        *,
        model: str,
        rows: NDArray[Any] | None = None,
        features: list[str] | None = None,
        note: str | None = None,
        most: int = 10,
    ) -> None:
        self.explanations = list(explanations)
        self.model = model
        self.rows = rows
        self.features = features
        self.note = note
        self.most = check_count("most", most)

    def __len__(self) -> int:
        return len(self.explanations)

    @overload
    def __getitem__(self, place: int) -> Explanation: ...

    @overload
    def __getitem__(self, place: slice) -> "Reasons": ...

    def __getitem__(self, place: int | slice) -> "Explanation | Reasons":
        if isinstance(place, slice):
            rows = None if self.rows is None else self.rows[place]
            return Reasons(
                self.explanations[place], model=self.model, rows=rows, features=self.features, note=self.note,
                most=self.most,
            )  # fmt: skip
        return self.explanations[place]

    def sheet(self) -> Sheet:
        """Return the explanations as headings, words and tables; of many rows, those of the first."""
        parts: list[Part | str] = [Heading(f"Why {self.model} answers so")]
        if self.note is not None:
            parts.append(self.note)
        for i, explanation in enumerate(self.explanations[:_ROWS_TOLD]):
            if len(self) > 1:
                parts.append(Heading(f"Row {i}"))
            parts += self._told(i, explanation)
        left = len(self) - _ROWS_TOLD
        if left > 0:
            parts.append(
                f"… and {left:,} more row{'s' * (left != 1)}: take reasons[{_ROWS_TOLD}:] to see them."
            )
        return Sheet(parts)

    def _told(self, row: int, explanation: Explanation) -> Iterator[Part | str]:
        yield explanation.summary
        if explanation.path:
            yield "\n".join(f"{i}. {step}" for i, step in enumerate(explanation.path, start=1))
        for account in explanation.accounts:
            yield self._table(account)
        if explanation.move is not None:
            yield from self._moved(row, explanation.move)

    def _table(self, account: Account) -> Table:
        shown = (
            account.largest(self.most) if len(account.values) > self.most else np.arange(len(account.values))
        )
        words = list(account.columns)
        rows: list[list[object]] = [
            [
                account.name(int(place)),
                float(account.values[place]),
                *(account.columns[word][place] for word in words),
            ]
            for place in shown
        ]
        blank = [None] * len(words)
        left = len(account.values) - len(shown)
        if left:
            rest = np.delete(account.values, shown)
            rows.append([f"({left:,} more)", float(rest.sum()), *blank])
        rows.append(["total", float(account.total), *blank])
        title = account.title[:1].upper() + account.title[1:]
        return Table(["", "adds", *words], [[_cell(cell) for cell in row] for row in rows], title=f"{title}:")

    def _moved(self, row: int, move: Move) -> Iterator[Part | str]:
        bound = "no shorter move changes it" if move.smallest else "a shorter one may"
        yield f"Moved by {number(move.length)}, the answer becomes {told(move.answer)} ({bound})."
        if self.rows is None or self.rows.shape[1] != len(move.to):
            return
        x, names = self.rows[row], self.features or [f"x{j}" for j in range(len(move.to))]
        with np.errstate(invalid="ignore"):
            change = np.asarray(move.to, np.float64) - x
        change = np.where(np.isfinite(change), change, 0.0)
        changed = [int(j) for j in np.argsort(-np.abs(change), kind="stable")[: self.most] if change[j]]
        if changed:
            lines = [[names[j], float(x[j]), float(move.to[j]), float(change[j])] for j in changed]
            yield Table(["", "from", "to", "change"], lines)

    def __str__(self) -> str:
        return self.sheet().text()

    def __repr__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()

    def records(self) -> list[dict[str, Any]]:
        """Return one dict a row, of plain data that JSON can hold."""
        return [
            {"row": i, **explanation_data(explanation, self.features)}
            for i, explanation in enumerate(self.explanations)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold."""
        return {"model": self.model, "note": self.note, "rows": self.records()}

    def plot(self, ax: Any = None, *, row: int = 0, account: int = 0, most: int | None = None) -> Any:
        """Draw an account as bars: what adds in blue, what takes away in orange and hatched, and the total.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        row : int, default=0
            Whose explanation.
        account : int, default=0
            Which of its accounts; the most telling is the first.
        most : int, optional
            How many parts have bars of their own; by default as many as are told.

        Returns
        -------
        ExplanationDisplay
        """
        # Pictures live in a room above this one, and are asked for by their public name only when one is drawn.
        from bisector import ExplanationDisplay

        accounts = self.explanations[row].accounts
        if not -len(accounts) <= account < len(accounts):
            raise ValueError(
                f"The explanation of row {row} has {len(accounts)} account{'s' * (len(accounts) != 1)}, counted "
                f"from 0: there is no account {account}."
            )
        return ExplanationDisplay(accounts[account]).plot(ax, most=self.most if most is None else most)


def _cell(cell: object) -> object:
    """Write what is neither a number nor text as text."""
    return cell if cell is None or isinstance(cell, str | int | float | np.number) else str(cell)
