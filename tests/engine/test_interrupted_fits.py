"""Every fit with a checkpoint, interrupted after each thing it notes in turn, goes on to the same bits."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from bisector import SVC, SVR, ElasticNet, ElasticNetCV, KMedoids, Lasso, LassoCV, Levenshtein, LinearSVC
from bisector.engine import checkpoint as checkpoints
from bisector.engine.sources import source
from bisector.kernels import Gaussian, Linear, Polynomial, Spectrum
from bisector.solvers import kernel_lines, linear_svm, penalised_path, smo
from bisector.svm import svc, training_lines

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 6)) * [1.0, 3.0, 0.2, 1.0, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0, 1.0, 0.0]
SCORES = X @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + RNG.normal(size=900)
SIDES = np.where(np.median(SCORES) < SCORES, "far", "near")
BANDS = np.digitize(SCORES, np.quantile(SCORES, [0.3, 0.7]))
WEIGHT = RNG.integers(0, 3, size=900).astype(float)
SPARSE = csr_matrix(random_array((900, 40), density=0.2, rng=1))
MIXED = (SPARSE @ RNG.normal(size=40) + 0.2 * RNG.normal(size=900) > 0).astype(int)
WIDE = RNG.normal(size=(40, 400))
TWO = np.column_stack([SCORES, X[:, 0] ** 2])
APART = np.where(SIDES == "far", 2.0, -2.0)[:, None] + 1e-3 * X[:, :2]

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

WORDS = ["".join(letters) for letters in RNG.choice(list("abcd"), size=(150, 5))]
MANY = np.repeat(np.round(X[:300, :2], 1), 2, axis=0)  # rows that repeat, and distances that are equal

FITS |= {
    "medoids": (KMedoids(7), X[:400]),
    "medoids, ties and weights": (KMedoids(5, metric="manhattan"), MANY, None, WEIGHT[:600]),
    "medoids, best swap first": (KMedoids(6, method="pam", init="random", random_state=3), X[:200]),
    "medoids by turns": (KMedoids(9, method="alternate", init="k-medoids++", n_init=3), X[:300]),
    "medoids of samples": (KMedoids(4, method="clara", sample_size=40, random_state=1), X),
    "medoids, their number chosen": (KMedoids("auto", k_range=[3, 3, 5], init="random", n_init=2), X[:150]),
    "medoids among words": (KMedoids(4, metric=Levenshtein()), WORDS),
}

FIRST = slice(0, 300)
INITIALS = np.array([word[0] for word in WORDS])
TIMES = np.outer(X[FIRST, 0], X[FIRST, 0]) ** 2 + X[FIRST] @ X[FIRST].T
LINE = np.linspace(0, 50, 60)[:, None]


def overlap(rows: Any, others: Any) -> Any:
    """A kernel of our own."""
    return np.minimum(rows[:, None, :], others[None, :, :]).sum(axis=2)


FITS |= {
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
STRIDES = {"separable, hinge": 11, "few weights, three planes": 13}
STRIDES |= {
    "kernel machine, most digits": 37,
    "kernel machine, begun again": 97,
    "kernel machine, crawling": 2,
}


def interrupted_after(count: int, monkeypatch: pytest.MonkeyPatch, model: Any, *data: Any) -> bool:
    """Fit until so many things are noted; say whether that was before the end."""
    with monkeypatch.context() as patched:
        note, seen = checkpoints._File.note, [0]

        def noting(self: Any, name: str, **values: Any) -> None:
            note(self, name, **values)
            seen[0] += 1
            if seen[0] == count:
                raise KeyboardInterrupt

        patched.setattr(checkpoints._File, "note", noting)
        try:
            model.fit(*data)
        except KeyboardInterrupt:
            return True
    return False


def learned(model: Any) -> dict[str, Any]:
    """All that a fit leaves, and what kernel machines tell on request."""
    asked = ("alpha_", "slack_", "margin_", "objective_", "dual_gap_", "kkt_violation_")
    names = {name for name in vars(model) if name.endswith("_")} | {
        name for name in asked if hasattr(model, name)
    }
    values = {name: getattr(model, name) for name in sorted(names)}
    return {name: value.toarray() if hasattr(value, "tocsr") else value for name, value in values.items()}


def goes_on(monkeypatch: Any, path: Any, model: Any, *data: Any, stride: int = 1) -> int:
    """Interrupt a fit after 1, 2, … notes, and let each go on; return how often it was interrupted."""
    whole = learned(clone(model).fit(*data))
    kept = clone(model).set_params(checkpoint=path)
    times = 0
    while interrupted_after(1 + times * stride, monkeypatch, clone(kept), *data):
        assert path.exists()
        times += 1
        found = learned(clone(kept).fit(*data))
        assert not path.exists()
        assert found.keys() == whole.keys()
        for name, value in found.items():
            np.testing.assert_array_equal(value, whole[name], err_msg=f"{name}, interruption {times}")
    assert not path.exists()
    return times


@pytest.mark.filterwarnings(
    "ignore:LinearSVC stopped", "ignore:SV[CR] ended", "ignore:The kernel is not positive"
)
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


# Kernel machines with many rows: working sets, and lines that are made as they are needed, and forgotten

TALL = RNG.normal(size=(500, 40))
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
