"""A loop is compiled once per dtype, whatever layout, byte order or flags the user's arrays have.

Compilation takes about a second: a loop that met arrays as they come would be compiled dozens of times.
"""

import json
import os
import subprocess
import sys

import pytest

# Loops that meet more than one type a dtype, none of them because of how the user's arrays are laid out.
_SCREENED = "screens in float32 or in float64, beside rows of either"
_STEP = "a step inside other loops, which hand it literals and arrays of their own"
MORE = {
    "bisector.distances.tile_loops.gather_eight": (4, _STEP),
    "bisector.solvers.lloyd_loops.assign": (3, _SCREENED),
    "bisector.solvers.lloyd_loops.decide": (4, _SCREENED),
    "bisector.solvers.lloyd_loops.place_rows": (3, _SCREENED),
    "bisector.solvers.lloyd_loops.quick_square": (
        4,
        "compares with centres that stay and with centres that move",
    ),
    "bisector.solvers.lloyd_loops.square": (3, _STEP),
    "bisector.solvers.lloyd_loops.square_in_any_order": (3, _STEP),
    "bisector.solvers.medoid_swap_loops.note_below": (4, _STEP),
    "bisector.solvers.refine_clusters_loops.follow": (3, _STEP),
    "bisector.solvers.refine_clusters_loops.settle": (3, _STEP),
}

FIT_EVERYTHING = """
import inspect, itertools, json
import numpy as np
import scipy.sparse
from sklearn.base import is_classifier
from sklearn.utils import get_tags
import bisector
from bisector.engine.loops import all_loops

def layouts(X):
    wide = np.zeros((2 * len(X), 2 * X.shape[1]), X.dtype)
    wide[::2, ::2] = X
    raw = np.zeros(X.nbytes + 1, np.uint8)[1:].view(X.dtype).reshape(X.shape)
    raw[:] = X
    yield from (X, np.asfortranarray(X), wide[::2, ::2], raw, X.astype(X.dtype.newbyteorder("S")))

rng = np.random.default_rng(0)
base = np.round(rng.normal(size=(40, 3)), 2)
collinear = np.column_stack([base, base[:, 0] + 1e-5 * rng.normal(size=40)])  # needs the compiled refinement
dependent = np.column_stack([base, base.sum(axis=1)])
y = base.sum(axis=1) + rng.normal(size=40)
classes = (y > 0).astype(float)
for _, kind in bisector.all_estimators():
    if not get_tags(kind()).input_tags.two_d_array:
        continue
    accepts = inspect.signature(kind.fit).parameters
    for table, dtype in itertools.product((base, collinear, dependent), ("f4", "f8", "i4", "i8", "u1", "?")):
        for X in layouts(np.abs(table).astype(dtype)):
            for writable in (True, False):
                X.setflags(write=writable)
                target = (classes if is_classifier(kind()) or hasattr(kind, "fit_resample") else y).copy()
                target.setflags(write=writable)
                model = kind().fit(X, target)
                if hasattr(model, "predict"):
                    model.predict(X)
                if "sample_weight" in accepts:
                    kind().fit(X, target, sample_weight=np.asfortranarray(np.arange(40.0)[::-1]))
                if get_tags(kind()).target_tags.multi_output:
                    kind().fit(X, np.column_stack([target, -target]))
        if get_tags(kind()).input_tags.sparse:
            kind().fit(scipy.sparse.csc_array(table.astype("f4" if dtype == "f4" else "f8")), target)
met = {f"{loop.__module__}.{loop.__qualname__}": [str(kind) for kind in loop.signatures] for loop in all_loops()}
print(json.dumps(met))
"""


@pytest.fixture(scope="module")
def signatures(tmp_path_factory):
    # A cache of our own: loops inside of loaded ones are not loaded, and would not be counted.
    folder = tmp_path_factory.mktemp("cache")
    environment = os.environ | {"BISECTOR_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
    ran = subprocess.run(
        [sys.executable, "-c", FIT_EVERYTHING], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_every_loop_met_at_most_float32_and_float64(signatures):
    assert {name: met for name, met in signatures.items() if len(met) > MORE.get(name, (2, ""))[0]} == {}


def test_both_dtypes_reached_a_loop(signatures):
    assert any(len(met) == 2 for met in signatures.values())
