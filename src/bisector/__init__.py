"""Geometric machine learning: models understood through lines, planes and distances.

The public names are listed once, in ``__init__.pyi``, where editors and type checkers read them; the
same list is read here, so that each name is imported when it is first used and ``import bisector``
stays cheap.
"""

import ast
import importlib
from pathlib import Path
from typing import Any

__version__ = "0.1.0.dev0"


def _names_in_stub() -> dict[str, str]:
    """Map every public name to the module that defines it, as the stub beside this file says."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: f"{__name__}.{statement.module}"
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom) and statement.level == 1
        for alias in statement.names
    }


_MODULE_OF = _names_in_stub()
__all__ = ["__version__", *_MODULE_OF]


# Rooms whose names are also used through them: `bisector.datasets.load("iris")`.
_ROOMS = ("datasets", "distances", "exemplars", "kernels")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
