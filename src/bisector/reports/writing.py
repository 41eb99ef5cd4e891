"""The report: what geometry says about a table, as one object, one text and one page."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bisector.engine.show import Table, number
from bisector.engine.validation import check_number
from bisector.reports.built_ins import as_table
from bisector.reports.cautions import cautions
from bisector.reports.chosen import fit_chosen, not_fitted
from bisector.reports.columns import columns_table
from bisector.reports.comparison import compare
from bisector.reports.encoding import TableEncoder
from bisector.reports.exploration import explore
from bisector.reports.faults import TableFault
from bisector.reports.model_files import fingerprint, save, write_whole
from bisector.reports.page import render
from bisector.reports.parts import Beware, Code, Figures, Section, Verdict, Words, as_sheet
from bisector.reports.reproduction import exploration_code, prediction_code
from bisector.reports.target import Target, choose_target, sampled

if TYPE_CHECKING:
    import polars

# Models are compared on no more rows than this; the one that is advised learns from more.
MOST_ROWS = 5_000
_STOPPED = "This was stopped before it was complete: the page tells what was done by then."


class Report:
    """What geometry says about a table.

    Attributes
    ----------
    best_ : Pipeline or None
        The advised model, fitted: it takes tables like the one it learned from. Without a target, the clusters.
        None if the user stopped before it was fitted.
    table : Table
        The models compared, or the clusters.
    verdict : str
        The answer, in a sentence or two.
    sections : list of Section
    score_ : float or None
        The accuracy (balanced where classes are very unequal) or R² of the advised model on rows it was not
        trained on.
    code : str
        Python code that gives the same score and the same model.
    about : dict
        What is kept with the model in a file: target, columns, rows and their fingerprint.
    stopped : bool
        Whether the user stopped before all was done.
    """

    def __init__(
        self, title: str, verdict: str, sections: list[Section], best: Any, table: Table, code: str,
        about: dict[str, Any], score: float | None = None, stopped: bool = False,
    ) -> None:  # fmt: skip
        self.title = title
        self.verdict = verdict
        self.sections = sections
        self.best_ = best
        self.table = table
        self.code = code
        self.about = about
        self.score_ = score
        self.stopped = stopped

    def save(self, path: str | Path) -> Path:
        """Write the report as one HTML page that needs nothing else.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Path
        """
        return write_whole(Path(path), self.html().encode())

    def save_model(self, path: str | Path) -> Path:
        """Write the advised model to a file, as `bisector.save` does."""
        if self.best_ is None:
            raise TableFault("There is no model to write: it was stopped before one was fitted.")
        return save(self.best_, path, about=self.about)

    def html(self) -> str:
        """Return the page."""
        return render(self.title, self.verdict, self.sections)

    def __repr__(self) -> str:
        return as_sheet(self.sections).text()

    def _repr_html_(self) -> str:
        # A page within a page: its styles and scripts stay its own.
        from html import escape

        style = "width: 100%; height: 40em; border: 1px solid currentColor"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self.html())}"></iframe>'


def report(
    data: Any,
    target: str | None = None,
    *,
    minutes: float = 2.0,
    types: Mapping[str, str] | None = None,
    name: str | None = None,
    verbose: bool = False,
) -> Report:
    """Learn what geometry says about a table.

    With a target, the models that suit are compared under one cross-validation; the report says which to use,
    whether a simpler one is as good, how far its probabilities can be believed and where it errs. Without, it says
    whether neighbours mean anything, how many clusters there are, what sets them apart, and which rows are unusual.

    Parameters
    ----------
    data : path, frame of polars or pandas, Arrow table, Dataset, mapping of columns, or array
    target : str, optional
        The column to predict.
    minutes : float, default=2
        How long the comparison of models may take, about.
    types : mapping of str to str, optional
        What columns hold where the guess is wrong: "number", "category", "boolean", "date" or "drop".
    name : str, optional
        What the table is called.
    verbose : bool, default=False
        Whether to show progress.

    Returns
    -------
    Report
        Prints as text, shows as a page in a notebook, and writes the page by ``save(path)``.

    Examples
    --------
    >>> import bisector
    >>> found = bisector.report(bisector.datasets.iris(), target="species", minutes=0.1)
    >>> found.score_ > 0.9
    True
    >>> found.best_.predict([[5.1, 3.5, 1.4, 0.2]])  # doctest: +SKIP
    array(['setosa'], dtype='<U10')
    """
    minutes = check_number("minutes", minutes, above=0)
    frame = as_table(data, types)
    title = name or (Path(data).name if isinstance(data, str | Path) else getattr(data, "title", "A table"))
    return report_on(
        frame, str(title), _reading(data, types), target, minutes=minutes, types=types, verbose=verbose
    )


def report_on(
    frame: "polars.DataFrame", title: str, reading: str, target: str | None, *, minutes: float,
    types: Mapping[str, str] | None, verbose: bool = False,
) -> Report:  # fmt: skip
    """Report on a typed table that the code `reading` makes."""
    kept = {key: kind for key, kind in (types or {}).items() if kind != "drop" and key != target} or None
    if frame.height < 2:
        raise TableFault(f"{title} has a single row: there is nothing to compare.")
    if target is None:
        return _explored(frame, title, reading, kept, verbose)
    return _predicted(frame, target, title, reading, kept, minutes, verbose)


def _predicted(
    frame: "polars.DataFrame", name: str, title: str, reading: str, types: Any, minutes: float, verbose: bool
) -> Report:
    from bisector.reports import prediction_sections as sections

    target = choose_target(frame, name)
    if frame.width < 2:
        raise TableFault(
            f"The table has no column beside the target {name!r}: there is nothing to learn from."
        )
    if len(target.y) < 10:
        raise TableFault(
            f"{len(target.y)} rows have a target that can be learned: ten are the least to compare models on."
        )
    features = frame.drop(name)[target.rows]
    encoder = TableEncoder(types).fit(features)
    sample = sampled(target, MOST_ROWS)
    part = Target(name, target.kind, target.y[sample], target.rows[sample], target.notes)
    comparison = compare(features[sample], part, seconds=60 * minutes, types=types, verbose=verbose)
    try:
        chosen = fit_chosen(features, target, comparison, sample, types)
    except KeyboardInterrupt:
        chosen = not_fitted(comparison, types)
    stopped = comparison.stopped or chosen.model is None
    code = prediction_code(reading, comparison, chosen, MOST_ROWS, types)
    score = sections.score_of(comparison, chosen)
    kind = "one of several classes" if target.kind == "classes" else "a number"
    verdict = comparison.verdict()
    short = Section(
        "short",
        "In short",
        [
            Verdict(verdict),
            Words(
                f"{title}: {frame.height:,} rows and {frame.width} columns; {name!r} is to be predicted, {kind}. "
                f"Always giving the same answer would have {comparison.measure} {number(comparison.score(0), 3)}."
            ),
        ],
    )
    if stopped:
        short.pieces.append(Beware(_STOPPED))
    notes = [*target.notes, *_sampling(len(target.y), len(sample), chosen.n_rows)]
    parts = [
        short,
        _table_section(frame, encoder, notes, cautions(features, encoder, target)),
        sections.compared(comparison, len(sample)),
        sections.errors(comparison, chosen),
        sections.probabilities(comparison, chosen),
        sections.unsure(comparison, chosen, part.rows),
        _reproduce(code),
    ]
    about = _about(title, features, encoder, chosen.n_rows) | {
        "target": name, "kind": target.kind, "measure": comparison.measure, "score": score, "fingerprint":
        fingerprint(encoder.transform(features), target.y),
    }  # fmt: skip
    return Report(
        title, verdict, [p for p in parts if p], chosen.model, comparison.table(), code, about, score, stopped
    )


def _explored(frame: "polars.DataFrame", title: str, reading: str, types: Any, verbose: bool) -> Report:
    from bisector.reports import exploration_sections as sections

    found = explore(frame, types, verbose)
    code = "" if found.model is None else exploration_code(reading, _unfitted(found.model))
    advice = "" if found.count is None else f"{found.count.advice} "
    verdict = f"{advice}{found.profile.verdict}"
    grouped = sections.clusters(found, frame)
    short = Section(
        "short",
        "In short",
        [Verdict(verdict), Words(f"{title}: {frame.height:,} rows and {frame.width} columns.")],
    )
    if found.stopped:
        short.pieces.append(Beware(_STOPPED))
    parts = [
        short,
        _table_section(frame, found.encoder, [], cautions(frame, found.encoder)),
        sections.distances(found),
        sections.number_of_clusters(found),
        grouped,
        sections.hierarchy(found),
        sections.novelties(found, frame),
        _reproduce(code) if code else None,
    ]
    about = _about(title, frame, found.encoder, frame.height) | {"target": None, "kind": "clusters"}
    about["fingerprint"] = fingerprint(found.values)
    tables = [piece.table for piece in grouped.pieces if isinstance(piece, Figures)] if grouped else []
    table = tables[0] if tables else Table(["cluster", "rows"], [[0, frame.height]])
    kept = [part for part in parts if part]
    return Report(title, verdict, kept, found.model, table, code, about, stopped=found.stopped)


def _unfitted(model: Any) -> Any:
    from sklearn.base import clone

    return clone(model)


def _table_section(
    frame: "polars.DataFrame", encoder: TableEncoder, notes: list[str], said: list[str]
) -> Section:
    meanings = {
        "used as": "what the column is taken for; say otherwise with types={name: …}",
        "missing": "cells without a value",
        "distinct": "different values",
    }
    table = columns_table(encoder.columns_)
    return Section(
        "table",
        "The table",
        [
            *(Beware(words) for words in said),
            *(Words(words) for words in notes),
            Figures("Columns", table, meanings),
        ],
    )


def _sampling(n: int, compared: int, fitted: int) -> list[str]:
    if compared == n:
        return []
    then = f"; the advised one was then fitted to {fitted:,}" if fitted else ""
    return [f"Models were compared on {compared:,} rows chosen at random of {n:,}{then}."]


def _reproduce(code: str) -> Section:
    words = "This Python code, run where the table is, gives the same scores and the same model."
    return Section("reproduce", "Reproduce this", [Words(words), Code(code)])


def _about(title: str, frame: "polars.DataFrame", encoder: TableEncoder, n_rows: int) -> dict[str, Any]:
    return {
        "name": title,
        "n_rows": int(n_rows),
        "columns": [column.as_dict() for column in encoder.columns_],
        "fitted": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _reading(data: Any, types: Any) -> str:
    """Return the code that makes the table."""
    overridden = f", types={dict(types)!r}" if types else ""
    if isinstance(data, str | Path):
        return f"as_table({str(data)!r}{overridden})"
    known = getattr(data, "name", None)
    if isinstance(known, str) and hasattr(data, "shows"):
        return f"as_table(built_in({known!r}){overridden})"
    return f"as_table(data{overridden})  # the table that was given"
