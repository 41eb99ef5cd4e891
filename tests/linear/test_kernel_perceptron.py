"""The kernel perceptron: the mistakes of Algorithm 7.4, of the primal, of strings and sets; budgets and edges."""

import numpy as np
import pytest
import scipy.sparse

from bisector import KernelPerceptron, Perceptron
from bisector.kernels import Gaussian, Intersection, Linear, Polynomial, Spectrum


def plain_dual(gram, y, passes):
    """Algorithm 7.4 line by line: α, and whether it converged."""
    alpha = np.zeros(len(y), dtype=int)
    for _ in range(passes):
        converged = True
        for i in range(len(y)):
            if y[i] * sum(alpha[j] * y[j] * gram[i, j] for j in np.flatnonzero(alpha)) <= 0:
                alpha[i] += 1
                converged = False
        if converged:
            return alpha, True
    return alpha, False


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where((X**2).sum(axis=1) > 1.4, 1, -1)
    return X * np.where(y > 0, 1.3, 0.9)[:, None], y


def all_mistakes(model, n):
    mistakes = np.zeros(n, dtype=int)
    mistakes[model.support_] = model.mistakes_
    return mistakes


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, bias=1.0), Gaussian(0.5)], ids=repr)
@pytest.mark.parametrize("bias", [True, False])
def test_mistakes_of_the_plain_algorithm(kernel, bias):
    X, y = rings(400)  # two blocks
    alpha, converged = plain_dual(kernel.gram(X) + bias, y, 4)
    model = KernelPerceptron(kernel, bias=bias, shuffle=False, max_iter=4, tol=None).fit(X, y)
    assert model.converged_ == converged
    # Where it has not converged, the best of the four passes is kept: compare how many mistakes were made.
    assert model.n_updates_ == alpha.sum()
    if converged:
        np.testing.assert_array_equal(all_mistakes(model, 400), alpha)


def test_the_linear_kernel_makes_the_mistakes_of_the_primal():
    rng = np.random.default_rng(1)
    X = rng.integers(-6, 7, size=(600, 4)).astype(float)  # whole numbers: no rounding on either side
    y = np.where(X @ [2, -1, 3, 1] > 0.5, "yes", "no")
    order = rng.permutation(600)
    primal = Perceptron(order=order).fit(X, y)
    dual = KernelPerceptron(Linear(), order=order).fit(X, y)
    assert primal.converged_
    np.testing.assert_array_equal(all_mistakes(dual, 600), primal.mistakes_)
    assert (dual.n_updates_, dual.n_iter_) == (primal.n_updates_, primal.n_iter_)
    np.testing.assert_array_equal(dual.decision_function(X), primal.decision_function(X))
    np.testing.assert_array_equal((dual.dual_coef_ @ X[dual.support_])[0], primal.coef_[0])
    np.testing.assert_array_equal(dual.intercept_, primal.intercept_)
    assert dual.novikoff_bound_ == pytest.approx(primal.novikoff_bound_)


def test_a_curved_boundary_is_learned_and_its_proof_holds():
    X, y = rings(1500)
    model = KernelPerceptron(Gaussian(0.5)).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert model.n_updates_ <= model.novikoff_bound_
    values = Gaussian(0.5).gram(X) + 1.0
    steps = np.zeros(1500)
    steps[model.support_] = model.dual_coef_[0]
    scores = values @ steps
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)
    norm = np.sqrt(steps @ values @ steps)
    assert model.margin_ == pytest.approx((y * scores).min() / norm)
    assert model.margin_ <= model.margin_bound_
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_quadratic_features_and_quadratic_kernel_are_the_same():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    y = np.where((X**2).sum(axis=1) > 1.5, 1, 0)
    features = Polynomial(2).feature_map(X)
    in_features = KernelPerceptron(Linear(), shuffle=False).fit(features, y)
    by_kernel = KernelPerceptron(Polynomial(2), shuffle=False).fit(X, y)
    np.testing.assert_array_equal(all_mistakes(by_kernel, 200), all_mistakes(in_features, 200))


def test_precomputed_values_and_functions():
    X, y = rings(300)
    by_kernel = KernelPerceptron(Gaussian(0.7)).fit(X, y)
    gram = Gaussian(0.7).gram(X)
    given = KernelPerceptron("precomputed").fit(gram, y)
    np.testing.assert_array_equal(given.support_, by_kernel.support_)
    np.testing.assert_allclose(
        given.decision_function(gram[:20]), by_kernel.decision_function(X[:20]), rtol=1e-9
    )
    function = KernelPerceptron(lambda A, B: Gaussian(0.7).gram(A, B)).fit(X, y)
    np.testing.assert_array_equal(function.support_, by_kernel.support_)
    named = KernelPerceptron("rbf", gamma=1 / (2 * 0.7**2)).fit(X, y)
    np.testing.assert_array_equal(named.support_, by_kernel.support_)
    with pytest.raises(ValueError, match="square"):
        KernelPerceptron("precomputed").fit(gram[:, :200], y)
    with pytest.raises(ValueError, match="features"):
        given.predict(gram[:, :200])


def test_strings_and_sets():
    words, sides = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"], ["ab", "ab", "ab", "cd", "cd", "cd"]
    model = KernelPerceptron(Spectrum(2)).fit(words, sides)
    assert model.predict(["ababab", "cdcdcd"]).tolist() == ["ab", "cd"]
    sets = [{"milk", "bread"}, {"milk", "eggs"}, {"nails", "glue"}, {"glue", "wood"}]
    model = KernelPerceptron(Intersection()).fit(sets, ["food", "food", "tools", "tools"])
    assert model.predict([{"bread", "eggs"}, {"nails"}]).tolist() == ["food", "tools"]


def test_several_classes_share_their_support():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    y = np.digitize(np.hypot(*X.T), [0.8, 1.5])
    for scheme, count in [("one-vs-rest", 3), ("one-vs-one", 3), ("nested", 2)]:
        model = KernelPerceptron(Gaussian(0.3), multi_class=scheme).fit(X, y)
        assert model.converged_
        assert model.score(X, y) == 1.0
        assert model.dual_coef_.shape == (count, len(model.support_))


def test_budget_bounds_the_rows_that_are_kept():
    X, y = rings(800)
    model = KernelPerceptron(Gaussian(0.5), budget=20, max_iter=20).fit(X, y)
    assert len(model.support_) <= 20
    assert model.score(X, y) > 0.8


def test_without_separation_it_ends_with_the_best_seen():
    X, y = rings(300)
    y = np.where(np.random.default_rng(9).random(300) < 0.2, -y, y)
    model = KernelPerceptron(Polynomial(2, bias=1.0)).fit(X, y)
    assert not model.converged_
    assert model.stopping_reason_ == "no improvement"
    assert model.novikoff_bound_ == np.inf
    assert model.score(X, y) > 0.7


def test_signed_distance_is_that_of_the_plane_in_feature_space():
    X, y = rings(200)
    y = np.where((y > 0) & (X[:, 0] > 0), 2, y)
    features = np.column_stack([X**2, np.sqrt(2) * X[:, 0] * X[:, 1]])
    chosen = {"order": np.arange(200), "tol": None, "max_iter": 2000}
    for labels in (y > 0, y):
        plane = Perceptron(**chosen).fit(features, labels)
        curved = KernelPerceptron(Polynomial(2), **chosen).fit(X, labels)
        given = KernelPerceptron("precomputed", **chosen).fit(Polynomial(2).gram(X), labels)
        assert curved.signed_distance(X).shape == plane.signed_distance(features).shape
        if plane.converged_:
            np.testing.assert_allclose(curved.signed_distance(X), plane.signed_distance(features), rtol=1e-7)
            np.testing.assert_allclose(curved.threshold_, plane.threshold_)
        distances = given.signed_distance(Polynomial(2).gram(X))
        np.testing.assert_allclose(distances, curved.signed_distance(X), rtol=1e-7)


def test_weights_threads_and_sparse_rows():
    rng = np.random.default_rng(5)
    X, y = rng.integers(-3, 4, size=(300, 3)).astype(float), rng.choice([0, 1], size=300)
    weight = rng.integers(0, 3, size=300)
    again = np.repeat(np.arange(300), weight)
    chosen = {"shuffle": False, "max_iter": 6, "tol": None}
    weighted = KernelPerceptron(Linear(), **chosen).fit(X, y, sample_weight=weight)
    repeated = KernelPerceptron(Linear(), **chosen).fit(X[again], y[again])
    assert weighted.n_updates_ == repeated.n_updates_
    one, two = (KernelPerceptron(n_jobs=n_jobs, max_iter=5).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    sparse = KernelPerceptron(Linear(), max_iter=5).fit(scipy.sparse.csr_array(X), y)
    dense = KernelPerceptron(Linear(), max_iter=5).fit(X, y)
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    narrow = KernelPerceptron(Linear(), max_iter=5).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(narrow.support_, dense.support_)


def test_bad_input():
    X, y = rings(20)
    with pytest.raises(ValueError, match="one class"):
        KernelPerceptron().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="budget must be a whole number at least 1"):
        KernelPerceptron(budget=0).fit(X, y)
    with pytest.raises(ValueError, match="order must name each of the 20 rows once"):
        KernelPerceptron(order=[1, 2]).fit(X, y)
