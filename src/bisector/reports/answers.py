"""Short answers about a table: why a model says what it says, which rows are alike, which belong together."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bisector.clustering import KMeans
from bisector.engine.show import Heading, Part, Sheet, Table
from bisector.neighbors import NearestNeighbors
from bisector.reports.encoding import TableEncoder
from bisector.reports.exploration import Exploration, explore, sets_apart
from bisector.reports.faults import TableFault
from bisector.reports.model_files import read_model
from bisector.reports.reading import read_blocks

if TYPE_CHECKING:
    import polars


def explained_row(model: str | Path, data: str | Path, row: int) -> str:
    """Say why a model in a file answers as it does for one row of a table."""
    held = read_model(model)
    first = 0
    for block in read_blocks(data):
        if row < first + block.height:
            return _explanations(held.model, block[row - first : row - first + 1])[0]
        first += block.height
    raise TableFault(f"{Path(data).name} has {first} rows, and no row {row}.")


def reasons_of(model: Any, block: "polars.DataFrame") -> list[str]:
    """Return one sentence for each row that says why the model answers as it does."""
    rows, last = _before_last(model, block)
    if not hasattr(last, "explain_rows"):
        raise TableFault(
            f"{type(last).__name__} does not say why it answers as it does: leave out the reasons."
        )
    return [" ".join(found.summary.split()) for found in last.explain_rows(rows)]


def _explanations(model: Any, block: "polars.DataFrame") -> list[str]:
    rows, last = _before_last(model, block)
    if not hasattr(last, "explain_rows"):
        raise TableFault(f"{type(last).__name__} does not say why it answers as it does.")
    return [
        _in_words(found, [str(name) for name in model[0].get_feature_names_out()])
        for found in last.explain_rows(rows)
    ]


def _before_last(model: Any, block: "polars.DataFrame") -> tuple[Any, Any]:
    """Return the rows as the last step of a pipeline sees them, and that step."""
    if not hasattr(model, "steps"):
        return block, model
    return model[:-1].transform(block), model[-1]


def _in_words(found: Any, names: list[str]) -> str:
    parts: list[Part | str] = [found.summary]
    for account in found.accounts:
        order = account.largest(10)
        told = list(account.names) if account.names is not None else [f"row {i}" for i in account.rows]
        lines = [[_named(told[i], names), float(account.values[i])] for i in order]
        parts.append(Table(["part", "adds"], lines, title=f"{account.title} {account.total:.4g}:"))
    parts += list(found.path)
    return Sheet(parts).text()


def _named(told: Any, names: list[str]) -> str:
    """Give features that a model knows by number the names of the table."""
    word = str(told)
    number = word.removeprefix("x")
    return (
        names[int(number)] if word.startswith("x") and number.isdigit() and int(number) < len(names) else word
    )


def clustered(
    table: "polars.DataFrame", types: Mapping[str, str] | None = None, k: int | None = None
) -> tuple["polars.DataFrame", str]:
    """Put rows into clusters.

    Parameters
    ----------
    table : polars.DataFrame
    types : mapping, optional
        Of `TableEncoder`.
    k : int, optional
        How many clusters; by default it is chosen.

    Returns
    -------
    answers : polars.DataFrame
        The cluster of each row.
    words : str

    Examples
    --------
    >>> from bisector.reports import as_table
    >>> from bisector.reports.answers import clustered
    >>> answers, words = clustered(as_table({"x": [0.0, 0.1, 5.0, 5.1]}), k=2)
    >>> answers["cluster"].n_unique()
    2
    """
    import polars as pl

    if k is None:
        found = explore(table, types)
        labels, words = found.labels, found.count.advice
        lines = [
            [c, int((labels == c).sum()), int(found.exemplars[c]), _apart(found, c)]
            for c in range(found.count.k_)
        ]
        sheet = Sheet(
            [
                Heading("Clusters"),
                words,
                Table(["cluster", "rows", "exemplar", "above (+) or below (−)"], lines),
            ]
        )
        return pl.DataFrame({"cluster": labels}), sheet.text()
    if k > table.height:
        raise TableFault(f"{table.height} rows cannot be put into {k} clusters.")
    model = make_pipeline(TableEncoder(types), StandardScaler(), KMeans(k, random_state=0))
    labels = np.asarray(model.fit_predict(table), dtype=np.int64)
    lines = [[c, int((labels == c).sum())] for c in range(k)]
    return pl.DataFrame({"cluster": labels}), Table(["cluster", "rows"], lines).text()


def _apart(found: Exploration, cluster: int) -> str:
    return ", ".join(
        f"{'+' if by > 0 else '−'}{name}" for name, by in sets_apart(found, cluster) if abs(by) > 0.2
    )


def nearest_rows(table: "polars.DataFrame", types: Mapping[str, str] | None, row: int, k: int = 5) -> Table:
    """List the rows nearest to one row, in standardised columns.

    Examples
    --------
    >>> from bisector.reports import as_table
    >>> from bisector.reports.answers import nearest_rows
    >>> print(nearest_rows(as_table({"x": [0.0, 1.0, 5.0, 1.5]}), None, row=1, k=2))
    row  distance    x
      3    0.2604  1.5
      0    0.5208    0
    """
    if row >= table.height:
        raise TableFault(f"The table has {table.height} rows, and no row {row}.")
    values = StandardScaler().fit_transform(TableEncoder(types).fit_transform(table))
    wanted = min(k + 1, table.height)
    far, near = NearestNeighbors(n_neighbors=wanted).fit(values).kneighbors(values[row : row + 1])
    others = [(float(d), int(i)) for d, i in zip(far[0], near[0], strict=True) if i != row][:k]
    names = table.columns[:8]
    lines = [[i, d, *(_cell(table[name][i]) for name in names)] for d, i in others]
    return Table(["row", "distance", *names], lines)


def _cell(value: object) -> object:
    return value if isinstance(value, int | float) or value is None else str(value)
