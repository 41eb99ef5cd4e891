"""Datasets by name: a maker is a function that says what its data show, and is known by its own name."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import wraps
from typing import Any, ParamSpec

from bisector.engine.show import Heading, Sheet, Table

from .dataset import Dataset, Rows

Options = ParamSpec("Options")

BOOKS = (
    "Flach: P. Flach, Machine Learning (Cambridge University Press, 2012).\n"
    "LFD: Y. S. Abu-Mostafa, M. Magdon-Ismail and H.-T. Lin, Learning From Data (AMLBook, 2012), with its "
    "electronic chapter 6."
)


@dataclass(frozen=True)
class _Maker:
    make: Callable[..., Dataset]
    shows: str
    source: str

    @property
    def group(self) -> str:
        """What the module of the maker says of itself, in its first line."""
        words = sys.modules[self.make.__module__].__doc__ or ""
        return words.strip().partition("\n")[0].rstrip(".")


_MAKERS: dict[str, _Maker] = {}


def makes(
    title: str, *, shows: str, source: str
) -> Callable[[Callable[Options, Rows]], Callable[Options, Dataset]]:
    """Turn a function that returns rows into the maker of a dataset of the function's name.

    This is all it takes to add a dataset: `load`, `names` and `overview` know it from then on.
    """

    def decorate(draw: Callable[Options, Rows]) -> Callable[Options, Dataset]:
        name = draw.__name__
        known = _MAKERS.get(name)
        if known is not None and known.make.__module__ != draw.__module__:  # a module may be loaded again
            raise ValueError(f"There is a dataset {name!r} already: give one of the two another name.")

        @wraps(draw)
        def make(*args: Options.args, **options: Options.kwargs) -> Dataset:
            return Dataset(*draw(*args, **options), name=name, title=title, shows=shows, source=source)

        make.__annotations__ = {**draw.__annotations__, "return": Dataset}
        make.__signature__ = inspect.signature(draw).replace(  # type: ignore[attr-defined]
            return_annotation=Dataset
        )
        _MAKERS[name] = _Maker(make, shows, source)
        return make

    return decorate


def names() -> list[str]:
    """List the names of all datasets, in alphabetical order.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from bisector import datasets
    >>> [name for name in datasets.names() if name.startswith("height")]
    ['height_weight', 'height_weight_outlier']
    """
    return sorted(_MAKERS)


def load(name: str, **options: Any) -> Dataset:
    """Make a dataset by its name.

    Parameters
    ----------
    name : str
        One of `names`.
    **options
        What the maker of that name takes: ``load("grid", irregularity=0.01)`` is
        ``datasets.grid(irregularity=0.01)``.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.load("double_semicircle", n=500, separation=1.0)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 2), [-1, 1])
    >>> datasets.load("double_semicircles")
    Traceback (most recent call last):
    ...
    ValueError: There is no dataset 'double_semicircles'; did you mean 'double_semicircle'?
    datasets.names() lists them all.
    """
    if not isinstance(name, str) or name not in _MAKERS:
        near = _nearest(name.lower()) if isinstance(name, str) else []
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise ValueError(f"There is no dataset {name!r}{hint} datasets.names() lists them all.")
    make = _MAKERS[name].make
    known = list(inspect.signature(make).parameters)
    unknown = [option for option in options if option not in known]
    if unknown:
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise TypeError(f"The dataset {name!r} has no option {unknown[0]!r}; {takes}.")
    return make(**options)


def _nearest(asked: str) -> list[str]:
    """Name up to three datasets whose names, or words of their names, are spelt like what was asked for."""

    def likeness(name: str) -> float:
        return max(SequenceMatcher(None, asked, part).ratio() for part in (name, *name.split("_")))

    return [name for name in sorted(names(), key=likeness, reverse=True)[:3] if likeness(name) > 0.65]


def overview() -> Sheet:
    """Say of every dataset what it shows, in tables by chapter.

    Returns
    -------
    Sheet
        Prints as text, and shows as tables in a notebook.

    Examples
    --------
    >>> from bisector import datasets
    >>> print(str(datasets.overview()).splitlines()[0])
    Flach, chapter 7: lines and planes through data
    """
    groups: dict[str, list[_Maker]] = {}
    for maker in _MAKERS.values():
        groups.setdefault(maker.group, []).append(maker)
    parts: list[Any] = []
    for group in sorted(groups, key=str.casefold):
        lines = [(maker.make.__name__, maker.source, maker.shows) for maker in groups[group]]
        parts += [Heading(group), Table(["name", "source", "shows"], lines)]
    return Sheet([*parts, BOOKS])
