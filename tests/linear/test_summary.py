"""The summary of a fit: R's numbers, and warnings that blame the right features."""

import html.parser
import pickle
import re

import numpy as np
import pytest

from bisector import LinearRegression

N = 60


@pytest.fixture
def columns():
    """Independent features by name, with noise."""
    rng = np.random.default_rng(11)
    return dict(zip(["age", "bmi", "dose", "noise"], rng.normal(size=(4, N)), strict=True))


def summary(features, y, **parameters):
    X = np.column_stack(list(features.values()))
    return LinearRegression(**parameters).fit(X, y).summary(list(features))


def warnings(sheet):
    """The warnings of a summary, each on one line."""
    text = str(sheet).replace("\n\n", "\r").replace("\n", " ").replace("\r", "\n")
    return re.findall(r"^Warning: (.*)$", text, re.MULTILINE)


def row(sheet, name):
    """The cells of a feature's line in the table of coefficients."""
    return re.search(rf"^{re.escape(name)} +(.*)$", str(sheet), re.MULTILINE)[1].split()


# Numbers


def test_numbers_are_those_of_the_model(columns):
    y = 2 + 3 * columns["age"] - columns["bmi"] + columns["noise"]
    features = {name: columns[name] for name in ("age", "bmi", "dose")}
    X = np.column_stack(list(features.values()))
    model = LinearRegression().fit(X, y)
    sheet = model.summary(list(features))
    estimates = [model.intercept_, *model.coef_]
    for k, name in enumerate(["(Intercept)", *features]):
        shown = row(sheet, name)
        expected = [estimates[k], model.standard_errors_[k], model.t_values_[k]]
        assert [float(cell) for cell in shown[:3]] == pytest.approx(expected, rel=1e-3)
    assert row(sheet, "age")[3:] == ["<2e-16", "***"]
    assert float(row(sheet, "dose")[3]) == pytest.approx(model.p_values_[3], rel=1e-2)
    residuals = np.quantile(y - model.predict(X), [0, 0.25, 0.5, 0.75, 1])
    shown = re.search(r"Max\n(.*)\n", str(sheet))[1].split()
    assert [float(cell) for cell in shown] == pytest.approx(residuals, rel=1e-3)


def test_the_quality_of_the_fit_as_r_computes_it(columns):
    features = {name: columns[name] for name in ("age", "bmi")}
    y = columns["age"] + columns["noise"]
    X = np.column_stack([np.ones(N), *features.values()])
    left = np.square(y - X @ np.linalg.lstsq(X, y, rcond=None)[0]).sum()
    total = np.square(y - y.mean()).sum()
    text = str(summary(features, y))
    assert f"Residual standard error {np.sqrt(left / 57):.4g} on 57 degrees of freedom" in text
    assert f"R² {1 - left / total:.4g}, adjusted R² {1 - left / total * 59 / 57:.4g}" in text
    assert f"F statistic {(total - left) / 2 / (left / 57):.4g} on 2 and 57, p " in text


def test_without_intercept_there_is_no_line_for_it(columns):
    sheet = summary({"age": columns["age"]}, columns["bmi"], fit_intercept=False)
    assert "(Intercept)" not in str(sheet)
    assert f"on {N - 1} degrees of freedom" in str(sheet)


def test_weights_count_rows(columns):
    X, y = columns["age"][:, None], columns["bmi"]
    text = str(LinearRegression().fit(X, y, sample_weight=np.full(N, 2.0)).summary())
    assert f"on {2 * N - 2} degrees of freedom" in text
    assert f"{N} rows" in text


def test_names_come_from_the_columns_or_are_numbered(columns):
    pandas = pytest.importorskip("pandas")
    y = columns["noise"]
    assert row(LinearRegression().fit(pandas.DataFrame(columns), y).summary(), "dose")
    assert row(LinearRegression().fit(pandas.DataFrame(columns).to_numpy(), y).summary(), "x2")


def test_several_targets_have_a_part_each(columns):
    y = columns["age"] + columns["noise"]
    sheet = summary({"age": columns["age"]}, np.column_stack([y, -2 * y]))
    first, second = str(sheet).split("Target 1")
    assert "Target 0" in first
    assert float(row(second, "age")[0]) == pytest.approx(-2 * float(row(first, "age")[0]), rel=1e-3)


def test_a_model_without_its_data_leaves_the_residuals_out(columns):
    model = LinearRegression().fit(columns["age"][:, None], columns["bmi"])
    assert "Residuals:" in str(model.summary())
    alone = pickle.loads(pickle.dumps(model)).summary()
    assert "Residuals:" not in str(alone)
    assert row(alone, "x0") == row(model.summary(), "x0")


# Warnings


def test_a_good_fit_has_none(columns):
    assert warnings(summary(columns, columns["age"] + np.random.default_rng(0).normal(size=N))) == []


def test_nearly_the_same_features_are_blamed_and_no_others(columns):
    columns["height"] = columns["age"] + 1e-3 * columns.pop("noise")
    (warning,) = warnings(summary(columns, np.random.default_rng(0).normal(size=N)))
    assert re.match("the coefficients of (age and height|height and age) cannot be trusted", warning)
    assert warning.endswith("Hardest to tell apart: age and height.")
    assert not re.search("bmi|dose", warning)


def test_a_feature_that_others_nearly_add_up_to(columns):
    columns["total"] = columns["age"] + columns["bmi"] + 1e-4 * columns.pop("noise")
    (warning,) = warnings(summary(columns, np.random.default_rng(0).normal(size=N)))
    assert warning.endswith("Hardest to tell apart: age, bmi and total.")
    assert "dose" not in warning


def test_how_much_correlation_costs_is_said(columns):
    """r between age and height is ρ: standard errors are 1/√(1 − ρ²) times what they would be."""
    columns["height"] = columns["age"] + 0.1 * columns["bmi"]
    features = {name: columns[name] for name in ("age", "height")}
    (warning,) = warnings(summary(features, columns["noise"]))
    correlation = np.corrcoef(columns["age"], columns["height"])[0, 1]
    times = f"{1 / np.sqrt(1 - correlation**2):.3g}"
    assert f"the standard error {times} and {times} times what it would be" in warning


def test_a_repeated_feature_is_blamed_with_its_twin(columns):
    columns["copy of bmi"] = columns["bmi"]
    sheet = summary(columns, np.random.default_rng(0).normal(size=N))
    (warning,) = warnings(sheet)
    assert warning.startswith("the data cannot tell the coefficients of bmi and copy of bmi apart")
    assert row(sheet, "bmi")[1:] == row(sheet, "copy of bmi")[1:] == ["NA", "NA", "NA"]
    assert "NA" not in row(sheet, "age")


def test_dummy_variables_of_a_whole_set_are_blamed(columns):
    kind = np.arange(N) % 3
    features = {"age": columns["age"]} | {f"kind{k}": (kind == k).astype(float) for k in range(3)}
    (warning,) = warnings(summary(features, columns["noise"]))
    assert "of kind0, kind1 and kind2 apart" in warning


def test_constant_features_are_named(columns):
    columns["one"], columns["two"] = np.ones(N), np.full(N, 2.0)
    y = columns["age"] + columns.pop("noise")
    (warning,) = warnings(summary(columns, y))
    assert warning == "one and two never change: left out, with coefficient 0."
    assert row(summary(columns, y), "one") == ["0", "NA", "NA", "NA"]


def test_too_few_rows(columns):
    features = {name: values[:4] for name, values in columns.items()}
    sheet = summary(features, [1.0, 2.0, 0.0, 1.0])
    first, second = warnings(sheet)
    assert first.startswith("4 rows cannot tell the errors of 5 coefficients")
    assert "age, bmi, dose and noise apart" in second
    assert "No degrees of freedom are left for errors." in str(sheet)
    assert "F statistic" not in str(sheet)


def test_a_perfect_fit(columns):
    (warning,) = warnings(summary(columns, 1 + 2 * columns["age"] - columns["dose"]))
    assert warning.startswith("the fit is perfect up to rounding")


def test_coefficients_held_at_zero(columns):
    sheet = summary(columns, 1 - columns["age"] + columns["bmi"], positive=True)
    assert warnings(sheet) == ["coefficients were held at zero, so there are no standard errors or tests."]
    assert row(sheet, "age") == ["0", "NA", "NA", "NA"]
    assert "F statistic" not in str(sheet)


def test_coefficients_held_at_zero_do_not_put_the_blame_on_innocents(columns):
    columns["copy"] = columns["dose"]
    _, dependent = warnings(summary(columns, 1 - columns["age"] + columns["bmi"], positive=True))
    assert "of dose and copy apart" in dependent
    assert "shortest" not in dependent


def test_features_taken_alone(columns):
    columns["height"] = columns["age"]
    sheet = summary(columns, columns["age"] + columns["noise"], decomposed=True)
    assert "each feature alone" in str(sheet)
    assert warnings(sheet) == [
        "correlation between features is ignored: together the coefficients need not fit the data."
    ]
    assert row(sheet, "age") == row(sheet, "height")
    assert "Condition number" not in str(sheet)


def test_features_taken_alone_do_not_need_more_rows_than_features(columns):
    features = {name: values[:4] for name, values in columns.items()}
    sheet = summary(features, [1.0, 2.0, 0.0, 1.0], decomposed=True)
    assert "NA" not in row(sheet, "age")
    assert not any("rows" in warning for warning in warnings(sheet))


def test_a_long_list_of_features_is_cut():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    features = {f"copy{j}": x for j in range(40)}
    (warning,) = warnings(summary(features, rng.normal(size=N)))
    assert "copy7 and 32 more apart" in warning


# HTML


class Cells(html.parser.HTMLParser):
    """Collects tags and texts, as a browser would read them."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_html_escapes_names_and_says_the_same(columns):
    evil = "<script>alert('x')</script>&"
    features = {evil: columns["age"], "twin": columns["age"], "bmi": columns["bmi"]}
    sheet = summary(features, columns["noise"])
    page = sheet._repr_html_()
    read = Cells()
    read.feed(page)
    assert "<script" not in page
    assert "script" not in read.tags
    assert {"table", "th", "td", "p"} <= set(read.tags)
    assert evil in read.texts  # in its cell
    assert any(f"{evil} and twin" in text for text in read.texts)  # and where it is blamed
    for cell in row(sheet, "bmi"):
        assert cell in read.texts


def test_names_cannot_command_the_terminal(columns):
    text = str(summary({"\x1b[31mred\nline": columns["age"]}, columns["bmi"]))
    assert "\x1b" not in text
    assert r"\x1b[31mred\nline" in text
