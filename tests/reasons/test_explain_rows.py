"""Every model's accounts add up, to what the model itself answers."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import NotFittedError
from tests.reasons.explained_models import (
    CALIBRATORS,
    CLUSTERERS,
    DENSITIES,
    NOVELTY,
    OF_ROWS,
    REGRESSORS,
    fitted,
    own_total,
)  # fmt: skip

import bisector

# Public estimators that predict, or have densities, and do not explain: each with its reason.
NOT_EXPLAINED: dict[str, str] = {}

seeds = st.integers(0, 10**6)


def ask(model, x):
    """Return the model's answer for a row: a log density where that is all it has."""
    return model.predict(x[None])[0] if hasattr(model, "predict") else model.score_samples(x[None])[0]


@pytest.mark.parametrize("model", OF_ROWS, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_accounts_add_up_to_the_model_s_own_value(model):
    compared = 0

    @settings(max_examples=3, deadline=None)
    @given(seed=seeds, n_classes=st.sampled_from([2, 3]))
    def check(seed, n_classes):
        nonlocal compared
        made, asked = fitted(model, seed, n_classes)
        explained = made.explain_rows(asked)
        assert len(explained) == len(asked)
        for x, one in zip(asked, explained, strict=True):
            answer = ask(made, x)
            if isinstance(answer, float | np.floating):
                assert one.answer == pytest.approx(answer, rel=1e-9, abs=1e-9)
            else:
                assert one.answer == answer
            assert isinstance(one.summary, str)
            assert one.summary.endswith(".")
            for account in one.accounts:
                assert account.adds_up(1e-9), account
                wanted = own_total(made, x, account, answer)
                if wanted is not None:
                    compared += 1
                    # Sums of the same numbers in another order: rounding of the parts, which may cancel.
                    size = np.abs(account.values).sum()
                    assert abs(account.total - wanted) <= 1e-9 * size, account.title

    check()
    assert compared or type(model).__name__ in (
        "AgglomerativeClustering",
        "ClusteringTree",
        "KernelKMeans",
        "RBFClassifier",
    )


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_calibrators_say_how_scores_become_probabilities(calibrator):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=80)
    labels = np.where(scores + rng.normal(size=80) > 0, "yes", "no")
    calibrator.fit(scores, labels)
    asked = np.linspace(-4, 4, 33)
    for one, p in zip(calibrator.explain_rows(asked), calibrator.predict(asked), strict=True):
        (account,) = one.accounts
        assert one.answer == pytest.approx(p, abs=1e-12)
        total = p if account.title.startswith("probability") else np.log(p / (1 - p))
        assert account.total == pytest.approx(total, rel=1e-9, abs=1e-9)
        assert "'yes'" in account.title


def test_the_comparison_of_a_kernel_machine_is_one_of_its_pairs():
    made, asked = fitted(bisector.SVC(decision_function_shape="ovo"), 3)
    scores = np.abs(made.decision_function(asked))
    for line, one in zip(scores, made.explain_rows(asked), strict=True):
        assert np.isclose(line, one.accounts[0].total).any()
        assert set(one.accounts[0].columns["role"]) <= {
            "outside",
            "on margin",
            "inside",
            "misclassified",
            None,
        }


def test_support_vectors_have_their_alpha_as_weight():
    X, y = [[1, 2], [-1, 2], [-1, -2], [3, 1]], ["-", "-", "+", "+"]  # Flach, Example 7.5
    model = bisector.SVC(C=float("inf"), kernel="linear").fit(X, y)
    by_features, by_rows = model.explain_rows([[0.0, 0.0]])[0].accounts
    assert by_features.names == ["x0", "x1", "(intercept)"]
    weights = dict(zip(by_rows.rows.tolist(), by_rows.columns["weight"], strict=True))
    assert weights[0] == pytest.approx(0.5, abs=1e-6)
    assert weights[2] == pytest.approx(-0.1, abs=1e-6)
    assert weights[3] == pytest.approx(-0.4, abs=1e-6)


# By hand


def test_a_line_by_hand():
    model = bisector.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    by_features, by_rows = model.explain_rows([[4.0]])[0].accounts
    np.testing.assert_allclose(by_features.values, [8.0, 1.0])
    # Weights of the training targets at x = 4: 1/3 + (x − 1)(xₙ − 1)/2.
    weights = dict(zip(by_rows.rows.tolist(), by_rows.columns["weight"], strict=True))
    assert weights == pytest.approx({0: 1 / 3 - 1.5, 1: 1 / 3, 2: 1 / 3 + 1.5})
    assert by_rows.total == pytest.approx(9.0)


def test_neighbours_by_hand():
    model = bisector.KNeighborsClassifier(3).fit([[0.0], [1.0], [5.0]], ["a", "b", "b"])
    (account,) = model.explain_rows([[0.4]])[0].accounts
    assert account.rows.tolist() == [0, 1, 2]
    np.testing.assert_allclose(account.values, [0.0, 1 / 3, 1 / 3])
    np.testing.assert_allclose(account.columns["distance"], [0.4, 0.6, 4.6])
    assert account.columns["class"] == ["a", "b", "b"]


def test_a_tree_by_hand():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 0.0, 4.0, 8.0]
    one = bisector.DecisionTreeRegressor().fit(X, y).explain_rows([[2.0, 3.0]])[0]
    assert one.path == ["x0 > 0.5 (it is 2)", "x1 > 0.5 (it is 3)"]
    np.testing.assert_allclose(one.accounts[0].values, [3.0, 3.0, 2.0])
    assert one.accounts[0].names == ["all rows", "x0 > 0.5", "x1 > 0.5"]


def test_merges_of_a_clustered_row():
    model = bisector.AgglomerativeClustering(2, linkage="single").fit([[0.0], [1.0], [3.0], [20.0]])
    one = model.explain_rows(rows=[0])[0]
    np.testing.assert_allclose(one.accounts[0].values, [1.0, 1.0])
    assert one.accounts[0].names == ["joined with row 1", "joined with row 2"]
    assert model.explain_rows(rows=[3])[0].path == []
    with pytest.raises(ValueError, match="from 0 to 3"):
        model.explain_rows(rows=[4])


def test_a_far_row_of_a_density_has_shares():
    one = bisector.KernelDensity(bandwidth=0.01).fit([[0.0], [0.5]]).explain_rows([[100.0]])[0]
    assert one.accounts[0].title == "share of the density"
    assert one.accounts[0].total == pytest.approx(1.0)
    assert one.accounts[0].rows[0] == 1


def test_an_outlier_of_radius_neighbours():
    model = bisector.RadiusNeighborsClassifier(1.0, outlier_label="z").fit([[0.0], [1.0]], ["a", "b"])
    one = model.explain_rows([[50.0]])[0]
    assert one.answer == "z"
    assert not one.accounts
    assert "outliers" in one.summary


def test_rows_without_weight_keep_the_numbers_of_the_others():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [5.0, 1.0, 2.0, 3.0]
    for model in (bisector.RBFRegressor(width=0.1), bisector.KernelDensity(bandwidth=0.1)):
        given_y = [] if isinstance(model, bisector.KernelDensity) else [y]
        one = model.fit(X, *given_y, sample_weight=[0, 1, 1, 1]).explain_rows([[3.0]])[0]
        assert one.accounts[0].rows[0] == 3


def test_several_targets_have_an_account_each():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    Y = np.column_stack([X[:, 0], X[:, 1] * 2])
    for model in (
        bisector.LinearRegression(), bisector.Ridge([1.0, 3.0]), bisector.KNeighborsRegressor(2),
        bisector.DecisionTreeRegressor(), bisector.RBFRegressor(), bisector.KernelRidge(),
        bisector.GaussianMixtureRegressor(2), bisector.RBFNetworkRegressor(3, random_state=0),
    ):  # fmt: skip
        one = model.fit(X, Y).explain_rows(X[:1])[0]
        assert one.answer == pytest.approx(model.predict(X[:1])[0].tolist())
        assert [account.total for account in one.accounts[:2]] == pytest.approx(one.answer)


# Training rows of linear smoothers


def test_ridge_is_explained_by_the_rows_given_again():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(40, 3)), rng.normal(size=40), rng.integers(1, 4, 40)
    model = bisector.RidgeCV().fit(X, y, sample_weight=w)
    assert len(model.explain_rows(X[:2])[0].accounts) == 1
    one = model.explain_rows(X[:2], training=(X, y, w))[1]
    assert one.accounts[1].total == pytest.approx(model.predict(X[1:2])[0])
    with pytest.raises(ValueError, match="those it was fitted on"):
        model.explain_rows(X[:1], training=(X, y + 1.0 + X[:, 0]))
    with pytest.raises(ValueError, match="training must be"):
        model.explain_rows(X[:1], training=X)


def test_weights_equal_the_equivalent_kernel():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = bisector.Ridge(1.5).fit(X, y)
    account = model.explain_rows(X[:1])[0].accounts[1]
    np.testing.assert_allclose(
        account.columns["weight"], model.equivalent_kernel(X[:1])[0][account.rows], rtol=1e-9, atol=1e-12
    )


def test_only_the_largest_parts_are_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 2))
    account = bisector.KernelDensity().fit(X).explain_rows(X[:1])[0].accounts[0]
    assert len(account.values) == 101
    assert account.names[-1] == "(900 other rows)"
    assert account.rows[-1] == -1
    assert account.adds_up()


# Other input


def test_words_are_explained_by_words():
    words, kind = ["cat", "cats", "hat", "house", "houses", "mouse"], ["short"] * 3 + ["long"] * 3
    for model in (
        bisector.KNeighborsClassifier(3, metric="levenshtein"),
        bisector.NearestExemplarClassifier("medoid", metric="levenshtein"),
        bisector.SimilarityClassifier(metric="levenshtein"),
        bisector.SVC(kernel=bisector.Spectrum(2)),
    ):
        one = model.fit(words, kind).explain_rows(["bat"])[0]
        assert one.answer == model.predict(["bat"])[0]
        assert one.move is None
        assert all(account.adds_up() for account in one.accounts)


def test_float32_and_sparse_rows():
    import scipy.sparse

    made, asked = fitted(bisector.LogisticRegression(), 0)
    dense = made.explain_rows(asked)
    for other in (scipy.sparse.csr_array(asked), asked.astype(np.float32)):
        for one, same in zip(made.explain_rows(other), dense, strict=True):
            assert one.answer == same.answer
            np.testing.assert_allclose(one.accounts[0].values, same.accounts[0].values, rtol=1e-5, atol=1e-5)


def test_names_of_a_frame_are_told():
    import pandas as pd

    _, asked = fitted(bisector.KMeans(2, random_state=0), 0)
    frame = pd.DataFrame(asked, columns=["height", "weight", "age"])
    for model in (
        bisector.KMeans(2, random_state=0), bisector.DecisionTreeClassifier(), bisector.LogisticRegression(),
        bisector.KNeighborsClassifier(1), bisector.SVC(), bisector.NearestExemplarClassifier(),
    ):  # fmt: skip
        y = [] if isinstance(model, bisector.KMeans) else [["a", "b"] * 3]
        one = model.fit(frame, *y).explain_rows(frame)[0]
        names = [name for account in one.accounts for name in account.names or []] + list(one.path)
        if not isinstance(model, bisector.KNeighborsClassifier | bisector.SVC):
            assert any("height" in name or "weight" in name or "age" in name for name in names)


def test_categories_and_missing_values_of_a_tree():
    import pandas as pd

    frame = pd.DataFrame({"kind": ["cat", "dog", "cat", "dog"] * 5, "size": np.arange(20.0)})
    y = np.where(frame["kind"] == "cat", "meow", np.where(frame["size"] > 9, "woof", "yap"))
    model = bisector.DecisionTreeClassifier(categorical_features="from_dtype").fit(frame, y)
    asked = pd.DataFrame({"kind": ["dog", "dog"], "size": [3.0, np.nan]})
    first, second = model.explain_rows(asked)
    assert any("kind = dog (it is dog)" in step for step in first.path)
    assert first.move.answer == "woof"
    assert not first.move.smallest
    assert second.move is None or np.isnan(second.move.to[1])


# Bad input


@pytest.mark.parametrize("model", OF_ROWS, ids=lambda model: type(model).__name__)
def test_an_unfitted_model_says_so(model):
    from sklearn.base import clone

    with pytest.raises(NotFittedError):
        clone(model).explain_rows(np.zeros((2, 3)))


@pytest.mark.parametrize("model", OF_ROWS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore")
def test_another_number_of_features_is_an_error(model):
    made, asked = fitted(model, 0)
    with pytest.raises(ValueError, match="features"):
        made.explain_rows(asked[:, :2])


def test_a_gap_is_named():
    made, asked = fitted(bisector.LogisticRegression(), 0)
    asked[1, 2] = np.nan
    with pytest.raises(ValueError, match="row 1, column 2"):
        made.explain_rows(asked)


def test_every_estimator_that_answers_explains():
    for name, kind in bisector.all_estimators():
        if hasattr(kind, "predict") or hasattr(kind, "score_samples"):
            assert hasattr(kind, "explain_rows") != (name in NOT_EXPLAINED), name
    tested = {type(model).__name__ for model in [*OF_ROWS, *CALIBRATORS]}
    explaining = {name for name, kind in bisector.all_estimators() if hasattr(kind, "explain_rows")}
    assert tested == explaining
    assert REGRESSORS
    assert CLUSTERERS
    assert DENSITIES
    assert NOVELTY
