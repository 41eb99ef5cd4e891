"""Classification by similarity: the linear programme of LFD Problems 6.21 and 6.22."""

import numpy as np
import pytest

from bisector import SimilarityClassifier
from bisector.kernels import Gaussian
from bisector.solvers.similarity_programme import similarity_programme


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 2))
    return X, (np.square(X).sum(axis=1) > 1.2).astype(int)


def test_by_hand():
    # One distance tells the sides apart: w·0 + w₀ ≥ 1 and w·4 + w₀ ≤ −1, so |w| = ½.
    model = SimilarityClassifier(float("inf")).fit([[0.0], [4.0]], [0, 1])
    assert model.objective_[0] == pytest.approx(0.5)
    assert len(model.support_) == 1
    np.testing.assert_allclose(np.abs(model.decision_function([[0.0], [2.0], [4.0]])), [1, 0, 1], atol=1e-9)
    np.testing.assert_array_equal(model.predict([[1.0], [3.0]]), [0, 1])


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_certificate(C, drawn):
    X, y = drawn
    D, signs = np.linalg.norm(X[:, None] - X, axis=2), 2.0 * y - 1
    found = similarity_programme(D, signs, np.full(80, C))
    margins = signs * (D @ found.weights + found.intercept)
    np.testing.assert_allclose(found.slack, np.maximum(0, 1 - margins), atol=1e-7)
    assert found.objective == pytest.approx(np.abs(found.weights).sum() + C * found.slack.sum())
    assert -1e-12 <= found.gap < 1e-7
    # No step, in any direction, lowers the objective: it is convex.
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        for _ in range(30):
            w, b = found.weights + size * rng.normal(size=80), found.intercept + size * rng.normal()
            moved = np.abs(w).sum() + C * np.maximum(0, 1 - signs * (D @ w + b)).sum()
            assert moved >= found.objective - 1e-9


def test_few_weights_and_most_rows_right(drawn):
    X, y = drawn
    model = SimilarityClassifier(10.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert len(model.support_) < 40
    assert model.coef_.shape == (1, len(model.support_))
    with_zeros = np.zeros(80)
    with_zeros[model.support_] = model.coef_[0]
    scores = np.linalg.norm(X[:, None] - X, axis=2) @ with_zeros + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)


def test_kernels_and_precomputed_distances(drawn):
    X, y = drawn
    kernel = SimilarityClassifier(10.0, metric=Gaussian(0.7)).fit(X, y)
    assert kernel.score(X, y) > 0.9
    D = np.linalg.norm(X[:, None] - X, axis=2)
    given = SimilarityClassifier(1.0, metric="precomputed").fit(D, y)
    own = SimilarityClassifier(1.0).fit(X, y)
    assert given.objective_[0] == pytest.approx(own.objective_[0], rel=1e-8)
    np.testing.assert_array_equal(given.predict(D), own.predict(X))


def test_several_classes_one_against_the_rest(drawn):
    X, _ = drawn
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = SimilarityClassifier(20.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.decision_function(X).shape == (80, 3)
    first = SimilarityClassifier(20.0).fit(X, y == "a")
    assert model.objective_[0] == pytest.approx(first.objective_[0], rel=1e-8)


def test_a_weight_is_a_cost_and_zero_is_absent(drawn):
    X, y = drawn
    counts = np.random.default_rng(0).integers(0, 3, size=80)
    weighed = SimilarityClassifier(0.5).fit(X, y, sample_weight=counts)
    repeated = SimilarityClassifier(0.5).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighed.objective_[0] == pytest.approx(repeated.objective_[0], rel=1e-8)
    assert counts[weighed.support_].all()


def test_a_tiny_cost_leaves_no_weights(drawn):
    X, y = drawn
    model = SimilarityClassifier(1e-6).fit(X, y)
    assert len(model.support_) == 0
    assert len(np.unique(model.predict(X))) == 1


def test_an_infeasible_programme_is_said():
    with pytest.raises(ValueError, match=r"infeasible.*finite C"):
        SimilarityClassifier(float("inf")).fit([[0.0], [0.0], [1.0]], [0, 1, 1])


@pytest.mark.parametrize("C", [0.0, -1.0, float("nan"), "many"])
def test_bad_cost(C):
    with pytest.raises((ValueError, TypeError), match="C must be"):
        SimilarityClassifier(C).fit([[0.0], [1.0]], [0, 1])


def test_one_class():
    with pytest.raises(ValueError, match="two classes"):
        SimilarityClassifier().fit([[0.0], [1.0]], [1, 1])
