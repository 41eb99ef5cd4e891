"""What is ours beyond the peer: any metric, weights that count, ties, payloads, rows that come and go."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import bisector
from bisector import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

SEVEN = np.array([[1, 0], [0, 1], [0, -1], [-1, 0], [0, 2], [0, -2], [-2, 0]], dtype=float)
SIGNS = np.array([-1, -1, -1, -1, 1, 1, 1])


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(60, 3)).astype(float)  # many ties
    return X, rng.integers(0, 3, size=60), rng.integers(0, 4, size=(25, 3)) + 0.25


# By hand


def test_the_nearest_of_equals_is_the_first():
    model = NearestNeighbors(n_neighbors=2).fit([[1.0], [-1.0], [1.0], [0.5]])
    np.testing.assert_array_equal(model.kneighbors([[0.0]], return_distance=False), [[3, 0]])
    np.testing.assert_array_equal(model.kneighbors(return_distance=False)[2], [0, 3])


def test_a_row_among_many_equals_is_not_its_own_neighbour():
    model = NearestNeighbors(n_neighbors=2).fit(np.zeros((5, 1)))
    np.testing.assert_array_equal(
        model.kneighbors(return_distance=False), [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]]
    )


def test_all_neighbours_vote_for_the_prior():
    model = KNeighborsClassifier(n_neighbors=7).fit(SEVEN, SIGNS)
    np.testing.assert_allclose(model.predict_proba([[9.0, 9.0], [0.0, 0.0]]), [[4 / 7, 3 / 7]] * 2)


def test_one_neighbour_makes_no_training_error_unless_equal_rows_differ():
    assert KNeighborsClassifier(1).fit(SEVEN, SIGNS).score(SEVEN, SIGNS) == 1
    X, y = np.vstack([SEVEN, SEVEN[:1]]), np.append(SIGNS, 1)
    assert KNeighborsClassifier(1).fit(X, y).score(X, y) == 7 / 8


def test_square_root_of_the_rows():
    X = np.arange(50.0)[:, None]
    model = KNeighborsRegressor("sqrt").fit(X, X[:, 0])
    assert model.kneighbors(X, return_distance=False).shape == (50, 7)


# Ties of votes


def test_ties_of_votes():
    X, y = [[-2.0], [1.0], [3.0], [-3.0]], ["b", "a", "b", "a"]
    ask = [[0.0]]
    assert KNeighborsClassifier(2).fit(X, y).predict(ask) == "a"
    X[0] = [-0.5]
    assert KNeighborsClassifier(2, ties="nearest").fit(X, y).predict(ask) == "b"
    many = np.zeros((400, 1))
    drawn = KNeighborsClassifier(2, ties="random", random_state=3).fit(X, y)
    share = np.mean(drawn.predict(many) == "a")
    assert 0.4 < share < 0.6  # five standard deviations: one false alarm in a million seeds
    np.testing.assert_array_equal(drawn.predict(many), drawn.predict(many))


# Weights


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_integer_weights_are_repeated_rows(rows, weights, k):
    X, y, new = rows
    counts = np.random.default_rng(2).integers(0, 4, size=len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    for kind, target in ((KNeighborsClassifier, y), (KNeighborsRegressor, y.astype(float))):
        weighted = kind(k, weights=weights).fit(X, target, sample_weight=counts)
        plain = kind(k, weights=weights).fit(X[repeated], target[repeated])
        predict = "predict_proba" if kind is KNeighborsClassifier else "predict"
        np.testing.assert_allclose(getattr(weighted, predict)(new), getattr(plain, predict)(new))


def test_the_last_neighbour_counts_in_part():
    model = KNeighborsClassifier(2).fit([[0.0], [1.0], [2.0]], [0, 1, 2], sample_weight=[0.5, 0.75, 5.0])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.25, 0.375, 0.375]])


def test_radius_counts_weight(rows):
    X, y, new = rows
    counts = np.random.default_rng(2).integers(0, 3, size=len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    weighted = RadiusNeighborsClassifier(2.0).fit(X, y, sample_weight=counts)
    plain = RadiusNeighborsClassifier(2.0).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.predict_proba(new), plain.predict_proba(new))


def test_a_bump_is_as_wide_as_the_farthest_neighbour():
    bump = bisector.kernels.EpanechnikovBump()
    model = KNeighborsRegressor(3, weights=bump).fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    w = np.array([bump(1 / 4), bump(2 / 4), bump(1.0)])
    assert model.predict([[0.0]])[0] == pytest.approx(w @ [1, 2, 3] / w.sum())


def test_votes_without_any_weight_count_alike():
    model = KNeighborsClassifier(2, weights=np.zeros_like).fit([[0.0], [1.0], [9.0]], [0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[0.4]]), [[0.5, 0.5]])


def test_distances_whose_reciprocals_overflow():
    model = KNeighborsClassifier(2, weights="distance", metric="manhattan").fit([[1e-310], [3e-310]], [0, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.75, 0.25]], rtol=1e-6)


def test_leaving_each_row_out(rows):
    X, y, _ = rows
    left_out = KNeighborsClassifier(3).fit(X, y).predict(None)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        assert KNeighborsClassifier(3).fit(X[others], y[others]).predict(X[i : i + 1]) == left_out[i]


# Averages


def test_medians_and_functions(rows):
    X, y, new = rows
    target = y + X[:, 0]
    model = KNeighborsRegressor(4, aggregate="median").fit(X, target)
    near = model.kneighbors(new, return_distance=False)
    np.testing.assert_allclose(model.predict(new), np.median(target[near], axis=1))
    largest = KNeighborsRegressor(4, aggregate=lambda values, weights: values.max()).fit(X, target)
    np.testing.assert_allclose(largest.predict(new), target[near].max(axis=1))


def test_weighted_median_is_that_of_repeated_rows(rows):
    X, y, new = rows
    counts = np.random.default_rng(5).integers(1, 4, size=len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    weighted = RadiusNeighborsRegressor(2.5, aggregate="median").fit(X, y, sample_weight=counts)
    plain = RadiusNeighborsRegressor(2.5, aggregate="median").fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.predict(new), plain.predict(new))


# Any metric


def test_a_metric_can_be_searched(rows):
    X, y, _ = rows
    search = GridSearchCV(
        KNeighborsClassifier(metric=bisector.Minkowski()), {"metric__p": [1, 2, np.inf]}, cv=3
    )
    scores = search.fit(X, y).cv_results_["mean_test_score"]
    alone = [
        GridSearchCV(KNeighborsClassifier(metric=metric), {}, cv=3).fit(X, y).best_score_
        for metric in ("manhattan", "euclidean", "chebyshev")
    ]
    np.testing.assert_allclose(scores, alone)


def test_strings_sets_and_tables():
    words = ["cat", "cats", "hat", "house", "houses", "mouse"]
    lengths = np.array([3.0, 4, 3, 5, 6, 5])
    model = KNeighborsRegressor(1, metric="levenshtein").fit(words, lengths)
    assert not hasattr(model, "n_features_in_")
    np.testing.assert_allclose(model.predict(["mouses", "bat"]), [6, 3])  # of equals, the first
    sets = [{1, 2}, {2, 3}, {7, 8}, {8, 9}]
    np.testing.assert_array_equal(
        KNeighborsClassifier(1, metric="jaccard").fit(sets, [0, 0, 1, 1]).predict([{1}, {9, 7}]), [0, 1]
    )
    people = pd.DataFrame({"age": [20.0, 30.0, 70.0], "town": ["Ulm", "Ulm", "Bonn"]})
    model = KNeighborsClassifier(1, metric="gower").fit(people, ["young", "young", "old"])
    np.testing.assert_array_equal(model.feature_names_in_, ["age", "town"])
    assert model.predict(pd.DataFrame({"age": [60.0], "town": ["Bonn"]})) == "old"


def test_a_users_function(rows):
    X, y, new = rows

    def largest_difference(a, b):
        return np.max(np.abs(a - b))

    mine = KNeighborsClassifier(3, metric=largest_difference).fit(X, y)
    theirs = KNeighborsClassifier(3, metric="chebyshev").fit(X, y)
    np.testing.assert_array_equal(mine.kneighbors(new)[1], theirs.kneighbors(new)[1])


def test_missing_values():
    X = [[0.0, np.nan], [5.0, 5.0], [np.nan, 1.0]]
    model = KNeighborsClassifier(1, metric="nan_euclidean").fit(X, [0, 1, 2])
    np.testing.assert_array_equal(model.predict([[0.1, np.nan], [np.nan, 1.1]]), [0, 2])
    with pytest.raises(ValueError, match="NaN"):
        KNeighborsClassifier(1).fit(X, [0, 1, 2])


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree", "metric_tree"])
def test_every_way_of_searching_gives_the_same(rows, algorithm):
    X, y, new = rows
    asked = KNeighborsClassifier(4, algorithm=algorithm).fit(X, y)
    chosen = KNeighborsClassifier(4).fit(X, y)
    for mine, expected in zip(asked.kneighbors(new), chosen.kneighbors(new), strict=True):
        np.testing.assert_array_equal(mine, expected)
    assert asked.index_.reason.endswith("as asked for.")
    assert asked.index_.stats.queries == len(new)


# Retrieval


def test_retrieval_of_payloads():
    model = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [5.0]], payload=["zero", "one", "five"])
    assert model.retrieve([[0.9], [4.0]]) == [["one", "zero"], ["five", "one"]]
    assert model.retrieve()[0] == ["one", "five"]
    series = pd.Series(["zero", "one", "five"], index=[7, 8, 9])
    assert NearestNeighbors(n_neighbors=1).fit([[0.0], [1.0], [5.0]], payload=series).retrieve([[6.0]]) == [
        ["five"]
    ]
    assert NearestNeighbors(n_neighbors=1).fit([[0.0], [1.0]]).retrieve([[2.0]]) == [[1]]
    with pytest.raises(ValueError, match="payload has 1 items, but X has 2 rows"):
        NearestNeighbors().fit([[0.0], [1.0]], payload=["a"])


# Rows that come and go


def test_adding_and_removing_rows_is_fitting_what_remains(rows):
    X, y, new = rows
    model = KNeighborsClassifier(3).fit(X[:20], y[:20])
    kept = list(range(20))
    rng = np.random.default_rng(4)
    for start in range(20, 60, 8):
        model.partial_fit(X[start : start + 8], y[start : start + 8])
        kept += range(start, start + 8)
        gone = rng.choice(len(kept), size=3, replace=False)
        model.remove(gone)
        kept = [row for place, row in enumerate(kept) if place not in gone]
        fresh = KNeighborsClassifier(3).fit(X[kept], y[kept])
        for mine, expected in zip(model.kneighbors(new), fresh.kneighbors(new), strict=True):
            np.testing.assert_array_equal(mine, expected)
        np.testing.assert_array_equal(model.predict(new), fresh.predict(new))
        assert model.n_samples_fit_ == len(kept)


def test_new_classes_and_weights_can_come_later():
    model = KNeighborsClassifier(1).partial_fit([[0.0]], ["b"])
    model.partial_fit([[1.0], [2.0]], ["c", "a"], sample_weight=[1.0, 2.0])
    np.testing.assert_array_equal(model.classes_, ["a", "b", "c"])
    np.testing.assert_array_equal(model.predict([[0.1], [0.9], [3.0]]), ["b", "c", "a"])
    targets = KNeighborsRegressor(1).partial_fit([[0.0]], [5.0]).partial_fit([[1.0]], [6.0])
    np.testing.assert_allclose(targets.predict([[0.9]]), [6.0])


def test_rows_of_precomputed_distances_can_go_but_not_come(rows):
    X, y, new = rows
    among, to_them = bisector.Euclidean().pairwise(X), bisector.Euclidean().pairwise(new, X)
    model = KNeighborsClassifier(3, metric="precomputed").fit(among, y).remove([0, 9])
    kept = np.setdiff1d(np.arange(60), [0, 9])
    fresh = KNeighborsClassifier(3).fit(X[kept], y[kept])
    np.testing.assert_array_equal(model.predict(to_them), fresh.predict(new))
    with pytest.raises(ValueError, match="No rows can be added to precomputed distances"):
        KNeighborsClassifier(3, metric="precomputed").fit(among, y).partial_fit(to_them, y[:25])


# The rule for radii


def test_radius_by_rule_follows_the_scale(rows):
    X, y, _ = rows
    once, scaled = (RadiusNeighborsRegressor("rule").fit(s * X, y) for s in (1.0, 100.0))
    assert scaled.radius_ == pytest.approx(100 * once.radius_)
    assert once.radius_ == pytest.approx(60 ** (-1 / 6) * np.sqrt(X.var(axis=0).mean()))


# Bad input


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KNeighborsClassifier(9), "n_neighbors is 9 and there are 7 rows"),
        (KNeighborsClassifier(0), "n_neighbors must be a whole number at least 1"),
        (KNeighborsClassifier("log"), "n_neighbors must be one of 'sqrt'"),
        (KNeighborsClassifier(weights="far"), "weights must be one of 'uniform', 'distance'"),
        (KNeighborsClassifier(weights=3), "weights must be 'uniform'"),
        (KNeighborsClassifier(ties="first"), "ties must be one of"),
        (KNeighborsClassifier(algorithm="tree"), "algorithm must be one of"),
        (KNeighborsClassifier(metric="euclidian"), "Did you mean 'euclidean'"),
        (KNeighborsClassifier(metric="levenshtein"), "(?i)string"),
        (KNeighborsRegressor(aggregate="mode"), "aggregate must be one of 'mean', 'median'"),
        (RadiusNeighborsClassifier(-1.0), "radius must be a number at least 0"),
        (RadiusNeighborsClassifier("wide"), "radius must be one of 'rule'"),
        (RadiusNeighborsClassifier(outlier_label="x"), "outlier_label 'x' is not of the type"),
        (RadiusNeighborsClassifier(0.1), "No neighbors found for test samples \\[0\\]"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(SEVEN, SIGNS).predict([[9.0, 9.0]])


def test_bad_weights_and_rows_to_remove():
    with pytest.raises(ValueError, match=r"weigh only 3\.5"):
        KNeighborsClassifier(5).fit(SEVEN, SIGNS, sample_weight=np.full(7, 0.5)).predict(SEVEN)
    with pytest.raises(ValueError, match="zero"):
        KNeighborsClassifier(1).fit(SEVEN, SIGNS, sample_weight=np.zeros(7))
    with pytest.raises(ValueError, match="negative, infinite or NaN"):
        KNeighborsClassifier(2, weights=lambda d: -d).fit(SEVEN, SIGNS).predict([[3.0, 3.0]])
    with pytest.raises(ValueError, match="as many numbers as it is given"):
        KNeighborsClassifier(2, weights=lambda d: d[:, :1]).fit(SEVEN, SIGNS).predict(SEVEN)
    model = KNeighborsClassifier(2).fit(SEVEN, SIGNS)
    with pytest.raises(ValueError, match="from 0 to 6"):
        model.remove([7])
    with pytest.raises(ValueError, match="removed twice"):
        model.remove([1, 1])
    with pytest.raises(ValueError, match="one at least has to stay"):
        model.remove(np.arange(7))
