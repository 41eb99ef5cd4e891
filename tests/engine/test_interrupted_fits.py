"""Every fit with a checkpoint, interrupted after each thing it notes in turn, goes on to the same bits."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from tests.engine.interruptions import (
    APART,
    BANDS,
    MANY,
    MIXED,
    SCORES,
    SIDES,
    SPARSE,
    TWO,
    WEIGHT,
    WIDE,
    WORDS,
    X,
    goes_on,
    interrupted_after,
)

from bisector import ElasticNet, ElasticNetCV, KMedoids, Lasso, LassoCV, Levenshtein, LinearSVC
from bisector.engine import checkpoint as checkpoints
from bisector.engine.sources import source
from bisector.solvers import linear_svm, penalised_path

FITS: dict[str, tuple[Any, ...]] = {
    "squared hinge": (LinearSVC(), X, SIDES),
    "hinge": (LinearSVC(loss="hinge"), X, SIDES),
    "hinge, to few digits": (LinearSVC(loss="hinge", tol=1e-2), X, SIDES),
    "hinge, three planes": (LinearSVC(loss="hinge", C=0.1), X, BANDS, WEIGHT),
    "hinge through the origin": (LinearSVC(loss="hinge", fit_intercept=False), X, SIDES),
    "squared hinge, three planes": (LinearSVC(class_weight="balanced"), X, BANDS, WEIGHT),
    "squared hinge, sparse": (LinearSVC(C=100.0), SPARSE, MIXED),
    "separable": (LinearSVC(C=1e12), 1e6 * APART, SIDES),
    "separable, hinge": (LinearSVC(C=1e14, loss="hinge"), 1e6 * APART, SIDES),
    "few weights": (LinearSVC(penalty="l1", C=0.1, tol=1e-5, max_iter=40), X, SIDES),
    "few weights, sparse": (LinearSVC(penalty="l1", tol=1e-2), SPARSE, MIXED),
    "few weights, three planes": (LinearSVC(penalty="l1", tol=1e-2, random_state=3), X, BANDS),
}


FITS |= {
    "lasso": (Lasso(alpha=0.1), X, SCORES),
    "elastic net, two targets": (ElasticNet(alpha=0.01, l1_ratio=0.9), X, TWO, WEIGHT),
    "lasso, more features than rows": (Lasso(alpha=0.05), WIDE, WIDE[:, :2] - WIDE[:, 2:4]),
    "lasso, chosen": (LassoCV(cv=3, alphas=20), X, SCORES, WEIGHT),
    "lasso, chosen among many features": (LassoCV(cv=2, alphas=5, n_jobs=1), WIDE, WIDE[:, 0]),
    "elastic net, chosen": (
        ElasticNetCV(l1_ratio=[0.2, 0.9], cv=KFold(4, shuffle=True, random_state=0), alphas=9), SPARSE, SCORES,
    ),
}  # fmt: skip

FITS |= {
    "medoids": (KMedoids(7), X[:400]),
    "medoids, ties and weights": (KMedoids(5, metric="manhattan"), MANY, None, WEIGHT[:600]),
    "medoids, best swap first": (KMedoids(6, method="pam", init="random", random_state=3), X[:200]),
    "medoids by turns": (KMedoids(9, method="alternate", init="k-medoids++", n_init=3), X[:300]),
    "medoids of samples": (KMedoids(4, method="clara", sample_size=40, random_state=1), X),
    "medoids, their number chosen": (KMedoids("auto", k_range=[3, 3, 5], init="random", n_init=2), X[:150]),
    "medoids among words": (KMedoids(4, metric=Levenshtein()), WORDS),
}

# Of those that note much, every so many notes are enough.
STRIDES = {"separable, hinge": 11, "few weights, three planes": 13}


@pytest.mark.filterwarnings("ignore:LinearSVC stopped")
@pytest.mark.parametrize("name", FITS)
def test_interrupted_anywhere_it_ends_at_the_same_bits(name, tmp_path, monkeypatch):
    assert goes_on(monkeypatch, tmp_path / "kept", *FITS[name], stride=STRIDES.get(name, 1)) >= 2


@pytest.mark.filterwarnings("ignore:LinearSVC stopped")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("sparse", [False, True])
def test_coordinate_descent_goes_on_too(loss, sparse, tmp_path, monkeypatch):
    """Rows of many features; and a descent that gives up, whereupon Newton's method takes over."""
    rows, sides = (SPARSE, MIXED) if sparse else (X, SIDES)
    monkeypatch.setattr(linear_svm, "FEW_FEATURES", 1)
    monkeypatch.setattr(linear_svm, "MANY_FEATURES", 1)
    model = LinearSVC(loss=loss, C=0.05, tol=1e-3, max_iter=30, random_state=5)
    assert goes_on(monkeypatch, tmp_path / "kept", model, rows, sides, stride=3) >= 2
    monkeypatch.setattr(linear_svm, "MANY_FEATURES", 5000)
    model.set_params(tol=1e-9, C=10.0, random_state=1)
    assert goes_on(monkeypatch, tmp_path / "kept", model, rows, sides, stride=4) >= 4


def test_a_generator_that_has_moved_on_changes_nothing(tmp_path, monkeypatch):
    whole = LinearSVC(penalty="l1", random_state=np.random.RandomState(5)).fit(X, BANDS)
    model = LinearSVC(penalty="l1", random_state=np.random.RandomState(5), checkpoint=tmp_path / "kept")
    assert interrupted_after(2, monkeypatch, model, X, BANDS)
    np.testing.assert_array_equal(model.fit(X, BANDS).coef_, whole.coef_)
    other = LinearSVC(penalty="l1", random_state=np.random.RandomState(6)).fit(X, BANDS)
    assert (other.coef_ != whole.coef_).any()  # the order does matter


def test_other_data_and_parameters_are_refused(tmp_path, monkeypatch):
    model = LinearSVC(loss="hinge", checkpoint=tmp_path / "kept")
    assert interrupted_after(2, monkeypatch, model, X, SIDES)
    for other, message in (
        ({"C": 2.0}, "was made with C=1.0, not 2.0. Fit as before to go on, or remove the file"),
        ({"loss": "squared_hinge"}, "was made with loss='hinge', not 'squared_hinge'"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**other).fit(X, SIDES)
    for data, what in (((X[::-1], SIDES), "values"), ((X, SIDES[::-1]), "targets"), ((X, SIDES, WEIGHT), "")):
        with pytest.raises(ValueError, match=f"was made from other data: the {what}"):
            clone(model).fit(*data)
    assert (tmp_path / "kept").exists()


def test_parts_side_by_side_write_one_file_at_a_time(tmp_path):
    """Many threads note into one file, which is whole whenever it is read."""
    from threading import Thread

    rows = source(X)
    with checkpoints.checkpoint_of(tmp_path / "kept", LinearSVC(), rows) as kept:

        def note(part: int) -> None:
            for turn in range(30):
                kept.part(f"plane {part}").note("turn", x=np.full(1000, turn))
                kept.save()  # type: ignore[attr-defined]

        threads = [Thread(target=note, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert checkpoints._read(tmp_path / "kept")
        for part in range(4):
            assert (kept.recall(f"plane {part}/turn")["x"] == 29).all()


def test_what_takes_long_to_write_is_written_seldom(tmp_path, monkeypatch):
    now, written = [0.0], []

    def writing(self: Any) -> None:
        written.append(now[0])
        now[0] += 0.5  # five times what is quick

    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(checkpoints._File, "_write", writing)
    with checkpoints.checkpoint_of(tmp_path / "kept", LinearSVC(), source(X)) as kept:
        for _ in range(60):
            now[0] += 0.5
            kept.note("turn", x=1)
    assert written == [0.0, 2.5, 13.0, 23.5]


def test_products_are_made_once(tmp_path, monkeypatch):
    """What remains after the pass over the rows reads none of them."""
    whole = ElasticNet(alpha=0.01).fit(X, TWO)
    model = ElasticNet(alpha=0.01, checkpoint=tmp_path / "kept")
    assert interrupted_after(1, monkeypatch, model, X, TWO)
    monkeypatch.setattr(penalised_path, "gather", None)
    np.testing.assert_array_equal(model.fit(X, TWO).coef_, whole.coef_)


def test_other_folds_are_refused(tmp_path, monkeypatch):
    halves = [(np.arange(450), np.arange(450, 900)), (np.arange(300), np.arange(300, 900))]
    model = LassoCV(cv=halves, alphas=4, checkpoint=tmp_path / "kept")
    assert interrupted_after(3, monkeypatch, model, X, SCORES)
    halves[1] = (np.arange(400), np.arange(400, 900))
    with pytest.raises(ValueError, match="was made with cv="):
        model.fit(X, SCORES)
    (tmp_path / "kept").unlink()
    model = LassoCV(cv=KFold(2, shuffle=True), alphas=4, checkpoint=tmp_path / "kept")
    assert interrupted_after(3, monkeypatch, model, X, SCORES)
    with pytest.raises(ValueError, match="was made from other data: the folds differ"):
        model.fit(X, SCORES)


def test_a_fold_that_did_not_converge_is_told_of_after_going_on(tmp_path, monkeypatch):
    model = LassoCV(cv=2, alphas=4, max_iter=1, tol=1e-14, eps=1e-6, checkpoint=tmp_path / "kept")
    with pytest.warns(ConvergenceWarning, match="LassoCV (on a fold )?stopped") as told:
        clone(model).set_params(checkpoint=None).fit(X, SCORES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert interrupted_after(4, monkeypatch, model, X, SCORES)
    with pytest.warns(ConvergenceWarning, match="LassoCV (on a fold )?stopped") as again:
        model.fit(X, SCORES)
    assert any("on a fold" in str(one.message) for one in told)
    assert [str(one.message) for one in again] == [str(one.message) for one in told]
