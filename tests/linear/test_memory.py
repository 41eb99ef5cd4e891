"""Data larger than memory: fits read them in blocks and hold little.

Each fit runs in a process of its own, which watches its anonymous memory (RssAnon): pages of a mapped file do
not count, since the system drops them when memory is wanted; what Python, NumPy and Arrow allocate does.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="anonymous memory is read from Linux's /proc"
)

MB = 1_000_000

WATCH = """
import json, re, sys, threading, time
from pathlib import Path
import numpy as np
import bisector

def anonymous():
    return 1024 * int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

class Watch(threading.Thread):
    def __enter__(self):
        self.before = self.most = anonymous()
        self.stop = threading.Event()
        self.start()
        return self
    def run(self):
        while not self.stop.wait(0.002):
            self.most = max(self.most, anonymous())
    def __exit__(self, *error):
        self.stop.set()
        self.join()
        self.most = max(self.most, anonymous())

def report(model, watch):
    print(json.dumps({"coef": model.coef_.tolist(), "intercept": model.intercept_,
                      "growth": watch.most - watch.before}))

# What a first fit loads (compiled loops, BLAS buffers, scikit-learn) belongs to the library and not to the data.
from bisector.warmup import warmup
warmup()
rng = np.random.default_rng(0)
bisector.LinearRegression().fit(rng.normal(size=(20_000, 50)), rng.normal(size=20_000))
"""


def run(script, *arguments):
    ran = subprocess.run(
        [sys.executable, "-c", WATCH + script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


# A memory map of 1 GB

MAP_ROWS, MAP_FEATURES = 2_500_000, 50


@pytest.fixture(params=["C", "F"])
def big_map(request, tmp_path):
    """1 GB on paper: rows that are not zero stand at the beginning, in the middle and at the end."""
    path, order = tmp_path / "rows.f8", request.param
    X = np.memmap(path, dtype=np.float64, mode="w+", shape=(MAP_ROWS, MAP_FEATURES), order=order)
    rng = np.random.default_rng(1)
    for first in (0, MAP_ROWS // 2, MAP_ROWS - 5_000):
        X[first : first + 5_000] = rng.normal(size=(5_000, MAP_FEATURES))
    X.flush()
    assert path.stat().st_size == 1_000_000_000
    yield path, order
    path.unlink()


FIT_MAP = """
path, rows, features, order = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
X = np.memmap(path, dtype=np.float64, mode="r", shape=(rows, features), order=order)
truth = np.arange(1.0, features + 1)
y = np.empty(rows)
for first in range(0, rows, 50_000):
    y[first : first + 50_000] = X[first : first + 50_000] @ truth + 7
with Watch() as watch:
    model = bisector.LinearRegression().fit(X, y)
report(model, watch)
"""


def test_a_memory_map_of_one_gigabyte_fits_in_300_mb(big_map):
    path, order = big_map
    found = run(FIT_MAP, path, MAP_ROWS, MAP_FEATURES, order)
    np.testing.assert_allclose(found["coef"], np.arange(1.0, MAP_FEATURES + 1), rtol=1e-9)
    assert found["intercept"] == pytest.approx(7, rel=1e-9)
    assert found["growth"] < 300 * MB


# Parquet files ten times the budget

BUDGET = 64 * MB
FEATURES = 40
CHUNK_ROWS = 50_000  # 16 MB of float64


def write_parquet(path, n_chunks, rows_per_group):
    """Write the same 16 MB again and again, without any compression that would make it less."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(2)
    X = rng.normal(size=(CHUNK_ROWS, FEATURES)) + 3
    y = X @ np.arange(1.0, FEATURES + 1) + 7
    chunk = pyarrow.table({f"x{j}": X[:, j] for j in range(FEATURES)} | {"y": y})
    parquet.write_table(
        pyarrow.concat_tables([chunk] * n_chunks), path,
        row_group_size=rows_per_group, compression="none", use_dictionary=False, write_statistics=False,
    )  # fmt: skip
    assert path.stat().st_size >= 10 * BUDGET


FIT_PARQUET = """
import pyarrow.dataset, pyarrow.parquet, pyarrow as pa
small = sys.argv[1] + ".small"
pyarrow.parquet.write_table(pa.table({"a": rng.normal(size=1000), "y": rng.normal(size=1000)}), small)
bisector.LinearRegression().fit(small, y="y")
with bisector.config(memory=int(sys.argv[2])), Watch() as watch:
    model = bisector.LinearRegression().fit(sys.argv[1], y="y")
report(model, watch)
"""


@pytest.mark.parametrize(
    "rows_per_group", [CHUNK_ROWS, 40 * CHUNK_ROWS], ids=["40 row groups", "1 row group"]
)
def test_a_parquet_file_ten_times_the_budget_fits_within_it(tmp_path, rows_per_group):
    path = tmp_path / "rows.parquet"
    write_parquet(path, 40, rows_per_group)
    found = run(FIT_PARQUET, path, BUDGET)
    path.unlink()
    np.testing.assert_allclose(found["coef"], np.arange(1.0, FEATURES + 1), rtol=1e-9)
    assert found["intercept"] == pytest.approx(7, rel=1e-7)
    assert found["growth"] <= BUDGET


# Sparse data that need a dense method

FIT_SPARSE = """
import scipy.sparse
A = scipy.sparse.random_array((100_000, 200), density=0.005, rng=rng, format="csr")
X = scipy.sparse.hstack([A, A[:, [0]]]).tocsr()  # the first column twice: only a QR decomposition can tell
y = A.sum(axis=1)
with Watch() as watch:
    model = bisector.LinearRegression().fit(X, y)
    assert model.solver_ == "qr" and model.rank_ == 200
    model.leverage_
    model.predict_interval(X)
report(model, watch)
"""


def test_sparse_data_are_never_held_dense():
    found = run(FIT_SPARSE)
    np.testing.assert_allclose(found["coef"], [0.5] + [1.0] * 199 + [0.5], rtol=1e-9)
    assert found["growth"] < 80 * MB  # dense they would take 161 MB, several times over
