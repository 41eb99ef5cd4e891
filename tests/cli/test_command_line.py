"""The real command line, from a table to a page, a model and predictions."""

import re
import subprocess
import sys
from html import unescape

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run

import bisector
from bisector.reports import built_in
from bisector.reports.model_files import read_model


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """A folder with the irises as a file, a report on them, and the model that it advises."""
    folder = tmp_path_factory.mktemp("flowers")
    built_in("iris").write_csv(folder / "iris.csv")
    ran = run(
        "report",
        "iris.csv",
        "--target",
        "species",
        "--minutes",
        "0.1",
        "--model",
        "iris.bisector",
        folder=folder,
    )
    return folder, ran.stdout


def test_a_report_says_what_to_use_and_where_the_page_is(flowers):
    folder, said = flowers
    assert re.search(r"^Use [a-z -]+: accuracy 0\.\d+", said)
    assert str(folder / "report.html") in said
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert len(page) < 5_000_000
    for heading in ("In short", "The table", "Which model to use", "Its errors", "Reproduce this"):
        assert f">{heading}</h2>" in page
    assert page.count("<svg") >= 2
    assert not re.search(r'(src|href)="(?!#|data:)', page), "the page needs nothing from elsewhere"


def code_of(page):
    """Return the code that a page shows."""
    return unescape(re.search(r"<pre[^>]*><code>(.*?)</code>", page, re.DOTALL)[1])


def test_the_code_on_the_page_gives_the_same_score(flowers, monkeypatch, capsys):
    folder, _ = flowers
    about = read_model(folder / "iris.bisector").about
    page = (folder / "report.html").read_text(encoding="utf-8")
    monkeypatch.chdir(folder)
    made = {}
    exec(code_of(page), made)
    printed = float(capsys.readouterr().out)
    compared = re.search(r"accuracy (0\.\d+)", page)
    assert compared is not None
    assert abs(printed - float(compared[1])) < 5e-4, "the page shows three digits"
    features = built_in("iris").drop("species")
    again = bisector.load(folder / "iris.bisector")
    np.testing.assert_array_equal(made["model"].predict(features), again.predict(features))
    assert about["target"] == "species"


def test_predictions_have_probabilities_and_the_same_answers_block_by_block(flowers):
    folder, _ = flowers
    run("predict", "iris.bisector", "iris.csv", "--out", "all.csv", folder=folder)
    run("predict", "iris.bisector", "iris.csv", "--out", "blocks.csv", "--block", 40, folder=folder)
    answers = pl.read_csv(folder / "all.csv")
    assert answers.columns[0] == "species"
    assert answers.height == 150
    np.testing.assert_allclose(
        answers.select(pl.selectors.starts_with("probability")).sum_horizontal(), 1, atol=1e-5
    )
    assert (answers["species"] == built_in("iris")["species"]).mean() > 0.85
    assert answers.equals(pl.read_csv(folder / "blocks.csv"))


def test_columns_that_are_missing_are_named(flowers):
    folder, _ = flowers
    built_in("iris").rename({"sepal length (cm)": "Sepal Length"}).write_csv(folder / "renamed.csv")
    said = run("predict", "iris.bisector", "renamed.csv", folder=folder, ok=1).stderr
    assert "lacks the column 'sepal length (cm)'" in said
    assert said.count("\n") == 1
    assert run("predict", "report.html", "iris.csv", folder=folder, ok=1).stderr.count("\n") == 1


def test_a_row_is_explained(flowers):
    folder, _ = flowers
    said = run("explain", "iris.bisector", "iris.csv", "--row", 3, folder=folder).stdout
    assert "setosa" in said
    run("predict", "iris.bisector", "iris.csv", "--out", "why.csv", "--reasons", folder=folder)
    reasons = pl.read_csv(folder / "why.csv")["reason"]
    assert reasons.null_count() == 0
    assert (
        "no row 150" in run("explain", "iris.bisector", "iris.csv", "--row", 150, folder=folder, ok=1).stderr
    )


def test_neighbours_clusters_and_datasets(flowers):
    folder, _ = flowers
    near = run("neighbors", "iris.csv", "--row", 0, "-k", 3, folder=folder).stdout.splitlines()
    assert len(near) == 4
    assert near[0].split()[:2] == ["row", "distance"]
    said = run("cluster", "iris.csv", "-" * 2 + "k", 3, "--out", "clusters.csv", folder=folder).stdout
    assert "The clusters are in" in said
    assert pl.read_csv(folder / "clusters.csv")["cluster"].n_unique() == 3
    assert "iris" in run("datasets", folder=folder).stdout


def test_every_command_has_help_with_an_example(tmp_path):
    listed = run("--help", folder=tmp_path).stdout
    for command in ("report", "fit", "predict", "explain", "cluster", "neighbors", "warmup", "datasets"):
        assert command in listed
        assert f"bisector {command}" in run(command, "--help", folder=tmp_path).stdout


def test_wrong_use_is_exit_code_2(tmp_path):
    run("report", "--no-such-option", folder=tmp_path, ok=2)
    run("fit", "x.csv", folder=tmp_path, ok=2)
    run("report", "x.csv", "--demo", "iris", folder=tmp_path, ok=2)


def test_debug_shows_where_it_came_from(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "bisector.cli", "--debug", "report", "nowhere.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "Traceback" in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [("iris", "species"), ("diabetes", "progression"), ("wine", "grower"), ("digits", "digit")],
)
def test_reports_on_built_in_tables(tmp_path, name, target):
    said = run("report", "--demo", name, "--minutes", 1, "--model", "model", folder=tmp_path).stdout
    assert said.startswith("Use ")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert target in page
    assert len(page) < 5_000_000
    # The code as it is printed, in a process of its own.
    (tmp_path / "again.py").write_text(code_of(page), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "again.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    shown = re.search(r"Use [^:]+: (?:accuracy|R²) (-?\d+(?:\.\d+)?)", said)
    assert f"{float(ran.stdout):.3g}" == f"{float(shown[1]):.3g}"


@pytest.mark.slow
def test_a_report_without_a_target_and_its_code(tmp_path):
    built_in("iris").drop("species").write_csv(tmp_path / "iris.csv")
    run("report", "iris.csv", "--model", "model", folder=tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    made = {}
    code = code_of(page).replace("'iris.csv'", repr(str(tmp_path / "iris.csv")))
    exec(code.replace("print(", "labels = ("), made)
    features = built_in("iris").drop("species")
    np.testing.assert_array_equal(made["labels"], bisector.load(tmp_path / "model").predict(features))


@pytest.mark.slow
def test_a_large_table(tmp_path):
    rng = np.random.default_rng(0)
    n = 200_000
    x = rng.normal(size=(n, 6))
    frame = pl.DataFrame({f"x{j}": x[:, j] for j in range(6)}).with_columns(
        kind=pl.Series(rng.choice(["a", "b", "c"], n)),
        y=pl.Series(np.where(x[:, 0] + x[:, 1] ** 2 > 1, "in", "out")),
    )
    frame.write_csv(tmp_path / "large.csv")
    run("report", "large.csv", "--target", "y", "--minutes", 0.5, "--model", "m", folder=tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(page) < 5_000_000
    assert "compared on 5,000 rows chosen at random of 200,000" in page
    run("predict", "m", "large.csv", "--out", "p.csv", folder=tmp_path)
    assert (pl.read_csv(tmp_path / "p.csv")["y"] == frame["y"]).mean() > 0.8
