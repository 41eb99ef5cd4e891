"""How nearest neighbours improve with more rows, and how many answers they can give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.names import resolve
from bisector.engine.items import picked
from bisector.engine.progress import track
from bisector.engine.show import Table
from bisector.engine.validation import Seed, check_count, check_number, check_seed
from bisector.neighbors.k_neighbors import KNeighborsClassifier
from bisector.neighbors.k_neighbors_cv import KNeighborsClassifierCV
from bisector.neighbors.kept_rows import Floats

Choice = int | str


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """Errors of nearest neighbours for growing numbers of training rows, averaged over splits.

    Attributes
    ----------
    sizes : array of shape (n_sizes,)
        Numbers of training rows.
    choices : tuple
        How k was chosen: a number, "sqrt" or "cv".
    in_sample, out_of_sample : array of shape (n_choices, n_sizes)
        Mean share of errors on the training rows and on rows left out.
    in_sample_std, out_of_sample_std : array of shape (n_choices, n_sizes)
        Standard errors of these means.
    chosen_k : array of shape (n_choices, n_sizes)
        The mean of k.
    """

    sizes: NDArray[np.int64]
    choices: tuple[Choice, ...]
    in_sample: Floats
    out_of_sample: Floats
    in_sample_std: Floats
    out_of_sample_std: Floats
    chosen_k: Floats

    def table(self) -> Table:
        """Show the errors on rows left out, with those on the training rows in parentheses."""
        lines = [
            (f"{size:,}", *(f"{out:.3f} ({own:.3f})" for out, own in zip(left_out, trained, strict=True)))
            for size, left_out, trained in zip(
                self.sizes, self.out_of_sample.T, self.in_sample.T, strict=True
            )
        ]
        names = [f"k = {_named(choice)}" for choice in self.choices]
        return Table(["rows", *names], lines)

    def __repr__(self) -> str:
        return str(self.table())


def _named(choice: Choice) -> str:
    return {"sqrt": "√N", "cv": "chosen"}.get(str(choice), str(choice))


def learning_curve(
    X: Any,
    y: Any,
    *,
    sizes: Sequence[int] | None = None,
    choices: Sequence[Choice] = (1, 3, "sqrt", "cv"),
    test_size: float = 0.3,
    repeats: int = 10,
    metric: Any = "euclidean",
    seed: Seed = 0,
    n_jobs: int | None = None,
) -> LearningCurve:
    """Measure how the error of nearest neighbours falls with the number of training rows (LFD, Figure 6.3).

    Parameters
    ----------
    X, y : rows and their classes
    sizes : sequence of int, optional
        Numbers of training rows; by default eight, from a few to all that are not left out.
    choices : sequence, default=(1, 3, "sqrt", "cv")
        How k is chosen: a number, ⌊√N⌋, or by leaving out each row.
    test_size : float, default=0.3
        The share of the rows that is left out.
    repeats : int, default=10
        Over how many random splits to average.
    metric : str, Distance or callable, default="euclidean"
    seed : int or numpy.random.Generator, default=0
    n_jobs : int, optional

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> from bisector import datasets
    >>> from bisector.neighbors import learning_curve
    >>> learning_curve(*datasets.iris(), sizes=[20, 100], choices=[1, "sqrt"], repeats=5)
    rows  k = 1          k = √N
      20  0.049 (0.000)  0.067 (0.050)
     100  0.040 (0.000)  0.049 (0.034)
    """
    repeats = check_count("repeats", repeats)
    share = check_number("test_size", test_size, above=0, below=1)
    rng = check_seed(seed)
    labels = np.asarray(y)
    n_rows = len(labels)
    n_left = n_rows - max(1, round(share * n_rows))
    steps = _sizes(sizes, n_left)
    for choice in choices:
        if isinstance(choice, str) and choice not in ("sqrt", "cv"):
            raise ValueError(f'choices must hold numbers of neighbours, "sqrt" or "cv", not {choice!r}.')
    distance = resolve(metric)
    errors = np.zeros((2, repeats, len(choices), len(steps)))
    chosen = np.zeros((repeats, len(choices), len(steps)))
    with track("learning curve", total=repeats) as bar:
        for r in range(repeats):
            order = rng.permutation(n_rows)
            test = order[n_left:]
            for j, size in enumerate(steps):
                train = order[:size]
                rows, answers = picked(X, train), labels[train]
                for c, choice in enumerate(choices):
                    model = _fitted(choice, rows, answers, distance, n_jobs)
                    errors[0, r, c, j] = np.mean(model.predict(rows) != answers)
                    errors[1, r, c, j] = np.mean(model.predict(picked(X, test)) != labels[test])
                    chosen[r, c, j] = getattr(model, "best_k_", 0) or model._n_neighbors()
            bar.advance()
    (in_sample, out_of_sample), (in_std, out_std) = (
        errors.mean(axis=1),
        errors.std(axis=1) / np.sqrt(max(1, repeats - 1)),
    )
    return LearningCurve(
        steps, tuple(choices), in_sample, out_of_sample, in_std, out_std, chosen.mean(axis=0)
    )


def _sizes(sizes: Sequence[int] | None, n_left: int) -> NDArray[np.int64]:
    if sizes is None:
        return np.unique(np.geomspace(min(10, n_left), n_left, 8).round().astype(np.int64))
    steps = np.array([check_count("sizes", int(size), at_least=2) for size in sizes])
    if steps.max() > n_left:
        raise ValueError(f"sizes has {steps.max()}, but only {n_left} rows are not left out.")
    return steps


def _fitted(choice: Choice, X: Any, y: NDArray[Any], distance: Any, n_jobs: int | None) -> Any:
    if choice == "cv":
        return KNeighborsClassifierCV(metric=distance, n_jobs=n_jobs).fit(X, y)
    k = choice if isinstance(choice, str) else min(choice, len(y))
    return KNeighborsClassifier(k, metric=distance, n_jobs=n_jobs).fit(X, y)


def refinement(
    X: Any, y: Any, queries: Any, k_values: Sequence[int], *, metric: Any = "euclidean"
) -> list[int]:
    """Count how many different probability vectors k neighbours give the queries, for each k (Flach 8.3).

    More neighbours first tell more cases apart and then fewer, until all rows together give every query the same.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.neighbors import refinement
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]
    >>> refinement(X, y, np.linspace(-1, 6, 50)[:, None], [1, 3, 6])
    [3, 4, 1]
    """
    counts = []
    for k in k_values:
        shares = KNeighborsClassifier(k, metric=metric).fit(X, y).predict_proba(queries)
        counts.append(len(np.unique(shares.round(12), axis=0)))
    return counts
