"""What the footer of a Parquet file tells of the columns of a row group: where they are and how they are stored."""

import os
from functools import cached_property
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


class Footer:
    """What a Parquet file tells of its columns: what is the same in all row groups is looked up once.

    Parameters
    ----------
    fragment : pyarrow.dataset.ParquetFileFragment

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.dataset, pyarrow.parquet
    >>> from bisector.engine.parquet_chunks import Footer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.parquet"
    ...     pa.parquet.write_table(pa.table({"x": [1.0, 2.0], "word": ["a", "b"]}), path)
    ...     footer = Footer(next(pa.dataset.dataset(path).get_fragments()))
    ...     (x,), words = footer.chunks(0, ["x"]), footer.chunks(0, ["word"])
    >>> x.n_numbers, x.stored_as, x.codec, words
    (2, dtype('float64'), 'snappy', None)
    """

    def __init__(self, fragment: Any) -> None:
        self._fragment = fragment

    def chunks(self, row_group: int, names: list[str]) -> list[Chunk] | None:
        """Find columns of a row group in a file on this machine; None if any of them must be read by Arrow.

        Columns in other encodings, with missing numbers or of other types are Arrow's.
        """
        columns = self._columns_of_numbers
        if not names or not all(name in columns for name in names):
            return None
        group = self._fragment.metadata.row_group(row_group)
        found = []
        for number, levels in map(columns.__getitem__, names):
            chunk = _chunk(group.column(number), levels)
            if chunk is None:
                return None
            found.append(chunk)
        return found

    @cached_property
    def _columns_of_numbers(self) -> dict[str, tuple[int, int]]:
        """Return, by name, which column it is and whether levels tell what is missing; none of files elsewhere."""
        from pyarrow.fs import LocalFileSystem

        if not (hasattr(os, "preadv") and isinstance(self._fragment.filesystem, LocalFileSystem)):
            return {}
        # Arrow's types say more than Parquet's: a duration is stored as a mere integer.
        kinds = {field.name: str(field.type) for field in self._fragment.physical_schema}
        schema = self._fragment.metadata.schema
        columns = [(number, schema.column(number)) for number in range(len(schema))]
        return {
            column.path: (number, column.max_definition_level)
            for number, column in columns
            if kinds.get(column.path) in _KINDS
            and column.logical_type.type == "NONE"
            and column.max_definition_level <= 1
            and column.max_repetition_level == 0
        }


def _chunk(told: Any, levels: int) -> Chunk | None:
    """Read what is told of a column of a row group; None if a number may be missing, or be stored in other ways."""
    kind, compression = told.physical_type, told.compression
    if kind not in _STORED_AS or compression not in _CODECS:
        return None
    if levels:
        statistics = told.statistics
        if statistics is None or not statistics.has_null_count or statistics.null_count:
            return None
    has_dictionary = told.has_dictionary_page
    begin = told.dictionary_page_offset if has_dictionary else told.data_page_offset
    return Chunk(
        begin,
        begin + told.total_compressed_size,
        told.num_values,
        _STORED_AS[kind],
        _CODECS[compression],
        levels == 1,
        has_dictionary,
    )
