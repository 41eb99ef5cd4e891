"""Names and what they mean: collected from the classes themselves."""

import difflib
from abc import ABC
from collections.abc import Iterator
from typing import Any, ClassVar, TypeVar

Class = TypeVar("Class", bound="Named")


class Named(ABC):  # noqa: B024  its families are abstract
    """Base of families of classes that are also known by names."""

    names: ClassVar[tuple[str, ...]] = ()


def look_up(family: type[Class], what: str, name: Any) -> type[Class]:
    """Return the class of a family that a name means; `what` is what errors call the family."""
    classes = {known: cls for cls in _members(family) for known in cls.names}
    if not isinstance(name, str):
        hint = f": make one of it, {name.__name__}(...)" if isinstance(name, type) else ""
        raise TypeError(f"{what} must be a name or a {what} itself, not {name!r}{hint}.")
    if name not in classes:
        close = difflib.get_close_matches(name.lower(), classes, n=3)
        meant = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
        raise ValueError(
            f"There is no {what} named {name!r}. {meant}The names are {', '.join(sorted(classes))}."
        )
    return classes[name]


def _members(family: type[Class]) -> Iterator[type[Class]]:
    for cls in family.__subclasses__():
        if cls.__module__.startswith("bisector."):
            yield cls
        yield from _members(cls)
