"""Why a density is as high as it is: what each row or component adds."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.explanation import Account, Explanation, account_of
from bisector.engine.show import number

Floats = NDArray[np.float64]


def density_account(
    logs: Floats, *, rows: NDArray[Any] | None = None, names: list[str] | None = None,
    columns: dict[str, Any] | None = None, of: str = "rows",
) -> Account:  # fmt: skip
    """Return what each part adds to a density, from the logarithms of the parts.

    Where the density itself is too small or too large for a number, the parts are shares of it.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.density.density_reasons import density_account
    >>> density_account(np.log([0.25, 0.5])).total
    0.75
    >>> account = density_account(np.array([-9000.0, -9000.0]))
    >>> account.title, account.values
    ('share of the density', array([0.5, 0.5]))
    """
    peak = float(logs.max())
    used = np.flatnonzero(logs > -np.inf)
    used = used[np.argsort(-logs[used], kind="stable")]
    with np.errstate(over="ignore", under="ignore"):
        values = np.exp(logs[used])
    title = "density"
    if not np.isfinite(values.sum()) or (len(used) and values.sum() < np.finfo(float).tiny * 1e16):
        title, values = "share of the density", np.exp(logs[used] - peak)
        values = values / values.sum()
    return account_of(
        title,
        values,
        rows=None if rows is None else rows[used],
        names=None if names is None else [names[j] for j in used],
        columns={word: np.asarray(column)[used] for word, column in (columns or {}).items()},
        of=of,
    )


def explain_density(
    log_density: float, account: Account | None, path: list[str] | None = None
) -> Explanation:
    """Explain a density by one account, and say which part adds most."""
    if log_density == -math.inf:
        return Explanation(-math.inf, "The density is 0: nothing reaches the row.", path=path or [])
    said = f"The log density is {number(log_density)}"
    if account is None or not len(account.values):
        return Explanation(log_density, f"{said}.", path=path or [])
    place = int(account.largest(1)[0])
    share = account.values[place] / account.total if account.total else math.nan
    said += f"; {number(float(share))} of the density comes from {account.name(place)}."
    return Explanation(log_density, said, [account], path or [])
