"""Start-up: what a fresh interpreter pays before the first answer. Every call is a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.workload import Contestant, Within, Workload

FIRST_FIT = """
import json
import numpy as np
from {module} import LinearRegression
rng = np.random.default_rng(0)
X = rng.standard_normal(({n}, {d}))
fit = LinearRegression().fit(X, X.sum(axis=1) + rng.standard_normal({n}))
print(json.dumps(fit.coef_.tolist()))
"""


def sizes(rng: np.random.Generator, **sizes: int) -> dict[str, int]:
    """No data: the processes that are timed make it themselves."""
    return sizes


def fresh(code: str) -> Callable[[Mapping[str, int]], Callable[[], str]]:
    """Prepare to run `code`, its sizes filled in, in a fresh interpreter; the call returns what it prints."""

    def prepare(sizes: Mapping[str, int]) -> Callable[[], str]:
        command = [sys.executable, "-c", code.format(**sizes)]
        return lambda: subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    return prepare


def importer(label: str, module: str) -> Contestant:
    return Contestant(label, module, fresh(f"import {module}"), lambda output: {})


def first_fitter(label: str, module: str) -> Contestant:
    def answer(output: str) -> dict[str, Any]:
        return {"coef": json.loads(output.splitlines()[-1])}

    code = FIRST_FIT.replace("{module}", module)
    return Contestant(label, module, fresh(code), answer)


WORKLOADS = [
    Workload(
        name="import",
        about="A fresh process that imports the package (for scikit-learn, its linear models).",
        make=sizes,
        sizes={},
        ours=importer("bisector", "bisector"),
        peers=[importer("numpy", "numpy"), importer("scikit-learn", "sklearn.linear_model")],
        goals={"numpy": Within(0.25)},
        memory=False,
    ),
    Workload(
        name="first_fit",
        about="A fresh process that imports the package and fits a first LinearRegression; caches are warm.",
        make=sizes,
        sizes={"n": 100, "d": 5},
        ours=first_fitter("bisector", "bisector"),
        peers=[first_fitter("scikit-learn", "sklearn.linear_model")],
        goals={"scikit-learn": Within(0.1)},
        memory=False,
    ),
]
