"""Parquet files larger than the memory that fits may take: how much they take, and how fast they are.

Makes 20 GB of files, or as much as half of the free disk allows; BISECTOR_SCALE_GB sets another size.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells memory as Linux does"),
]

D, K, MOVES = 16, 20, 10
ROWS_PER_FILE = 2**21
ROWS_IN_MEMORY = 2**22
MOST_BYTES = 2 * 10**9

# Each fit has a process of its own, so that what it takes is its alone.
FIT = """
import json, sys, time
from pathlib import Path
import numpy as np
import bisector

kind, path, where = sys.argv[1:4]
X, y = path, "y"
if where != "files":
    X, y = np.load(path + "_x.npy", mmap_mode="r"), np.load(path + "_y.npy")
    X = np.array(X) if where == "memory" else X
elif kind == "KMeans":
    import pyarrow.dataset
    X = pyarrow.dataset.dataset(path, format="parquet")
    X = X.replace_schema(X.schema.remove(X.schema.get_field_index("y")))

def fit(X, y):
    if kind == "LinearRegression":
        return bisector.LinearRegression(n_jobs=JOBS).fit(X, y)
    start = 4.0 * np.random.default_rng(1).normal(size=(20, 16))
    return bisector.KMeans(20, init=start, max_iter=10, tol=0.0, n_jobs=JOBS).fit(X)

JOBS = int(sys.argv[4])
few = np.random.default_rng(2).normal(size=(2**19, 16))
fit(few, few[:, 0])  # what is loaded once is not part of the work
with bisector.config(memory="1.5 GB"):
    begin, busy = time.perf_counter(), time.process_time()
    model = fit(X, y)
    seconds, busy = time.perf_counter() - begin, time.process_time() - busy
# Of this process alone: what getrusage tells may be inherited from the one that started it.
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
peak = 1024 * int(status["VmHWM"].split()[0])
answer = model.coef_ if kind == "LinearRegression" else model.cluster_centers_
print(json.dumps({"seconds": seconds, "busy": busy, "peak": peak, "answer": answer.tolist()}))
"""


def rows_of(number):
    rng = np.random.default_rng(number)
    corners = 4.0 * np.random.default_rng(0).normal(size=(K, D))
    X = corners[rng.integers(K, size=ROWS_PER_FILE)] + rng.normal(size=(ROWS_PER_FILE, D))
    return X, X @ np.arange(D) + rng.normal(size=ROWS_PER_FILE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("scale")
    wanted = 10**9 * float(os.environ.get("BISECTOR_SCALE_GB", "20"))
    wanted = min(wanted, shutil.disk_usage(made).free / 2)
    size, number = 0, 0
    while size < wanted:
        X, y = rows_of(number)
        path = made / f"{number:05d}.parquet"
        names = [*(f"x{j}" for j in range(D)), "y"]
        # Random numbers have no pattern for a dictionary or a compression to find.
        pq.write_table(
            pa.table([*X.T, y], names=names),
            path,
            compression=None,
            use_dictionary=False,
            row_group_size=2**18,
        )
        size, number = size + path.stat().st_size, number + 1
    yield made
    shutil.rmtree(made)


def measured(kind, path, where="files", jobs=2):
    command = [sys.executable, "-c", FIT, kind, str(path), where, str(jobs)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(found.stdout)


def n_rows(folder):
    return ROWS_PER_FILE * len(list(Path(folder).iterdir()))


@pytest.mark.parametrize("kind", ["KMeans", "LinearRegression"])
def test_a_fit_of_many_gigabytes_stays_below_two(folder, kind):
    found = measured(kind, folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(
        f"\n{kind}: {n_rows(folder):,} rows, {size / 1e9:.1f} GB on disk, {found['seconds']:.1f} s, of which two "
        f"threads were busy for {found['busy']:.1f} s, at most {found['peak'] / 1e9:.2f} GB in memory"
    )
    assert found["peak"] < MOST_BYTES


@pytest.mark.parametrize("kind", ["KMeans", "LinearRegression"])
def test_throughput_beside_memory_is_told(folder, kind, tmp_path):
    """No verdict: time is none. The answers agree."""
    part = tmp_path / "part"
    part.mkdir()
    for path in sorted(folder.iterdir())[: ROWS_IN_MEMORY // ROWS_PER_FILE]:
        (part / path.name).symlink_to(path)
    table = np.concatenate([np.column_stack(pq.read_table(path).columns) for path in sorted(part.iterdir())])
    np.save(tmp_path / "part_x.npy", table[:, :D])
    np.save(tmp_path / "part_y.npy", table[:, D])
    del table
    there, mapped, here = (measured(kind, part, where, jobs=1) for where in ("files", "map", "memory"))
    for name, found in (("files", there), ("a memory map", mapped)):
        print(
            f"\n{kind}, {n_rows(part):,} rows, one thread, busy for {found['busy']:.2f} s from {name}, "
            f"{here['busy']:.2f} s from memory: {here['busy'] / found['busy']:.0%} of the throughput a core"
        )
        np.testing.assert_allclose(found["answer"], here["answer"], rtol=1e-9)
