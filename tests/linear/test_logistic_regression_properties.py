"""What must hold of logistic regression whatever the data."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning
from tests.properties.strategies import FORMS, as_dense, awkward_tables, in_some_form, plain_tables, weights

from bisector import LogisticRegression

quickly = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)

WAYS = [
    {},
    {"fit_intercept": False},
    {"solver": "newton-cg"},
    {"l1_ratio": 1.0},
    {"l1_ratio": 0.5, "C": 0.1},
    {"scheme": "one-vs-rest"},
]
ways = st.sampled_from(WAYS)


@st.composite
def labels(draw, n_rows, most=3):
    """Labels of at least two classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.integers(0, draw(st.integers(2, most)), size=n_rows)
    assume(len(np.unique(codes)) > 1)
    return codes


@quickly
@given(st.data(), ways)
def test_whole_weights_are_repeated_rows(data, parameters):
    X = data.draw(plain_tables(min_rows=4))
    y = data.draw(labels(len(X)))
    weight = data.draw(weights(len(X), whole_numbers=True))
    assume(len(np.unique(y[weight > 0])) > 1)
    weighted = LogisticRegression(**parameters).fit(X, y, sample_weight=weight)
    times = weight.astype(int)
    repeated = LogisticRegression(**parameters).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(weighted.classes_, repeated.classes_)


@quickly
@given(st.data(), ways)
def test_awkward_tables_are_fitted(data, parameters):
    """Constant, repeated, dependent, far, tiny and huge columns: probabilities come out, and no warning."""
    X = data.draw(awkward_tables(min_rows=3))
    y = data.draw(labels(len(X)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(**parameters).fit(X, y)
        shares = model.predict_proba(X)
    assert model.converged_
    assert np.isfinite(model.coef_).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-9)


@quickly
@given(st.data())
def test_awkward_tables_without_penalty_are_fitted_or_said_to_be_separable(data):
    X = data.draw(awkward_tables(min_rows=3))
    y = data.draw(labels(len(X), most=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Planes separate", ConvergenceWarning)
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.converged_ or model.separable_
    assert np.isfinite(model.coef_).all()


@quickly
@given(st.data(), st.sampled_from(sorted(FORMS)), st.sampled_from([np.float64, np.float32]))
def test_forms_of_the_data_change_nothing(data, form, dtype):
    table = data.draw(plain_tables(min_rows=4)).astype(dtype)
    y = data.draw(labels(len(table)))
    held = data.draw(in_some_form(table, (form,)))
    found = LogisticRegression().fit(held, y)
    plain = LogisticRegression().fit(as_dense(held), y)
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-5, atol=1e-6)


@quickly
@given(st.data(), ways)
def test_sparse_is_dense(data, parameters):
    X = np.round(data.draw(plain_tables(min_rows=4)))
    y = data.draw(labels(len(X)))
    sparse = LogisticRegression(**parameters).fit(scipy.sparse.csr_array(X), y)
    dense = LogisticRegression(**parameters).fit(X, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5, atol=1e-5)


@quickly
@given(st.data(), st.floats(-1e3, 1e3), st.sampled_from([1e-6, 1.0, 1e6]))
def test_moving_a_feature_changes_only_the_intercept_and_units_only_its_coefficient(data, distance, unit):
    X = data.draw(plain_tables(min_rows=6, spare_rows=6))
    y = data.draw(labels(len(X), most=2))
    moved = X.copy()
    moved[:, 0] = moved[:, 0] * unit + distance
    before = LogisticRegression(C=np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            before.fit(X, y)
        except ConvergenceWarning:
            assume(False)
    after = LogisticRegression(C=np.inf).fit(moved, y)
    np.testing.assert_allclose(after.coef_[0, 1:], before.coef_[0, 1:], rtol=1e-5, atol=1e-6)
    assert after.coef_[0, 0] * unit == pytest.approx(before.coef_[0, 0], rel=1e-5, abs=1e-6)


@quickly
@given(st.data())
def test_renaming_classes_renames_planes(data):
    X = data.draw(plain_tables(min_rows=6))
    y = data.draw(labels(len(X)))
    straight, turned = LogisticRegression().fit(X, y), LogisticRegression().fit(X, -y)
    if len(straight.classes_) == 2:
        np.testing.assert_allclose(turned.coef_, -straight.coef_, rtol=1e-7, atol=1e-8)
    else:
        np.testing.assert_allclose(turned.coef_[::-1], straight.coef_, rtol=1e-7, atol=1e-8)
