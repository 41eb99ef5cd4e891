"""The path for users: labels, kernels, forms of rows, and what it says."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.svm import SVC

from bisector import svm_path
from bisector.kernels import Gaussian, Linear, Polynomial, Spectrum


def two_classes(n=40, d=3, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + 0.7 * rng.normal(size=n)
    return X, np.where(score > np.quantile(score, 1 - share), "yes", "no")


# Oracle: a fit at that C


@pytest.mark.parametrize("share", [0.5, 0.3])
@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (Linear(), {"kernel": "linear"}),
        (Gaussian.from_gamma(0.3), {"kernel": "rbf", "gamma": 0.3}),
        (Polynomial(2, bias=1.0), {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}),
    ],
)
def test_at_any_C_it_is_the_machine_fitted_there(kernel, theirs, share):
    X, y = two_classes(share=share)
    path = svm_path(X, y, kernel)
    queries = np.random.default_rng(1).normal(size=(20, 3))
    for C in (0.01, 0.1, 0.7, 5.0):
        fitted = SVC(C=C, tol=1e-10, **theirs).fit(X, y)
        ours = path.at(C)
        cost = ours.alpha.sum() - 0.5 / ours.margin**2
        dual = np.abs(fitted.dual_coef_).sum() - 0.5 * quadratic(kernel, X, fitted)
        assert cost == pytest.approx(dual, rel=1e-9)
        if ((ours.alpha > 1e-9) & (ours.alpha < C - 1e-9)).any():  # else the threshold is a choice
            # Whatever its tolerance, the peer computes with kernel values in single precision.
            room = 6e-8 * ours.alpha.sum() * kernel.diag(X).max()
            np.testing.assert_allclose(
                path.decision_function(queries, C), fitted.decision_function(queries), atol=room
            )


def quadratic(kernel, X, fitted):
    K = kernel.gram(X[fitted.support_])
    return float(fitted.dual_coef_[0] @ K @ fitted.dual_coef_[0])


# What is given


def test_names_and_parameters_of_scikit_learn():
    X, y = two_classes()
    named, given = svm_path(X, y, "rbf", gamma=0.5), svm_path(X, y, Gaussian.from_gamma(0.5))
    np.testing.assert_allclose(named.knots, given.knots, rtol=1e-9)


def test_a_gram_matrix_and_strings():
    words = ["banana", "ananas", "bandana", "cherry", "merry", "sherry"]
    y = [1, 1, 1, 0, 0, 0]
    kernel = Spectrum(2)
    by_words, by_matrix = svm_path(words, y, kernel), svm_path(kernel.gram(words), y, "precomputed")
    np.testing.assert_allclose(by_words.knots, by_matrix.knots)
    assert by_words.at(1.0).weights is None
    assert (by_words.decision_function(["bananas", "merry"], 1.0) > 0).tolist() == [True, False]


@pytest.mark.parametrize(
    "form", [scipy.sparse.csr_array, pd.DataFrame, np.asfortranarray, lambda X: X.astype(np.float32)]
)
def test_forms_of_rows(form):
    X, y = two_classes()
    X = np.round(4 * X) / 4  # exact in float32
    plain, other = svm_path(X, y), svm_path(form(X), y)
    np.testing.assert_allclose(other.knots, plain.knots, rtol=1e-8)
    np.testing.assert_allclose(other.at(0.3).weights, plain.at(0.3).weights, atol=1e-9)
    assert other.at(0.3).threshold == pytest.approx(plain.at(0.3).threshold, abs=1e-8)


def test_rows_far_from_zero():
    X, y = two_classes()
    near, far = svm_path(X, y), svm_path(X + 1e6, y)
    np.testing.assert_allclose(far.knots, near.knots, rtol=1e-6)
    np.testing.assert_allclose(far.at(1.0).alpha, near.at(1.0).alpha, atol=1e-6)


def test_whole_weights_are_repeats_and_zero_is_absence():
    X, y = two_classes(n=25)
    weight = np.random.default_rng(2).integers(0, 4, size=25)
    weighted, repeated = svm_path(X, y, sample_weight=weight), svm_path(X.repeat(weight, 0), y.repeat(weight))
    for C in (0.02, 0.2, 3.0):
        np.testing.assert_allclose(weighted.at(C).weights, repeated.at(C).weights, atol=1e-9)
        assert weighted.at(C).threshold == pytest.approx(repeated.at(C).threshold, abs=1e-8)
        assert (weighted.at(C).alpha[weight == 0] == 0).all()
        sums = np.add.reduceat(repeated.at(C).alpha, np.cumsum(weight[weight > 0]) - weight[weight > 0])
        np.testing.assert_allclose(weighted.at(C).alpha[weight > 0].sum(), sums.sum(), atol=1e-9)


# What it says


def test_roles_and_slacks_follow_from_the_scores():
    X, y = two_classes()
    path = svm_path(X, y)
    for C in (path.knots[0] * 2, path.knots[len(path.knots) // 2], path.knots[-1] / 2):
        machine = path.at(C)
        margin = np.where(y == "yes", 1, -1) * path.decision_function(X, C)
        np.testing.assert_allclose(machine.slack, np.maximum(1 - margin, 0), atol=1e-7)
        for role, holds in [
            ("outside", margin > 1 + 1e-7),
            ("on margin", np.abs(margin - 1) <= 1e-7),
            ("inside", (margin < 1 - 1e-7) & (margin > 0)),
            ("misclassified", margin < 0),
        ]:
            np.testing.assert_array_equal(machine.roles == role, holds)
        free = (machine.alpha > 1e-9 * C) & (machine.alpha < C * (1 - 1e-9))
        assert (machine.roles[free] == "on margin").all()
        assert (machine.alpha[machine.roles == "outside"] == 0).all()


def test_the_margin_shrinks_as_C_grows():
    X, y = two_classes()
    path = svm_path(X, y)
    margins = [path.at(C).margin for C in np.geomspace(1e-3, 1e3, 30)]
    assert (np.diff(margins) <= 1e-9).all()


def test_a_long_path_is_printed_by_its_ends():
    X, y = two_classes(n=60)
    path = svm_path(X, y)
    shown = repr(path)
    assert f"{len(path.knots)} knots, 60 rows" in shown
    assert f"{len(path.knots) - 12} knots in the middle are not shown." in shown
    assert "<table" in path._repr_html_()


# Bad input


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 0, 0], "two labels"),
        ([0, 1, 2], "two labels, one a row, but it has 3"),
        ([0, 1], "inconsistent numbers of samples"),
    ],
)
def test_labels_that_do_not_serve(y, message):
    with pytest.raises(ValueError, match=message):
        svm_path(np.eye(3), y)


def test_weights_that_leave_one_class():
    with pytest.raises(ValueError, match="both classes with a weight above zero"):
        svm_path(np.eye(3), [0, 1, 1], sample_weight=[0, 1, 1])


def test_rows_that_are_not_finite():
    with pytest.raises(ValueError, match="NaN"):
        svm_path([[0.0], [np.nan]], [0, 1])


@pytest.mark.parametrize("C", [0, -1, np.inf, np.nan])
def test_C_that_is_no_cost(C):
    with pytest.raises(ValueError, match="C must be"):
        svm_path([[0.0], [1.0]], [0, 1]).at(C)


def test_beyond_what_rounding_allows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    path = svm_path(X, X[:, 0] + 0.3 * rng.normal(size=60) > 0, Gaussian.from_gamma(0.5))
    assert path.largest_C < np.inf
    with pytest.raises(ValueError, match="known up to C="):
        path.at(2 * path.largest_C)


def test_a_kernel_that_is_singular_to_rounding_from_the_start():
    X = np.linspace(0, 1, 40)[:, None]
    with pytest.raises(ValueError, match="no path can be followed"):
        svm_path(X, np.arange(40) % 3 == 0, Gaussian.from_gamma(0.5))


def test_two_rows():
    path = svm_path([[0.0], [2.0]], ["a", "b"])
    np.testing.assert_allclose(path.knots, [0.5])
    assert path.at(9.0).threshold == pytest.approx(1)
    assert path.at(9.0).margin == pytest.approx(1)


def test_equal_rows_of_both_classes_have_no_direction():
    path = svm_path([[1.0, 2.0], [1.0, 2.0]], [0, 1])
    assert len(path.knots) == 0
    assert path.at(3.0).margin == np.inf
    assert path.at(3.0).threshold == pytest.approx(0)


def test_a_kernel_that_is_no_dot_product_is_refused_with_its_eigenvalue():
    X, y = two_classes(60)
    K = X @ X.T - 5 * np.eye(60)
    with pytest.raises(ValueError, match=r"positive semi-definite, but its matrix has the eigenvalue -5"):
        svm_path(K, y, "precomputed")
    with pytest.raises(ValueError, match="positive semi-definite"):
        svm_path(X, y, lambda A, B: -(A @ B.T))


def test_a_matrix_of_single_precision_is_not_suspected():
    X, y = two_classes(60)
    single = svm_path((X @ X.T).astype(np.float32), y, "precomputed")
    np.testing.assert_allclose(single.at(0.5).alpha, svm_path(X, y).at(0.5).alpha, atol=1e-4)


@pytest.mark.parametrize(
    ("K", "message"),
    [(np.ones((40, 43)), "square"), (np.triu(np.ones((40, 40))), "symmetric, but the value of rows 0 and 1")],
)
def test_a_matrix_that_is_no_gram_matrix(K, message):
    with pytest.raises(ValueError, match=message):
        svm_path(K, two_classes()[1], "precomputed")


def test_kernel_values_of_other_rows_must_be_with_all_training_rows():
    X, y = two_classes()
    path = svm_path(X @ X.T, y, "precomputed")
    with pytest.raises(ValueError, match="with the 40 training rows"):
        path.decision_function(X, 1.0)
