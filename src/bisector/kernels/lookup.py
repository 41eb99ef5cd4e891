"""Families of classes that are also known by names."""

from abc import ABC
from functools import cache
from typing import Any, ClassVar, TypeVar

from bisector.engine.lookup import look_up, members

Class = TypeVar("Class", bound="Named")


class Named(ABC):  # noqa: B024  its families are abstract
    """Base of families of classes that are also known by names."""

    names: ClassVar[tuple[str, ...]] = ()


def named_class(family: type[Class], what: str, name: Any) -> type[Class]:
    """Return the class of a family that a name means; `what` is what errors call the family."""
    if not isinstance(name, str):
        hint = f": make one of it, {name.__name__}(...)" if isinstance(name, type) else ""
        raise TypeError(f"{what} must be a name or a {what} itself, not {name!r}{hint}.")
    return _class_of(family, what, name)


@cache
def _class_of(family: type[Class], what: str, name: str) -> type[Class]:
    return look_up({known: cls for cls in members(family) for known in cls.names}, what, name)
