"""Fits that are interrupted after each thing they note in turn, and go on; and data for them."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.base import clone

from bisector.engine import checkpoint as checkpoints

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 6)) * [1.0, 3.0, 0.2, 1.0, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0, 1.0, 0.0]
SCORES = X @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + RNG.normal(size=900)
SIDES = np.where(np.median(SCORES) < SCORES, "far", "near")
BANDS = np.digitize(SCORES, np.quantile(SCORES, [0.3, 0.7]))
WEIGHT = RNG.integers(0, 3, size=900).astype(float)
SPARSE = csr_matrix(random_array((900, 40), density=0.2, rng=1))
MIXED = (SPARSE @ RNG.normal(size=40) + 0.2 * RNG.normal(size=900) > 0).astype(int)
WIDE = RNG.normal(size=(40, 400))
TWO = np.column_stack([SCORES, X[:, 0] ** 2])
APART = np.where(SIDES == "far", 2.0, -2.0)[:, None] + 1e-3 * X[:, :2]
WORDS = ["".join(letters) for letters in RNG.choice(list("abcd"), size=(150, 5))]
MANY = np.repeat(np.round(X[:300, :2], 1), 2, axis=0)  # rows that repeat, and distances that are equal


def interrupted_after(count: int, monkeypatch: pytest.MonkeyPatch, model: Any, *data: Any) -> bool:
    """Fit until so many things are noted; say whether that was before the end."""
    with monkeypatch.context() as patched:
        note, seen = checkpoints._File.note, [0]

        def noting(self: Any, name: str, **values: Any) -> None:
            note(self, name, **values)
            seen[0] += 1
            if seen[0] == count:
                raise KeyboardInterrupt

        patched.setattr(checkpoints._File, "note", noting)
        try:
            model.fit(*data)
        except KeyboardInterrupt:
            return True
    return False


def learned(model: Any) -> dict[str, Any]:
    """All that a fit leaves, by value, and what kernel machines tell on request."""
    asked = {"alpha_", "slack_", "margin_", "objective_", "dual_gap_", "kkt_violation_"}
    names = {name for name in vars(model) if name.endswith("_") or name == "_mistakes"}
    values = {name: getattr(model, name) for name in names | {name for name in asked if hasattr(model, name)}}
    if "two_class_problems_" in values:
        values["two_class_problems_"] = model.two_class_problems_.problems
    if getattr(model, "history", False):  # of a perceptron
        values |= values.pop("history_")._asdict()
    return {name: value.toarray() if hasattr(value, "toarray") else value for name, value in values.items()}


def goes_on(monkeypatch: Any, path: Any, model: Any, *data: Any, stride: int = 1) -> int:
    """Interrupt a fit after 1, 2, … notes, and let each go on; return how often it was interrupted."""
    whole = learned(clone(model).fit(*data))
    kept = clone(model).set_params(checkpoint=path)
    times = 0
    while interrupted_after(1 + times * stride, monkeypatch, clone(kept), *data):
        assert path.exists()
        times += 1
        found = learned(clone(kept).fit(*data))
        assert not path.exists()
        assert found.keys() == whole.keys()
        for name, value in found.items():
            np.testing.assert_array_equal(value, whole[name], err_msg=f"{name}, interruption {times}")
    assert not path.exists()
    return times
