"""Measure how the time of fits grows with the rows and falls with the workers, and draw it for the guide.

``python docs/scale_curves.py measure FOLDER`` writes up to 100 million rows of ten features to FOLDER as Parquet
(8.8 GB), fits them out of core, fits chunks on clusters of processes, and stores the seconds in
``docs/_static/scale_curves.json``. ``python docs/scale_curves.py draw`` draws ``docs/_static/scale_curves.png``
from these. Every fit out of core has a process of its own.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

STATIC = Path(__file__).parent / "_static"
FIGURES, PICTURE = STATIC / "scale_curves.json", STATIC / "scale_curves.png"

D, K, MOVES = 10, 20, 10
ROWS_PER_FILE = 1_000_000
ROWS = [1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000]
CHUNKS, WORKERS = 16, [1, 2, 4]
KINDS = ["KMeans", "LinearRegression"]
MEMORY = "1.5 GB"


def rows_of(number: int) -> np.ndarray:
    """Make the rows of one file or chunk, the target in the last column."""
    rng = np.random.default_rng(number)
    corners = 4.0 * np.random.default_rng(0).normal(size=(K, D))
    X = corners[rng.integers(K, size=ROWS_PER_FILE)] + rng.normal(size=(ROWS_PER_FILE, D))
    y = X @ np.arange(D) + rng.normal(size=ROWS_PER_FILE)
    return np.column_stack([X, y])


def features_of(number: int) -> np.ndarray:
    """Return the features of one chunk, a row after the other."""
    return np.ascontiguousarray(rows_of(number)[:, :D])


def targets_of(number: int) -> np.ndarray:
    """Return the targets of one chunk."""
    return np.ascontiguousarray(rows_of(number)[:, D])


def fit(kind: str, X: Any, y: Any) -> Any:
    """Fit a plane, or move centres a fixed number of times."""
    import bisector

    if kind == "LinearRegression":
        return bisector.LinearRegression().fit(X, y)
    start = 4.0 * np.random.default_rng(1).normal(size=(K, D))
    return bisector.KMeans(K, init=start, max_iter=MOVES, tol=0.0).fit(X)


def write_files(folder: Path) -> list[Path]:
    """Write what is not there yet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [folder / f"{number:05d}.parquet" for number in range(max(ROWS) // ROWS_PER_FILE)]
    for number, path in enumerate(paths):
        if not path.exists():
            table = pa.table(list(rows_of(number).T), names=[*(f"x{j}" for j in range(D)), "y"])
            pq.write_table(table, path, compression=None, use_dictionary=False, row_group_size=2**18)
    return paths


def fit_files(kind: str, folder: str, n_files: int) -> dict[str, float]:
    """Fit so many files, in this process; one is fitted before, so that all is loaded."""
    import pyarrow.dataset

    import bisector
    from bisector.engine import column_products

    column_products.warm()
    files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    for fitted in (files[:1], files[:n_files]):
        rows = pyarrow.dataset.dataset(fitted, format="parquet")
        if kind == "KMeans":
            rows = rows.replace_schema(rows.schema.remove(rows.schema.get_field_index("y")))
        with bisector.config(memory=MEMORY):
            begin = time.perf_counter()
            fit(kind, rows, "y")
            seconds = time.perf_counter() - begin
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {"seconds": seconds, "gigabytes": 1024 * int(status["VmHWM"].split()[0]) / 1e9}


def fit_chunks(kind: str, n_workers: int) -> float:
    """Return the seconds of the second fit of chunks that the workers hold."""
    import dask.array as da
    from dask import delayed
    from dask.distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        n, chunks = ROWS_PER_FILE, range(CHUNKS)
        X = da.concatenate([da.from_delayed(delayed(features_of)(i), (n, D), np.float64) for i in chunks])
        y = da.concatenate([da.from_delayed(delayed(targets_of)(i), (n,), np.float64) for i in chunks])
        X, y = X.persist(), y.persist()
        wait([X, y])
        for _ in range(2):
            begin = time.perf_counter()
            fit(kind, X, y)
            seconds = time.perf_counter() - begin
        return seconds


def measure(folder: Path) -> None:
    """Measure all, and store it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_files(folder)
    found: dict[str, Any] = {"rows": {kind: [] for kind in KINDS}, "workers": {kind: [] for kind in KINDS}}
    for kind in KINDS:
        for n in ROWS:
            command = [sys.executable, __file__, "files", kind, str(folder), str(n // ROWS_PER_FILE)]
            told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            found["rows"][kind].append({"n": n, **json.loads(told.splitlines()[-1])})
            print(kind, found["rows"][kind][-1], flush=True)
    for kind in KINDS:
        for n_workers in WORKERS:
            found["workers"][kind].append({"n": n_workers, "seconds": fit_chunks(kind, n_workers)})
            print(kind, found["workers"][kind][-1], flush=True)
    FIGURES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def draw() -> None:
    """Draw the stored figures."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    found = json.loads(FIGURES.read_text(encoding="utf-8"))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    colours = dict(zip(KINDS, ("#0072b2", "#d55e00"), strict=True))
    for kind in KINDS:
        n, seconds = (np.array([point[key] for point in found["rows"][kind]]) for key in ("n", "seconds"))
        left.loglog(n, seconds, "o-", color=colours[kind], label=kind)
        left.loglog(n, seconds[2] * n / n[2], ":", color=colours[kind], lw=1)
        n, seconds = (np.array([point[key] for point in found["workers"][kind]]) for key in ("n", "seconds"))
        right.plot(n, seconds[0] / seconds, "o-", color=colours[kind], label=kind)
    left.set(xlabel="rows of 10 features, from Parquet", ylabel="seconds, two threads", title="Out of core")
    left.legend(title="dotted: in proportion")
    right.axline((1, 1), slope=1, color="0.6", ls=":", lw=1)
    right.axvline(2, color="0.6", lw=1)
    right.annotate("cores of the machine", (2, 0.1), (4, 0), textcoords="offset points", color="0.35")
    right.set(xlabel="workers, one thread each", ylabel="times as fast as one", xticks=WORKERS)
    right.set(title=f"Dask, {CHUNKS} million rows in memory", ylim=(0, 2.6), xlim=(0.8, 4.2))
    right.legend(loc="upper right")
    fig.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", folder]:
            measure(Path(folder))
            draw()
        case ["draw"]:
            draw()
        case ["files", kind, folder, n_files]:
            print(json.dumps(fit_files(kind, folder, int(n_files))))
        case _:
            sys.exit(__doc__)
