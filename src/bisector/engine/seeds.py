"""What a parameter `random_state` means."""

from typing import Any

import numpy as np

from .checkpoint import NOWHERE, Checkpoint


def seed_of(random_state: Any, kept: Checkpoint = NOWHERE) -> int:
    """Return the seed that a parameter `random_state` means: itself, or one drawn from a generator.

    Parameters
    ----------
    random_state : int, RandomState, numpy.random.Generator or None
    kept : Checkpoint, optional
        Where to note a seed that was drawn: a fit that goes on has drawn another, and takes this one.

    Examples
    --------
    >>> from bisector.engine.seeds import seed_of
    >>> seed_of(7)
    7
    """
    from sklearn.utils import check_random_state

    if (
        isinstance(random_state, int | np.integer)
        and not isinstance(random_state, bool)
        and random_state >= 0
    ):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        seed = int(random_state.integers(2**31))
    else:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    known = kept.recall("seed")
    if known is not None:
        return int(known["seed"])
    kept.note("seed", seed=seed)
    return seed
