"""The one place where the name of a distance becomes the distance."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from bisector.distances.distance import Distance
from bisector.engine.lookup import look_up, members


def resolve(metric: Any, *, p: float = 2, metric_params: Mapping[str, Any] | None = None) -> Distance:
    """Return the distance that a parameter ``metric`` means.

    Parameters
    ----------
    metric : str, Distance or callable
        A name, such as ``"manhattan"``; a distance, which is returned; or a function of two rows.
    p : float, default=2
        The order of the Minkowski distance, when that is what the name means.
    metric_params : mapping, optional
        Parameters of the distance that the name means, as scikit-learn's estimators take them.

    Returns
    -------
    Distance

    Examples
    --------
    >>> from bisector.distances import resolve
    >>> resolve("cityblock")
    Manhattan()
    >>> resolve("minkowski", p=1.5)
    Minkowski(p=1.5)
    """
    if isinstance(metric, Distance):
        if metric_params:
            raise ValueError(
                f"metric_params go with a name, but metric is {metric!r}: set its parameters there."
            )
        return metric
    if isinstance(metric, type) and issubclass(metric, Distance):
        raise TypeError(f"metric is the class {metric.__name__}: make one of it, {metric.__name__}(...).")
    if callable(metric):
        from bisector.distances.compiled import Compiled

        return Compiled(metric, **dict(metric_params or {}))
    if not isinstance(metric, str):
        raise TypeError(f"metric must be a name, a distance or a function of two rows, not {metric!r}.")
    cls, fixed = _meaning(metric)
    params = {**fixed, **dict(metric_params or {})}
    if "p" in cls.parameters():
        params.setdefault("p", p)
    return cls.from_params(params)


@cache
def _meaning(name: str) -> tuple[type[Distance], dict[str, Any]]:
    return look_up(named(), "distance", name)


def named() -> dict[str, tuple[type[Distance], dict[str, Any]]]:
    """Map every name to its class and to the parameters that the name fixes, as the classes themselves say."""
    import bisector.distances  # noqa: F401  so that all classes exist

    found: dict[str, tuple[type[Distance], dict[str, Any]]] = {}
    for cls in members(Distance):
        for name in cls.names:
            found[name] = (cls, {})
        for name, params in cls.variants.items():
            found[name] = (cls, dict(params))
    return found
