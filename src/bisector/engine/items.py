"""Rows in whatever holds them: arrays, sparse matrices, frames, lists of words or sets."""

from typing import Any


def picked(items: Any, positions: Any) -> Any:
    """Return some of the items, in the form in which they came.

    Parameters
    ----------
    items : array, sparse matrix, frame, list or tuple
    positions : array of int

    Examples
    --------
    >>> from bisector.engine.items import picked
    >>> picked(["hotel", "house", "horse"], [2, 0])
    ['horse', 'hotel']
    """
    if hasattr(items, "iloc"):
        return items.iloc[positions]
    if hasattr(items, "tocsr"):
        return items.tocsr()[positions]
    if hasattr(items, "shape") or hasattr(items, "gather"):
        return items[positions]
    if not hasattr(items, "__getitem__"):
        raise TypeError(
            f"The rows of a {type(items).__name__} cannot be picked one by one: give an array, a sparse matrix, a "
            "frame or a list."
        )
    some = [items[int(position)] for position in positions]
    return tuple(some) if isinstance(items, tuple) else some
