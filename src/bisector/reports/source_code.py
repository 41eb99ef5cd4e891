"""Estimators as the Python code that makes them."""

import importlib
import inspect
from collections import defaultdict
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline


class SourceCode:
    """Writes expressions, and remembers what they need imported.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bisector import SVC
    >>> from bisector.reports.source_code import SourceCode
    >>> code = SourceCode()
    >>> code.expression(make_pipeline(StandardScaler(), SVC(C=10.0)))
    'make_pipeline(StandardScaler(), SVC(C=10.0))'
    >>> print(code.imports())
    from bisector import SVC
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    """

    def __init__(self) -> None:
        self._needed: dict[str, set[str]] = defaultdict(set)

    def need(self, module: str, *names: str) -> None:
        """Remember an import."""
        self._needed[module].update(names)

    def expression(self, thing: Any) -> str:
        """Return the expression that makes a thing."""
        if isinstance(thing, Pipeline):
            self.need("sklearn.pipeline", "make_pipeline")
            return f"make_pipeline({', '.join(self.expression(step) for _, step in thing.steps)})"
        if isinstance(thing, BaseEstimator) or type(thing).__module__.startswith("sklearn.model_selection"):
            return self._call(thing)
        if isinstance(thing, dict):
            cells = (f"{self.expression(key)}: {self.expression(value)}" for key, value in thing.items())
            return "{" + ", ".join(cells) + "}"
        if isinstance(thing, list):
            return f"[{', '.join(map(self.expression, thing))}]"
        if isinstance(thing, tuple):
            return f"({', '.join(map(self.expression, thing))}{',' * (len(thing) == 1)})"
        return repr(thing.item() if isinstance(thing, np.generic) else thing)

    def imports(self) -> str:
        """Return the lines that import what was needed, in alphabetical order."""
        return "\n".join(
            f"from {module} import {', '.join(sorted(names, key=str.casefold))}"
            for module, names in sorted(self._needed.items())
        )

    def _call(self, thing: Any) -> str:
        kind = type(thing)
        self.need(_public_module(kind), kind.__name__)
        positional, named = [], []
        for name, parameter in inspect.signature(kind.__init__).parameters.items():
            if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
                continue
            value = getattr(thing, name, parameter.default)
            if parameter.default is parameter.empty:
                positional.append(self.expression(value))
            elif not _same(value, parameter.default):
                named.append(f"{name}={self.expression(value)}")
        return f"{kind.__name__}({', '.join([*positional, *named])})"


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and repr(a) == repr(b)


def _public_module(kind: type) -> str:
    """Return the shortest module that offers a class: ``bisector`` for its public names."""
    parts = kind.__module__.split(".")
    for end in range(1, len(parts)):
        module = ".".join(parts[:end])
        if module != "sklearn" and getattr(importlib.import_module(module), kind.__name__, None) is kind:
            return module
    return kind.__module__
