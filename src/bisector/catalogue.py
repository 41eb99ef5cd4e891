"""What the library holds, found by looking rather than from a list."""

import inspect

import bisector


def all_estimators() -> list[tuple[str, type]]:
    """List the public estimators as (name, class) pairs, by name.

    Examples
    --------
    >>> import bisector
    >>> dict(bisector.all_estimators())["LinearRegression"]
    <class 'bisector.linear.linear_regression.LinearRegression'>
    """
    public = ((name, getattr(bisector, name)) for name in bisector.__all__)
    return sorted((name, thing) for name, thing in public if inspect.isclass(thing) and hasattr(thing, "fit"))
