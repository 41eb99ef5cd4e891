"""Densities over one and two features, and mixtures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.mixture import GaussianMixture as TheirMixture
from sklearn.neighbors import KernelDensity as TheirDensity

from bisector import DensityDisplay, GaussianMixture, KernelDensity, KMeans, MixtureDisplay

NAMES = ["height", "weight"]
RNG = np.random.default_rng(0)
LINE, PLANE = RNG.normal(size=(80, 1)), RNG.normal(size=(120, 2)) @ [[1.0, 0.6], [0.0, 0.5]]


@pytest.mark.parametrize("kind", [KernelDensity, TheirDensity])
def test_a_curve_is_the_density_and_has_area_one(kind):
    model = kind(bandwidth=0.3).fit(LINE)
    shown = DensityDisplay.from_estimator(model, LINE, margin=0.5)
    across, height = shown.line_.get_data()
    np.testing.assert_allclose(height, np.exp(model.score_samples(across[:, None])))
    assert np.trapezoid(height, across) == pytest.approx(1, abs=1e-3)  # tails beyond the picture
    np.testing.assert_array_equal(shown.ticks_.get_xdata(), LINE[:, 0])
    assert shown.ax_.get_ylim()[0] == 0


def test_curves_on_the_same_axes_differ():
    first = DensityDisplay.from_estimator(KernelDensity(bandwidth=0.2).fit(LINE), LINE, name="narrow")
    second = DensityDisplay.from_estimator(
        KernelDensity(bandwidth=1.0).fit(LINE), LINE, ax=first.ax_, name="wide", rows=False
    )
    assert first.line_.get_color() != second.line_.get_color()
    assert second.ticks_ is None
    assert first.ax_.get_ylim()[1] >= first.density.max()
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["narrow", "wide"]


def test_contours_and_surface():
    model = KernelDensity(bandwidth=0.4).fit(PLANE)
    shown = DensityDisplay.from_estimator(model, PLANE, resolution=30)
    across, up = shown.places
    assert shown.density.shape == (30, 30)
    np.testing.assert_allclose(shown.density[4, 7], np.exp(model.score_samples([[across[7], up[4]]])[0]))
    assert shown.contours_.levels[-1] == shown.density.max()
    assert len(shown.figure_.axes) == 2  # with the bar of its colours
    solid = DensityDisplay.from_estimator(model, PLANE, resolution=20, kind="surface")
    assert solid.ax_.get_zlabel() == "density"
    assert len(DensityDisplay(shown.places, shown.density).plot(plt.subplots()[1]).figure_.axes) == 1


@pytest.mark.parametrize("frame", [pd.DataFrame(PLANE, columns=NAMES), pl.DataFrame(PLANE, schema=NAMES)])
def test_frames_name_the_axes(frame):
    shown = DensityDisplay.from_estimator(KernelDensity().fit(frame), frame, resolution=10)
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("height", "weight")


def test_many_rows_are_light():
    many = RNG.normal(size=(20_000, 2))
    shown = DensityDisplay.from_estimator(
        GaussianMixture(1).fit(many), many, resolution=20, ax=plt.subplots()[1]
    )
    assert all(len(part.get_offsets()) < 2 for part in shown.ax_.collections)  # contours, and no dots
    many = many[:, :1]
    model = GaussianMixture(1).fit(many)
    assert len(DensityDisplay.from_estimator(model, many).ticks_.get_xdata()) == 500


def test_bad_densities_are_refused():
    model = KernelDensity().fit(PLANE)
    with pytest.raises(ValueError, match="X has 3 features, but KernelDensity was fitted to 2"):
        DensityDisplay.from_estimator(model, np.zeros((4, 3)))
    with pytest.raises(ValueError, match="drawn over one or two"):
        DensityDisplay.from_estimator(KernelDensity().fit(np.eye(3)), np.eye(3))
    with pytest.raises(AttributeError, match="no score_samples"):
        DensityDisplay.from_estimator(KMeans(2).fit(PLANE), PLANE)
    with pytest.raises(ValueError, match='projection="3d"'):
        DensityDisplay.from_estimator(model, PLANE, kind="surface", ax=plt.subplots()[1])
    with pytest.raises(ValueError, match="3 × 2 places"):
        DensityDisplay([np.arange(2), np.arange(3)], np.zeros((2, 3)))


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("kind", [GaussianMixture, TheirMixture])
def test_ellipses_lie_at_whole_deviations(kind, shape):
    model = kind(2, covariance_type=shape, random_state=0).fit(PLANE)
    shown = MixtureDisplay.from_estimator(model, PLANE)
    angles = np.linspace(0, 2 * np.pi, 9)
    for j, ellipses in enumerate(shown.ellipses_):
        precision = np.linalg.inv(shown.covariances[j])
        for deviations, ellipse in zip((1, 2), ellipses, strict=True):
            rim = ellipse.get_patch_transform().transform(np.c_[np.cos(angles), np.sin(angles)])
            steps = rim - model.means_[j]
            np.testing.assert_allclose(np.einsum("ij,jk,ik->i", steps, precision, steps), deviations**2)
    weights = [text.get_text() for text in shown.ax_.texts]
    assert [float(word) for word in weights] == pytest.approx(model.weights_, abs=0.006)  # two digits


def test_two_of_three_features_are_a_mixture_of_their_own():
    X = np.c_[PLANE, RNG.normal(size=120)]
    model = GaussianMixture(2, random_state=0).fit(X)
    shown = MixtureDisplay.from_estimator(model, X, features=(2, 0))
    np.testing.assert_array_equal(shown.means, model.means_[:, [2, 0]])
    np.testing.assert_array_equal(shown.covariances[0], model.covariances_[0][np.ix_([2, 0], [2, 0])])
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("x2", "x0")
    with pytest.raises(ValueError, match="choose features"):
        MixtureDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="from 0 to 2"):
        MixtureDisplay.from_estimator(model, features=(0, 3))


def test_bells_sum_to_the_density():
    model = GaussianMixture(2, random_state=0).fit(np.concatenate([LINE, LINE + 6]))
    shown = MixtureDisplay.from_estimator(model, LINE)
    *bells, whole = (line.get_ydata() for line in shown.lines_)
    across = shown.lines_[0].get_xdata()
    np.testing.assert_allclose(np.sum(bells, axis=0), whole)
    np.testing.assert_allclose(whole, np.exp(model.score_samples(across[:, None])), atol=1e-12)


def test_bad_mixtures_are_refused():
    with pytest.raises(ValueError, match="one or two features"):
        MixtureDisplay([1.0], np.zeros((1, 3)), np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="as many weights"):
        MixtureDisplay([1.0], np.zeros((2, 2)), np.zeros((2, 2, 2)))
