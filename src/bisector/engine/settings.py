"""What a user may set for the whole process: `bisector.config`, and `current()` for the engine."""

import math
import os
import re
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from numbers import Real
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack


@dataclass(frozen=True)
class Settings:
    """The settings in force.

    Attributes
    ----------
    memory : int or None
        The memory budget in bytes; None means that it is measured when it is needed.
    scratch : str or None
        A folder for rows of files that are read again and again; None means that no such file is written.
    """

    memory: int | None = None
    scratch: str | None = None


class Changes(TypedDict, total=False):
    """The keyword arguments of `config`: what a user may write for each setting."""

    memory: int | float | str | None
    scratch: str | os.PathLike[str] | None


_settings = Settings()
_lock = threading.Lock()


def current() -> Settings:
    """Return the settings in force now."""
    return _settings


def config(**changes: Unpack[Changes]) -> "Configuration":
    """Change settings for the whole process, or only for a ``with`` block.

    Parameters
    ----------
    memory : int, str or None, default=None
        The most memory a fit may plan to use: a number of bytes, or a size such as ``"2 GB"`` or
        ``"1.5 GiB"``. None measures, whenever it matters, what is free on the machine and in its container.
    scratch : path or None, default=None
        A folder on a fast disk. Rows of Parquet files that a fit reads again and again, and that memory cannot
        hold, are written there in full when they are decoded for the second time (or read for the third, where
        they need no decoder), and read from there. The file has no name and is gone when the fit ends. None: files
        are read anew in every pass.

    Returns
    -------
    Configuration
        Shows the settings in force; as a context manager, it puts the former values back at the end of
        the block.

    Examples
    --------
    >>> import bisector
    >>> with bisector.config(memory="500 MB"):
    ...     bisector.config()
    bisector.config(memory=500000000, scratch=None)
    >>> bisector.config().memory is None
    True
    """
    known = [field.name for field in fields(Settings)]
    for name in changes:
        if name not in known:
            raise TypeError(f"bisector.config has no setting {name!r}; use {' or '.join(known)}.")
    checked: dict[str, Any] = {name: _CHECKS[name](value) for name, value in changes.items()}
    return Configuration(checked)


class Configuration:
    """The settings in force, and the way back to those before: what `config` returns."""

    def __init__(self, changes: dict[str, Any]) -> None:
        self._changes = changes
        self._former = _apply(changes)

    @property
    def memory(self) -> int | None:
        """The memory budget in bytes now; None while it is measured."""
        return current().memory

    @property
    def scratch(self) -> str | None:
        """The folder for decoded rows now; None if there is none."""
        return current().scratch

    def __enter__(self) -> Self:
        _apply(self._changes)  # does nothing the first time; makes the object good for a second block
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _apply(self._former)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in asdict(current()).items())
        return f"bisector.config({settings})"


def _apply(changes: dict[str, Any]) -> dict[str, Any]:
    """Put the changes in force and return the values they replace."""
    global _settings
    with _lock:
        former = {name: getattr(_settings, name) for name in changes}
        _settings = replace(_settings, **changes)
    return former


_UNITS = {"b": 1}
for _power, _letter in enumerate("kmgtp", start=1):
    _UNITS |= {f"{_letter}b": 1000**_power, f"{_letter}ib": 1024**_power}

_SIZE = re.compile(r"\s*(?P<amount>\d+(\.\d+)?)\s*(?P<unit>[a-z]*)\s*", re.IGNORECASE)


def _memory(value: object) -> int | None:
    """Read a memory budget, in bytes, from what the user wrote."""
    advice = 'give a number of bytes, a size such as "2 GB" or "1.5 GiB", or None to have it measured.'
    if value is None:
        return None
    if isinstance(value, str):
        size = _SIZE.fullmatch(value)
        unit = _UNITS.get(size["unit"].lower() or "b") if size else None
        if size is None or unit is None:
            raise ValueError(f"bisector.config cannot read memory={value!r} as a size; {advice}")
        n_bytes = float(size["amount"]) * unit
    elif isinstance(value, Real) and not isinstance(value, bool):
        n_bytes = float(value)
    else:
        raise TypeError(f"bisector.config got memory={value!r} of type {type(value).__name__}; {advice}")
    if not (math.isfinite(n_bytes) and n_bytes >= 1):
        raise ValueError(f"bisector.config needs a positive, finite memory, got {value!r}; {advice}")
    return int(n_bytes)


def _scratch(value: object) -> str | None:
    """Read the path of a folder from what the user wrote."""
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike):
        raise TypeError(
            f"bisector.config got scratch={value!r} of type {type(value).__name__}; give the path of a folder, "
            "or None."
        )
    folder = os.path.abspath(os.fspath(value))
    if not os.path.isdir(folder):
        raise ValueError(f"bisector.config got scratch={str(value)!r}, which is no folder: make it first.")
    return folder


_CHECKS: dict[str, Callable[[object], Any]] = {"memory": _memory, "scratch": _scratch}
