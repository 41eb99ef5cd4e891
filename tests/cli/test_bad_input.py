"""What is wrong with a table is told in one sentence, with the exit code 1; what merely looks odd is used."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from bisector.cli import app

RNG = np.random.default_rng(0)


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def numbers(n, *names):
    return pl.DataFrame({name: RNG.normal(size=n) for name in names})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


REFUSED = {
    "missing file": (None, "y", "There is no file"),
    "empty file": (b"", "y", "data.csv is empty"),
    "only a header": (b"a,y\n", "y", "a header but no rows"),
    "one row": (b"a,y\n1,2\n", "y", "nothing to"),
    "one column": (b"y\n" + b"1\n2\n3\n4\n" * 10, "y", "no column beside the target 'y'"),
    "no such target": (b"a,b\n" + b"1,2\n3,4\n" * 10, "y", "no column 'y' to predict; it has 'a' and 'b'"),
    "constant target": (
        b"a,y\n" + b"1,7\n2,7\n" * 10,
        "y",
        "'y' is '7.0' in every row: there is nothing to learn",
    ),
    "target without cells": (b"a,y\n" + b"1,NA\n2,NA\n" * 10, "y", "Every cell of the target 'y' is missing"),
    "only identifiers": (
        b"id,y\n" + b"".join(b"k%d,%d\n" % (i, i % 2) for i in range(40)),
        "y",
        "names the rows",
    ),
    "ragged": (b"a,y\n1,2\n3,4,5\n", "y", "Line 3 of data.csv has 3 cells"),
    "not UTF-8": (b"a,y\n1,caf\xe9\n2,b\n", "y", "not UTF-8 (line 2"),
    "few rows": (b"a,y\n1,a\n2,b\n3,a\n4,b\n", "y", "ten are the least"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(folder, case):
    content, target, words = REFUSED[case]
    if content is not None:
        (folder / "data.csv").write_bytes(content)
    ran = run("report", "data.csv", "--target", target)
    assert ran.exit_code == 1
    assert words in ran.stderr
    assert ran.stderr.startswith("bisector: ")
    assert ran.stderr.count("\n") == 1
    assert not (folder / "report.html").exists()


def test_a_page_that_cannot_be_written(folder):
    numbers(30, "a", "b").write_csv(folder / "data.csv")
    ran = run("report", "data.csv", "--out", "nowhere/page.html")
    assert ran.exit_code == 1
    assert "nowhere/page.html cannot be written" in ran.stderr.replace("\n", "")


ODD = [
    "<script>alert(1)</script>",
    "=cmd()",
    'with "quotes"',
    "with spaces, and commas",
    "new\nline",
    "${x}",
    "$a_b$",
    "日本",
]


def test_names_and_cells_from_the_data_are_escaped(folder):
    n = 60
    frame = pl.DataFrame({name: RNG.normal(size=n) for name in ODD})
    frame = frame.with_columns(pl.Series("the <b>target</b>", RNG.choice(ODD[:3], n)))
    frame.write_csv(folder / "odd.csv")
    ran = run("report", "odd.csv", "--target", "the <b>target</b>", "--minutes", "0.02")
    assert ran.exit_code == 0, ran.output
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<b>target</b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "=cmd()" in page


def test_awkward_columns_are_used_or_dropped_with_a_reason(folder):
    n = 80
    label = np.arange(n) % 2
    frame = pl.DataFrame({
        "id": np.arange(n), "empty": [None] * n, "same": ["x"] * n,
        "when": pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 3, 20), eager=True),
        "mixed": [str(i / 7) if i != 3 else "oops" for i in range(n)],
        "x": RNG.normal(size=n) + label, "y": [*np.where(label, "yes", "no")[:-1], "only once"],
    })  # fmt: skip
    frame.write_csv(folder / "data.csv")
    ran = run("report", "data.csv", "--target", "y", "--minutes", "0.02")
    assert ran.exit_code == 0, ran.output
    page = (folder / "report.html").read_text(encoding="utf-8")
    for words in (
        "names the rows",
        "every cell is missing",
        "has the same value in every row",
        "days since 1970",
    ):
        assert words in page
    assert "The class &#39;only once&#39; has a single row" in page


def test_types_can_be_overridden(folder):
    frame = numbers(40, "x").with_columns(code=pl.Series(np.arange(40) % 3), y=pl.Series(np.arange(40) % 2))
    frame.write_csv(folder / "data.csv")
    words = [
        "report",
        "data.csv",
        "--target",
        "y",
        "--minutes",
        "0.02",
        "--type",
        "code=category",
        "--type",
        "x=drop",
    ]
    ran = run(*words)
    assert ran.exit_code == 0, ran.output
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "one indicator a value" in page
    assert run("report", "data.csv", "--type", "code").exit_code == 2
    assert "no type of a column" in run("report", "data.csv", "--type", "code=float").stderr


def test_small_tables_without_a_target(folder):
    (folder / "two.csv").write_text("a,b\n1,2\n3,4\n")
    assert "nothing to compare" in run("report", "two.csv").stderr
    numbers(12, "a", "b").write_csv(folder / "twelve.csv")
    ran = run("report", "twelve.csv")
    assert ran.exit_code == 0, ran.output
    assert "none can be called unusual" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_ten_thousand_columns(folder):
    values = RNG.normal(size=(40, 10_000))
    frame = pl.DataFrame({f"c{j}": values[:, j] for j in range(10_000)})
    frame.with_columns(y=pl.Series(np.arange(40) % 2)).write_csv(folder / "wide.csv")
    ran = run("report", "wide.csv", "--target", "y", "--minutes", "0.2")
    assert ran.exit_code == 0, ran.output
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "and 9,800 more columns" in page
    assert len(page) < 5_000_000
