"""Reading tables: CSV, TSV, Parquet and Arrow by polars, at once or block by block, with faults in one sentence."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bisector.reports.column_types import MISSING_WORDS, typed
from bisector.reports.faults import TableFault, listed

if TYPE_CHECKING:
    import polars

BLOCK_ROWS = 20_000
_SEPARATORS = ",;\t|"


def read_table(path: str | Path, types: Mapping[str, str] | None = None) -> "polars.DataFrame":
    """Read a table from a file, and guess what its columns hold.

    Parameters
    ----------
    path : str or Path
        A file of comma-separated values (also with semicolons, tabs or bars), Parquet (``.parquet``) or Arrow
        (``.arrow``, ``.feather``, ``.ipc``).
    types : mapping of str to str, optional
        What columns hold where the guess is wrong: "number", "category", "boolean", "date" or "drop".

    Returns
    -------
    polars.DataFrame
        Numbers, booleans and dates where all cells (or nearly all) can be read as such; words otherwise.

    Raises
    ------
    TableFault
        If there is no table in the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bisector.reports import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("name;height;since\\nAnn;1.68;2020-01-31\\nBob;NA;2021-12-01\\n")
    ...     read_table(path).dtypes
    [String, Float64, Date]
    """
    path = _existing(path)
    frame = _read_binary(path) if path.suffix.lower() in _BINARY else _read_text(path)
    if not frame.width or not frame.height:
        raise TableFault(f"{path.name} has {'no columns' if not frame.width else 'a header but no rows'}.")
    return typed(frame, types)


def read_blocks(path: str | Path, rows: int = BLOCK_ROWS) -> Iterator["polars.DataFrame"]:
    """Read a table block by block, in constant memory; the cells of text files stay words.

    Parameters
    ----------
    path : str or Path
        As of `read_table`.
    rows : int, default=20000
        About how many rows a block has.

    Yields
    ------
    polars.DataFrame
    """
    path = _existing(path)
    try:
        yield from _scanned(path).collect_batches(chunk_size=rows, maintain_order=True)
    except Exception as fault:
        raise _told(path, fault) from fault


def separator_of(path: Path) -> str:
    """Return what parts the cells of a text file: a tab for ``.tsv``, else what its first line has most of."""
    if path.suffix.lower() in {".tsv", ".tab"}:
        return "\t"
    with path.open(encoding="utf-8", errors="replace") as file:
        line = file.readline(1_000_000)
    outside_quotes = "".join(line.split('"')[::2])
    return max(_SEPARATORS, key=outside_quotes.count) if line else ","


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if path.is_dir():
        raise TableFault(f"{path} is a folder: give a file in it.")
    if not path.exists():
        near = (
            sorted(other.name for other in path.parent.glob(f"{path.stem[:3]}*"))
            if path.parent.is_dir()
            else []
        )
        hint = f" (beside it there are {listed(near, 3)})" if near else ""
        raise TableFault(f"There is no file {path}{hint}.")
    try:
        empty = path.stat().st_size == 0
        path.open("rb").close()
    except OSError as fault:
        raise TableFault(f"{path} cannot be read: {fault.strerror}.") from fault
    if empty:
        raise TableFault(f"{path.name} is empty.")
    return path


def _read_text(path: Path) -> "polars.DataFrame":
    import polars as pl

    separator = separator_of(path)
    try:
        frame = pl.read_csv(
            path, separator=separator, infer_schema=False, null_values=list(MISSING_WORDS), glob=False
        )
    except Exception as fault:
        raise _told(path, fault) from fault
    if frame.height and frame.width > 1 and frame[:, -1].null_count():
        _refuse_short_lines(path, separator, frame.width)
    return frame


def _read_binary(path: Path) -> "polars.DataFrame":
    import polars as pl

    read: Any = {"parquet": pl.read_parquet, "ipc": _read_arrow}[_BINARY[path.suffix.lower()]]
    try:
        return read(path)
    except Exception as fault:
        raise _told(path, fault) from fault


def _read_arrow(path: Path) -> "polars.DataFrame":
    """Arrow comes as a file, or as a stream."""
    import polars as pl

    try:
        return pl.read_ipc(path)
    except pl.exceptions.PolarsError:
        return pl.read_ipc_stream(path)


_BINARY = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}


def _scanned(path: Path) -> Any:
    import polars as pl

    kind = _BINARY.get(path.suffix.lower())
    if kind == "parquet":
        return pl.scan_parquet(path, glob=False)
    if kind == "ipc":
        return pl.scan_ipc(path)
    return pl.scan_csv(
        path, separator=separator_of(path), infer_schema=False, null_values=list(MISSING_WORDS), glob=False
    )


def _told(path: Path, fault: Exception) -> TableFault:
    """Turn what polars says into one sentence that says where the fault is."""
    words = str(fault).strip() or repr(fault)
    said = words.splitlines()[0][:160]
    if "utf-8" in words.lower() or "utf8" in words.lower():
        place = _first_line_not_utf8(path)
        return TableFault(
            f"{path.name} is not UTF-8{place}: convert it, for instance by "
            f"'iconv -f latin1 -t utf-8 {path.name} > converted.csv'."
        )
    if "more fields" in words:
        return TableFault(_ragged(path, separator_of(path)) or f"Lines of {path.name} have too many cells.")
    if path.suffix.lower() in _BINARY:
        return TableFault(f"{path.name} is no readable {path.suffix[1:]} file ({said}).")
    return TableFault(f"{path.name} cannot be read as a table: {said}.")


def _first_line_not_utf8(path: Path) -> str:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as fault:
                return f" (line {number} has the byte 0x{line[fault.start]:02x})"
    return ""


def _refuse_short_lines(path: Path, separator: str, width: int) -> None:
    """Polars fills short lines with missing cells; more likely is that something went wrong with them."""
    words = _ragged(path, separator, width)
    if words:
        raise TableFault(words)


def _ragged(path: Path, separator: str, width: int | None = None) -> str:
    """Say which line is the first that has not as many cells as the header."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        lines = csv.reader(file, delimiter=separator)
        try:
            head = next(lines, [])
            for cells in lines:
                if cells and len(cells) != (width or len(head)):
                    return (
                        f"Line {lines.line_num} of {path.name} has {len(cells)} cell{'s' * (len(cells) != 1)}, but "
                        f"the header names {len(head)} columns: mend the line, or quote cells that hold the "
                        f"separator {separator!r}."
                    )
        except csv.Error:
            return ""
    return ""
