"""Clusterings and networks of bumps, interrupted after each thing they note in turn, go on to the same bits."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.engine.interruptions import (
    BANDS,
    MANY,
    SCORES,
    SIDES,
    SPARSE,
    TWO,
    WEIGHT,
    WORDS,
    X,
    goes_on,
    interrupted_after,
)

from bisector import (
    KernelKMeans,
    KExemplars,
    Levenshtein,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    Spectrum,
)
from bisector.engine import checkpoint as checkpoints
from bisector.rbf import rbf_network_classifier
from bisector.solvers import exemplar_lloyd, kernel_lloyd

# Two halves, each row nearer to those of the other than to those of its own: together they change sides for ever.
CROSSED = (
    np.eye(6) + np.kron([[-0.9, 0.9], [0.9, -0.9]], 1 - np.eye(3)) + np.kron([[0, 0.9], [0.9, 0]], np.eye(3))
)
APART_BY = np.abs(X[:200, None, :2] - X[None, :200, :2]).sum(axis=2)

FITS: dict[str, tuple[Any, ...]] = {
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
STRIDES = {"bumps, their number chosen": 7, "bumps and log-odds": 7, "bumps and log-odds, a mixture": 17}


@pytest.mark.filterwarnings("ignore:(KExemplars|KernelKMeans) ended after")
@pytest.mark.parametrize("name", FITS)
def test_interrupted_anywhere_it_ends_at_the_same_bits(name, tmp_path, monkeypatch):
    assert goes_on(monkeypatch, tmp_path / "kept", *FITS[name], stride=STRIDES.get(name, 1)) >= 2


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
