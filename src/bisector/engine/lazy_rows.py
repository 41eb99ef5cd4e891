"""Answers for rows that are not here yet: a method that answers row by row, at the rows of a Dask collection.

What a method gives for rows in memory, it promises for the rows of a collection: a Dask array with the same
partitions, computed when it is asked for, where the rows are. Models say so by a line above the method, `by_rows`,
and know nothing of Dask otherwise.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from .sources import is_collection

Method = TypeVar("Method", bound=Callable[..., Any])


def by_rows(method: Method) -> Method:
    """Let a method whose answer has an entry for each row of X answer Dask collections lazily.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.lazy_rows import by_rows
    >>> class Doubles:
    ...     @by_rows
    ...     def transform(self, X):
    ...         return 2 * X
    >>> Doubles().transform(np.array([[1.0, 2.0]]))
    array([[2., 4.]])
    """

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_collection(X):
            return method(self, X, *args, **kwargs)
        return promised(method, self, X, args, kwargs)

    return cast(Method, answer)


def promised(
    method: Callable[..., Any],
    model: Any,
    X: Any,
    args: Any = (),
    kwargs: Any = None,
    example: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Return the Dask array of the answers.

    What cannot be answered at all (a model that is not fitted, other features) is refused at once: the method is
    asked about one row of ones, which also tells the shape and the type of an answer. A method that may have no
    answer there gives an `example` of one in its place, of the model and this row.
    """
    from dask import delayed

    from .dask_passes import Shared

    kwargs = {} if kwargs is None else kwargs
    sample, X = sample_of(X, model)
    with np.errstate(all="ignore"):
        given = method(model, sample, *args, **kwargs) if example is None else example(model, sample)
    several = isinstance(given, tuple)
    if not all(isinstance(one, np.ndarray) for one in (given if several else [given])):
        raise TypeError(
            f"{method.__name__} gives a {type(given).__name__}, which no Dask array can hold: compute X first."
        )
    empty: Any = tuple(one[:0] for one in given) if several else given[:0]
    shared = delayed(Shared(method, model, args, kwargs), traverse=False, pure=False)
    if hasattr(X, "chunks") and not several:
        widths = given.shape[1:]
        form: dict[str, Any] = {"chunks": (X.chunks[0], *((width,) for width in widths))} if widths else {}
        axes = {"new_axis": list(range(2, given.ndim))} if widths else {"drop_axis": 1}
        return X.map_blocks(answers, shared, empty, dtype=empty.dtype, meta=empty, **axes, **form)
    call = delayed(answers, pure=False)
    sizes = list(X.chunks[0]) if hasattr(X, "chunks") else [np.nan] * len(X)
    parts = X.to_delayed().ravel().tolist() if hasattr(X, "chunks") else X
    nothing = delayed(empty, traverse=False, pure=False)
    return assembled([call(part, shared, nothing) for part in parts], sizes, empty)


def assembled(pieces: list[Any], sizes: Sequence[float], empty: Any) -> Any:
    """Join delayed answers into a Dask array like `empty`, which has no rows; tuples of them into several arrays.

    `sizes` are the numbers of rows of the partitions, NaN where they are unknown.
    """
    import dask.array as da

    if isinstance(empty, tuple):
        return tuple(assembled([piece[i] for piece in pieces], sizes, one) for i, one in enumerate(empty))
    arrays = [
        da.from_delayed(piece, (size, *empty.shape[1:]), meta=empty)
        for piece, size in zip(pieces, sizes, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def answers(rows: Any, shared: Any, empty: Any) -> Any:
    """Answer the rows of one partition, in its task."""
    from .dask_source import aligned
    from .threads import working_alone

    model, args, kwargs = shared.fixed
    if not rows.shape[0]:
        return empty
    with working_alone():
        found = shared.function(model, aligned(rows), *args, **kwargs)
        return found if isinstance(found, tuple) else np.asarray(found)


def sample_of(X: Any, model: Any) -> tuple[Any, Any]:
    """Return one row like those of X, and X itself: an array, or its partitions as delayed blocks."""
    features = getattr(model, "feature_names_in_", None)
    if isinstance(X, list | tuple) or not hasattr(X, "ndim"):
        sample: Any = np.ones((1, getattr(model, "n_features_in_", 1)))
        if features is not None:
            import pandas

            sample = pandas.DataFrame(sample, columns=list(features))
        return sample, list(X) if isinstance(X, list | tuple) else [X]
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, but has {X.ndim}.")
    if hasattr(X, "columns"):
        if features is not None and set(features) <= set(X.columns):
            X = X[list(features)]  # a table may hold more than the model was fitted on, its target for one
        return X._meta_nonempty.iloc[:1], list(X.to_delayed())
    if np.isnan(X.shape[1]):
        raise ValueError("The number of columns of X is unknown: call X.compute_chunk_sizes() first.")
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    return np.ones((1, X.shape[1]), X.dtype), X
