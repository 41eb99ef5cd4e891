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

D, K = 16, 20
ROWS_PER_FILE = 2**21
MOST_BYTES = 2 * 10**9
# So many rows that k-means keeps no bounds of them either, as of those on the disk.
# Where there is room for bounds, it is a fourth faster.
N_HELD = 9

# Each fit has a process of its own, so that what it takes is its alone. First it loads its loops and fits a few
# rows in the same way: what happens once is not part of the work.
FIT = """
import json, sys, time
from pathlib import Path
import numpy as np
import bisector
from bisector.engine import column_products

kind, path, few, where, n_jobs, scratch, times, memory = sys.argv[1:9]

def rows_in(path):
    if where == "files":
        import pyarrow.dataset
        X = pyarrow.dataset.dataset(path, format="parquet")
        if kind == "KMeans":
            X = X.replace_schema(X.schema.remove(X.schema.get_field_index("y")))
        return X, "y"
    X = np.load(path + "_x.npy", mmap_mode="r" if where == "map" else None)
    return X, np.load(path + "_y.npy")

def fit(X, y):
    if kind == "LinearRegression":
        return bisector.LinearRegression(n_jobs=int(n_jobs)).fit(X, y)
    start = 4.0 * np.random.default_rng(1).normal(size=(20, 16))
    return bisector.KMeans(20, init=start, max_iter=10, tol=0.0, n_jobs=int(n_jobs)).fit(X)

with bisector.config(memory=memory, scratch=scratch or None):
    column_products.warm()
    fit(*rows_in(few))
    seconds = busy = float("inf")
    for _ in range(int(times)):
        X, y = rows_in(path)
        began, was_busy = time.perf_counter(), time.process_time()
        model = fit(X, y)
        seconds, busy = min(seconds, time.perf_counter() - began), min(busy, time.process_time() - was_busy)
# Of this process alone: what getrusage tells may be inherited from the one that started it.
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
peak = 1024 * int(status["VmHWM"].split()[0])
answer = model.coef_ if kind == "LinearRegression" else model.cluster_centers_
print(json.dumps({"seconds": seconds, "busy": busy, "peak": peak, "answer": answer.tolist()}))
"""


def rows_of(number, n=ROWS_PER_FILE, d=D):
    rng = np.random.default_rng(number)
    corners = 4.0 * np.random.default_rng(0).normal(size=(K, d))
    X = corners[rng.integers(K, size=n)] + rng.normal(size=(n, d))
    return X, X @ np.arange(d) + rng.normal(size=n)


# Random numbers have no pattern for a dictionary or a compression to find.
PLAIN = {"compression": None, "use_dictionary": False}


def write(path, X, y, **options):
    table = pa.table([*X.T, y], names=[*(f"x{j}" for j in range(X.shape[1])), "y"])
    pq.write_table(table, path, row_group_size=2**18, **options)


def write_everywhere(folder, files):
    """Write the rows of some files as Parquet, plain and as Arrow does it by default, and together as arrays."""
    packed = folder.with_name(f"{folder.name}_packed")
    for made, options in ((folder, PLAIN), (packed, {})):
        made.mkdir()
        for number, (X, y) in enumerate(files):
            write(made / f"{number:05d}.parquet", X, y, **options)
    np.save(f"{folder}_x.npy", np.concatenate([X for X, _ in files]))
    np.save(f"{folder}_y.npy", np.concatenate([y for _, y in files]))
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = tmp_path_factory.mktemp("scale")
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def few(place):
    return write_everywhere(place / "few", [rows_of(0, 2**19)])


@pytest.fixture(scope="module")
def held(place):
    """Some of the rows as arrays in a file: what fits of them in memory take is measured beside the others."""
    files = [rows_of(number) for number in range(N_HELD)]
    np.save(place / "held_x.npy", np.concatenate([X for X, _ in files]))
    np.save(place / "held_y.npy", np.concatenate([y for _, y in files]))
    return place / "held"


@pytest.fixture(scope="module")
def folder(place, held):
    made = place / "rows"
    made.mkdir()
    wanted = 10**9 * float(os.environ.get("BISECTOR_SCALE_GB", "20"))
    wanted = min(wanted, shutil.disk_usage(made).free / 2)
    size, number = 0, 0
    while size < wanted:
        path = made / f"{number:05d}.parquet"
        write(path, *rows_of(number), **PLAIN)
        size, number = size + path.stat().st_size, number + 1
    os.sync()  # what is still being written would count against those who read
    return made


def measured(kind, path, few, where="files", jobs=2, scratch="", times=1, memory="1500 MB"):
    """Fit in a process of its own, and tell of the fastest of so many times."""
    command = [sys.executable, "-c", FIT, kind, *map(str, (path, few, where, jobs, scratch, times, memory))]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(found.stdout)


def n_rows(folder):
    return ROWS_PER_FILE * len(list(Path(folder).iterdir()))


@pytest.mark.parametrize("kind", ["KMeans", "LinearRegression"])
def test_a_fit_of_many_gigabytes_stays_below_two(folder, few, held, kind):
    """What a core does beside memory, both in the same minute, is told: no verdict, which time is not."""
    found = measured(kind, folder, few)
    budget = f"{1500 * N_HELD * ROWS_PER_FILE // n_rows(folder)} MB"
    here = measured(kind, held, few, "memory", times=3, memory=budget)
    size = sum(path.stat().st_size for path in folder.iterdir())
    a_row, there = here["busy"] / (N_HELD * ROWS_PER_FILE), found["busy"] / n_rows(folder)
    print(
        f"\n{kind}: {n_rows(folder):,} rows, {size / 1e9:.1f} GB on disk, {found['seconds']:.1f} s, "
        f"two threads busy for {found['busy']:.1f} s, at most {found['peak'] / 1e9:.2f} GB in memory; "
        f"{1e9 * there:.1f} ns a row, {1e9 * a_row:.1f} in memory: {a_row / there:.0%} of the throughput a core"
    )
    assert found["peak"] < MOST_BYTES


@pytest.mark.parametrize(("kind", "d"), [("KMeans", D), ("LinearRegression", D), ("LinearRegression", 128)])
def test_throughput_beside_memory_is_told(kind, d, tmp_path):
    """No verdict: time is none. The answers agree."""
    n = 2**26 // d
    part = write_everywhere(tmp_path / "part", [rows_of(0, n // 2, d), rows_of(1, n // 2, d)])
    few = write_everywhere(tmp_path / "few", [rows_of(0, 2**23 // d, d)])
    here = measured(kind, part, few, "memory", jobs=1, times=3)
    for name, of, where, scratch in (
        ("plain files", "", "files", ""),
        ("packed files", "_packed", "files", ""),
        ("packed files with a scratch folder", "_packed", "files", tmp_path),
        ("a memory map", "", "map", ""),
    ):
        found = measured(kind, f"{part}{of}", f"{few}{of}", where, jobs=1, scratch=scratch, times=3)
        print(
            f"\n{kind}, {n:,} rows of {d}, one thread, busy for {found['busy']:.2f} s from {name}, "
            f"{here['busy']:.2f} s from memory: {here['busy'] / found['busy']:.0%} of the throughput a core"
        )
        np.testing.assert_allclose(found["answer"], here["answer"], rtol=1e-9)
