"""Moments against exact rational sums: no offset, scale, order or cut of the rows may cost their digits."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp

from bisector.engine import moments as module
from bisector.engine.moments import Moments, moments
from bisector.engine.sources import source

Array = np.ndarray[Any, Any]

N = 300
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=(N, 3))
TREND = np.linspace(-1.0, 1.0, N)[:, None]
HALF_ZERO = np.where(np.arange(N)[:, None] < N // 2, 0.0, NOISE)

DATA = {
    "plain": NOISE,
    "skewed": np.exp(3 * NOISE),
    "offset 5": NOISE + 5,
    "offset 1e8": NOISE + 1e8,
    "offset −1e12": NOISE - 1e12,
    "offsets and scales": NOISE * [1e-3, 1.0, 1e6] + [1e5, -1e8, 1e14],
    "sorted with a trend": 1e6 * TREND + NOISE,
    "sorted far from zero": 1e9 + 1e3 * TREND + NOISE,
    "first rows elsewhere": NOISE + np.where(np.arange(N) < 8, 1e6, 0.0)[:, None],
    "first rows alike": np.where(np.arange(N)[:, None] < 290, 1e7, 1e7 + NOISE),
    "tiny": NOISE * 1e-200,
    "huge": NOISE * 1e200,
    "all scales": NOISE * [1e-200, 1.0, 1e200],
    "tiny after zeros": HALF_ZERO * 1e-200,
    "huge after zeros": HALF_ZERO * 1e200,
    "barely numbers": NOISE * 1e-310,
    "largest numbers": np.sign(NOISE) * 1.7e308,
}


class Exact(NamedTuple):
    """Sums over columns a, b of a·b, as fractions."""

    about_mean: Array
    about_zero: Array


def exact_products(A: Array, weight: Array | None = None) -> Exact:
    """Multiply the columns of A with each other without any rounding."""
    columns = [[Fraction(value) for value in column] for column in A.T.tolist()]
    weights = [Fraction(value) for value in (np.ones(len(A)) if weight is None else weight).tolist()]

    def product(a: list[Fraction], b: list[Fraction]) -> Fraction:
        return sum((w * x * y for w, x, y in zip(weights, a, b, strict=True)), Fraction(0))

    total = sum(weights)
    means = [product(column, [Fraction(1)] * len(A)) / total for column in columns]
    centred = [[x - mean for x in column] for column, mean in zip(columns, means, strict=True)]
    table = [np.array([[product(a, b) for b in some] for a in some]) for some in (centred, columns)]
    return Exact(*table)


def joined(parts: tuple[Array, Array, Array], found: Moments) -> Array:
    """Return [[xx, xy], [yx, yy]] as fractions, in the units of the data; products between targets are not kept."""
    xx, xy, yy = parts
    d = len(xx)
    matrix = np.block([[xx, xy], [xy.T, np.diag(yy)]])
    units = [Fraction(unit) for unit in np.append(found.of_x.scale, found.of_y.scale).tolist()]
    kept = np.ones(matrix.shape, dtype=bool)
    kept[d:, d:] = np.eye(len(yy))
    return np.array(
        [
            [
                Fraction(value) / u / v if keep else None
                for value, v, keep in zip(line, units, keeps, strict=True)
            ]
            for line, u, keeps in zip(matrix.tolist(), units, kept, strict=True)
        ]
    )


def worst_error(got: Array, exact: Array) -> float:
    """Return the largest error of a product of columns a, b in units of |a|·|b|."""
    worst = Fraction(0)
    for i, line in enumerate(got):
        for j, value in enumerate(line):
            if value is not None and value != exact[i, j]:
                worst = max(worst, (value - exact[i, j]) ** 2 / (exact[i, i] * exact[j, j]))
    return float(worst) ** 0.5


# Any two ways of cutting the rows agree to 1e-12 if each is within half of that.
TOLERANCE = 5e-13


@pytest.fixture(params=["BLAS", "loop"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let dense blocks be multiplied by BLAS, as small data are, and by the compiled loop."""
    monkeypatch.setattr(module, "MUCH_WORK", 0 if request.param == "loop" else float("inf"))
    return request.param


@pytest.mark.parametrize("block_rows", [1, 7, 64, None])
@pytest.mark.parametrize("name", DATA)
def test_scatter_is_exact_to_twelve_digits(way: str, name: str, block_rows: int | None) -> None:
    A = DATA[name]
    exact = exact_products(A)
    found = moments(source(A[:, :2], A[:, 2], block_rows=block_rows))
    assert worst_error(joined(found.about_mean(), found), exact.about_mean) < TOLERANCE
    assert worst_error(joined(found.about_zero(), found), exact.about_zero) < TOLERANCE
    means = [Fraction(value) for value in np.append(found.mean_x, found.mean_y).tolist()]
    for mean, column in zip(means, A.T, strict=True):
        true = sum(map(Fraction, column.tolist()), Fraction(0)) / N
        size = max(map(abs, map(Fraction, column.tolist())))
        assert abs(mean - true) <= size * Fraction(1e-14)


def test_rows_that_are_few_among_many_do_not_spoil_the_shift() -> None:
    """The first rows lie sixty σ from the mean of a hundred thousand."""
    n = 100_000
    x = np.random.default_rng(0).normal(size=n)
    x[:20] += 1e5
    long = x.astype(np.longdouble)
    exact = float(((long - long.mean()) ** 2).sum())
    found = moments(source(x[:, None], x))
    xx, xy, yy = found.about_mean()
    np.testing.assert_allclose([xx[0, 0], xy[0, 0], yy[0]], exact, rtol=TOLERANCE)


@pytest.mark.parametrize("value", [0.1, 1e8 / 3, -1e300, 1e-300, 0.0])
def test_a_constant_column_has_exactly_no_scatter_and_keeps_its_squares(way: str, value: float) -> None:
    X = np.column_stack([np.full(N, value), NOISE[:, 0]])
    found = moments(source(X, X[:, 0], block_rows=7))
    xx, xy, yy = found.about_mean()
    assert [xx[0, 0], xx[0, 1], xx[1, 0], xy[0, 0], xy[1, 0], yy[0]] == [0.0] * 6
    assert found.mean_x[0] == found.mean_y[0] == value
    exact = exact_products(np.column_stack([X, X[:, 0]])).about_zero
    assert worst_error(joined(found.about_zero(), found), exact) < TOLERANCE


# Passes over the data


def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    done: list[str] = []
    real = module.map_reduce

    def count(make: Callable[..., Any], *rest: Any, **options: Any) -> Any:
        done.append(make.__name__)
        return real(make, *rest, **options)

    monkeypatch.setattr(module, "map_reduce", count)
    return done


@pytest.mark.parametrize(
    "name", ["plain", "skewed", "offset 5", "offset −1e12", "all scales", "sorted far from zero"]
)
def test_ordinary_data_are_read_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    done = passes(monkeypatch)
    moments(source(DATA[name], NOISE, block_rows=7))
    assert len(done) == 1


def test_rows_of_weight_zero_do_not_mislead_the_choice_of_a_shift(monkeypatch: pytest.MonkeyPatch) -> None:
    done = passes(monkeypatch)
    X, weight = NOISE + 1e8, np.ones(N)
    X[:200], weight[:200] = 0.0, 0.0
    moments(source(X, X, weight))
    assert len(done) == 1


# Weights


def scatter(found: Moments) -> list[Array]:
    """Return the scatter and means of data that need no other units."""
    assert (found.of_x.scale == 1).all()
    assert (found.of_y.scale == 1).all()
    return [*found.about_mean(), *found.about_zero(), found.mean_x, found.mean_y]


def assert_same(found: Moments, expected: Moments) -> None:
    for got, want in zip(scatter(found), scatter(expected), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12 * np.abs(want).max())


@pytest.mark.parametrize("block_rows", [1, 7, None])
@pytest.mark.parametrize("name", ["plain", "offset 1e8", "sorted with a trend"])
def test_whole_weights_are_repeated_rows(name: str, block_rows: int | None) -> None:
    X, times = DATA[name], np.random.default_rng(1).integers(0, 4, N)
    weighted = moments(source(X, NOISE, times, block_rows=block_rows))
    repeated = moments(source(np.repeat(X, times, axis=0), np.repeat(NOISE, times, axis=0)))
    assert weighted.weight == repeated.weight == times.sum()
    assert weighted.n_rows == np.count_nonzero(times)
    assert_same(weighted, repeated)


@pytest.mark.parametrize("name", ["plain", "offset −1e12"])
def test_rows_of_weight_zero_are_absent_wherever_they_are(name: str) -> None:
    """They fill the first blocks here, and lie far from the others: nothing may be learned from them."""
    X, Y = DATA[name].copy(), DATA[name][:, ::-1].copy()
    weight = np.linspace(1.0, 2.0, N)
    weight[:100] = 0.0
    X[:100], Y[:100] = 1e5, -1e5
    found = moments(source(X, Y, weight, block_rows=7))
    expected = moments(source(X[100:], Y[100:], weight[100:], block_rows=7))
    assert (found.n_rows, found.weight) == (expected.n_rows, pytest.approx(expected.weight, rel=1e-14))
    assert_same(found, expected)


@pytest.mark.parametrize("name", ["plain", "offset 1e8", "tiny", "huge"])
def test_weighted_scatter_is_exact_to_twelve_digits(way: str, name: str) -> None:
    A, weight = DATA[name], np.random.default_rng(2).exponential(size=N)
    found = moments(source(A[:, :2], A[:, 2], weight, block_rows=7))
    exact = exact_products(A, weight)
    assert worst_error(joined(found.about_mean(), found), exact.about_mean) < TOLERANCE
    assert worst_error(joined(found.about_zero(), found), exact.about_zero) < TOLERANCE


# Sparse and single precision


def sparse_data() -> dict[str, Array]:
    X = NOISE @ np.random.default_rng(3).normal(size=(3, 5))
    X[np.random.default_rng(4).random(X.shape) > 0.1] = 0.0
    full = X.copy()
    full[:, 3] = 1e8 + NOISE[:, 0]
    gap = full.copy()
    gap[17, 3] = 0.0
    return {
        "plain": X,
        "a full column": full,
        "a column with one zero": gap,
        "tiny": X * 1e-200,
        "huge": X * 1e200,
        "not sparse": NOISE + 1e8,
        "all zero": np.zeros((N, 4)),
    }


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sparse_data())
def test_sparse_scatter_is_exact_to_twelve_digits(name: str, make: Any, weighted: bool) -> None:
    X, y = sparse_data()[name], NOISE[:, 0]
    weight = np.linspace(0.0, 3.0, N) if weighted else None
    found = moments(source(make(X), y, weight, block_rows=64))
    exact = exact_products(np.column_stack([X, y]), weight)
    assert worst_error(joined(found.about_mean(), found), exact.about_mean) < TOLERANCE
    assert worst_error(joined(found.about_zero(), found), exact.about_zero) < TOLERANCE


def test_a_full_column_does_not_make_sparse_data_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sp.random_array((2000, 400), density=0.01, format="lil", rng=np.random.default_rng(0))
    X[:, [7]] = np.full((2000, 1), 0.1)
    X, dense = X.tocsr(), X.toarray()
    monkeypatch.setattr(sp.csr_array, "toarray", lambda self: pytest.fail("a block was made dense"))
    xx, _, _ = moments(source(X)).about_mean()
    expected = 1999 * np.cov(dense.T)
    np.testing.assert_allclose(xx, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    assert abs(xx[7, 7]) <= 2000 * (2e-16 * 0.1) ** 2  # a rounding of the mean is left of a constant column


def test_single_precision_is_added_up_in_double(way: str) -> None:
    X = (NOISE + 1000.0).astype(np.float32)
    for held in (X, sp.csr_array(X), pd.DataFrame(X)):
        assert_same(moments(source(held, X)), moments(source(X.astype(np.float64), X.astype(np.float64))))


# Threads


@pytest.mark.parametrize("name", ["offset 1e8", "first rows elsewhere", "all scales", "huge after zeros"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_number_of_threads_changes_no_bit(way: str, name: str, make: Any) -> None:
    rows = source(make(DATA[name]), NOISE, block_rows=7)
    one, two = moments(rows, n_jobs=1), moments(rows, n_jobs=2)
    for got, want in zip(two.about_mean(), one.about_mean(), strict=True):
        assert got.tobytes() == want.tobytes()


# Values that are no numbers


def as_parquet(X: Array, folder: Path) -> Path:
    pa.parquet.write_table(pa.table(list(X.T), names=["a", "b", "c"]), folder / "t", row_group_size=5)
    return folder / "t"


HELD = {
    "array": (lambda X, _: X, ""),
    "float32": (lambda X, _: X.astype(np.float32), ""),
    "sparse": (lambda X, _: sp.csr_array(X), ""),
    "pandas": (lambda X, _: pd.DataFrame(X, columns=["a", "b", "c"]), r" \('b'\)"),
    "Parquet": (as_parquet, r" \('b'\)"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
@pytest.mark.parametrize("held", HELD)
def test_a_value_that_is_no_number_is_found(
    way: str, held: str, value: float, word: str, weighted: bool, tmp_path: Path
) -> None:
    hold, named = HELD[held]
    X, y, weight = np.eye(20, 3), np.arange(20.0), np.ones(20) if weighted else None
    X[11, 1] = X[12, 0] = value
    with pytest.raises(ValueError, match=f"^X contains {word} in row 11, column 1{named}: fill it"):
        moments(source(hold(X, tmp_path), y, weight, block_rows=4))
    y[13] = value
    with pytest.raises(ValueError, match=f"^y contains {word} in row 13: fill it"):
        moments(source(hold(np.eye(20, 3), tmp_path), y, weight, block_rows=4))


def test_a_target_of_several_that_is_no_number_is_found() -> None:
    Y = np.ones((20, 2))
    Y[11, 1] = np.nan
    with pytest.raises(ValueError, match="y contains NaN in row 11, column 1: fill it"):
        moments(source(np.eye(20, 3), Y, block_rows=4))


def test_a_missing_target_in_a_file_is_found(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(9.0), "y": [1.0] * 7 + [None, 2.0]})
    pa.parquet.write_table(table, tmp_path / "t", row_group_size=4)
    with pytest.raises(ValueError, match="y contains NaN in row 7: fill it"):
        moments(source(tmp_path / "t", "y"))


def test_without_targets_there_are_moments_of_x_alone() -> None:
    found = moments(source(NOISE))
    xx, xy, yy = found.about_mean()
    np.testing.assert_allclose(xx, (N - 1) * np.cov(NOISE.T), rtol=1e-12)
    assert (xy.shape, yy.shape) == ((3, 0), (0,))
