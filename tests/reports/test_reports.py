"""Comparisons, explorations and the report as an object."""

import re

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold

import bisector
from bisector.engine.show import Table
from bisector.reports import TableFault, as_table, built_in
from bisector.reports.candidates import candidates_for, folds_for
from bisector.reports.comparison import Outcome, compare, judged
from bisector.reports.differences import paired_difference
from bisector.reports.exploration import explore
from bisector.reports.scores import measure_for, scored
from bisector.reports.source_code import SourceCode
from bisector.reports.target import choose_target, split_target

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def straight():
    """A number that is a plane, with noise."""
    x = RNG.normal(size=(120, 3))
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    return frame.with_columns(y=pl.Series(x @ [1.0, -2.0, 0.0] + 0.1 * RNG.normal(size=120)))


@pytest.fixture(scope="module")
def found(straight):
    return bisector.report(straight, "y", minutes=0.1)


def test_differences_by_hand():
    # Gaps 0.1, 0.3: mean 0.2, variance 0.02; corrected by 1/2 + 1, so the standard error is √0.03.
    gap = paired_difference([0.5, 0.9], [0.4, 0.6], test_share=0.5)
    assert gap.mean == pytest.approx(0.2)
    assert gap.error == pytest.approx(np.sqrt(0.03))
    assert gap.high - gap.mean == pytest.approx(
        12.706 * np.sqrt(0.03), rel=1e-4
    )  # t of one degree of freedom
    assert not gap.clear


def test_folds_leave_no_class_untaught():
    outer, inner = folds_for("classes", smallest=3, n=100)
    assert (outer.get_n_splits(), inner.get_n_splits()) == (3, 2)
    assert folds_for("classes", smallest=2, n=100)[1] is None
    assert isinstance(outer, StratifiedKFold)
    assert folds_for("number", 5000, 5000)[0].get_n_splits() == 5


def test_a_plane_is_told_from_the_rest(found):
    assert found.score_ > 0.99
    assert re.match(r"Use (least squares|ridge|lasso): R² 0\.99", found.verdict)
    assert isinstance(found.table, Table)
    assert found.table.columns[:3] == ("model", "R²", "in sample")


def test_the_model_takes_tables_and_answers(found, straight):
    answers = found.best_.predict(straight.drop("y"))
    assert np.corrcoef(answers, straight["y"])[0, 1] > 0.99


def test_the_code_gives_the_same_score_and_model(found, straight, capsys):
    made = {"data": straight}
    exec(found.code, made)
    assert float(capsys.readouterr().out) == pytest.approx(found.score_, abs=1e-12)
    rows = straight.drop("y")
    np.testing.assert_array_equal(made["model"].predict(rows), found.best_.predict(rows))


def test_it_is_a_text_a_page_and_a_file(found, tmp_path):
    assert "Which model to use\n=====" in repr(found)
    shown = found._repr_html_()
    assert shown.startswith("<iframe sandbox=")
    assert "<script>" not in shown, "the page is escaped into its frame"
    page = found.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page == found.html()
    model = bisector.load(found.save_model(tmp_path / "model"))
    assert np.isfinite(model.predict({"a": [0.1], "b": [0.2], "c": [0.3]})).all()


def test_the_simplest_of_equals_is_advised():
    target = choose_target(pl.DataFrame({"y": ["a", "b"] * 20}), "y")
    one, two, three = candidates_for("classes")[:3]

    def outcome(candidate, scores):
        n = round(40 * float(np.mean(scores)))
        predictions = np.where(np.arange(40) < n, target.y, "wrong")
        return Outcome(candidate, np.array(scores), np.array(scores), predictions, None, 0.0)

    even = [outcome(one, [0.5] * 4), outcome(two, [0.9, 0.8, 0.9, 0.9]), outcome(three, [0.9, 1.0, 0.8, 0.9])]
    made = judged(target, even, {}, None, None)
    assert (made.best, made.advised) == (2, 1)
    assert "simpler" in made.verdict()
    clear = [outcome(one, [0.5] * 4), outcome(two, [0.6] * 4), outcome(three, [0.9] * 4)]
    assert judged(target, clear, {}, None, None).advised == 2


@pytest.fixture(scope="module")
def rare():
    """Two classes, one of them a twentieth of the rows, told apart by a column and by nothing else."""
    rng = np.random.default_rng(1)
    y = np.repeat(["usual", "rare"], [380, 20])
    frame = pl.DataFrame({"a": rng.normal(size=400) + 2.5 * (y == "rare"), "b": rng.normal(size=400)})
    return frame.with_columns(y=pl.Series(y))


def test_rare_classes_count_as_much_as_frequent_ones(rare, capsys):
    found = bisector.report(rare, "y", minutes=0.2)
    assert found.table.columns[1] == "balanced accuracy"
    assert "Use baseline" not in found.verdict, (
        "always the frequent class is right in 95% of cases, and no use"
    )
    # By hand: 2.5 apart, the best threshold lies at 1.25, and Φ(1.25) = 0.894 of each class are on its side; of the
    # 20 rare rows two more or less make 0.05.
    assert 0.84 < found.score_ < 0.95
    recall = (found.best_.predict(rare.drop("y")) == rare["y"].to_numpy())[380:].mean()
    assert recall > 0.7
    page = found.html()
    assert "The classes are very unequal: &#39;usual&#39; has 380 rows, &#39;rare&#39; 20" in page
    made = {"data": rare}
    exec(found.code, made)
    shown = {row[0].removesuffix(" (advised)"): row[1] for row in found.table.rows if "(advised)" in row[0]}
    assert f"{float(capsys.readouterr().out):.4f}" == next(iter(shown.values()))
    np.testing.assert_array_equal(made["model"].predict(rare.drop("y")), found.best_.predict(rare.drop("y")))


def test_the_measure_that_suits():
    assert measure_for("classes", np.repeat([0, 1], [49, 10])) == "accuracy"
    assert measure_for("classes", np.repeat([0, 1], [50, 10])) == "balanced accuracy"
    assert measure_for("number", np.arange(5.0)) == "R²"
    y, said = np.repeat([0, 1, 2], [6, 2, 2]), np.array([0, 0, 0, 0, 0, 1, 1, 0, 2, 2])
    assert scored("balanced accuracy", y, said) == pytest.approx((5 / 6 + 1 / 2 + 1) / 3)
    assert scored("R²", np.array([1.0, 3.0]), np.array([1.0, 2.0])) == pytest.approx(0.5)


def test_time_that_is_over_leaves_models_out(straight):
    target = choose_target(straight, "y")
    found = compare(straight.drop("y"), target, seconds=1e-9)
    assert [outcome.candidate.name for outcome in found.outcomes] == ["baseline"]
    assert len(found.left_out) == len(candidates_for("number")) - 1


def test_a_stop_by_the_user_keeps_what_is_done(straight, monkeypatch):
    def stop(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr("bisector.reports.comparison._compile", lambda *_: None)
    monkeypatch.setattr(bisector.RidgeCV, "fit", stop)
    found = compare(straight.drop("y"), choose_target(straight, "y"), seconds=60)
    assert found.stopped
    assert [outcome.candidate.name for outcome in found.outcomes] == ["baseline", "least squares"]
    assert found.left_out["lasso"] == "stopped before it was compared"


def test_a_stop_while_the_model_is_fitted_leaves_the_comparison(straight, monkeypatch, tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bisector.reports.writing.fit_chosen", stop)
    found = bisector.report(straight, "y", minutes=0.1)
    assert found.stopped
    assert found.best_ is None
    assert found.score_ > 0.99
    assert "This was stopped before it was complete" in found.html()
    with pytest.raises(TableFault, match="no model to write"):
        found.save_model(tmp_path / "model")


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("choose_k", "table distances"),
        ("KMeans.fit", "table distances count"),
        ("_novelties", "clusters hierarchy"),
    ],
)
def test_a_stop_while_clusters_are_explored_keeps_what_is_done(step, left, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    count = bisector.measures.number_of_clusters.choose_k

    def then_stop(*given, **options):
        done = count(*given, **options)
        monkeypatch.setattr("bisector.reports.exploration.KMeans.fit", stop)
        return done

    if step == "KMeans.fit":
        monkeypatch.setattr("bisector.reports.exploration.choose_k", then_stop)
        monkeypatch.setattr("bisector.reports.exploration.structure_test", lambda *_: None)
    else:
        monkeypatch.setattr(f"bisector.reports.exploration.{step}", stop)
    found = bisector.report(as_table(bisector.datasets.four_gaussians(60).X))
    anchors = {section.anchor for section in found.sections}
    assert found.stopped
    assert anchors >= set(left.split())
    assert "novelties" not in anchors
    assert (found.best_ is None) == (step != "_novelties")
    assert "This was stopped" in found.html()


def test_splitting_samples_the_same_rows_every_time():
    table = built_in("digits")
    first, y = split_target(table, "digit", most_rows=300)
    second, again = split_target(table, "digit", most_rows=300)
    assert first.equals(second)
    np.testing.assert_array_equal(y, again)
    assert len(y) == 300


def test_code_of_nested_models():
    code = SourceCode()
    chooser = candidates_for("number")[-1].chooser(folds_for("number", 100, 100)[1])
    written = code.expression(chooser)
    names = {}
    exec(f"{code.imports()}\nmade = {written}", names)
    assert repr(names["made"]) == repr(chooser)


def test_four_clusters_are_found_with_exemplars_and_novelties():
    X, _ = bisector.datasets.four_gaussians(200)
    frame = as_table(np.vstack([X, [[1000.0, 1000.0]]]))
    found = explore(as_table(X))
    assert found.count.k_ == 4
    assert sorted(found.labels[found.exemplars].tolist()) == [0, 1, 2, 3]
    assert explore(frame).novel[0] == len(X)


def test_a_report_without_a_target():
    X, _ = bisector.datasets.four_gaussians(100)
    table = {"across": X[:, 0], "up": X[:, 1]}
    found = bisector.report(table)
    assert found.verdict.startswith("Take 4 clusters")
    assert [row[1] for row in found.table.rows] == np.bincount(found.best_.predict(table)).tolist()
    assert {section.anchor for section in found.sections} >= {
        "distances",
        "count",
        "clusters",
        "hierarchy",
        "novelties",
    }


def test_names_like_formulas_do_not_break_pictures():
    found = bisector.report(
        {"$a_b$": RNG.normal(size=30), "\\frac{": RNG.normal(size=30), "y": ["$x", "y$"] * 15},
        "y",
        minutes=0.02,
    )
    assert "<svg" in found.html() or "could not be drawn" in found.html()


def test_bad_arguments():
    with pytest.raises(TableFault, match="single row"):
        bisector.report({"a": [1.0]})
    with pytest.raises(ValueError, match="minutes"):
        bisector.report({"a": [1.0, 2.0]}, minutes=0)
    with pytest.raises(TableFault, match="no built-in table 'irises'"):
        built_in("irises")
