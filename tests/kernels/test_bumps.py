"""Bumps and their normalising constants."""

import math
import pickle

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.neighbors import KernelDensity

from bisector.kernels import (
    Bump,
    CosineBump,
    EpanechnikovBump,
    ExponentialBump,
    GaussianBump,
    TriangularBump,
    WindowBump,
    resolve_bump,
)
from bisector.kernels.bump_formulas import warm
from bisector.kernels.bumps import log_ball

BUMPS = [GaussianBump(), WindowBump(), EpanechnikovBump(), ExponentialBump(), TriangularBump(), CosineBump()]
PEERS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]


@pytest.fixture(params=BUMPS, ids=repr)
def bump(request):
    return request.param


def test_heights_by_hand():
    z = np.array([0.0, 0.5, 1.0, 2.0])
    expected = {
        GaussianBump(): np.exp([0, -0.125, -0.5, -2]),
        WindowBump(): [1, 1, 1, 0],
        EpanechnikovBump(): [1, 0.75, 0, 0],
        ExponentialBump(): np.exp(-z),
        TriangularBump(): [1, 0.5, 0, 0],
        CosineBump(): [1, math.sqrt(0.5), 0, 0],
    }
    for bump, heights in expected.items():
        np.testing.assert_allclose(bump(z), heights, rtol=1e-15, atol=1e-16)  # cos(π/2) is 6e-17
        assert bump(0.5) == bump(z)[1]


def test_the_shape_of_a_bump(bump):
    """1 at the centre, never rising, zero beyond its support."""
    z = np.linspace(0, 3, 301)
    heights = bump(z)
    assert heights[0] == 1.0
    assert (np.diff(heights) <= 0).all()
    np.testing.assert_array_equal(heights[z > bump.support], 0.0)
    assert bump(0.999 * min(bump.support, 10.0)) > 0
    assert bump(np.inf) == 0.0


def test_both_lowered_forms_agree(bump):
    formula = bump.lower()
    assert formula.support == bump.support
    for z in np.linspace(0, 1.5, 16):
        # A cosine near zero keeps fewer digits of the rounding of z.
        assert formula.height_of_square(z * z) == pytest.approx(formula.height(z), rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("d", range(1, 11))
def test_they_integrate_to_one(bump, d):
    """Over spheres: the sphere of radius z has the surface d · V(d) · z^(d−1)."""
    end = min(bump.support, 80.0)
    integral, error = quad(
        lambda z: bump(z) * z ** (d - 1), 0, end, limit=200, epsabs=0, epsrel=1e-11, points=[min(end, d)]
    )
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    assert error < 1e-10 * integral
    assert bump.constant(d) * d * ball * integral == pytest.approx(1.0, rel=1e-9)


def test_a_bump_is_a_density_on_a_grid(bump):
    """In the plane, by adding up cells, with a radius of its own."""
    radius, step = 0.7, 0.02
    side = np.arange(
        -20 if math.isinf(bump.support) else -1, 20.001 if math.isinf(bump.support) else 1.001, step
    )
    distances = np.hypot(*np.meshgrid(side, side))
    total = (bump.constant(2) / radius**2 * bump(distances / radius)).sum() * step**2
    assert total == pytest.approx(1.0, rel=2e-3)  # cells on the rim of a window count as whole


@pytest.mark.parametrize(("bump", "name"), list(zip(BUMPS, PEERS, strict=True)), ids=PEERS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_scikit_learn_normalises_alike(bump, name, d):
    if name == "cosine" and d % 2 == 0:
        return  # the peer's sum leaves out its last term, and its density does not integrate to 1
    radius = 1.3
    peer = KernelDensity(bandwidth=radius, kernel=name).fit(np.zeros((1, d)))
    for z in (0.0, 0.4, 0.9):
        x = np.zeros((1, d))
        x[0, 0] = z * radius
        ours = bump.constant(d) / radius**d * bump(z)
        assert ours == pytest.approx(math.exp(peer.score_samples(x)[0]), rel=1e-9)


def test_known_constants():
    for d in (1, 2, 5, 20):
        assert GaussianBump().constant(d) == pytest.approx((2 * math.pi) ** (-d / 2), rel=1e-13)
        window = math.gamma(d / 2 + 1) * math.pi ** (-d / 2)
        assert WindowBump().constant(d) == pytest.approx(window, rel=1e-13)
    assert CosineBump().constant(1) == pytest.approx(math.pi / 4, rel=1e-14)
    assert CosineBump().constant(2) == pytest.approx(1 / (4 - 8 / math.pi), rel=1e-13)
    assert ExponentialBump().constant(3) == pytest.approx(1 / (8 * math.pi), rel=1e-13)


def test_many_dimensions_stay_numbers(bump):
    for d in (100, 1000, 10_000):
        assert math.isfinite(bump.log_constant(d))
    # The moments ∫ φ(z) z^(d−1) dz, from a change of variables that needs no small differences.
    d = 200
    log_surface = math.log(d) + log_ball(d)
    integral, _ = quad(lambda u: bump(u ** (1 / d)) / d, 0, min(bump.support, 1.0), epsrel=1e-12)
    if bump.support == 1:
        assert bump.log_constant(d) == pytest.approx(-log_surface - math.log(integral), rel=1e-9)


def test_bumps_are_values(bump):
    assert bump == pickle.loads(pickle.dumps(bump)) == type(bump)()
    assert hash(bump) == hash(type(bump)())
    assert len(set(BUMPS)) == 6


def test_arrays_of_any_shape(bump):
    z = np.arange(6.0).reshape(1, 2, 3) / 5
    assert bump(z).shape == z.shape
    assert bump([]).shape == (0,)
    assert isinstance(bump(0.2), float)
    assert bump(z.astype(np.float32)).dtype == np.float64
    kept = z.copy()
    bump(z)
    np.testing.assert_array_equal(z, kept)


def test_names(bump):
    assert [resolve_bump(name) for name in PEERS] == BUMPS
    assert resolve_bump(bump) is bump
    assert isinstance(bump, Bump)


def test_bad_input():
    with pytest.raises(ValueError, match=r"There is no bump named 'tophatt'\. Did you mean 'tophat'"):
        resolve_bump("tophatt")
    with pytest.raises(TypeError, match="make one of it, WindowBump"):
        resolve_bump(WindowBump)
    with pytest.raises(ValueError, match="d must be a whole number at least 1"):
        GaussianBump().constant(0)
    with pytest.raises(TypeError, match="d must be a whole number"):
        EpanechnikovBump().constant(1.5)
    for z in (-0.1, np.nan, [0.0, np.nan]):
        with pytest.raises(ValueError, match="z must hold distances"):
            WindowBump()(z)


def test_they_warm_up():
    warm()
