"""Why a sum over training rows, bumps or support vectors predicts a number: what each of them adds."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .explanation import Explanation, account_of
from .show import number

Floats = NDArray[np.float64]


def explain_row_sums(
    values: Floats,
    weights: Floats,
    *,
    single: bool,
    offsets: Floats | None = None,
    rows: NDArray[Any] | None = None,
    names: list[str] | None = None,
    value: str = "kernel",
    of: str = "rows",
) -> list[Explanation]:
    """Explain predictions Σⱼ weights[j]·values[j] + offset.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_parts)
        What each query has of each part: a kernel value, the height of a bump.
    weights : ndarray of shape (n_parts, n_targets)
    single : bool
        Whether there is one target.
    offsets : ndarray of shape (n_targets,), optional
    rows, names
        Which training rows the parts are, or what they are called.
    value, of : str
        What `values` and the parts are called.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.row_reasons import explain_row_sums
    >>> explain_row_sums(np.array([[0.5, 1.0]]), np.array([[2.0], [-3.0]]), single=True)[0].summary
    'Predicted -2: row 1 takes away 3 and row 0 adds 1.'
    """
    found = []
    for line in values:
        accounts = []
        for t, weight in enumerate(weights.T):
            used = np.flatnonzero(weight)
            parts = (weight * line)[used]
            order = np.argsort(-np.abs(parts), kind="stable")
            chosen = used[order]
            accounts.append(
                account_of(
                    "prediction" if single else f"prediction of target {t}",
                    parts[order],
                    rows=(chosen if rows is None else rows[chosen]) if names is None else None,
                    names=None if names is None else [names[j] for j in chosen],
                    columns={value: line[chosen], "weight": weight[chosen]},
                    also=None if offsets is None else {"(intercept)": float(offsets[t])},
                    of=of,
                )
            )
        totals = [account.total for account in accounts]
        said = f"Predicted {', '.join(map(number, totals))}: {accounts[0].in_words()}."
        found.append(Explanation(totals[0] if single else totals, said, accounts))
    return found
