"""Short answers about a table: why a model says what it says, which rows are alike, which belong together."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bisector.clustering import KMeans
from bisector.engine.show import Heading, Sheet, Table
from bisector.neighbors import NearestNeighbors
from bisector.reasons import explain
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
            return str(_reasons(held.model, block[row - first : row - first + 1]))
        first += block.height
    raise TableFault(f"{Path(data).name} has {first} rows, and no row {row}.")


def reasons_of(model: Any, block: "polars.DataFrame") -> list[str]:
    """Return one sentence for each row that says why the model answers as it does."""
    return [" ".join(found.summary.split()) for found in _reasons(model, block)]


def _reasons(model: Any, block: "polars.DataFrame") -> Any:
    try:
        return explain(model, block)
    except TypeError as fault:
        raise TableFault(str(fault)) from fault


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
        if found.count is None or found.model is None:
            raise KeyboardInterrupt  # stopped before there were clusters
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
      3    0.2655  1.5
      0     0.531    0
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
