"""What a dataset is: its rows, their targets, and a line on what there is to see in them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import Heading, Sheet, Table

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """What a maker makes; the words about it stand with the maker."""

    X: Floats
    y: NDArray[Any] | None
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows with their names, and what they show.

    It unpacks into its arrays (``X, y = datasets.grid()``), prints as a short description, and gives itself as
    a pandas frame when asked to. Every call of a maker gives new arrays, which may be changed freely.

    Attributes
    ----------
    X : array of shape (n_rows, n_features), float64
    y : array of shape (n_rows,) or (n_rows, n_targets), or None
        Labels are integers, −1 and +1 where a source has them so; None where there is nothing to predict.
    feature_names : tuple of str
        One a column of X.
    target_names : tuple of str
        One a column of y; empty without y.
    class_names : tuple of str
        What the labels stand for, in increasing order of the labels; empty for numeric targets, and where the
        labels speak for themselves.
    name : str
        What `load` knows it by.
    title : str
        What it is, in a few words.
    shows : str
        What there is to see in it, in one sentence.
    source : str
        Where it comes from.

    Examples
    --------
    >>> from bisector import datasets
    >>> data = datasets.scatter_points()
    >>> data
    Five points around the origin
    =============================
    <BLANKLINE>
    Scatter is the same in total, however much of it lies within clusters.
    <BLANKLINE>
    name      scatter_points
    rows      5
    features  x1, x2
    source    Flach, Example 8.3
    >>> X, y = data
    >>> X.sum(axis=0), y is None
    (array([0., 0.]), True)
    """

    X: Floats
    y: NDArray[Any] | None
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    class_names: tuple[str, ...]
    name: str
    title: str
    shows: str
    source: str

    @property
    def frame(self) -> Any:
        """All columns, features first and targets after them, as a pandas frame (made anew at each call).

        Examples
        --------
        >>> from bisector import LinearRegression, datasets
        >>> people = datasets.height_weight().frame
        >>> list(people.columns)
        ['height', 'weight']
        >>> model = LinearRegression().fit(people, "weight")
        """
        try:
            import pandas
        except ImportError:
            raise ImportError(
                f"datasets.{self.name}().frame is a pandas frame, and pandas is not installed: "
                "install it (pip install pandas), or use the arrays X and y."
            ) from None
        frame = pandas.DataFrame(self.X.copy(), columns=list(self.feature_names))
        if self.y is not None:
            columns = self.y.reshape(len(self.y), -1)
            for j, name in enumerate(self.target_names):
                frame[name] = columns[:, j].copy()
        return frame

    def __iter__(self) -> Iterator[Any]:
        """Unpack into X and y."""
        return iter((self.X, self.y))

    def __eq__(self, other: object) -> bool:
        """Tell whether all arrays and all words are equal."""
        if not isinstance(other, Dataset):
            return NotImplemented
        return all(_same(getattr(self, part.name), getattr(other, part.name)) for part in fields(self))

    def __repr__(self) -> str:
        return self._sheet().text()

    def _repr_html_(self) -> str:
        return self._sheet().html()

    def _sheet(self) -> Sheet:
        about = {
            "rows": f"{len(self.X):,}",
            "features": _listed(self.feature_names),
            f"target{'s' * (len(self.target_names) > 1)}": _listed(self.target_names),
            "classes": _listed(self.class_names or self._labels()),
            "source": self.source,
        }
        lines = [(what, words) for what, words in about.items() if words]
        return Sheet([Heading(self.title), self.shows, Table(["name", self.name], lines)])

    def _labels(self) -> tuple[str, ...]:
        if self.y is None or self.y.dtype.kind != "i":
            return ()
        return tuple(f"{label:+d}" if self.y.min() < 0 else str(label) for label in np.unique(self.y))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


def _listed(words: tuple[str, ...], most: int = 10) -> str:
    more = [f"{len(words) - most} more"] if len(words) > most else []
    return ", ".join([*words[:most], *more])
