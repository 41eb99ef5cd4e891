"""Kernel machines, interrupted after each thing they note in turn, go on to the same bits."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
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

from bisector import SVC, SVR
from bisector.kernels import Gaussian, Linear, Polynomial, Spectrum
from bisector.solvers import kernel_lines, smo
from bisector.svm import svc, training_lines

FIRST = slice(0, 300)
INITIALS = np.array([word[0] for word in WORDS])
TIMES = np.outer(X[FIRST, 0], X[FIRST, 0]) ** 2 + X[FIRST] @ X[FIRST].T
LINE = np.linspace(0, 50, 60)[:, None]


def overlap(rows: Any, others: Any) -> Any:
    """A kernel of our own."""
    return np.minimum(rows[:, None, :], others[None, :, :]).sum(axis=2)


FITS: dict[str, tuple[Any, ...]] = {
    "kernel machine": (SVC(C=50.0), X[FIRST], SIDES[FIRST]),
    "kernel machine, three classes": (SVC(class_weight="balanced"), X[FIRST], BANDS[FIRST], WEIGHT[FIRST]),
    "kernel machine, hard margin": (SVC(C=np.inf), X[FIRST], SIDES[FIRST]),
    "kernel machine, crawling": (SVC(kernel="poly", C=1e5), X[FIRST] * 1e3, SIDES[FIRST]),
    "kernel machine, most digits": (SVC(kernel="linear", C=1e6, tol=1e-9), X[:60] * 1e3, SIDES[:60]),
    "kernel machine, begun again": (
        SVC(kernel=Polynomial(4, 1.0), C=100.0),
        LINE,
        np.sin(9 * LINE[:, 0]) > 0,
    ),
    "kernel machine, few steps": (SVC(C=np.inf, max_iter=9000), X[FIRST], SIDES[FIRST]),
    "kernel machine, sparse": (SVC(C=10.0), SPARSE[FIRST], MIXED[FIRST]),
    "kernel machine, precomputed": (SVC(C=10.0, kernel="precomputed"), TIMES, SIDES[FIRST]),
    "kernel machine, a function": (SVC(kernel=overlap), X[:150], BANDS[:150]),
    "kernel machine, not psd": (SVC(kernel="sigmoid", gamma=0.5, C=10.0), X[:150], BANDS[:150]),
    "kernel machine among words": (SVC(kernel=Spectrum(2)), WORDS, INITIALS),
    "tube": (SVR(C=50.0), X[FIRST], SCORES[FIRST]),
    "tube, weights": (SVR(kernel="poly", coef0=1.0), X[FIRST], SCORES[FIRST], WEIGHT[FIRST]),
    "tube, few steps": (SVR(kernel="poly", C=1e5, max_iter=30000), X[FIRST] * 1e3, SCORES[FIRST]),
    "tube among words": (SVR(kernel=Spectrum(1), C=10.0, epsilon=0.0), WORDS, SCORES[:150]),
}

# Of those that note much, every so many notes are enough.
STRIDES = {
    "kernel machine, most digits": 37,
    "kernel machine, begun again": 97,
    "kernel machine, crawling": 2,
}


@pytest.mark.filterwarnings("ignore:SV[CR] ended", "ignore:The kernel is not positive")
@pytest.mark.parametrize("name", FITS)
def test_interrupted_anywhere_it_ends_at_the_same_bits(name, tmp_path, monkeypatch):
    assert goes_on(monkeypatch, tmp_path / "kept", *FITS[name], stride=STRIDES.get(name, 1)) >= 2


# Kernel machines with many rows: working sets, and lines that are made as they are needed, and forgotten

TALL = np.random.default_rng(3).normal(size=(500, 40))
WAVES = np.sin(2 * TALL[:, 0]) + TALL[:, 1] * TALL[:, 2]
THIRDS = np.digitize(WAVES, np.quantile(WAVES, [0.4, 0.7]))

MANY_ROWS: dict[str, tuple[Any, ...]] = {
    "by loops": (SVC(C=5.0, tol=1e-2), TALL[:, :6], THIRDS > 0),
    "by matrix products, single": (SVC(C=5.0, tol=1e-2), TALL, THIRDS > 0),
    "by matrix products, double": (SVC(C=5.0, tol=1e-5), TALL, THIRDS > 0),
    "polynomial, three classes": (SVC(kernel="poly", coef0=1.0, tol=1e-5), TALL, THIRDS),
    "sparse": (SVC(C=5.0, tol=1e-5), csr_matrix(np.where(TALL > 1, TALL, 0.0)), THIRDS > 0),
    "regression": (SVR(C=5.0, tol=1e-5), TALL, WAVES),
}


def room_for(n_lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few hundred rows be many, of which so many lines (in double precision) are held."""
    for module, name in (
        (kernel_lines, "FEW"), (training_lines, "_SHARED"), (training_lines, "AT_ONCE"), (smo, "AT_ONCE"),
        (smo, "_ALL_AT_ONCE"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, 48)
    monkeypatch.setattr(kernel_lines, "_KEPT", n_lines)
    monkeypatch.setattr(kernel_lines, "_KEPT_BYTES", 0)
    monkeypatch.setattr(kernel_lines, "budget", lambda: 2 * n_lines * len(TALL) * 8)


@pytest.mark.filterwarnings("ignore:SV[CR] ended")
@pytest.mark.parametrize("n_lines", [60, 500])
@pytest.mark.parametrize("name", MANY_ROWS)
def test_working_sets_go_on_with_lines_of_the_same_bits(name, n_lines, tmp_path, monkeypatch):
    room_for(n_lines, monkeypatch)
    assert goes_on(monkeypatch, tmp_path / "kept", *MANY_ROWS[name], stride=19) >= 2


@pytest.mark.filterwarnings("ignore:SVC ended")
def test_with_more_free_memory_it_goes_on_as_it_began(tmp_path, monkeypatch):
    """How many lines are held follows from the memory that is free; a fit that goes on holds as many as before."""
    name = "by matrix products, double"
    model, *data = MANY_ROWS[name]
    room_for(60, monkeypatch)
    whole, kept = learned(clone(model).fit(*data)), clone(model).set_params(checkpoint=tmp_path / "kept")
    assert interrupted_after(5, monkeypatch, kept, *data)
    room_for(500, monkeypatch)
    for one, value in learned(kept.fit(*data)).items():
        np.testing.assert_array_equal(value, whole[one], err_msg=one)


def test_other_kernels_targets_and_starts_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "kept"
    model = SVC(kernel=Gaussian(2.0), C=50.0, checkpoint=path)
    assert interrupted_after(1, monkeypatch, model, X[FIRST], SIDES[FIRST])
    with pytest.raises(ValueError, match=r"was made with C=50\.0, not 2\.0"):
        clone(model).set_params(C=2.0).fit(X[FIRST], SIDES[FIRST])
    with pytest.raises(ValueError, match="was made from other data: the kernel values differ"):
        clone(model).set_params(kernel=Gaussian(3.0)).fit(X[FIRST], SIDES[FIRST])
    for data, what in (
        ((X[FIRST][::-1], SIDES[FIRST]), "values"), ((X[FIRST], SIDES[FIRST][::-1]), "targets"),
        ((X[FIRST], SIDES[FIRST], WEIGHT[FIRST]), "weights"), ((X[:200], SIDES[:200]), "number of rows"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"was made from other data: the {what} differ"):
            clone(model).fit(*data)
    path.unlink()
    model = SVC(kernel=Spectrum(2), checkpoint=path)
    assert interrupted_after(4, monkeypatch, model, WORDS, INITIALS)
    with pytest.raises(ValueError, match="was made from other data: the kernel values differ"):
        clone(model).fit(WORDS[::-1], INITIALS)
    with pytest.raises(ValueError, match="was made from other data: the targets differ"):
        clone(model).fit(WORDS, INITIALS[::-1])
    path.unlink()
    warm = SVR(warm_start=True, checkpoint=path).fit(X[FIRST], SCORES[FIRST]).set_params(C=50.0)
    assert interrupted_after(1, monkeypatch, warm, X[FIRST], SCORES[FIRST])
    with pytest.raises(ValueError, match="was made from other data: the first multipliers differ"):
        clone(warm).fit(X[FIRST], SCORES[FIRST])
    whole = SVR(warm_start=True).fit(X[FIRST], SCORES[FIRST]).set_params(C=50.0).fit(X[FIRST], SCORES[FIRST])
    np.testing.assert_array_equal(warm.fit(X[FIRST], SCORES[FIRST]).alpha_, whole.alpha_)


def test_pairs_that_are_done_are_not_solved_again(tmp_path, monkeypatch):
    model = SVC(n_jobs=1, checkpoint=tmp_path / "kept")
    assert interrupted_after(
        6, monkeypatch, model, X[FIRST], BANDS[FIRST]
    )  # the second of three pairs is done
    solved, classify = [], svc.classify
    monkeypatch.setattr(svc, "classify", lambda *given, **more: solved.append(1) or classify(*given, **more))
    model.fit(X[FIRST], BANDS[FIRST])
    assert len(solved) == 1


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(50.0)])
def test_a_proof_that_there_is_no_hard_margin_leaves_no_file(kernel, tmp_path):
    twice = np.vstack([X[:20], X[:20]])
    with pytest.raises(ValueError, match="C=inf asks for a plane"):
        SVC(C=np.inf, kernel=kernel, checkpoint=tmp_path / "kept").fit(twice, np.repeat([0, 1], 20))
    assert not list(tmp_path.iterdir())
