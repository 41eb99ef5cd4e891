"""Lasso and elastic net with the penalty chosen by cross-validation."""

import numpy as np
import pytest
import scipy.sparse
import sklearn
import sklearn.linear_model
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from bisector import ElasticNet, ElasticNetCV, Lasso, LassoCV, datasets


@pytest.fixture(params=["tall", "wide"])
def problem(request, rng):
    if request.param == "tall":
        return datasets.diabetes(scaled=True)
    X = rng.normal(size=(60, 300)) + 1
    return X, X[:, :5].sum(axis=1) + rng.normal(size=60)


@pytest.mark.parametrize("weighted", [False, True])
def test_as_scikit_learn(problem, rng, weighted):
    X, y = problem
    weight = rng.integers(0, 3, size=len(y)).astype(float) if weighted else None
    how = {"tol": 1e-11, "alphas": 25, "eps": 1e-2}
    theirs = sklearn.linear_model.LassoCV(max_iter=100_000, **how).fit(X, y, sample_weight=weight)
    ours = LassoCV(**how).fit(X, y, sample_weight=weight)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-12)
    for name in ("alphas_", "mse_path_", "coef_"):
        value = getattr(theirs, name)
        np.testing.assert_allclose(getattr(ours, name), value, atol=1e-6 * np.abs(value).max(), err_msg=name)


@pytest.mark.parametrize("l1_ratio", [0.5, [0.1, 0.9, 1.0]])
@pytest.mark.parametrize("alphas", [8, [0.01, 0.1, 1.0]])
def test_elastic_net_as_scikit_learn(problem, l1_ratio, alphas):
    X, y = problem
    how = {"tol": 1e-11, "alphas": alphas, "l1_ratio": l1_ratio, "cv": KFold(4, shuffle=True, random_state=0)}
    theirs = sklearn.linear_model.ElasticNetCV(max_iter=100_000, **how).fit(X, y)
    ours = ElasticNetCV(**how).fit(X, y)
    assert (ours.alpha_, ours.l1_ratio_) == (pytest.approx(theirs.alpha_, rel=1e-12), theirs.l1_ratio_)
    for name in ("alphas_", "mse_path_", "coef_"):
        value = getattr(theirs, name)
        np.testing.assert_allclose(getattr(ours, name), value, atol=1e-6 * np.abs(value).max(), err_msg=name)


def test_errors_are_those_of_fits_without_the_fold(problem):
    X, y = problem
    model = LassoCV(alphas=[0.3, 0.05], cv=3, tol=1e-10).fit(X, y)
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        for place, alpha in enumerate(model.alphas_):
            alone = Lasso(alpha=alpha, tol=1e-10).fit(X[train], y[train])
            error = np.mean((alone.predict(X[test]) - y[test]) ** 2)
            assert model.mse_path_[place, fold] == pytest.approx(error, rel=1e-7)


def test_the_rule_of_one_standard_error(problem):
    X, y = problem
    model = LassoCV(rule="one-standard-error").fit(X, y)
    mean, errors = model.mse_path_.mean(axis=1), model.mse_path_
    best = mean.argmin()
    limit = mean[best] + errors[best].std(ddof=1) / np.sqrt(errors.shape[1])
    allowed = model.alphas_[mean <= limit]
    assert model.alpha_ == model.alpha_one_standard_error_ == allowed.max()
    assert model.alpha_min_ == model.alphas_[best] == LassoCV().fit(X, y).alpha_
    fitted = Lasso(alpha=model.alpha_).fit(X, y)
    np.testing.assert_array_equal(model.coef_, fitted.coef_)
    assert (model.dual_gap_, model.n_iter_) == (fitted.dual_gap_, fitted.n_iter_)


def test_the_chosen_model_is_fitted_to_all_rows(problem):
    X, y = problem
    model = ElasticNetCV(l1_ratio=[0.3, 0.8], alphas=10).fit(X, y)
    alone = ElasticNet(alpha=model.alpha_, l1_ratio=model.l1_ratio_).fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    assert model.mse_path_.shape == (2, 10, 5)
    assert model.alphas_.shape == (2, 10)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_threads_change_no_bit(problem, layout):
    X, y = problem
    one, two = (LassoCV(alphas=10, n_jobs=n_jobs).fit(layout(X), y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.mse_path_, two.mse_path_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_sparse_as_dense(problem):
    X, y = problem
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (LassoCV(alphas=10, tol=1e-10).fit(held, y) for held in (X, scipy.sparse.csr_array(X)))
    np.testing.assert_allclose(sparse.mse_path_, dense.mse_path_, rtol=1e-6)


def test_splitters_that_repeat_rows_or_leave_some_out(problem):
    X, y = problem
    model = LassoCV(alphas=[0.1], cv=ShuffleSplit(3, train_size=0.5, random_state=0)).fit(X, y)
    assert model.mse_path_.shape == (3,)
    twice = np.repeat(np.arange(30), 2)
    repeated = LassoCV(alphas=[0.1], cv=[(twice, np.arange(30, 60))], tol=1e-12).fit(X, y)
    weighted = Lasso(alpha=0.1, tol=1e-12).fit(X[:30], y[:30], sample_weight=np.full(30, 2.0))
    expected = np.mean((weighted.predict(X[30:60]) - y[30:60]) ** 2)
    assert repeated.mse_path_.item() == pytest.approx(expected, rel=1e-6)


def test_groups_reach_the_splitter(problem):
    X, y = problem
    groups = np.arange(len(y)) % 4
    model = LassoCV(alphas=5, cv=GroupKFold(4)).fit(X, y, groups=groups)
    by_hand = LassoCV(alphas=5, cv=list(GroupKFold(4).split(X, y, groups))).fit(X, y)
    np.testing.assert_array_equal(model.mse_path_, by_hand.mse_path_)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = LassoCV(alphas=5, cv=GroupKFold(4)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(routed.mse_path_, by_hand.mse_path_)


def test_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = datasets.diabetes(scaled=True)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["target"] = y
    frame.to_parquet(tmp_path / "rows.parquet")
    plain, read = LassoCV(alphas=5).fit(X, y), LassoCV(alphas=5).fit(tmp_path / "rows.parquet", "target")
    np.testing.assert_allclose(read.mse_path_, plain.mse_path_, rtol=1e-9)


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"rule": "best"}, "rule must be one of"),
        ({"eps": -1}, "eps must be"),
        ({"alphas": [-1.0]}, r"alphas\[0\] is -1.0"),
        ({"cv": 1000}, "splits"),
    ],
)
def test_bad_parameters(table, how, error):
    with pytest.raises(ValueError, match=error):
        LassoCV(**how).fit(*table)


def test_a_fold_without_weight_is_refused(table):
    X, y = table
    weight = np.r_[np.zeros(10), np.ones(40)]
    with pytest.raises(ValueError, match="Fold 0 has no test rows with a weight"):
        LassoCV().fit(X, y, sample_weight=weight)


def test_several_targets_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="1d array"):
        LassoCV().fit(X, np.column_stack([y, y]))
