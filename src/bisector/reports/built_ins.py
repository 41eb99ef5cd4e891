"""Tables to try: those that come with the library, and whatever a user has, as one kind of frame."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bisector.datasets import Dataset, load as load_dataset, names
from bisector.reports.column_types import typed
from bisector.reports.encoding import as_frame
from bisector.reports.faults import TableFault, listed
from bisector.reports.reading import read_table

if TYPE_CHECKING:
    import polars


def as_table(data: Any, types: Mapping[str, str] | None = None) -> "polars.DataFrame":
    """Return a table whose columns have types, from a file, a frame, a dataset or an array.

    Parameters
    ----------
    data : path, frame of polars or pandas, Arrow table, Dataset, mapping of columns, or array
    types : mapping of str to str, optional
        What columns hold where the guess is wrong: "number", "category", "boolean", "date" or "drop".

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> from bisector.reports import as_table
    >>> as_table({"height": ["1.7", "1.8"], "name": ["Ann", "Bob"]}).dtypes
    [Float64, String]
    """
    if isinstance(data, str | Path):
        return read_table(data, types)
    frame = typed(_frame_of(data) if isinstance(data, Dataset) else as_frame(data), types)
    if not frame.height or not frame.width:
        raise TableFault("The table has no rows." if frame.width else "The table has no columns.")
    return frame


def built_in(name: str) -> "polars.DataFrame":
    """Return one of the tables that come with the library; the target is the last column.

    Parameters
    ----------
    name : str
        One of `bisector.datasets.names`, or "digits", scikit-learn's images of 64 pixels.

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> from bisector.reports import built_in
    >>> built_in("iris").columns[-1], built_in("digits").shape
    ('species', (1797, 65))
    """
    if name == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        pixels = {str(label): digits.data[:, j] for j, label in enumerate(digits.feature_names)}
        return as_frame({**pixels, "digit": digits.target.astype(np.int64)})
    if name not in names():
        raise TableFault(
            f"There is no built-in table {name!r}; there are {listed(['digits', *names()], 40)}."
        )
    return _frame_of(load_dataset(name))


def usual_target(name: str) -> str | None:
    """Return what is usually predicted in a built-in table, if anything.

    Examples
    --------
    >>> from bisector.reports.built_ins import usual_target
    >>> usual_target("iris"), usual_target("triangle")
    ('species', None)
    """
    if name == "digits":
        return "digit"
    data = load_dataset(name)
    return None if data.y is None else data.target_names[0]


def _frame_of(data: Dataset) -> "polars.DataFrame":
    columns: dict[str, Any] = {name: data.X[:, j] for j, name in enumerate(data.feature_names)}
    if data.y is not None:
        targets = data.y.reshape(len(data.y), -1)
        for j, name in enumerate(data.target_names):
            labels = np.array(data.class_names)[targets[:, j]] if data.class_names else targets[:, j]
            columns[name] = labels
    return as_frame(columns)
