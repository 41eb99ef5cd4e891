"""Densities: Parzen windows, exactly and within a tolerance; every width at once; steps of a Gaussian mixture."""

import warnings
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload

# For all contestants of the exact race: a tenth of the spread, about what rules give 100,000 rows.
WIDTH = 0.2


class Problem(NamedTuple):
    X: np.ndarray
    queries: np.ndarray


def normal_rows(rng: np.random.Generator, n: int, m: int, d: int = 3) -> Problem:
    """Rows and queries of a normal distribution."""
    return Problem(rng.standard_normal((n, d)), rng.standard_normal((m, d)))


def kernel_density(label: str, module: str, rtol: float, width: float = WIDTH) -> Contestant:
    """Fitted beforehand; the densities of the queries are timed."""

    def prepare(problem: Problem) -> Any:
        model = import_module(module).KernelDensity(bandwidth=width, rtol=rtol).fit(problem.X)
        return lambda: model.score_samples(problem.queries)

    return Contestant(label, module, prepare, lambda logs: {"density": np.exp(np.asarray(logs))})


def shaped_density(problem: Problem) -> Any:
    model = (
        import_module("bisector.density").KernelDensity(bandwidth=WIDTH, scale="covariance").fit(problem.X)
    )
    return lambda: np.exp(model.score_samples(problem.queries))


def scipy_density(problem: Problem) -> Any:
    kde = import_module("scipy.stats").gaussian_kde(problem.X.T, bw_method=WIDTH)
    return lambda: kde(problem.queries.T)


def heights_of(found: Any) -> dict[str, Any]:
    return {"density": np.asarray(found)}


def one_pass(problem: Problem) -> Any:
    density = import_module("bisector.density")
    return lambda: density.KernelDensity(bandwidth=1.0).fit(problem.X).score_samples(problem.X)


def every_width(problem: Problem) -> Any:
    density = import_module("bisector.density")
    return lambda: density.KernelDensityCV().fit(problem.X)


def many_bumps(rng: np.random.Generator, n: int, d: int = 20, k: int = 20) -> Problem:
    """Overlapping Gaussian clusters, and rows to start from."""
    X = rng.standard_normal((n, d)) + 2 * rng.standard_normal((k, d))[rng.integers(k, size=n)]
    return Problem(X, X[rng.choice(n, k, replace=False)])


def mixture(label: str, module: str, **ours: Any) -> Contestant:
    """Three steps from a given start, which takes no time to speak of."""

    def prepare(problem: Problem) -> Any:
        k, d = problem.queries.shape
        model = import_module(module).GaussianMixture(
            k,
            max_iter=3,
            tol=0.0,
            weights_init=np.full(k, 1 / k),
            means_init=problem.queries,
            precisions_init=np.tile(np.eye(d) / 4, (k, 1, 1)),
            **ours,
        )

        def fit() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return model.fit(problem.X)

        return fit

    return Contestant(label, module, prepare, lambda fitted: {"means": np.asarray(fitted.means_)})


WORKLOADS = [
    Workload(
        name="parzen",
        about="Gaussian bumps on 100,000 rows of three features, at 20,000 places, exactly.",
        make=normal_rows,
        sizes={"n": 100_000, "m": 20_000},
        quick={"n": 5_000, "m": 1_000},
        ours=kernel_density("bisector", "bisector.density", 0.0),
        peers=[kernel_density("scikit-learn", "sklearn.neighbors", 0.0)],
        goals={"scikit-learn": AtLeast(40)},
        tolerance=1e-10,
        seconds=200.0,
    ),
    Workload(
        name="parzen_shaped",
        about="The same with bumps in the shape of the data.",
        make=normal_rows,
        sizes={"n": 100_000, "m": 20_000},
        quick={"n": 5_000, "m": 1_000},
        ours=Contestant("bisector", "bisector.density", shaped_density, heights_of),
        peers=[Contestant("scipy", "scipy.stats", scipy_density, heights_of)],
        goals={"scipy": AtLeast(8)},
        tolerance=1e-10,
        seconds=200.0,
    ),
    Workload(
        name="parzen_tolerant",
        about="The same when densities may be off by one in 10,000.",
        make=normal_rows,
        sizes={"n": 100_000, "m": 20_000},
        quick={"n": 5_000, "m": 1_000},
        ours=kernel_density("bisector", "bisector.density", 1e-4),
        peers=[kernel_density("scikit-learn", "sklearn.neighbors", 1e-4)],
        goals={"scikit-learn": AtLeast(10)},
        tolerance=2e-4,
        seconds=120.0,
    ),
    Workload(
        name="thirty_widths",
        about="The leave-one-out likelihood of 30 widths on 20,000 rows, against the densities of one width.",
        make=normal_rows,
        sizes={"n": 20_000, "m": 1},
        quick={"n": 3_000, "m": 1},
        ours=Contestant("bisector", "bisector.density", every_width, lambda model: {}),
        peers=[Contestant("one width", "bisector.density", one_pass, lambda logs: {})],
        goals={"one width": AtLeast(0.25)},
    ),
    Workload(
        name="mixture",
        about="Three steps of a mixture of 20 components with full covariances, 200,000 rows of 20 features.",
        make=many_bumps,
        sizes={"n": 200_000},
        quick={"n": 10_000},
        ours=mixture("bisector", "bisector.density", floor="added"),
        peers=[mixture("scikit-learn", "sklearn.mixture")],
        goals={"scikit-learn": AtLeast(10)},
        tolerance=1e-8,
        seconds=120.0,
    ),
]
