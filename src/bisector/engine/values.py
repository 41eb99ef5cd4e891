"""Values: small frozen objects that say how to compute something, such as a distance, a kernel or a bump.

A value is a subclass of `Value` with the decorator `value`. It checks its parameters when it is made; two are
equal when they have the same type and the same parameters, arrays included; it prints as the call that makes it,
pickles, and can be the key of a dictionary. Cloning gives the value itself, since nothing can change it.
`get_params` and `set_params` are scikit-learn's, except that `set_params` returns a new value: an estimator that
has values among its parameters derives from `HoldsValues`, so that ``set_params(metric__p=3)`` and grid search
work.

Compiled loops cannot see such objects. What they see is a *lowered* value: a NamedTuple of numbers and arrays
whose class, marked by `lowered`, holds the formulas as methods; `bisector.engine.loops.compile_methods` makes
them callable in loops.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

Class = TypeVar("Class", bound=type)
Kind = TypeVar("Kind", bound="Value")

# An array is printed in full up to so many numbers.
_PRINTED = 16

LOWERED: dict[str, type] = {}


def lowered(**methods: Any) -> Callable[[Class], Class]:
    """Mark a NamedTuple class as one whose methods compiled loops may call.

    The class needs at least one field, and a name that no other marked class has: Numba tells NamedTuple classes
    apart by their bare names and fields.

    Parameters
    ----------
    **methods : function
        Methods and constants that the class shares with others, since NamedTuple classes cannot inherit. What the
        class defines itself goes before.
    """

    def mark(cls: Class) -> Class:
        if not getattr(cls, "_fields", ()):
            raise TypeError(f"{cls.__name__} is no NamedTuple with fields, and so cannot be lowered.")
        known = LOWERED.get(cls.__name__, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(
                f"{cls.__module__} and {known.__module__} both lower a class called {cls.__name__}."
            )
        for name, method in methods.items():
            if name not in vars(cls):
                setattr(cls, name, method)
        LOWERED[cls.__name__] = cls
        return cls

    return mark


@dataclass_transform(frozen_default=True, eq_default=False)
def value(cls: Class) -> Class:
    """Make a subclass of `Value` the frozen dataclass that its annotations describe."""
    made: Any = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    return made


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Value:
    """Base of frozen dataclasses that compare by type and content.

    Examples
    --------
    >>> from bisector.engine.values import Value, value
    >>> @value
    ... class Ball(Value):
    ...     center: tuple = (0.0, 0.0)
    ...     radius: float = 1.0
    >>> Ball(radius=2.0)
    Ball(radius=2.0)
    >>> Ball(radius=2.0) == Ball().set_params(radius=2.0)
    True
    """

    @classmethod
    def parameters(cls) -> list[str]:
        """Name the parameters."""
        return [field.name for field in dataclasses.fields(cls) if field.init]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, those of values among them as ``name__parameter``."""
        found = {name: getattr(self, name) for name in self.parameters()}
        if deep:
            for name, value in list(found.items()):
                if isinstance(value, Value):
                    found.update({f"{name}__{inner}": part for inner, part in value.get_params().items()})
        return found

    def set_params(self: Kind, **params: Any) -> Kind:
        """Return a value with some parameters replaced; this one stays as it is.

        ``name__parameter`` replaces a parameter of a value that is itself a parameter.
        """
        return type(self)(**replaced(type(self).__name__, self.get_params(deep=False), params))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((type(self), *(_hashable(value) for value in self.get_params(deep=False).values())))

    def __repr__(self) -> str:
        said = [
            f"{field.name}={_written(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if field.init and not _same(getattr(self, field.name), field.default)
        ]
        return f"{type(self).__name__}({', '.join(said)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that arrays are read-only again on the other side.
        return _remade, (type(self), self.get_params(deep=False))

    def __copy__(self: Kind) -> Kind:
        return self

    def __deepcopy__(self: Kind, memo: Any) -> Kind:
        return self

    def __sklearn_clone__(self: Kind) -> Kind:
        return self

    def _set(self, **checked: Any) -> None:
        """Replace parameters by their checked form, while the value is being made."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)


class HoldsValues:
    """Mixin of estimators: `set_params` replaces values among the parameters instead of changing them."""

    def set_params(self, **params: Any) -> Any:
        """Set parameters; ``metric__p=3`` gives the estimator a new metric, and leaves the old one alone."""
        current = self.get_params(deep=False)  # type: ignore[attr-defined]
        current |= {name: value for name, value in params.items() if name in current}
        parts: dict[str, Any] = {}
        for key in list(params):
            name, nested, _ = key.partition("__")
            holder = current.get(name)
            # An estimator among the parameters is changed in place, as scikit-learn does it.
            in_place = hasattr(holder, "set_params") and not isinstance(holder, Value)
            if nested and not in_place:
                parts[key] = params.pop(key)
        new = replaced(type(self).__name__, current, parts)
        super().set_params(**params | {name: new[name] for name in (key.partition("__")[0] for key in parts)})  # type: ignore[misc]
        return self


def replaced(owner: str, params: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with some replaced, those of values among them by ``name__parameter``."""
    new = dict(params)
    nested: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        name, deeper, inner = key.partition("__")
        if name not in params:
            raise ValueError(f"{owner} has no parameter {name!r}: its parameters are {', '.join(params)}.")
        if deeper:
            nested.setdefault(name, {})[inner] = value
        else:
            new[name] = value
    for name, inner_changes in nested.items():
        if not hasattr(new[name], "set_params"):
            raise ValueError(f"{owner}'s {name} is {new[name]!r}, which has no parameters to set.")
        new[name] = new[name].set_params(**inner_changes)
    return new


def frozen_array(values: ArrayLike) -> NDArray[np.float64]:
    """Copy numbers into a read-only float64 array of their own."""
    array = np.array(values, dtype=np.float64, order="C")
    array.setflags(write=False)
    return array


def _remade(cls: Callable[..., Any], params: dict[str, Any]) -> Any:
    return cls(**params)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and bool(one == other)


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, (value + 0).tobytes()  # -0.0 equals 0.0, so it hashes like it
    return value


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if value.size <= _PRINTED:
            return repr(value.tolist())
        return f"<array of {' × '.join(map(str, value.shape))} numbers>"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return getattr(value, "__qualname__", None) or repr(value)
