"""Every kind of X that the engine reads, and Python in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

Table = np.ndarray[Any, np.dtype[np.float64]]


class Kind(NamedTuple):
    """X of one kind: how it is made from a table of small whole numbers, and how its blocks must look."""

    make: Callable[[Table, Path], Any]
    dtype: type = np.float64
    sparse: bool = False
    named: bool = False


def names(table: Table) -> list[str]:
    return [f"x{j}" for j in range(table.shape[1])]


def pandas_frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame(table, columns=names(table))


def arrow_table(table: Table) -> pa.Table:
    return pa.table(list(table.T), names=names(table))


def memory_map(table: Table, folder: Path) -> np.memmap[Any, Any]:
    np.asfortranarray(table).T.tofile(folder / "table.bin")
    return np.memmap(folder / "table.bin", dtype=np.float64, mode="r", shape=table.shape, order="F")


def read_only(table: Table) -> Table:
    table = table.copy()
    table.flags.writeable = False
    return table


def with_duplicate_entries(table: Table) -> Any:
    """Return a COO matrix that stores every value in two parts."""
    row, column = np.nonzero(table)
    halves = np.concatenate([table[row, column] - 1, np.ones(len(row))])
    return sp.coo_matrix((halves, (np.tile(row, 2), np.tile(column, 2))), shape=table.shape)


def parquet_file(table: Table, path: Path, **options: Any) -> Path:
    pa.parquet.write_table(arrow_table(table), path, **options)
    return path


def parquet_folder(table: Table, folder: Path) -> Path:
    """Write files of unequal length, one of them without rows, and row groups of three rows."""
    cuts = [0, len(table) // 3, len(table) // 3, len(table)]
    for number, (first, last) in enumerate(pairwise(cuts)):
        parquet_file(table[first:last], folder / f"part-{number}.parquet", row_group_size=3)
    return folder


def with_empty_row_groups(table: Table, path: Path) -> Path:
    whole = arrow_table(table)
    with pa.parquet.ParquetWriter(path, whole.schema) as writer:
        for first, last in [(0, 0), (0, 2), (2, 2), (2, len(table)), (0, 0)]:
            writer.write_table(whole.slice(first, last - first))
    return path


def feather_dataset(table: Table, folder: Path) -> Any:
    pa.feather.write_feather(arrow_table(table), folder / "table.feather", chunksize=3)
    return pa.dataset.dataset(folder / "table.feather", format="feather")


KINDS = {
    "array": Kind(lambda t, _: t),
    "lists": Kind(lambda t, _: t.tolist()),
    "Fortran order": Kind(lambda t, _: np.asfortranarray(t)),
    "every other row": Kind(lambda t, _: np.repeat(t, 2, axis=0)[::2]),
    "backwards": Kind(lambda t, _: np.ascontiguousarray(t[::-1, ::-1])[::-1, ::-1]),
    "read-only": Kind(lambda t, _: read_only(t)),
    "memory map": Kind(memory_map),
    "float32": Kind(lambda t, _: t.astype(np.float32), np.float32),
    "float16": Kind(lambda t, _: t.astype(np.float16)),
    "long double": Kind(lambda t, _: t.astype(np.longdouble)),
    "big-endian": Kind(lambda t, _: t.astype(">f8")),
    "big-endian float32": Kind(lambda t, _: t.astype(">f4"), np.float32),
    "int8": Kind(lambda t, _: t.astype(np.int8)),
    "int64": Kind(lambda t, _: t.astype(np.int64)),
    "objects": Kind(lambda t, _: t.astype(object)),
    "csr_matrix": Kind(lambda t, _: sp.csr_matrix(t), sparse=True),
    "csr_array": Kind(lambda t, _: sp.csr_array(t), sparse=True),
    "csr float32": Kind(lambda t, _: sp.csr_array(t.astype(np.float32)), np.float32, sparse=True),
    "csr of integers": Kind(lambda t, _: sp.csr_array(t.astype(np.int32)), sparse=True),
    "csc_array": Kind(lambda t, _: sp.csc_array(t), sparse=True),
    "coo_matrix": Kind(lambda t, _: with_duplicate_entries(t), sparse=True),
    "pandas": Kind(lambda t, _: pandas_frame(t), named=True),
    "pandas mixed": Kind(lambda t, _: pandas_frame(t).astype({"x0": "int8", "x1": "float32"}), named=True),
    "pandas float32": Kind(lambda t, _: pandas_frame(t).astype("float32"), np.float32, named=True),
    "pandas nullable": Kind(lambda t, _: pandas_frame(t).astype("Int64"), named=True),
    "pandas Float32": Kind(lambda t, _: pandas_frame(t).astype("Float32"), np.float32, named=True),
    "pandas Arrow": Kind(lambda t, _: pandas_frame(t).astype("double[pyarrow]"), named=True),
    "pandas sparse": Kind(lambda t, _: pandas_frame(t).astype(pd.SparseDtype("float64", 0.0)), named=True),
    "pandas objects": Kind(lambda t, _: pandas_frame(t).map(Decimal).astype(object), named=True),
    "pandas row labels": Kind(lambda t, _: pandas_frame(t).set_index(np.arange(len(t))[::-1]), named=True),
    "pandas without names": Kind(lambda t, _: pd.DataFrame(t)),
    "pandas equal names": Kind(lambda t, _: pd.DataFrame(t, columns=["x"] * t.shape[1])),
    "polars": Kind(lambda t, _: pl.DataFrame(t, schema=names(t)), named=True),
    "polars mixed": Kind(lambda t, _: pl.DataFrame(t, schema=names(t)).cast({"x0": pl.Int16}), named=True),
    "polars chunks": Kind(
        lambda t, _: pl.concat(
            [pl.DataFrame(half, schema=names(t)) for half in (t[:2], t[2:])], rechunk=False
        ),
        named=True,
    ),
    "Arrow table": Kind(lambda t, _: arrow_table(t), named=True),
    "Arrow chunks": Kind(lambda t, _: pa.concat_tables([arrow_table(t[:2]), arrow_table(t[2:])]), named=True),
    "Arrow batch": Kind(lambda t, _: arrow_table(t).combine_chunks().to_batches()[0], named=True),
    "Parquet path": Kind(lambda t, folder: parquet_file(t, folder / "table.parquet"), named=True),
    "Parquet name": Kind(lambda t, folder: str(parquet_file(t, folder / "table.parquet")), named=True),
    "Parquet float32": Kind(
        lambda t, folder: parquet_file(t.astype(np.float32), folder / "table.parquet"), np.float32, named=True
    ),
    "Parquet row groups": Kind(
        lambda t, folder: parquet_file(t, folder / "table.parquet", row_group_size=4), named=True
    ),
    "Parquet empty groups": Kind(
        lambda t, folder: with_empty_row_groups(t, folder / "table.parquet"), named=True
    ),
    "Parquet folder": Kind(parquet_folder, named=True),
    "Parquet dataset": Kind(
        lambda t, folder: pa.dataset.dataset(parquet_folder(t, folder), format="parquet"), named=True
    ),
    "Feather dataset": Kind(feather_dataset, named=True),
    "dataset in memory": Kind(lambda t, _: pa.dataset.dataset(arrow_table(t)), named=True),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Give every kind of X in turn."""
    return KINDS[request.param]


@pytest.fixture
def kinds() -> dict[str, Kind]:
    return KINDS


@pytest.fixture
def run_python() -> Callable[..., Any]:
    """Give a function that runs a script in a new process and returns the value of its ``answer``."""

    def run(script: str, **environment: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-c", f"{script}\nimport json\nprint(json.dumps(answer))"],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
