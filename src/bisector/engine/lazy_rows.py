"""Answers for rows that are not here yet: a method that answers row by row, at the rows of a Dask collection.

What a method gives for rows in memory, it promises for the rows of a collection: a Dask array with the same
partitions, computed when it is asked for, where the rows are. Models say so by a line above the method, `by_rows`,
and know nothing of Dask otherwise.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

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


def promised(method: Callable[..., Any], model: Any, X: Any, args: Any, kwargs: Any) -> Any:
    """Return the Dask array of the answers.

    What cannot be answered at all (a model that is not fitted, other features) is refused at once: the method is
    asked about one row of ones, which also tells the shape and the type of an answer.
    """
    import dask.array as da
    from dask import delayed

    from .dask_passes import Shared

    sample, X = _sample(X, model)
    with np.errstate(all="ignore"):
        example = method(model, sample, *args, **kwargs)
    empty, widths = example[:0], example.shape[1:]
    shared = delayed(Shared(method, model, args, kwargs), traverse=False, pure=False)
    if hasattr(X, "chunks"):
        form: dict[str, Any] = {"chunks": (X.chunks[0], *((width,) for width in widths))} if widths else {}
        axes = {"new_axis": list(range(2, example.ndim))} if widths else {"drop_axis": 1}
        return X.map_blocks(answers, shared, empty, dtype=empty.dtype, meta=empty, **axes, **form)
    call = delayed(answers, pure=False)
    pieces = [da.from_delayed(call(part, shared, empty), (np.nan, *widths), meta=empty) for part in X]
    return da.concatenate(pieces, allow_unknown_chunksizes=True)


def answers(rows: Any, shared: Any, empty: NDArray[Any]) -> NDArray[Any]:
    """Answer the rows of one partition, in its task."""
    from .dask_source import aligned
    from .threads import working_alone

    model, args, kwargs = shared.fixed
    if not rows.shape[0]:
        return empty
    with working_alone():
        return np.asarray(shared.function(model, aligned(rows), *args, **kwargs))


def _sample(X: Any, model: Any) -> tuple[Any, Any]:
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
