"""Why a mixture answers as it does: how probable each component is at a row, and what it says there."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bisector.density.density_reasons import density_account
from bisector.engine.explanation import Account, Explanation, account_of, plain, told
from bisector.engine.show import number

if TYPE_CHECKING:
    from bisector.density.gaussian_mixture import GaussianMixture

Floats = NDArray[np.float64]


def component_names(k: int) -> list[str]:
    """Return what components are called."""
    return [f"component {j}" for j in range(k)]


def explain_components(model: "GaussianMixture", logs: Floats, shares: Floats) -> list[Explanation]:
    """Explain the component of each row from the logarithms of what each adds to the density."""
    names = component_names(logs.shape[1])
    explained = []
    for parts, share in zip(logs, shares, strict=True):
        chosen = int(np.argmax(parts))
        columns = {
            "weight": model.weights_,
            "log density": parts - np.log(np.maximum(model.weights_, 1e-300)),
        }
        accounts = [
            account_of("probabilities", share, names=names, columns=columns, of="components"),
            density_account(parts, names=names, of="components"),
        ]
        said = f"Component {chosen}, with probability {number(float(share[chosen]))}."
        explained.append(Explanation(chosen, said, accounts))
    return explained


def explain_classes_of_components(
    shares: Floats, class_shares: Floats, classes: NDArray[Any]
) -> list[Explanation]:
    """Explain classes by the components of a mixture: how probable each is, times the share of the class in it."""
    names = component_names(shares.shape[1])
    explained = []
    for share in shares:
        code = int(np.argmax(share @ class_shares))
        columns = {"probability": share, "share of the class": class_shares[:, code]}
        title = f"probability of {told(classes[code])}"
        account = account_of(
            title, share * class_shares[:, code], names=names, columns=columns, of="components"
        )
        said = f"{told(classes[code])}, with probability {number(account.total)}: {account.in_words()}."
        explained.append(Explanation(plain(classes[code]), said, [account]))
    return explained


def explain_means_of_components(shares: Floats, means: Floats, *, single: bool) -> list[Explanation]:
    """Explain numbers by the components of a mixture: how probable each is, times the mean it has for y there.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_components)
    means : ndarray of shape (n_rows, n_components, n_targets)
    single : bool
        Whether there is one target.
    """
    names = component_names(shares.shape[1])
    explained = []
    for share, mean in zip(shares, means, strict=True):
        accounts: list[Account] = []
        for t in range(mean.shape[1]):
            columns = {"probability": share, "mean": mean[:, t]}
            title = "prediction" if single else f"prediction of target {t}"
            accounts.append(
                account_of(title, share * mean[:, t], names=names, columns=columns, of="components")
            )
        totals = [account.total for account in accounts]
        said = f"Predicted {', '.join(map(number, totals))}: {accounts[0].in_words()}."
        explained.append(Explanation(totals[0] if single else totals, said, accounts))
    return explained
