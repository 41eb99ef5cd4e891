"""What the footer of a Parquet file tells of the columns of a row group: where they are and how they are stored."""

import os
from typing import Any, NamedTuple

import numpy as np

# How the numbers of Parquet's types are stored. Types with a further meaning (dates, decimals) are not among them.
_STORED_AS: dict[str, np.dtype[Any]] = {
    "DOUBLE": np.dtype("<f8"),
    "FLOAT": np.dtype("<f4"),
    "INT64": np.dtype("<i8"),
    "INT32": np.dtype("<i4"),
}
_KINDS = {"double", "float", "int64", "int32"}
_CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "ZSTD": "zstd", "GZIP": "gzip"}


class Chunk(NamedTuple):
    """A column of a row group: numbers of which none is missing, from byte `begin` of the file up to `end`."""

    begin: int
    end: int
    n_numbers: int
    stored_as: np.dtype[Any]
    codec: str | None
    optional: bool  # whether numbers could be missing: then levels tell that none is
    has_dictionary: bool


def chunks_of(fragment: Any, row_group: int, names: list[str]) -> list[Chunk] | None:
    """Find columns of a row group in a file on this machine; None if any of them must be read by Arrow.

    Columns in other encodings, with missing numbers or of other types are Arrow's.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.dataset, pyarrow.parquet
    >>> from bisector.engine.parquet_chunks import chunks_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.parquet"
    ...     pa.parquet.write_table(pa.table({"x": [1.0, 2.0], "word": ["a", "b"]}), path)
    ...     (fragment,) = pa.dataset.dataset(path).get_fragments()
    ...     (x,), words = chunks_of(fragment, 0, ["x"]), chunks_of(fragment, 0, ["word"])
    >>> x.n_numbers, x.stored_as, x.codec, words
    (2, dtype('float64'), 'snappy', None)
    """
    from pyarrow.fs import LocalFileSystem

    if not (hasattr(os, "preadv") and isinstance(fragment.filesystem, LocalFileSystem)):
        return None
    schema, group = fragment.metadata.schema, fragment.metadata.row_group(row_group)
    numbers = {schema.column(j).path: j for j in range(len(schema))}
    # Arrow's types say more than Parquet's: a duration is stored as a mere integer.
    kinds = {field.name: str(field.type) for field in fragment.physical_schema}
    if not all(name in numbers and kinds.get(name) in _KINDS for name in names):
        return None
    told = [(schema.column(numbers[name]), group.column(numbers[name])) for name in names]
    if not told or not all(_has_numbers(column, chunk) for column, chunk in told):
        return None
    return [_chunk(chunk, optional=column.max_definition_level == 1) for column, chunk in told]


def _has_numbers(column: Any, chunk: Any) -> bool:
    """Tell whether a column of a row group has numbers of which none is missing."""
    told = chunk.statistics is not None and chunk.statistics.has_null_count
    nothing_missing = column.max_definition_level == 0 or (told and chunk.statistics.null_count == 0)
    return bool(
        chunk.physical_type in _STORED_AS
        and column.logical_type.type == "NONE"
        and column.max_definition_level <= 1
        and column.max_repetition_level == 0
        and nothing_missing
        and chunk.compression in _CODECS
    )


def _chunk(told: Any, *, optional: bool) -> Chunk:
    begin = told.dictionary_page_offset if told.has_dictionary_page else told.data_page_offset
    return Chunk(
        begin,
        begin + told.total_compressed_size,
        told.num_values,
        _STORED_AS[told.physical_type],
        _CODECS[told.compression],
        optional,
        told.has_dictionary_page,
    )
