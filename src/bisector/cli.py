"""The command line: from a table to an answer, without writing code.

Every command ends with 0 when it is done, with 1 when something is wrong with the data (told in one sentence; the
option ``--debug`` shows where), and with 2 when it was called wrongly.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bisector.reports.faults import DataFault, TableFault

app = typer.Typer(
    name="bisector",
    help="Geometric machine learning from the command line.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
_out, _err = Console(soft_wrap=True, highlight=False), Console(stderr=True, soft_wrap=True, highlight=False)
_debug = False

Data = Annotated[Path | None, typer.Argument(help="A table: CSV, TSV, Parquet or Arrow.", show_default=False)]
Demo = Annotated[
    str | None, typer.Option(help="A built-in table instead, such as iris; see `bisector datasets`.")
]
Target = Annotated[str | None, typer.Option(help="The column to predict.")]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type", help="What a column holds: NAME=number, category, boolean, date or drop. Repeat for more."
    ),
]
Minutes = Annotated[float, typer.Option(min=0.01, help="How long the comparison of models may take, about.")]


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    global _debug
    _debug = debug
    if version:
        import bisector

        _out.print(bisector.__version__)
        raise typer.Exit


@app.command()
def report(
    data: Data = None,
    target: Target = None,
    out: Annotated[Path, typer.Option(help="Where the page is written.")] = Path("report.html"),
    demo: Demo = None,
    minutes: Minutes = 2.0,
    types: Types = None,
    model: Annotated[Path | None, typer.Option(help="Also write the advised model to this file.")] = None,
) -> None:
    """Learn what geometry says about a table; the answer is one HTML page.

    Example: `bisector report flowers.csv --target species --out flowers.html`
    """
    found = _reported(data, target, demo, minutes, types)
    with _told():
        page = found.save(out)
        if model is not None:
            found.save_model(model)
    _out.print(found.verdict, markup=False)
    if found.stopped:
        _out.print("Stopped before it was complete: the page tells what was done by then.")
    _out.print(f"The page is {page.resolve()}", markup=False)


@app.command()
def fit(
    data: Data = None,
    target: Target = None,
    out: Annotated[Path, typer.Option(help="Where the model is written.")] = Path("model.bisector"),
    demo: Demo = None,
    minutes: Minutes = 2.0,
    types: Types = None,
) -> None:
    """Compare models, and write the one that is advised to a file that holds no code.

    Example: `bisector fit flowers.csv --target species --out flowers.bisector`
    """
    if target is None and demo is None:
        raise typer.BadParameter(
            "say which column to predict, or use `bisector cluster`", param_hint="--target"
        )
    found = _reported(data, target, demo, minutes, types)
    with _told():
        path = found.save_model(out)
    _out.print(found.verdict, markup=False)
    _out.print(found.table.text(), markup=False)
    _out.print(f"The model is {path.resolve()}", markup=False)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model that `bisector fit` wrote.")],
    data: Annotated[Path, typer.Argument(help="A table with the same columns.")],
    out: Annotated[Path | None, typer.Option(help="Where to write; by default to the screen.")] = None,
    reasons: Annotated[bool, typer.Option("--reasons", help="Add a sentence that says why.")] = False,
    block: Annotated[int, typer.Option(min=1, help="How many rows are read at a time.")] = 20_000,
) -> None:
    """Predict the rows of a table, block by block: it may be larger than memory.

    Example: `bisector predict flowers.bisector new.csv --out predicted.csv`
    """
    from bisector.reports.streaming import predict_file

    with _told():
        count = predict_file(model, data, out, reasons=reasons, rows=block)
    if out is not None:
        _out.print(f"{count:,} rows are predicted in {out.resolve()}", markup=False)


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="A model that `bisector fit` wrote.")],
    data: Annotated[Path, typer.Argument(help="A table with the same columns.")],
    row: Annotated[int, typer.Option(min=0, help="Which row, from 0.")] = 0,
) -> None:
    """Say why a model answers as it does for one row.

    Example: `bisector explain flowers.bisector new.csv --row 3`
    """
    from bisector.reports.answers import explained_row

    with _told():
        words = explained_row(model, data, row)
    _out.print(words, markup=False)


@app.command()
def cluster(
    data: Data = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the cluster of each row.")] = None,
    k: Annotated[int | None, typer.Option(min=1, help="How many clusters; by default it is chosen.")] = None,
    demo: Demo = None,
    types: Types = None,
) -> None:
    """Put the rows of a table into clusters, and say what sets each apart.

    Example: `bisector cluster customers.csv --out clusters.csv`
    """
    from bisector.reports.answers import clustered

    with _told(), _watched():
        table, answer = clustered(*_table(data, demo, types), k)
        _out.print(answer, markup=False)
        if out is not None:
            from bisector.reports.streaming import write_frame

            _out.print(f"The clusters are in {write_frame(table, out).resolve()}", markup=False)


@app.command()
def neighbors(
    data: Data = None,
    row: Annotated[int, typer.Option(min=0, help="Whose neighbours, from 0.")] = 0,
    k: Annotated[int, typer.Option("-k", min=1, help="How many.")] = 5,
    demo: Demo = None,
    types: Types = None,
) -> None:
    """List the rows that are most like one row.

    Example: `bisector neighbors customers.csv --row 17 -k 10`
    """
    from bisector.reports.answers import nearest_rows

    with _told():
        _out.print(nearest_rows(*_table(data, demo, types), row, k).text(), markup=False)


@app.command()
def warmup() -> None:
    """Compile everything that would be compiled when first needed.

    Example: `bisector warmup`
    """
    from bisector.warmup import warmup as compile_loops

    with _told():
        _out.print(str(compile_loops(verbose=True)), markup=False)


@app.command()
def datasets() -> None:
    """List the built-in tables.

    Example: `bisector datasets`
    """
    from bisector.datasets import overview

    _out.print(overview().text(), markup=False)
    _out.print("\ndigits  scikit-learn  1,797 images of digits, 64 pixels each", markup=False)


def main() -> None:
    """Run the command line."""
    # What is printed may hold any letter of the data, whatever the terminal believes in.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()


def _reported(
    data: Path | None, target: str | None, demo: str | None, minutes: float, types: list[str] | None
) -> Any:
    with _told("Stopped before anything was found out: nothing is written."), _watched():
        from bisector.reports.built_ins import as_table, built_in, usual_target
        from bisector.reports.writing import report as make_report, report_on

        if data is not None and demo is not None:
            raise typer.BadParameter("give a table or --demo, not both", param_hint="--demo")
        if data is not None:
            return make_report(data, target, minutes=minutes, types=_types(types))
        name, given = demo or "iris", _types(types)
        table = as_table(built_in(name), given)
        reading = f"as_table(built_in({name!r}){f', types={given!r}' if given else ''})"
        return report_on(table, name, reading, target or usual_target(name), minutes=minutes, types=given)


def _table(data: Path | None, demo: str | None, types: list[str] | None) -> tuple[Any, dict[str, str]]:
    from bisector.reports.built_ins import as_table, built_in

    given = _types(types)
    table = as_table(data, given) if data is not None else as_table(built_in(demo or "iris"), given)
    return table, {name: kind for name, kind in given.items() if kind != "drop"}


def _types(words: list[str] | None) -> dict[str, str]:
    found = {}
    for word in words or []:
        name, equals, kind = word.rpartition("=")
        if not equals or not name:
            raise typer.BadParameter(f"write NAME=TYPE, not {word!r}", param_hint="--type")
        found[name] = kind
    return found


@contextmanager
def _watched() -> Iterator[None]:
    """Show progress bars on a terminal."""
    from bisector.engine.progress import progress

    with progress():
        yield


@contextmanager
def _told(when_stopped: str = "Stopped.") -> Iterator[None]:
    """Turn faults of the data into one sentence and the exit code 1."""
    try:
        yield
    except (DataFault, MemoryError) as fault:
        _fail(fault)
    except KeyboardInterrupt:
        _err.print(when_stopped)
        raise typer.Exit(1) from None
    except (ValueError, TypeError, OSError, ImportError) as fault:
        _fail(TableFault(str(fault).splitlines()[0] if str(fault) else repr(fault)), fault)


def _fail(fault: BaseException, cause: BaseException | None = None) -> None:
    if _debug:
        raise cause or fault
    _err.print(f"bisector: {fault}", markup=False)
    raise typer.Exit(1) from None


if __name__ == "__main__":
    main()
