"""Perceptrons, interrupted after each thing they note in turn, go on to the same bits."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.engine.interruptions import (
    BANDS,
    MIXED,
    SCORES,
    SIDES,
    SPARSE,
    WEIGHT,
    WORDS,
    X,
    goes_on,
    interrupted_after,
    learned,
)

from bisector import KernelPerceptron, Perceptron, PerceptronRegressor
from bisector.kernels import Spectrum
from bisector.solvers import kernel_perceptron, perceptron_pass

NEARLY = X[np.abs(X @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + 2.2) > 0.05]  # rows that a plane separates, barely
NEAR = np.where(NEARLY @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + 2.2 > 0, "far", "near")
WEIGHED = (None, None, WEIGHT / 3)  # where to begin, and weights that are no whole numbers

FITS: dict[str, tuple[Any, ...]] = {
    "perceptron, separable": (Perceptron(), NEARLY, NEAR),
    "perceptron, no plane separates": (Perceptron(max_iter=300, tol=None), X, SIDES),
    "perceptron gives up": (Perceptron(tol=0.02, random_state=7), X, SIDES),
    "perceptron in a given order": (Perceptron(order=np.arange(899, -1, -1), max_iter=200), X, SIDES),
    "perceptron, three planes": (Perceptron(max_iter=60, class_weight={0: 2.5}, n_jobs=1), X, BANDS, *WEIGHED),
    "perceptron, pairs of classes": (
        Perceptron(max_iter=60, multi_class="one-vs-one", init="basic", n_jobs=1), X, BANDS,
    ),
    "perceptron, averaged": (Perceptron(averaged=True, max_iter=90), X, SIDES),
    "perceptron with a history": (Perceptron(history=True, max_iter=90), X[:300], SIDES[:300]),
    "perceptron, few rows": (Perceptron(max_iter=900, tol=None), X[:50], SIDES[:50]),
    "perceptron, sparse": (Perceptron(max_iter=90), SPARSE, MIXED, *WEIGHED),
    "perceptron judged by other rows": (Perceptron(early_stopping=True, n_iter_no_change=40), X, SIDES),
    "perceptron, shrunk": (Perceptron(penalty="l2", max_iter=12, tol=None), X, SIDES),
    "perceptron, cut": (Perceptron(penalty="elasticnet", alpha=0.01), SPARSE, MIXED, *WEIGHED),
    "kernel perceptron": (KernelPerceptron(max_iter=9), X, SIDES),
    "kernel perceptron, separable": (KernelPerceptron(gamma=0.5), NEARLY[:300], NEAR[:300]),
    "kernel perceptron, three planes": (
        KernelPerceptron("rbf", gamma=0.3, tol=0.1, n_iter_no_change=2, max_iter=8), X[:300], BANDS[:300],
        WEIGHT[:300],
    ),
    "kernel perceptron, few rows kept": (KernelPerceptron(budget=60, max_iter=5), SPARSE, MIXED),
    "kernel perceptron among words": (
        KernelPerceptron(Spectrum(2), shuffle=False, max_iter=6), WORDS, BANDS[:150],
    ),
    "kernel perceptron of given values": (
        KernelPerceptron("precomputed", max_iter=6), X[:200] @ X[:200].T, SIDES[:200],
    ),
    "delta rule": (PerceptronRegressor(), X, SCORES),
    "delta rule, weights": (PerceptronRegressor(scale="longest", max_epochs=20), X, SCORES, WEIGHT),
    "delta rule, until": (
        PerceptronRegressor(until=1e-20, random_state=2, learning_rate=0.3), SPARSE, SPARSE @ np.arange(40.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_interrupted_anywhere_it_ends_at_the_same_bits(name, tmp_path, monkeypatch):
    assert goes_on(monkeypatch, tmp_path / "kept", *FITS[name]) >= 2


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (Perceptron(max_iter=30), (X, SIDES)),
        (Perceptron(averaged=True, history=True, max_iter=9), (NEARLY, NEAR)),
        (Perceptron(max_iter=12, n_jobs=1), (SPARSE, BANDS, *WEIGHED)),
    ],
)
def test_rows_measured_between_the_passes(model, data, tmp_path, monkeypatch):
    """As many rows are: a pass at a time, with references that are not noted."""
    within = learned(clone(model).fit(*data))
    monkeypatch.setattr(perceptron_pass, "_FEW_VALUES", 1)
    assert goes_on(monkeypatch, tmp_path / "kept", model, *data, stride=2) >= 4
    np.testing.assert_array_equal(clone(model).fit(*data)._mistakes, within["_mistakes"])


@pytest.mark.parametrize("budget", [None, 90])
def test_a_kernel_perceptron_goes_on_within_a_pass(budget, tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_perceptron, "_BLOCK", 16)
    monkeypatch.setattr(kernel_perceptron, "_BLOCKS_TOGETHER", 3)
    model = KernelPerceptron(gamma=0.5, max_iter=4, budget=budget)
    data = X[:300], BANDS[:300]
    assert goes_on(monkeypatch, tmp_path / "kept", model, *data, stride=2) >= 6


@pytest.mark.parametrize("kind", [Perceptron, KernelPerceptron, PerceptronRegressor])
def test_a_perceptron_keeps_the_seed_it_has_drawn(kind, tmp_path, monkeypatch):
    limit = {"max_epochs" if kind is PerceptronRegressor else "max_iter": 20}
    targets = SCORES if kind is PerceptronRegressor else BANDS
    for make in (np.random.RandomState, np.random.default_rng):
        whole = learned(kind(random_state=make(5), **limit).fit(X, targets))
        model = kind(random_state=make(5), checkpoint=tmp_path / "kept", **limit)
        assert interrupted_after(3, monkeypatch, model, X, targets)
        for name, value in learned(model.fit(X, targets)).items():
            np.testing.assert_array_equal(value, whole[name], err_msg=name)
        other = learned(kind(random_state=make(6), **limit).fit(X, targets))
        assert any(not np.array_equal(value, whole[name]) for name, value in other.items())
    model = kind(random_state=None, checkpoint=tmp_path / "kept", **limit)
    assert interrupted_after(3, monkeypatch, model, X, targets)
    with np.load(tmp_path / "kept") as stored:
        seed = int(stored["seed:seed"])
    whole = learned(kind(random_state=seed, **limit).fit(X, targets))
    for name, value in learned(model.fit(X, targets)).items():
        np.testing.assert_array_equal(value, whole[name], err_msg=name)


def test_a_perceptron_that_went_on_learns_more_rows_alike(tmp_path, monkeypatch):
    model = Perceptron(averaged=True, max_iter=30, checkpoint=tmp_path / "kept")
    whole = clone(model).set_params(checkpoint=None).fit(X, SIDES).partial_fit(X[:50], SIDES[:50])
    assert interrupted_after(2, monkeypatch, model, X, SIDES)
    model.fit(X, SIDES).partial_fit(X[:50], SIDES[:50])
    assert not (tmp_path / "kept").exists()
    np.testing.assert_array_equal(model.coef_, whole.coef_)


def test_other_weights_to_begin_with_are_refused(tmp_path, monkeypatch):
    start = np.ones((1, 6))
    model = Perceptron(max_iter=40, tol=None, checkpoint=tmp_path / "kept")
    whole = Perceptron(max_iter=40, tol=None).fit(X, SIDES, start)
    assert interrupted_after(2, monkeypatch, model, X, SIDES, start)
    with pytest.raises(ValueError, match="was made from other data: the weights to begin with differ"):
        clone(model).fit(X, SIDES)
    np.testing.assert_array_equal(model.fit(X, SIDES, start).coef_, whole.coef_)
    # A fit that goes on from the one before finds that in the same model only.
    model.set_params(warm_start=True)
    whole = clone(model).set_params(checkpoint=None).fit(X, SIDES, start).fit(X, SIDES)
    assert interrupted_after(2, monkeypatch, model, X, SIDES)
    with pytest.raises(ValueError, match="the weights to begin with differ"):
        clone(model).fit(X, SIDES)
    np.testing.assert_array_equal(model.fit(X, SIDES).coef_, whole.coef_)


def test_other_rows_and_labels_are_refused_by_perceptrons(tmp_path, monkeypatch):
    def refused(model: Any, message: str, *data: Any) -> None:
        with pytest.raises(ValueError, match=message):
            model.fit(*data)

    for model, rows, targets in (
        (Perceptron(max_iter=30), X, SIDES),
        (KernelPerceptron(max_iter=4), X, SIDES),
        (KernelPerceptron(Spectrum(2), max_iter=4), WORDS, SIDES[:150]),
        (PerceptronRegressor(), X, SCORES),
    ):
        model.set_params(checkpoint=tmp_path / "kept")
        assert interrupted_after(2, monkeypatch, model, rows, targets)
        refused(model, "the (values|kernel values) differ", rows[::-1], targets)
        refused(model, "the targets differ", rows, targets[::-1])
        weight = {"sample_weight": WEIGHT[: len(rows)]}
        with pytest.raises(ValueError, match="the weights differ"):
            model.fit(rows, targets, **weight)
        refused(
            clone(model).set_params(shuffle=False), "was made with shuffle=True, not False", rows, targets
        )
        model.fit(rows, targets)
        assert not (tmp_path / "kept").exists()
    model = KernelPerceptron(Spectrum(2), max_iter=4, checkpoint=tmp_path / "kept")
    assert interrupted_after(2, monkeypatch, model, WORDS, SIDES[:150])
    # Of kernels the name is known, and what they say of the rows.
    refused(model.set_params(kernel=Spectrum(3)), "the kernel values differ", WORDS, SIDES[:150])


def test_a_walk_that_cannot_end_leaves_nothing(tmp_path):
    model = PerceptronRegressor(scale=None, checkpoint=tmp_path / "kept")
    with pytest.raises(ValueError, match="grow without bound"):
        model.fit(X, SCORES)
    holes = np.where(np.arange(900)[:, None] == 600, np.nan, X)
    with pytest.raises(ValueError, match="NaN"):
        Perceptron(checkpoint=tmp_path / "kept").fit(holes, SIDES)
    assert not (tmp_path / "kept").exists()
