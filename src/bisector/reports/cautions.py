"""What to beware of in a table before believing any model: scales, correlation, repeats, leaks."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import number
from bisector.reports.columns import Column
from bisector.reports.encoding import TableEncoder
from bisector.reports.faults import listed
from bisector.reports.target import Target

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]

_MANY_MISSING = 0.2
_VERY_DIFFERENT = 100.0
_NEARLY_THE_SAME = 0.95
# Looking at all pairs of columns, or at all rows, is no use when there are so many.
_MOST_COLUMNS = 500
_MOST_ROWS = 5_000
# A column alone that predicts this share of the variance, or of rows beyond the largest class, tells the answer.
LEAK = 0.99
_BINS = 50


def cautions(frame: "polars.DataFrame", encoder: TableEncoder, target: Target | None = None) -> list[str]:
    """Say what to beware of.

    Parameters
    ----------
    frame : polars.DataFrame
        The features, typed; with a target, the rows that have one.
    encoder : TableEncoder
        Fitted to the frame.
    target : Target, optional

    Returns
    -------
    list of str
        Sentences, the most important first.

    Examples
    --------
    >>> import polars as pl
    >>> from bisector.reports import TableEncoder
    >>> from bisector.reports.cautions import cautions
    >>> frame = pl.DataFrame({"km": [1.0, 2.0, 3.0, 2.5], "m": [1000.0, 2000.0, 3000.0, 2500.0]})
    >>> for sentence in cautions(frame, TableEncoder().fit(frame)):
    ...     print(sentence)
    'm' and 'km' say nearly the same (correlation 1): their coefficients cannot be told apart.
    The columns differ in scale: 'm' varies 1000 times as much as 'km'. All models here are fitted to standardised
    columns.
    """
    used = [column for column in encoder.columns_ if column.role != "dropped"]
    said = _leaks(frame, used, target) if target is not None else []
    rows = np.random.default_rng(0).permutation(frame.height)[:_MOST_ROWS]
    values = encoder.transform(frame[np.sort(rows)])
    names = [str(name) for name in encoder.get_feature_names_out()]
    return [
        *said,
        *_repeats(frame),
        *_missing(used, frame.height),
        *_correlated(values, names),
        *_scales(values, names),
    ]


def _leaks(frame: "polars.DataFrame", used: list[Column], target: Target) -> list[str]:
    """Name columns that alone give the target, on rows that were not looked at to find out how."""
    half = np.random.default_rng(0).permutation(len(target.y))[: 2 * _MOST_ROWS]
    learn, test = np.array_split(half, 2)
    if len(test) < 2 * _BINS:
        return []
    suspects = []
    for column in used:
        if _share_told(frame[column.name], column.role, target, learn, test) >= LEAK:
            suspects.append(column.name)
    if not suspects:
        return []
    one = len(suspects) == 1
    return [
        f"Leakage suspect{'s' * (not one)}: {listed(suspects)} alone {'gives' if one else 'give'} {target.name!r} "
        "almost exactly. If it would not be known when predicting, leave it out: types={"
        f"{suspects[0]!r}: 'drop'}}."
    ]


def _share_told(
    column: "polars.Series", role: str, target: Target, learn: NDArray[np.int64], test: NDArray[np.int64]
) -> float:
    """Return the share of what is unknown of the target that one column tells."""
    import polars as pl

    if role in ("category", "boolean"):
        codes = column.cast(pl.String).fill_null("").rank("dense").to_numpy().astype(np.int64)
        return _told_by_bins(codes, target, learn, test)
    values = (
        column.to_physical()
        .cast(pl.Float64, strict=False)
        .fill_nan(None)
        .fill_null(strategy="min")
        .to_numpy()
    )
    if target.kind == "number":
        order = learn[np.argsort(values[learn], kind="stable")]
        return _variance_told(target.y[test], np.interp(values[test], values[order], target.y[order]))
    edges = np.unique(np.quantile(values[learn], np.linspace(0, 1, _BINS + 1)[1:-1]))
    return _told_by_bins(np.searchsorted(edges, values, side="left"), target, learn, test)


def _told_by_bins(
    codes: NDArray[np.int64], target: Target, learn: NDArray[np.int64], test: NDArray[np.int64]
) -> float:
    size = int(codes.max()) + 1
    if target.kind == "number":
        counts = np.bincount(codes[learn], minlength=size)
        means = np.bincount(codes[learn], target.y[learn], minlength=size) / np.maximum(counts, 1)
        means[counts == 0] = target.y[learn].mean()
        return _variance_told(target.y[test], means[codes[test]])
    classes, labels = np.unique(target.y, return_inverse=True)
    votes = np.zeros((size, len(classes)))
    np.add.at(votes, (codes[learn], labels[learn]), 1)
    usual = int(np.bincount(labels[learn]).argmax())
    answers = np.where(votes.sum(axis=1) > 0, votes.argmax(axis=1), usual)
    wrong, at_most = (answers[codes[test]] != labels[test]).mean(), (labels[test] != usual).mean()
    return float(1 - wrong / at_most) if at_most > 0 else 0.0


def _variance_told(y: Floats, guess: Floats) -> float:
    return float(1 - ((y - guess) ** 2).mean() / max(y.var(), np.finfo(float).tiny))


def _repeats(frame: "polars.DataFrame") -> list[str]:
    if frame.width > _MOST_COLUMNS or any(kind.is_nested() for kind in frame.dtypes):
        return []
    repeats = frame.height - frame.n_unique()
    if not repeats:
        return []
    return [
        f"{repeats:,} of {frame.height:,} rows repeat earlier ones. Where one copy trains a model and another "
        "tests it, errors look smaller than they are."
    ]


def _missing(used: list[Column], n_rows: int) -> list[str]:
    worst = [column.name for column in used if column.missing > _MANY_MISSING * n_rows]
    if not worst:
        return []
    return [
        f"More than {100 * _MANY_MISSING:.0f}% of the cells of {listed(worst)} are missing and were filled in."
    ]


def _correlated(values: Floats, names: list[str]) -> list[str]:
    values = values[:, :_MOST_COLUMNS]
    spread = values.std(axis=0)
    kept = np.flatnonzero(spread > 0)
    if len(kept) < 2 or len(values) < 3:
        return []
    together: Floats = np.asarray(np.corrcoef(values[:, kept], rowvar=False))
    together[np.triu_indices(len(kept))] = 0
    # Two indicators of one column of words exclude each other: that is no news.
    origin = np.array([names[j].partition("=")[0] if "=" in names[j] else f"\0{j}" for j in kept])
    together[origin[:, None] == origin[None, :]] = 0
    pairs = np.argwhere(np.abs(together) >= _NEARLY_THE_SAME)
    if not len(pairs):
        return []
    i, j = max(pairs, key=lambda pair: abs(together[pair[0], pair[1]]))
    more = f" (and {len(pairs) - 1} more pairs)" if len(pairs) > 1 else ""
    return [
        f"{names[kept[i]]!r} and {names[kept[j]]!r} say nearly the same (correlation "
        f"{number(float(together[i, j]), 3)}){more}: their coefficients cannot be told apart."
    ]


def _scales(values: Floats, names: list[str]) -> list[str]:
    spread = values.std(axis=0)
    kept = np.flatnonzero(spread > 0)
    if len(kept) < 2:
        return []
    low, high = kept[spread[kept].argmin()], kept[spread[kept].argmax()]
    if spread[high] < _VERY_DIFFERENT * spread[low]:
        return []
    return [
        f"The columns differ in scale: {names[high]!r} varies {number(float(spread[high] / spread[low]), 3)} times "
        f"as much as {names[low]!r}. All models here are fitted to standardised columns."
    ]
