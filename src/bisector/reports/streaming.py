"""Predictions of tables that need not fit into memory: a block is read, predicted and written before the next."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bisector.reports.answers import reasons_of
from bisector.reports.faults import ModelFileFault, TableFault
from bisector.reports.model_files import read_model, write_whole
from bisector.reports.reading import BLOCK_ROWS, read_blocks

if TYPE_CHECKING:
    import polars


def predict_file(
    model: str | Path,
    data: str | Path,
    out: str | Path | None = None,
    *,
    reasons: bool = False,
    rows: int = BLOCK_ROWS,
) -> int:
    """Predict the rows of a file, and write the answers as comma-separated values.

    Parameters
    ----------
    model : path
        Of a model file.
    data : path
        Of a table with the columns the model was trained on.
    out : path, optional
        Where to write; by default to the standard output. The file appears when it is complete.
    reasons : bool, default=False
        Whether to say why, in a column of sentences.
    rows : int, default=20000
        How many rows are read at a time.

    Returns
    -------
    int
        How many rows were predicted.
    """
    held = read_model(model)
    if not hasattr(held.model, "predict"):
        raise ModelFileFault(
            f"{Path(model).name} holds a {type(held.model).__name__}, which predicts nothing."
        )
    name = str(held.about.get("target") or "cluster")
    count = 0
    with _writer(out) as file:
        for block in read_blocks(data, rows):
            answers = predicted_block(held.model, block, name, reasons)
            file.write(answers.write_csv(include_header=count == 0))
            count += block.height
        if count == 0:
            raise TableFault(f"{Path(data).name} has a header but no rows.")
    return count


def predicted_block(
    model: Any, block: "polars.DataFrame", name: str, reasons: bool = False
) -> "polars.DataFrame":
    """Return what a model predicts for some rows: the answers, their probabilities, and reasons if asked for.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.pipeline import make_pipeline
    >>> from bisector import LogisticRegression
    >>> from bisector.reports import TableEncoder
    >>> from bisector.reports.streaming import predicted_block
    >>> frame = pl.DataFrame({"x": [0.0, 1.0, 4.0, 5.0]})
    >>> model = make_pipeline(TableEncoder(), LogisticRegression()).fit(frame, ["a", "a", "b", "b"])
    >>> predicted_block(model, frame, "y").columns
    ['y', 'probability of a', 'probability of b']
    """
    import polars as pl

    answers = np.asarray(model.predict(block))
    columns: dict[str, Any] = {name: answers}
    if hasattr(model, "predict_proba"):
        for label, p in zip(model.classes_, np.asarray(model.predict_proba(block)).T, strict=True):
            columns[f"probability of {label}"] = p.round(6)
    if reasons:
        columns["reason"] = reasons_of(model, block)
    return pl.DataFrame(columns)


def write_frame(frame: "polars.DataFrame", path: str | Path) -> Path:
    """Write a frame as comma-separated values, whole or not at all."""
    return write_whole(Path(path), frame.write_csv().encode())


@contextlib.contextmanager
def _writer(out: str | Path | None) -> Iterator[IO[str]]:
    """Open the standard output, or a temporary file that takes its name when all is written."""
    if out is None:
        yield sys.stdout
        return
    path = Path(out)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as fault:
        raise TableFault(f"{path} cannot be written: {fault.strerror or fault}.") from fault
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException as fault:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(fault, OSError):
            raise TableFault(f"{path} cannot be written: {fault.strerror or fault}.") from fault
        raise
