"""The walls of the house: who may import what, and where a kind of code may live."""

import ast
import importlib
import importlib.util
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bisector

ROOT = Path(bisector.__file__).parent
PROJECT = Path(__file__).parents[2]
FILES = sorted(ROOT.rglob("*.py"))
MODULES = {path: ".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in FILES}

# The modules that may speak to Numba; loops themselves only use the decorator of `engine.loops`.
NEAR_NUMBA = {
    "engine/loops.py",
    "engine/loop_cache.py",
    "engine/intrinsics.py",
    "engine/registers.py",
    "engine/group_products.py",
    "engine/two_least.py",
    "engine/turned_squares.py",
    "engine/user_functions.py",
    "engine/bits.py",
}


def place(path):
    return path.relative_to(ROOT).as_posix()


def imports(tree):
    """Yield (module, names) for every import in a file, wherever it stands in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module, [alias.name for alias in node.names]


def is_private(name):
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


@pytest.fixture(params=FILES, ids=place)
def file(request):
    return request.param


@pytest.fixture
def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def test_there_are_files_to_look_at():
    assert {"engine/loops.py", "linear/linear_regression.py"} <= {place(path) for path in FILES}


def test_arrows_point_one_way():
    """import-linter's contracts, as pyproject.toml states them."""
    if not (PROJECT / "pyproject.toml").is_file():
        pytest.skip("pyproject.toml is not here: the tests run against an installed package")
    if importlib.util.find_spec("importlinter") is None:
        pytest.skip("import-linter is not installed")
    command = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert command is not None, "import-linter is installed without its command"
    ran = subprocess.run(
        [command, "--no-cache", "--config", str(PROJECT / "pyproject.toml")],
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 kept" in ran.stdout


def test_no_private_part_of_scikit_learn_is_imported(tree):
    for module, names in imports(tree):
        if module.split(".")[0] == "sklearn":
            assert not any(map(is_private, [*module.split("."), *names])), f"{module} {names}"


def test_no_private_attribute_of_scikit_learn_is_used(tree):
    """Nothing bound by an import from scikit-learn has its underscored attributes touched."""
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound |= {
                alias.asname or "sklearn" for alias in node.names if alias.name.split(".")[0] == "sklearn"
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
            bound |= {alias.asname or alias.name for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            first = node.value
            while isinstance(first, ast.Attribute):
                first = first.value
            assert not (isinstance(first, ast.Name) and first.id in bound), ast.unparse(node)


def test_only_the_engine_touches_numba(file, tree):
    if place(file) in NEAR_NUMBA:
        return
    assert [module for module, _ in imports(tree) if module.split(".")[0] in ("numba", "llvmlite")] == []
    called = {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
    assert called.isdisjoint({"njit", "jit", "prange", "vectorize", "guvectorize", "jitclass"})


def test_loops_live_only_below_the_estimators(file, tree):
    if place(file).split("/")[0] in ("engine", "distances", "kernels", "search", "solvers"):
        return
    names = [name for module, found in imports(tree) if module == "bisector.engine.loops" for name in found]
    assert "loop" not in names


def test_only_the_pictures_draw(file, tree):
    if place(file).split("/")[0] != "plot":
        assert [module for module, _ in imports(tree) if module.split(".")[0] == "matplotlib"] == []


def test_files_are_short(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 500


def test_library_code_does_not_print(file, tree):
    if "__main__" in file.read_text(encoding="utf-8"):
        return  # a program: it speaks to whoever started it
    assert not any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        for node in ast.walk(tree)
    )


# Public names


def test_no_public_name_is_also_a_module():
    """`bisector.linear.x` would be the function or the module, depending on what was imported first."""
    folders = [path.parent for path in FILES if path.name == "__init__.py"]
    for folder in folders:
        modules = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.iterdir()}
        package = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
        offered = {
            alias.asname or alias.name
            for node in package.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert offered.isdisjoint(modules), folder
    assert set(bisector.__all__).isdisjoint({path.stem for path in ROOT.iterdir()})


def stub_names():
    stub = ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8"))
    return {
        alias.asname: f"bisector.{node.module}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_stub_and_lazy_names_agree():
    assert {"__version__", *stub_names()} == set(bisector.__all__) == set(dir(bisector))
    assert None not in stub_names(), "`x as x` is what makes a name public for a type checker"


@pytest.mark.parametrize("name", stub_names())
def test_a_public_name_is_what_its_module_says(name):
    thing = getattr(bisector, name)
    assert thing is getattr(importlib.import_module(stub_names()[name]), name)
    assert thing.__name__ == name
    assert inspect.getdoc(thing)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'linear_regresion'"):
        _ = bisector.linear_regresion


HEAVY = ("numba", "matplotlib", "dask", "sklearn", "pandas", "polars", "pyarrow")


def loaded_after(statements):
    code = f"import sys; {statements}; print([m for m in {HEAVY} if m in sys.modules])"
    return ast.literal_eval(subprocess.check_output([sys.executable, "-c", code], text=True))


def test_import_loads_nothing_heavy():
    assert loaded_after("import bisector") == []


def test_a_model_that_needs_only_blas_does_not_load_numba():
    fit = "import bisector, numpy as np; bisector.LinearRegression().fit(np.eye(5)[:, :2], np.arange(5.0))"
    assert "numba" not in loaded_after(fit)


def test_every_module_can_be_imported_alone():
    for path in FILES:
        if "__main__" not in path.read_text(encoding="utf-8"):
            importlib.import_module(MODULES[path].removesuffix(".__init__"))
