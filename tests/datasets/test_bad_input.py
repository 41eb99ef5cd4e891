"""An option that makes no sense is named, with what it may be."""

import numpy as np
import pytest

from bisector import datasets

COUNTS = [
    ("height_weight", "n", 1), ("height_weight_outlier", "n", 1), ("suppressor", "n", 4),
    ("correlated_features", "n", 1), ("overlapping_classes", "negatives", 1),
    ("overlapping_classes", "positives", 1), ("gaussian_classes", "n", 2), ("disc_and_ring", "n", 2),
    ("rescaled_pair", "n", 2), ("uniform_square", "n", 1), ("four_gaussians", "n", 1),
    ("random_mixture", "n", 1), ("random_mixture", "centres", 1), ("noisy_curve", "n", 1),
    ("double_semicircle", "n", 1), ("digit_features", "n", 1),
]  # fmt: skip
POSITIVE = [
    ("disc_and_ring", "radius"), ("disc_and_ring", "gap"), ("disc_and_ring", "thickness"),
    ("rescaled_pair", "y_scale"), ("double_semicircle", "radius"), ("double_semicircle", "thickness"),
]  # fmt: skip
NOT_NEGATIVE = [
    ("height_weight", "noise"), ("height_weight_outlier", "noise"), ("suppressor", "noise"),
    ("correlated_features", "noise"), ("gaussian_classes", "separation"), ("four_gaussians", "deviation"),
    ("random_mixture", "deviation"), ("noisy_curve", "noise"), ("grid", "irregularity"),
]  # fmt: skip
REAL = [
    ("height_weight_outlier", "shift"),
    ("overlapping_classes", "separation"),
    ("double_semicircle", "separation"),
]


@pytest.mark.parametrize(("name", "option", "least"), COUNTS)
def test_counts(name, option, least):
    with pytest.raises(
        ValueError, match=f"^{option} must be a whole number at least {least}.*, not {least - 1}"
    ):
        datasets.load(name, **{option: least - 1})
    for wrong in (2.5, "ten", True, 10.0, [10]):
        with pytest.raises(TypeError, match=f"^{option} must be a whole number"):
            datasets.load(name, **{option: wrong})
    assert len(datasets.load(name, **{option: np.int32(least)}).X) >= least


@pytest.mark.parametrize(("name", "option"), POSITIVE)
def test_sizes(name, option):
    for wrong in (0, -1.0, np.nan):
        with pytest.raises(ValueError, match=f"^{option} must be a number above 0, not"):
            datasets.load(name, **{option: wrong})


@pytest.mark.parametrize(("name", "option"), NOT_NEGATIVE)
def test_spreads(name, option):
    with pytest.raises(ValueError, match=f"^{option} must be a number at least 0, not -0.5"):
        datasets.load(name, **{option: -0.5})
    assert np.isfinite(datasets.load(name, **{option: 0}).X).all()


@pytest.mark.parametrize(("name", "option"), [*POSITIVE, *NOT_NEGATIVE, *REAL])
def test_what_is_no_finite_number(name, option):
    with pytest.raises(ValueError, match=f"^{option} must be finite, not inf"):
        datasets.load(name, **{option: np.inf})
    for wrong in ("wide", None, [1.0], True):
        with pytest.raises(TypeError, match=f"^{option} must be a number"):
            datasets.load(name, **{option: wrong})


@pytest.mark.parametrize("name", ["suppressor", "correlated_features"])
@pytest.mark.parametrize("wrong", [-1, 1, 1.5, np.nan])
def test_correlations(name, wrong):
    with pytest.raises(ValueError, match=r"^correlation must be a number above -1 and below 1, not"):
        datasets.load(name, correlation=wrong)


@pytest.mark.parametrize("wrong", [0, 1, -0.1])
def test_shares(wrong):
    with pytest.raises(ValueError, match=r"^positive must be a number above 0 and below 1, not"):
        datasets.gaussian_classes(positive=wrong)


@pytest.mark.parametrize("wrong", [1.0, (1.0,), (1.0, 2.0, 3.0), None])
def test_pairs(wrong):
    with pytest.raises(ValueError, match=r"^deviations must be two numbers, one a feature, not"):
        datasets.gaussian_classes(deviations=wrong)


def test_members_of_pairs():
    with pytest.raises(ValueError, match=r"^deviations must be a number above 0, not 0"):
        datasets.gaussian_classes(deviations=(1.0, 0))
    with pytest.raises(TypeError, match=r"^deviations must be a number above 0, not 'b'"):
        datasets.gaussian_classes(deviations="ab"[::-1])


@pytest.mark.parametrize("wrong", [np.sqrt(3), 2, 5, 0])
def test_triangles_of_another_kind(wrong):
    with pytest.raises(ValueError, match=r"^height must be a number above 1\.73205 and below 2, not"):
        datasets.triangle(height=wrong)


def test_too_irregular():
    with pytest.raises(ValueError, match=r"^irregularity must be at most 0\.1 .*, not 0\.2"):
        datasets.grid(irregularity=0.2)


@pytest.mark.parametrize("wrong", [-1, 10])
def test_rows_and_digits_out_of_range(wrong):
    with pytest.raises(
        ValueError, match=f"^row must be a whole number at least 0 and at most 9, not {wrong}"
    ):
        datasets.height_weight_outlier(row=wrong)
    with pytest.raises(
        ValueError, match=f"^positive must be a whole number at least 0 and at most 9, not {wrong}"
    ):
        datasets.digit_features(positive=wrong)


def test_more_digits_than_there_are():
    with pytest.raises(ValueError, match=r"^n must be a whole number at least 1 and at most 1797, not 1798"):
        datasets.digit_features(n=1798)


@pytest.mark.parametrize(("name", "option"), [("margin_points", "fourth"), ("diabetes", "scaled")])
def test_flags(name, option):
    with pytest.raises(ValueError, match=f"^{option} must be True or False, not 1"):
        datasets.load(name, **{option: 1})


@pytest.mark.parametrize(
    ("wrong", "kind"), [(-1, ValueError), (1.0, TypeError), (None, TypeError), ("a", TypeError)]
)
@pytest.mark.parametrize("name", ["height_weight", "double_semicircle", "digit_features"])
def test_seeds(name, wrong, kind):
    with pytest.raises(
        kind, match=r"^seed must be a whole number at least 0, or a numpy\.random\.Generator, not"
    ):
        datasets.load(name, seed=wrong)


def test_an_old_random_state_is_no_seed():
    with pytest.raises(TypeError, match=r"^seed must be"):
        datasets.height_weight(seed=np.random.RandomState(0))
