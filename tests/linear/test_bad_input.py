"""Bad input gets one clear sentence, and leaves the estimator as it was."""

import numpy as np
import pytest
import scipy.sparse

from bisector import LinearRegression

X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 0.0], [6.0, 3.0]])
Y = np.array([1.0, 0.0, 2.0, -1.0, 3.0])


def with_value(value, row=3, column=1, base=X):
    spoiled = base.copy()
    spoiled[row, column] = value
    return spoiled


def words(error):
    """The message of an error, which is a single sentence or a few, ending with a full stop."""
    message = str(error.value)
    assert message.endswith((".", "'")), message
    assert "\n" not in message
    return message


# Values


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_what_is_not_finite_is_named_with_row_and_column(value, word, convert):
    with pytest.raises(ValueError, match=f"X contains {word} in row 3, column 1") as error:
        LinearRegression().fit(convert(with_value(value)), Y)
    assert "SimpleImputer" in words(error)


@pytest.mark.parametrize("parameters", [{"fit_intercept": False}, {"positive": True}, {"decomposed": True}])
def test_every_variant_finds_it(parameters):
    with pytest.raises(ValueError, match="X contains NaN in row 3, column 1"):
        LinearRegression(**parameters).fit(with_value(np.nan), Y)


def test_with_fewer_rows_than_features():
    with pytest.raises(ValueError, match="X contains inf in row 1, column 2"):
        LinearRegression().fit(with_value(np.inf, 1, 2, np.ones((2, 4))), [1.0, 2.0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_with_names_are_named(library):
    frames = pytest.importorskip(library)
    spoiled = with_value(np.nan)
    frame = frames.DataFrame({"width": spoiled[:, 0], "height": spoiled[:, 1]})
    with pytest.raises(ValueError, match=r"row 3, column 1 \('height'\)"):
        LinearRegression().fit(frame, Y)


def test_far_down_in_long_data():
    rows = np.zeros((100_000, 2))
    with pytest.raises(ValueError, match="X contains NaN in row 77777, column 0"):
        LinearRegression().fit(with_value(np.nan, 77_777, 0, rows), np.zeros(100_000))


def test_at_a_row_without_weight_it_is_still_an_error():
    """Whether a missing value matters must not depend on a weight that a search may change."""
    with pytest.raises(ValueError, match="row 3, column 1"):
        LinearRegression().fit(with_value(np.nan), Y, sample_weight=[1, 1, 1, 0, 1])


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf")])
def test_in_the_target(value, word):
    y = Y.copy()
    y[2] = value
    with pytest.raises(ValueError, match=f"y contains {word} in row 2"):
        LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match=f"y contains {word} in row 2, column 1"):
        LinearRegression().fit(X, np.column_stack([Y, y]))


@pytest.mark.parametrize("n_rows", [2, 50])
def test_in_the_target_of_a_file(tmp_path, n_rows):
    """Targets that are read along with the rows, with fewer and with more rows than features."""
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcy"))
    frame.loc[1, "y"] = np.nan
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="y contains NaN in row 1"):
        LinearRegression().fit(tmp_path / "rows.parquet", "y")


@pytest.mark.parametrize("method", ["predict", "leverage", "predict_interval"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_at_new_rows(method, value):
    model = LinearRegression().fit(X, Y)
    with pytest.raises(ValueError, match=r"X contains (NaN|inf) in row 3, column 1"):
        getattr(model, method)(with_value(value))


def test_numbers_at_the_end_of_the_range_are_no_infinities():
    model = LinearRegression().fit(X, Y)
    model.coef_[:] = [1e300, 0]
    assert np.isfinite(model.predict(np.full((100, 2), 1e7))).all()


def test_coefficients_that_no_float_can_hold():
    with pytest.raises(ValueError, match="too large for float64") as error:
        LinearRegression().fit(X * 1e-200, Y * 1e200)
    words(error)
    with pytest.raises(ValueError, match="too large for float32"):
        LinearRegression().fit((X * 1e-30).astype(np.float32), Y * 1e10)


# Kinds and shapes


def test_words_in_x():
    with pytest.raises(ValueError, match="not compatible with arrays of bytes/strings"):
        LinearRegression().fit([["a", "b"], ["c", "d"]], [1, 2])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_words_in_a_column_are_shown(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"age": [1.0, 2.0, 3.0], "town": ["1", "Bristol", "Leeds"]})
    with pytest.raises(ValueError, match="Column 'town' holds 'Bristol' in row 1") as error:
        LinearRegression().fit(frame, [1, 2, 3])
    assert "OneHotEncoder" in words(error)


def test_words_as_targets():
    with pytest.raises(ValueError, match="needs numbers as targets"):
        LinearRegression().fit(X, np.array(["a", "b", "c", "d", "e"]))
    with pytest.raises(ValueError, match="needs numbers as targets"):
        LinearRegression().fit(X, np.array(["a", "b", "c", "d", None], dtype=object))


def test_the_name_of_a_column_that_is_not_there():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="'price'"):
        LinearRegression().fit(pandas.DataFrame({"a": [1.0], "b": [2.0]}), "price")
    with pytest.raises(TypeError, match="columns have no names"):
        LinearRegression().fit(X, "price")


def test_complex_numbers():
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        LinearRegression().fit(X + 1j, Y)
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        LinearRegression().fit(X, Y + 1j)


@pytest.mark.parametrize(
    ("rows", "targets", "said"),
    [
        (X[:, 0], Y, "Expected 2D array, got 1D array"),
        (X[None], Y, "Found array with dim 3"),
        (X[:0], Y[:0], r"Found array with 0 sample\(s\)"),
        (X[:, :0], Y, r"Found array with 0 feature\(s\)"),
        (X, Y[:4], "5.*4"),
        (X, np.zeros((5, 1, 1)), "one or two dimensions"),
        (X, np.zeros((5, 0)), "y"),
        (X, 5.0, "y"),
        (X, None, "requires y to be passed"),
    ],
)
def test_shapes(rows, targets, said):
    with pytest.raises(ValueError, match=said):
        LinearRegression().fit(rows, targets)


def test_y_left_out():
    with pytest.raises(TypeError, match="y"):
        LinearRegression().fit(X)


def test_empty_frames():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        LinearRegression().fit(pandas.DataFrame({"a": np.empty(0)}), np.empty(0))
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        LinearRegression().fit(pandas.DataFrame(index=[0, 1]), [1.0, 2.0])


# Weights


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, 1, -2, 1, 1], "negative in row 2"),
        ([1, np.nan, 1, 1, 1], "NaN or infinite in row 1"),
        ([1, 1, 1, 1, np.inf], "NaN or infinite in row 4"),
        ([0, 0, 0, 0, 0], "zero for every row"),
        ([1, 1], r"expected \(5,\)"),
        (np.ones((5, 1)), r"expected \(5,\)"),
        (["a"] * 5, "sample_weight must hold"),
    ],
)
def test_weights(weights, said):
    with pytest.raises(ValueError, match=said) as error:
        LinearRegression().fit(X, Y, sample_weight=weights)
    assert "weight" in words(error)


# New rows that do not fit the old


def test_another_width():
    model = LinearRegression().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but LinearRegression is expecting 2"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="X has 1 features"):
        model.predict_interval(np.ones((2, 1)))


def test_other_names():
    pandas = pytest.importorskip("pandas")
    model = LinearRegression().fit(pandas.DataFrame(X, columns=["a", "b"]), Y)
    with pytest.raises(ValueError, match="unseen at fit time") as error:
        model.predict(pandas.DataFrame(X, columns=["a", "c"]))
    assert "c" in str(error.value)
    with pytest.raises(ValueError, match="same order"):
        model.leverage(pandas.DataFrame(X, columns=["b", "a"]))


def test_before_the_fit():
    from sklearn.exceptions import NotFittedError

    for ask in (
        lambda model: model.predict(X),
        lambda model: model.summary(),
        lambda model: model.confidence_intervals(),
        lambda model: model.predict_interval(X),
        lambda model: model.leverage(X),
    ):
        with pytest.raises(NotFittedError):
            ask(LinearRegression())
    for attribute in ("standard_errors_", "r2_", "rank_", "leverage_", "condition_number_"):
        assert not hasattr(LinearRegression(), attribute)


# Errors that the data cannot tell


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_inference_with_no_more_rows_than_coefficients(n_rows):
    model = LinearRegression().fit(X[:n_rows], Y[:n_rows])
    assert np.isnan(model.standard_errors_).all()
    for ask in (model.confidence_intervals, lambda: model.predict_interval(X)):
        with pytest.raises(ValueError, match=f"^{n_rows} rows .* leave no degree of freedom") as error:
            ask()
        assert "more rows or fewer features" in words(error)


def test_inference_where_coefficients_were_held_at_zero():
    model = LinearRegression(positive=True).fit(X, -Y)
    assert (model.coef_ == 0).any()
    assert np.isnan(model.p_values_).all()
    with pytest.raises(ValueError, match="held at zero") as error:
        model.confidence_intervals()
    words(error)


# Parameters


@pytest.mark.parametrize(
    ("parameters", "kind", "said"),
    [
        ({"fit_intercept": "yes"}, ValueError, "fit_intercept must be True or False, not 'yes'"),
        ({"positive": 1}, ValueError, "positive must be True or False, not 1"),
        ({"decomposed": "yes"}, ValueError, "decomposed must be True or False, not 'yes'"),
        ({"copy_X": None}, ValueError, "copy_X must be True or False"),
        ({"positive": True, "decomposed": True}, ValueError, "cannot be combined"),
        ({"tol": -1}, ValueError, "tol must be a number at least 0, not -1"),
        ({"tol": "small"}, TypeError, "tol must be a number at least 0, not 'small'"),
        ({"tol": np.nan}, ValueError, "tol must be a number"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0 has no meaning"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs must be an integer or None"),
    ],
)
def test_parameters(parameters, kind, said):
    with pytest.raises(kind, match=said) as error:
        LinearRegression(**parameters).fit(X, Y)
    words(error)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan])
def test_levels(level):
    model = LinearRegression().fit(X, Y)
    for ask in (model.confidence_intervals, lambda level: model.predict_interval(X, level)):
        with pytest.raises(ValueError, match="level must be a number above 0 and below 1") as error:
            ask(level)
        words(error)


def test_other_arguments():
    model = LinearRegression().fit(X, Y)
    with pytest.raises(ValueError, match="kind must be one of 'mean', 'new', not 'median'"):
        model.predict_interval(X, kind="median")
    with pytest.raises(ValueError, match="3 feature_names were given for 2 features"):
        model.summary(["a", "b", "c"])


# Nothing is half-fitted

FAILING = {
    "NaN in X": ((with_value(np.nan), Y), {}),
    "NaN in y": ((X, with_value(np.nan, 0, 0, Y[:, None])), {}),
    "widths": ((X, Y[:3]), {}),
    "weights": ((X, Y, np.zeros(5)), {}),
    "parameters": ((X, Y), {"positive": True, "decomposed": True}),
    "too large": ((X * 1e-200, Y * 1e200), {}),
    "other width": ((with_value(np.nan, 0, 0, np.ones((5, 4))), Y), {}),
}


@pytest.mark.parametrize("how", FAILING)
def test_a_first_fit_that_fails_leaves_nothing(how):
    arguments, parameters = FAILING[how]
    model = LinearRegression(**parameters)
    with pytest.raises(ValueError):  # noqa: PT011 - the messages are asked for above
        model.fit(*arguments)
    assert vars(model) == model.get_params()


@pytest.mark.parametrize("how", FAILING)
def test_an_earlier_fit_survives_one_that_fails(how):
    arguments, parameters = FAILING[how]
    model = LinearRegression().fit(X, Y)
    before = dict(vars(model), coef_=model.coef_.copy())
    errors = model.standard_errors_
    model.set_params(**parameters)
    with pytest.raises(ValueError):  # noqa: PT011
        model.fit(*arguments)
    after = vars(model) | LinearRegression().get_params()
    assert after.keys() == before.keys()
    np.testing.assert_array_equal(model.coef_, before["coef_"])
    np.testing.assert_array_equal(model.standard_errors_, errors)
    assert model.n_features_in_ == 2
    assert np.isfinite(model.predict(X)).all()


def test_names_of_an_earlier_fit_are_forgotten_by_the_next():
    pandas = pytest.importorskip("pandas")
    model = LinearRegression().fit(pandas.DataFrame(X, columns=["a", "b"]), Y)
    model.fit(np.column_stack([X, X[:, 0] ** 2]), Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
