"""`import bisector` is cheap, and what it promises is there."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bisector

HEAVY = ["numba", "matplotlib", "dask", "sklearn", "scipy", "pandas", "polars", "pyarrow", "rich", "joblib"]


def public_names() -> list[str]:
    """Read the names a type checker sees."""
    stub = ast.parse(Path(bisector.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return [
        alias.asname or alias.name
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    ]


def loaded_after(run_python: Callable[..., Any], script: str) -> list[str]:
    return run_python(f"{script}\nimport sys\nanswer = [name for name in {HEAVY} if name in sys.modules]")


def test_the_import_alone_loads_nothing_heavy(run_python: Callable[..., Any]) -> None:
    assert loaded_after(run_python, "import bisector\ndir(bisector)\nbisector.__version__") == []


def test_settings_and_progress_load_nothing_heavy(run_python: Callable[..., Any]) -> None:
    assert loaded_after(run_python, "import bisector\nbisector.config(memory='1 GB')") == []
    assert loaded_after(run_python, "import bisector\nwith bisector.progress():\n    pass") == []


LINEAR = """
import numpy as np
import bisector.linear
model = bisector.linear.LinearRegression()
rng = np.random.default_rng(0)
X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
"""

FIT = """
model.fit(X, np.column_stack([y, y]), np.ones(200))
model.fit(X.astype("float32"), y).predict(X)
model.summary(), model.predict_interval(X), model.leverage_
"""


@pytest.mark.parametrize("script", [LINEAR, LINEAR + FIT], ids=["import", "fit"])
def test_a_model_that_needs_only_blas_does_not_load_numba(
    run_python: Callable[..., Any], script: str
) -> None:
    loaded = loaded_after(run_python, script)
    assert "sklearn" in loaded
    assert not {"numba", "matplotlib", "dask"} & set(loaded)


def test_every_public_name_can_be_had_and_explains_itself() -> None:
    assert public_names()
    for name in public_names():
        value = getattr(bisector, name)
        assert inspect.getdoc(value), f"bisector.{name} has no docstring"
        assert value.__name__ == name


def test_dir_lists_what_the_stub_lists() -> None:
    assert dir(bisector) == sorted([*public_names(), "__version__"])
    assert set(bisector.__all__) == set(dir(bisector))


def test_a_star_import_brings_the_public_names(run_python: Callable[..., Any]) -> None:
    script = "from bisector import *\nanswer = sorted(set(globals()) & set(__import__('bisector').__all__))"
    assert run_python(script) == sorted(bisector.__all__)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'bisector' has no attribute 'LinearRegresion'"):
        bisector.LinearRegresion  # noqa: B018
    assert not hasattr(bisector, "np")


def test_public_methods_explain_themselves() -> None:
    for estimator in map(bisector.__getattr__, public_names()):
        if inspect.isclass(estimator):
            for name, method in inspect.getmembers(estimator, inspect.isfunction):
                own = method.__module__.startswith("bisector") and not name.startswith("_")
                assert not own or inspect.getdoc(method), f"{estimator.__name__}.{name} has no docstring"
