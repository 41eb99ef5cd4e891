"""Predicting takes the same memory however long the table is."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import bisector
from bisector.reports import TableEncoder

# What the process used at most, in kilobytes; told by the process itself.
MEASURED = """
import resource, sys
from bisector.reports.streaming import predict_file
print(predict_file("model", sys.argv[1], "predicted.csv"), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_three_times_the_rows_take_no_more_memory(tmp_path):
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    rows = pl.DataFrame({f"x{j}": rng.normal(size=20_000) for j in range(10)})
    model = make_pipeline(TableEncoder(), bisector.LinearRegression()).fit(rows, rows["x0"].to_numpy())
    bisector.save(model, tmp_path / "model", about={"target": "y"})
    head, _, body = rows.write_csv().partition("\n")
    used = {}
    # About 300 and 900 MB: up to some 300 MB more rows still mean more that is read ahead.
    for repeats in (80, 240):
        path = tmp_path / f"{repeats}.csv"
        with path.open("w") as file:
            file.write(f"{head}\n")
            for _ in range(repeats):
                file.write(body)
        said = subprocess.run(
            [sys.executable, "-c", MEASURED, path.name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        count, used[repeats] = map(int, said.stdout.split())
        assert count == 20_000 * repeats
    # A reader that held the table would need 600 MB more; what is left is the allocator's.
    assert used[240] - used[80] < 100_000
