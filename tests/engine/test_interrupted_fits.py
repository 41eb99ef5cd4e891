"""Every fit with a checkpoint, interrupted after each thing it notes in turn, goes on to the same bits."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from bisector import (
    ElasticNet,
    ElasticNetCV,
    KernelPerceptron,
    KMedoids,
    Lasso,
    LassoCV,
    Levenshtein,
    LinearSVC,
    Perceptron,
    PerceptronRegressor,
)
from bisector.engine import checkpoint as checkpoints
from bisector.engine.sources import source
from bisector.kernels import Spectrum
from bisector.solvers import kernel_perceptron, linear_svm, penalised_path, perceptron_pass

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

NEARLY = X[np.abs(X @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + 2.2) > 0.05]  # rows that a plane separates, barely
NEAR = np.where(NEARLY @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + 2.2 > 0, "far", "near")
WEIGHED = (None, None, WEIGHT / 3)  # where to begin, and weights that are no whole numbers

FITS |= {
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

# Of those that note much, every so many notes are enough.
STRIDES = {"separable, hinge": 11, "few weights, three planes": 13}


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
    numbers = {
        name: value for name, value in vars(model).items() if name.endswith("_") or name == "_mistakes"
    }
    if "two_class_problems_" in numbers:
        numbers["two_class_problems_"] = model.two_class_problems_.problems
    if isinstance(model, Perceptron) and model.history:
        numbers |= numbers.pop("history_")._asdict()
    return {name: value.toarray() if hasattr(value, "toarray") else value for name, value in numbers.items()}


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
