"""What a part of a fit has found, as few arrays: a checkpoint of many parts is then quick to write."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

Found = TypeVar("Found")

_NUMBERS = (bool, int, float)


def packed(found: Any) -> dict[str, Any]:
    """Return the fields of a dataclass for `Checkpoint.note`: arrays as they are, all numbers in one array.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from bisector.engine.packed_notes import packed, unpacked
    >>> @dataclass
    ... class Found:
    ...     centre: np.ndarray
    ...     loss: float
    ...     converged: bool
    >>> packed(Found(np.array([1, 2]), 0.5, True))
    {'centre': array([1, 2]), 'numbers': array([0.5, 1. ])}
    >>> unpacked(Found, packed(Found(np.array([1, 2]), 0.5, True)))
    Found(centre=array([1, 2]), loss=0.5, converged=True)
    """
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    numbers = [values.pop(name) for name in _kinds(found)]
    return {**values, "numbers": np.array(numbers, dtype=np.float64)}


def unpacked(kind: type[Found], known: Mapping[str, Any]) -> Found:
    """Return the dataclass of which these are the notes."""
    kinds = _kinds(kind)
    numbers = {
        name: of(value) for (name, of), value in zip(kinds.items(), known["numbers"].tolist(), strict=True)
    }
    arrays = {field.name: known[field.name] for field in fields(kind) if field.name not in kinds}  # type: ignore[arg-type]
    return kind(**arrays, **numbers)


def _kinds(found: Any) -> dict[str, Any]:
    return {field.name: field.type for field in fields(found) if field.type in _NUMBERS}
