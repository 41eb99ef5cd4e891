"""The one place where the name of a kernel becomes the kernel."""

from typing import Any

from bisector.engine.values import Value
from bisector.kernels.kernel import Kernel
from bisector.kernels.lookup import named_class


def resolve(
    kernel: Any, *, gamma: Any = None, coef0: Any = None, degree: Any = None, **params: Any
) -> Kernel:
    """Return the kernel that a parameter ``kernel`` means.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name, such as ``"rbf"``; a kernel, which is returned; ``"precomputed"``; or a function, as
        scikit-learn takes it (`Custom` says which).
    gamma, coef0, degree : optional
        scikit-learn's parameters of the kernels it knows; None means its default there. As there, they are
        ignored by kernels that have no such parameter.
    **params
        Parameters of the kernel that the name means, by their names here.

    Returns
    -------
    Kernel
        What it leaves open, as with ``gamma="scale"``, is learned from rows by ``learned(X)``.

    Examples
    --------
    >>> from bisector.kernels import resolve
    >>> resolve("rbf", gamma=0.5)
    Gaussian()
    >>> resolve("poly", degree=2, coef0=0, gamma=1)
    Polynomial()
    """
    import bisector.kernels  # noqa: F401  so that all classes exist
    from bisector.kernels.custom import Custom

    if isinstance(kernel, Kernel):
        if params:
            raise ValueError(
                f"{', '.join(params)} go with a name, but kernel is {kernel!r}: set its parameters there."
            )
        return kernel
    if isinstance(kernel, Value):
        raise TypeError(
            f"kernel is {kernel!r}, which is no kernel: Gaussian(metric=...) makes one of a distance."
        )
    if callable(kernel) and not isinstance(kernel, type):
        return Custom(kernel, **params)
    cls = named_class(Kernel, "kernel", kernel)  # type: ignore[type-abstract]
    translated = cls.from_scikit_learn(gamma=gamma, coef0=coef0, degree=degree)
    default = cls.from_scikit_learn(gamma=None, coef0=None, degree=None)
    for name in params:
        if name in translated and translated[name] != default[name]:
            raise ValueError(f"{name} is given twice, by its name here and by that in scikit-learn.")
    unknown = sorted(set(params) - set(cls.parameters()))
    if unknown:
        takes = ", ".join(cls.parameters()) or "none"
        raise ValueError(f"{cls.__name__} has no parameter {', '.join(unknown)}: its parameters are {takes}.")
    return cls(**{**translated, **params})
