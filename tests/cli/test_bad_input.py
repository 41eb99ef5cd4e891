"""What is wrong with a table is told in one sentence, with the exit code 1; what merely looks odd is used."""

import pickle
import resource
import zipfile

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run

import bisector

RNG = np.random.default_rng(0)


def numbers(n, *names):
    return pl.DataFrame({name: RNG.normal(size=n) for name in names})


@pytest.fixture
def folder(tmp_path):
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
    ran = run("report", "data.csv", "--target", target, folder=folder, ok=1)
    assert words in ran.stderr
    assert ran.stderr.startswith("bisector: ")
    assert ran.stderr.count("\n") == 1
    assert not (folder / "report.html").exists()


def test_a_page_that_cannot_be_written(folder):
    numbers(30, "a", "b").write_csv(folder / "data.csv")
    ran = run("report", "data.csv", "--out", "nowhere/page.html", folder=folder, ok=1)
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
    run("report", "odd.csv", "--target", "the <b>target</b>", "--minutes", "0.02", folder=folder)
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
    run("report", "data.csv", "--target", "y", "--minutes", "0.02", folder=folder)
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
    words = ["report", "data.csv", "--target", "y", "--minutes", "0.02"]
    run(*words, "--type", "code=category", "--type", "x=drop", folder=folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "one indicator a value" in page
    run("report", "data.csv", "--type", "code", folder=folder, ok=2)
    said = run("report", "data.csv", "--type", "code=float", folder=folder, ok=1).stderr
    assert "no type of a column" in said


def test_small_tables_without_a_target(folder):
    (folder / "two.csv").write_text("a,b\n1,2\n3,4\n")
    assert "nothing to compare" in run("report", "two.csv", folder=folder, ok=1).stderr
    numbers(12, "a", "b").write_csv(folder / "twelve.csv")
    run("report", "twelve.csv", folder=folder)
    assert "none can be called unusual" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_full_disk_leaves_nothing_behind(folder):
    numbers(30, "a", "b").write_csv(folder / "data.csv")
    (folder / "report.html").write_text("the old page")

    def little_room():  # files may not grow beyond this: writing fails as it does on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    said = run("report", "data.csv", folder=folder, ok=1, limit=little_room).stderr
    assert "report.html cannot be written" in said
    assert "Nothing was left behind" in said
    assert (folder / "report.html").read_text() == "the old page"
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "report.html"]


class Hostile:
    def __reduce__(self):
        return print, ("code of the file ran",)


def test_corrupted_and_hostile_model_files_are_refused(folder):
    X = RNG.normal(size=(30, 2))
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    table.write_csv(folder / "data.csv")
    whole = bisector.save(bisector.KMeans(2).fit(X), folder / "whole").read_bytes()
    (folder / "truncated").write_bytes(whole[: len(whole) // 2])
    (folder / "pickled").write_bytes(pickle.dumps(Hostile()))
    with zipfile.ZipFile(folder / "bomb", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("schema.json", b"0" * 10_000_000)
    for name, words in (
        ("truncated", "damaged or incomplete"),
        ("pickled", "looks like a pickle, which could run any code"),
        ("bomb", "could unfold to any size"),
        ("data.csv", "no model file of bisector"),
        ("absent", "There is no file"),
    ):
        ran = run("predict", name, "data.csv", folder=folder, ok=1)
        assert words in ran.stderr
        assert ran.stderr.count("\n") == 1
        assert ran.stdout == ""


@pytest.mark.slow
def test_ten_thousand_columns(folder):
    values = RNG.normal(size=(40, 10_000))
    frame = pl.DataFrame({f"c{j}": values[:, j] for j in range(10_000)})
    frame.with_columns(y=pl.Series(np.arange(40) % 2)).write_csv(folder / "wide.csv")
    run("report", "wide.csv", "--target", "y", "--minutes", "0.2", folder=folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "and 9,800 more columns" in page
    assert len(page) < 5_000_000
