"""Gaussian mixtures: by hand, from the start of scikit-learn, rising objectives, collapse, known parameters."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import kstest, multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs

from bisector import GaussianMixture
from bisector.engine.sources import source
from bisector.solvers import em
from bisector.solvers.interval_em import log_interval_probabilities

TYPES = ["full", "tied", "diag", "spherical"]


@pytest.fixture(params=TYPES)
def kind(request):
    return request.param


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.concatenate(
        [rng.normal(size=(80, 3)) @ rng.normal(size=(3, 3)) + 5 * rng.normal(size=3) for _ in "abc"]
    )


def fitted(*args, **options):
    def fit(*data, **weights):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return GaussianMixture(*args, **options).fit(*data, **weights)

    return fit


def start_of(kind, rows, k=3):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begun = Theirs(k, covariance_type=kind, max_iter=1, random_state=0).fit(rows)
    return {"weights_init": begun.weights_, "means_init": begun.means_, "precisions_init": begun.precisions_}


def test_by_hand():
    """One component is the mean and the covariance of the rows, and its likelihood is known."""
    model = GaussianMixture().fit([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    np.testing.assert_allclose(model.means_, [[1.0, 1.0]])
    np.testing.assert_allclose(model.covariances_, [np.eye(2)])
    assert model.score([[1.0, 1.0]]) == pytest.approx(-np.log(2 * np.pi))
    assert model.integrate([(-np.inf, 1.0), (-np.inf, np.inf)]) == pytest.approx(0.5)


@pytest.mark.parametrize("compiled", [False, True])
def test_equals_scikit_learn_from_the_same_start(kind, rows, compiled, monkeypatch):
    monkeypatch.setattr(em, "MUCH_WORK", 0 if compiled else 10**12)
    options = {"covariance_type": kind, "tol": 1e-9, "max_iter": 300, **start_of(kind, rows)}
    ours, theirs = GaussianMixture(3, floor="added", **options).fit(rows), Theirs(3, **options).fit(rows)
    assert ours.n_iter_ == theirs.n_iter_
    for name in (
        "weights_",
        "means_",
        "covariances_",
        "precisions_",
        "precisions_cholesky_",
        "lower_bounds_",
    ):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    assert ours.bic(rows) == pytest.approx(theirs.bic(rows), rel=1e-10)
    assert ours.aic(rows) == pytest.approx(theirs.aic(rows), rel=1e-10)
    assert ours.score(rows) == pytest.approx(theirs.score(rows), rel=1e-10)


@pytest.mark.parametrize("start", ["kmeans", "k-means++", "random", "random_from_data"])
def test_every_start_leads_somewhere_good(start, rows):
    ours = fitted(3, init_params=start, random_state=0, n_init=5, max_iter=300, tol=1e-6)(rows)
    theirs = Theirs(3, random_state=0, n_init=5, max_iter=300, tol=1e-6).fit(rows)
    assert ours.lower_bound_ > theirs.lower_bound_ - 0.05


def never_falls(model):
    # A likelihood of n rows is rounded to some 1e-13 of its size.
    history = np.array(model.lower_bounds_)
    return (np.diff(history) > -1e-11 * (1 + np.abs(history[1:]))).all()


@settings(deadline=None, max_examples=25)
@given(
    st.sampled_from(["line", "equal", "lattice", "outlier", "two values", "constant column", "float32"]),
    st.sampled_from(TYPES),
    st.integers(0, 10**6),
)
def test_the_objective_never_falls(awkward, kind, seed):
    """On data that lie on a line, repeat, or hold an outlier; the variance floor is part of the objective."""
    rng = np.random.default_rng(seed)
    n = 30
    X = rng.normal(size=(n, 3))
    if awkward == "line":
        X = X[:, :1] @ rng.normal(size=(1, 3))
    elif awkward == "equal":
        X[:] = X[0]
    elif awkward == "lattice":
        X = np.round(X)
    elif awkward == "outlier":
        X[0] = 1e4
    elif awkward == "two values":
        X = np.where(X > 0, 1.0, 1e3)
    elif awkward == "constant column":
        X[:, 1] = 7.0
    else:
        X = (X + 1000).astype(np.float32)
    k = int(rng.integers(1, 6))
    model = fitted(k, covariance_type=kind, random_state=seed % 1000, tol=1e-7, max_iter=60)(X)
    assert never_falls(model)
    assert np.isfinite(model.score_samples(X)).all()
    matrices = model._mixture.shape.matrices(model.covariances_, k, 3)
    least = np.linalg.eigvalsh(matrices).min()
    tallest = np.abs(matrices).max()
    assert least >= 1e-6 * (1 - 1e-6) - 1e-14 * tallest  # the rounding of eigenvalues
    assert model.weights_.sum() == pytest.approx(1.0)


def test_collapse_is_held_and_reported():
    """Problem 6.27: a bump on one row would make the likelihood infinite."""
    rows = np.concatenate([np.random.default_rng(1).normal(size=(30, 1)), [[50.0]]])
    with pytest.warns(ConvergenceWarning, match="collapsed to the least variance"):
        model = GaussianMixture(2, means_init=[[0.0], [50.0]], random_state=0).fit(rows)
    assert model.collapsed_.tolist() == [False, True]
    assert model.covariances_[1, 0, 0] == pytest.approx(1e-6)
    assert (
        not GaussianMixture(1).fit(np.c_[rows[:30], np.ones(30)]).collapsed_.any()
    )  # the data are flat, not the bump


def test_intervals_have_a_bounded_likelihood():
    """Problem 6.27 d: probabilities of x ± ε are at most one, and EM on them never falls."""
    rows = np.concatenate([np.random.default_rng(2).normal(size=(30, 1)), [[50.0]]])
    model = fitted(2, interval=0.1, reg_covar=0.0, means_init=[[0.0], [50.0]], random_state=0, max_iter=300)(
        rows
    )
    assert never_falls(model)
    assert max(model.lower_bounds_) <= 0
    logs = log_interval_probabilities(rows[:, 0], 0.1, model._mixture)
    for x, log in zip(rows[:, 0], logs, strict=True):
        assert log == pytest.approx(np.log(model.integrate([(x - 0.1, x + 0.1)])), abs=1e-6)
    narrow = fitted(2, interval=1e-7, means_init=[[-1.0], [1.0]], random_state=0, tol=1e-8, max_iter=500)(
        rows[:30]
    )
    plain = fitted(2, means_init=[[-1.0], [1.0]], random_state=0, tol=1e-8, max_iter=500)(rows[:30])
    np.testing.assert_allclose(narrow.means_, plain.means_, atol=1e-3)  # as ε → 0, the likelihood of values


def test_no_floor_at_all_is_refused_when_it_is_needed():
    with pytest.raises(ValueError, match="raise it"):
        GaussianMixture(reg_covar=0.0).fit(np.ones((5, 2)))


def test_equal_shares_cannot_move():
    """FACTS: with γ = 1/k everywhere all bumps stay equal."""
    rows = np.random.default_rng(3).normal(size=(40, 2))
    same = np.tile(rows.mean(axis=0), (3, 1))
    model = GaussianMixture(
        3, weights_init=[1 / 3] * 3, means_init=same, precisions_init=[np.eye(2)] * 3
    ).fit(rows)
    np.testing.assert_allclose(model.means_, same, atol=1e-12)


def test_recovers_known_parameters(kind):
    """Of 20,000 rows, means are known to some 0.02 and variances to a few percent: five such errors are allowed."""
    known = GaussianMixture.from_parameters(
        [0.3, 0.7], [[0.0, 0.0], [6.0, -2.0]],
        {"full": [[[1, 0.5], [0.5, 2]], [[2, 0], [0, 0.5]]], "tied": [[1, 0.5], [0.5, 2]],
         "diag": [[1, 2], [0.5, 1]], "spherical": [1.0, 2.0]}[kind],
        covariance_type=kind, random_state=1,
    )  # fmt: skip
    rows, labels = known.sample(20_000)
    model = GaussianMixture(2, covariance_type=kind, random_state=0, tol=1e-6).fit(rows)
    order = np.argsort(model.means_[:, 0])
    np.testing.assert_allclose(model.weights_[order], known.weights_, atol=0.02)
    np.testing.assert_allclose(model.means_[order], known.means_, atol=0.1)
    found = model.covariances_ if kind == "tied" else model.covariances_[order]
    np.testing.assert_allclose(found, known.covariances_, atol=0.15)
    assert (known.predict(rows) == labels).mean() > 0.97


def test_from_parameters_equals_the_formula():
    model = GaussianMixture.from_parameters(
        [0.25, 0.75], [[0.0], [2.0]], [1.0, 4.0], covariance_type="spherical"
    )
    x = np.linspace(-3, 8, 23)[:, None]
    expected = 0.25 * multivariate_normal(0, 1).pdf(x) + 0.75 * multivariate_normal(2, 4).pdf(x)
    np.testing.assert_allclose(np.exp(model.score_samples(x)), expected, rtol=1e-12)


def test_integrates_to_one_and_samples_follow(kind, rows):
    """Kolmogorov's test on each coordinate: of 10,000 seeds one would raise a false alarm; ours is fixed."""
    model = fitted(2, covariance_type=kind, random_state=0)(rows[:, :2])
    step = 0.25
    grids = [
        np.arange(low, high, step)
        for low, high in zip(rows[:, :2].min(0) - 12, rows[:, :2].max(0) + 12, strict=True)
    ]
    places = np.stack(np.meshgrid(*grids), axis=-1).reshape(-1, 2)
    assert np.exp(model.score_samples(places)).sum() * step**2 == pytest.approx(1.0, abs=1e-3)
    drawn, _ = model.sample(3000)
    for j in range(2):

        def below(x, j=j):
            box = np.array([(-np.inf, np.inf)] * 2)
            return np.array(
                [
                    model.integrate(np.where([[i == j] * 2 for i in range(2)], [(-np.inf, v)] * 2, box))
                    for v in x
                ]
            )

        assert kstest(drawn[::30, j], below).pvalue > 1e-4


def test_weights_are_repeated_rows(kind, rows):
    weights = np.random.default_rng(4).integers(0, 4, size=len(rows))
    start = start_of(kind, rows)
    one = fitted(3, covariance_type=kind, tol=1e-9, max_iter=30, **start)(rows, sample_weight=weights)
    other = fitted(3, covariance_type=kind, tol=1e-9, max_iter=30, **start)(np.repeat(rows, weights, axis=0))
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-9, atol=1e-12)
    assert one.lower_bound_ == pytest.approx(other.lower_bound_, rel=1e-12)


def test_fixed_parts_stay(kind, rows):
    start = start_of(kind, rows)
    for part, given_as in (
        ("weights", "weights_init"),
        ("means", "means_init"),
        ("covariances", "precisions_init"),
    ):
        model = fitted(3, covariance_type=kind, fixed=(part,), max_iter=20, **start)(rows)
        name = "precisions_" if part == "covariances" else f"{part}_"
        np.testing.assert_allclose(getattr(model, name), start[given_as], rtol=1e-9)
        assert never_falls(model)
    with pytest.raises(ValueError, match="given as means_init"):
        GaussianMixture(2, fixed=("means",)).fit(rows)


def test_warm_start_goes_on(rows):
    model = GaussianMixture(3, random_state=0, max_iter=1, warm_start=True)
    bounds = []
    for _ in range(5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            bounds.append(model.fit(rows).lower_bound_)
    assert (np.diff(bounds) >= -1e-12).all()
    assert bounds[-1] > bounds[0]


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(em, "MUCH_WORK", 0)
    rows = np.random.default_rng(5).normal(size=(3000, 4))
    start = em.Mixture(np.full(2, 0.5), rows[:2], np.tile(np.eye(4), (2, 1, 1)), em.Full())
    found = [
        em.expectation_maximisation(
            source(rows, block_rows=500), start, floor=em.Floor(1e-6), max_iter=3, n_jobs=n
        )
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(found[0].mixture.covariances, found[1].mixture.covariances)


def test_float32_and_far_from_zero():
    rows = (np.random.default_rng(6).normal(size=(200, 2)) * 0.1 + 1000).astype(np.float32)
    model = GaussianMixture(2, random_state=0).fit(rows)
    wide = GaussianMixture(2, random_state=0).fit(rows.astype(np.float64))
    np.testing.assert_allclose(model.covariances_, wide.covariances_, rtol=1e-10)


@pytest.mark.parametrize(("options", "words"), [
    ({"n_components": 0}, "n_components"), ({"n_components": 500}, "n_samples >= n_components"),
    ({"covariance_type": "round"}, "covariance_type"), ({"reg_covar": -1.0}, "reg_covar"),
    ({"weights_init": [0.5, 0.6], "n_components": 2}, "add up to 1"), ({"means_init": [[0.0]]}, "shape"),
    ({"precisions_init": [-np.eye(3)]}, "positive definite"), ({"interval": 0.1}, "single feature"),
    ({"fixed": ("all",)}, "fixed"), ({"floor": "none"}, "floor"),
])  # fmt: skip
def test_bad_input(rows, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        GaussianMixture(**options).fit(rows)
