"""Names and what they mean, collected from the classes themselves."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Meaning = TypeVar("Meaning")


def members(family: type[Any]) -> Iterator[type[Any]]:
    """Yield the subclasses of a class, at any depth, that this package defines and that can be made."""
    for cls in family.__subclasses__():
        if not getattr(cls, "__abstractmethods__", ()) and cls.__module__.startswith("bisector."):
            yield cls
        yield from members(cls)


def look_up(names: Mapping[str, Meaning], what: str, name: str) -> Meaning:
    """Return what a name means; `what` is what errors call such a thing.

    Examples
    --------
    >>> from bisector.engine.lookup import look_up
    >>> look_up({"euclidean": 2, "manhattan": 1}, "distance", "euclidian")
    Traceback (most recent call last):
    ...
    ValueError: There is no distance named 'euclidian'. Did you mean 'euclidean'?
    The names are euclidean, manhattan.
    """
    if name not in names:
        close = difflib.get_close_matches(name.lower(), names, n=3)
        meant = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
        raise ValueError(
            f"There is no {what} named {name!r}. {meant}The names are {', '.join(sorted(names))}."
        )
    return names[name]
