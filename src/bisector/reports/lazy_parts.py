"""What of a model is still to be computed elsewhere, and what of that a file can do without.

A model that was fitted on a Dask collection may hold promises: answers to its training rows that nobody asked for
yet, such as the labels of k-means, which predictions do not need; or the training rows themselves, in their
partitions, without which neighbours and Parzen windows have no answer.
"""

import os
from collections.abc import Iterator
from typing import Any

from sklearn.base import BaseEstimator

from bisector.engine.sources import is_collection
from bisector.reports.faults import ModelFileFault


def plain_model(model: Any) -> Any:
    """Return the model as a file can hold it: without answers that are still to be computed, paths as text.

    The model itself is not changed.

    Raises
    ------
    ModelFileFault
        If it holds rows that are elsewhere.

    Examples
    --------
    >>> from pathlib import Path
    >>> import bisector
    >>> from bisector.reports.lazy_parts import plain_model
    >>> plain_model(bisector.KMeans(checkpoint=Path("kept")))
    KMeans(checkpoint='kept')
    """
    plain = _plain(model)
    for name, parameter in _elsewhere(plain, set()):
        if parameter:
            raise ModelFileFault(
                f"The parameter {parameter} of {name} is a Dask collection, which a file cannot hold: give "
                f"{parameter}.compute() to the model, and fit it again."
            )
        raise ModelFileFault(
            f"{name} answers from its training rows, which are in the partitions of a Dask collection and not in "
            "the model: fit it to rows in memory (X.compute(), or a sample of the rows), and save that."
        )
    return plain


def _plain(part: Any) -> Any:
    """Return a part as it is, or a copy without what is lazy if there is any."""
    if isinstance(part, os.PathLike):
        return os.fspath(part)
    if isinstance(part, dict):
        made: Any = {key: _plain(value) for key, value in part.items()}
        return made if any(made[key] is not part[key] for key in part) else part
    if type(part) in (list, tuple) and not is_collection(part):
        made = type(part)(map(_plain, part))
        return made if any(new is not old for new, old in zip(made, part, strict=True)) else part
    if not isinstance(part, BaseEstimator):
        return part
    state = {name: value for name, value in vars(part).items() if not _is_promise(name, value)}
    state = {name: _plain(value) for name, value in state.items()}
    if len(state) == len(vars(part)) and all(value is vars(part)[name] for name, value in state.items()):
        return part
    copied = object.__new__(type(part))
    vars(copied).update(state)
    return copied


def _is_promise(name: str, value: Any) -> bool:
    """Whether a learned attribute is an answer, a number or label a row, that is still to be computed."""
    return name.endswith("_") and is_collection(value)


def _elsewhere(part: Any, seen: set[int], owner: str = "", parameter: str = "") -> Iterator[tuple[str, str]]:
    """Yield the models that hold what is elsewhere, each with the parameter that does, if it is one."""
    if is_collection(part):
        yield owner, parameter
        return
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, BaseEstimator):
        given = part.get_params(deep=False)
        # Not all that a model has: rows that only what it tells of its fit is made of are left out of files.
        for name, value in part.__getstate__().items():
            yield from _elsewhere(value, seen, type(part).__name__, name if name in given else "")
        return
    inside: Any = ()
    if isinstance(part, dict):
        inside = part.values()
    elif isinstance(part, list | tuple):
        inside = part
    elif type(part).__module__.startswith("bisector.") and hasattr(part, "__dict__"):
        inside = list(vars(part).values())
    for one in inside:
        yield from _elsewhere(one, seen, owner, parameter)
