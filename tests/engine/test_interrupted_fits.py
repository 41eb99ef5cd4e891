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
    KernelKMeans,
    KExemplars,
    KMedoids,
    Lasso,
    LassoCV,
    Levenshtein,
    LinearSVC,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    Spectrum,
)
from bisector.engine import checkpoint as checkpoints
from bisector.engine.sources import source
from bisector.rbf import rbf_network_classifier
from bisector.solvers import exemplar_lloyd, kernel_lloyd, linear_svm, penalised_path

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

# Two halves, each row nearer to those of the other than to those of its own: together they change sides for ever.
CROSSED = (
    np.eye(6) + np.kron([[-0.9, 0.9], [0.9, -0.9]], 1 - np.eye(3)) + np.kron([[0, 0.9], [0.9, 0]], np.eye(3))
)
APART_BY = np.abs(X[:200, None, :2] - X[None, :200, :2]).sum(axis=2)

FITS |= {
    "exemplars": (KExemplars(5, n_init=2), X[:150]),
    "exemplars, ties and weights": (KExemplars(6, metric="manhattan", n_init=2), MANY, None, WEIGHT[:600]),
    "exemplars, from any rows": (
        KExemplars(7, metric="sqeuclidean", init="random", n_init=2, random_state=2), X[:300].astype(np.float32),
    ),
    "exemplars, from given points": (KExemplars(4, exemplar="mean", init=X[:4]), X, None, WEIGHT),
    "exemplars among sparse rows": (KExemplars(5, metric="sqeuclidean", n_init=2), SPARSE[:200]),
    "exemplars that are rows": (KExemplars(6, metric="chebyshev", init="farthest-first"), X[:300]),
    "exemplars, distances given": (
        KExemplars(5, metric="precomputed", n_init=3), APART_BY, None, WEIGHT[:200],
    ),
    "exemplars among words": (KExemplars(4, metric=Levenshtein(), init="random", n_init=3), WORDS),
    "exemplars, ended early": (KExemplars(8, max_iter=3, n_init=2), X[:300]),
    "kernel means": (KernelKMeans(5, gamma=0.2, n_init=3), X[:200]),
    "kernel means, ties and weights": (KernelKMeans(4, gamma=0.5, n_init=2), MANY, None, WEIGHT[:600]),
    "kernel means, from any labels": (
        KernelKMeans(3, kernel="poly", degree=2, init="random", n_init=2, random_state=1), X[:200],
    ),
    "kernel means, from given rows": (KernelKMeans(270, gamma=0.02, init=np.arange(270)), X[:700]),
    "kernel means among words": (KernelKMeans(4, kernel=Spectrum(2), n_init=2), WORDS),
    "mean distances in a feature space": (
        KernelKMeans(4, gamma=0.2, assign="mean-distance", n_init=2), X[:200], None, WEIGHT[:200],
    ),
    "mean distances that come again": (
        KernelKMeans(2, kernel="precomputed", assign="mean-distance", init=np.repeat([0, 1], 3)), CROSSED,
    ),
    "kernel means, values given": (
        KernelKMeans(4, kernel="precomputed", n_init=2), np.exp(-APART_BY), None, WEIGHT[:200],
    ),
    "kernel means, ended early": (KernelKMeans(6, gamma=0.2, max_iter=2), X[:200]),
}  # fmt: skip

FITS |= {
    "bumps on means": (RBFNetworkRegressor(8, random_state=0), X[:300], TWO[:300], WEIGHT[:300]),
    "bumps on a mixture": (
        RBFNetworkRegressor(4, centers="mixture", width="own", random_state=0), X[:300, :2], SCORES[:300],
    ),
    "bumps on rows": (
        RBFNetworkRegressor([2, 4], centers="farthest", metric="manhattan", random_state=1), X[:100], SCORES[:100],
    ),
    "bumps, their number chosen": (
        RBFNetworkClassifier([3, 6], alpha="cv", random_state=0), X[:200], BANDS[:200], WEIGHT[:200],
    ),
    "bumps and log-odds": (
        RBFNetworkClassifier([2, 5], alpha=0.1, output="logistic", random_state=0), X[:200], BANDS[:200],
    ),
    "bumps and log-odds, a mixture": (
        RBFNetworkClassifier(3, centers="mixture", output="logistic", penalty="curvature", random_state=0),
        X[:120, :2], SIDES[:120],
    ),
    "bumps among words": (
        RBFNetworkClassifier([3, 5], centers="farthest", width="own", metric=Levenshtein(), random_state=0),
        WORDS, BANDS[:150],
    ),
}  # fmt: skip

# Of those that note much, every so many notes are enough.
STRIDES = {
    "separable, hinge": 11,
    "few weights, three planes": 13,
    "bumps, their number chosen": 7,
    "bumps and log-odds": 7,
    "bumps and log-odds, a mixture": 17,
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
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


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


@pytest.mark.filterwarnings("ignore:LinearSVC stopped", "ignore:(KExemplars|KernelKMeans) ended after")
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


@pytest.mark.parametrize(
    "model", [KExemplars(6, init="random", n_init=3), KernelKMeans(6, gamma=0.2, n_init=3)]
)
def test_clusters_from_a_generator_that_has_moved_on(model, tmp_path, monkeypatch):
    """Also what is not told by attributes stays: the answers to other rows."""
    rows, others = X[:150], X[150:300]
    for made in (np.random.RandomState, np.random.default_rng):
        whole = clone(model).set_params(random_state=made(5)).fit(rows)
        kept = clone(model).set_params(random_state=made(5), checkpoint=tmp_path / "kept")
        assert interrupted_after(3, monkeypatch, kept, rows)
        assert interrupted_after(9, monkeypatch, kept, rows)
        kept.fit(rows)
        np.testing.assert_array_equal(kept.history_, whole.history_)
        np.testing.assert_array_equal(kept.labels_, whole.labels_)
        np.testing.assert_array_equal(kept.predict(others), whole.predict(others))
        assert kept.score(others) == whole.score(others)


def test_clusters_of_other_data_and_parameters_are_refused(tmp_path, monkeypatch):
    """Rows that are compared, all of them; and where exemplars are points, also where they are."""
    one = X[:200].copy()
    one[77, 3] += 0.5
    whole, half = np.round(16 * X[:200]), WEIGHT[:200]  # numbers whose differences are not rounded
    path = tmp_path / "kept"
    for model, rows, cases in (
        (
            KExemplars(4, checkpoint=path), X[:200],
            (
                ({"metric": "manhattan"}, (X[:200],), "was made with metric='euclidean', not 'manhattan'"),
                ({"exemplar": "mean"}, (X[:200],), "was made with exemplar='matching', not 'mean'"),
                ({"n_init": 2}, (X[:200],), "was made with n_init=4, not 2"),
                ({}, (one,), "was made from other data: the distances differ"),
                ({}, (X[:199],), "was made from other data: the number of rows differ"),
                ({}, (X[:200], None, half), "was made from other data: the weights differ"),
            ),
        ),
        (
            KExemplars(4, metric="manhattan", checkpoint=path), whole,
            (({}, (whole + 16.0,), "was made from other data: the distances differ"),),
        ),
        (
            KernelKMeans(4, gamma=0.2, checkpoint=path), X[:200],
            (
                ({"gamma": 0.3}, (X[:200],), "was made with gamma=0.2, not 0.3"),
                ({"assign": "mean-distance"}, (X[:200],), "was made with assign='centroid', not 'mean-distance'"),
                ({}, (one,), "was made from other data: the kernel values differ"),
                ({}, (X[:200], None, half), "was made from other data: the weights differ"),
            ),
        ),
        (
            KernelKMeans(4, kernel=Spectrum(2), checkpoint=path), WORDS,
            (
                ({"kernel": Spectrum(3)}, (WORDS,), "was made from other data: the kernel values differ"),
                ({}, (WORDS[1:] + WORDS[:1],), "was made from other data: the kernel values differ"),
            ),
        ),
    ):  # fmt: skip
        assert interrupted_after(3, monkeypatch, model, rows)
        for other, data, message in cases:
            with pytest.raises(ValueError, match=message):
                clone(model).set_params(**other).fit(*data)
        model.fit(rows)
        assert not path.exists()


def test_networks_from_no_seed_and_of_other_data(tmp_path, monkeypatch):
    """A seed is drawn once; other targets, and rows elsewhere, are refused."""
    rows, targets = np.round(16 * X[:200]), SCORES[:200]
    model = RBFNetworkRegressor([4, 8], random_state=np.random.RandomState(3), checkpoint=tmp_path / "kept")
    whole = clone(model).set_params(checkpoint=None).fit(rows, targets)
    assert interrupted_after(9, monkeypatch, model, rows, targets)
    for data, what in (
        ((rows + 16.0, targets), "distances"),
        ((rows, -targets), "targets"),
        ((rows, targets, 1 + WEIGHT[:200]), "weights"),
    ):
        with pytest.raises(ValueError, match=f"was made from other data: the {what} differ"):
            clone(model).fit(*data)
    with pytest.raises(ValueError, match="was made with width='auto', not 2"):
        clone(model).set_params(width=2.0).fit(rows, targets)
    model.fit(rows, targets)
    np.testing.assert_array_equal(model.cv_errors_, whole.cv_errors_)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    model.set_params(random_state=None)
    assert interrupted_after(9, monkeypatch, model, rows, targets)
    seed = int(checkpoints._read(tmp_path / "kept")["seed:seed"])
    np.testing.assert_array_equal(
        model.fit(rows, targets).coef_,
        clone(model).set_params(random_state=seed, checkpoint=None).fit(rows, targets).coef_,
    )


def test_a_network_that_did_not_converge_is_told_of_after_going_on(tmp_path, monkeypatch):
    solve = rbf_network_classifier.logistic
    monkeypatch.setattr(rbf_network_classifier, "logistic", lambda *a, **k: solve(*a, **k, max_iter=1))
    model = RBFNetworkClassifier(
        [2, 4], alpha=1e-6, output="logistic", random_state=0, checkpoint=tmp_path / "kept"
    )
    assert interrupted_after(30, monkeypatch, model, X[:200], BANDS[:200])
    monkeypatch.setattr(rbf_network_classifier, "logistic", solve)
    with pytest.warns(ConvergenceWarning, match="still improved when Newton's method ended"):
        model.fit(X[:200], BANDS[:200])


def test_starts_that_are_done_are_not_done_again(tmp_path, monkeypatch):
    for model, module, name in (
        (KernelKMeans(4, gamma=0.2, n_init=2), kernel_lloyd, "_measured"),
        (KExemplars(4, n_init=2), exemplar_lloyd._Lloyd, "assign"),
    ):
        whole, model = clone(model).fit(X[:200]), model.set_params(checkpoint=tmp_path / "kept")
        count = 1
        while interrupted_after(count, monkeypatch, model, X[:200]):
            (tmp_path / "kept").unlink()
            count += 1
        assert interrupted_after(count - 1, monkeypatch, model, X[:200])  # after the last thing noted
        with monkeypatch.context() as patched:
            patched.setattr(module, name, None)
            np.testing.assert_array_equal(model.fit(X[:200]).labels_, whole.labels_)


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
