"""Condensing and editing: fewer rows for the nearest-neighbour rule."""

from typing import Any

import numpy as np

from benchmarks.workload import AtLeast, Contestant, Workload


def noisy_classes(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes on either side of a bent surface, one label in forty wrong."""
    X = rng.standard_normal((n, d))
    side = (X + 0.5 * np.sin(3 * X)) @ rng.standard_normal(d)
    return X, ((side > 0) ^ (rng.random(n) < 0.025)).astype(np.int64)


def condense_ours(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from bisector.neighbors import CondensedNearestNeighbor

    return lambda: CondensedNearestNeighbor().fit(*data)


def condense_imbalanced_learn(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from imblearn.under_sampling import CondensedNearestNeighbour

    return lambda: CondensedNearestNeighbour(random_state=0).fit_resample(*data)


def edit_ours(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from bisector.neighbors import EditedNearestNeighbor

    return lambda: EditedNearestNeighbor().fit(*data).sample_indices_


def edit_imbalanced_learn(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from imblearn.under_sampling import EditedNearestNeighbours

    def edit() -> Any:
        editor = EditedNearestNeighbours(sampling_strategy="all", kind_sel="mode")
        editor.fit_resample(*data)
        return np.sort(editor.sample_indices_)

    return edit


def rows(numbers: Any) -> dict[str, Any]:
    return {"rows": numbers}


def nothing_to_compare(result: Any) -> dict[str, Any]:
    return {}


WORKLOADS = [
    Workload(
        name="condense",
        about="A consistent subset for the 1-NN rule; that of imbalanced-learn is not consistent.",
        make=noisy_classes,
        sizes={"n": 2_000, "d": 10},
        quick={"n": 300},
        ours=Contestant("bisector", "bisector", condense_ours, nothing_to_compare),
        peers=[
            Contestant("imbalanced-learn", "imblearn", condense_imbalanced_learn, nothing_to_compare),
        ],
        goals={"imbalanced-learn": AtLeast(50)},
    ),
    Workload(
        name="edit",
        about="The rows that agree with their three nearest neighbours (Wilson).",
        make=noisy_classes,
        sizes={"n": 10_000, "d": 10},
        quick={"n": 500},
        ours=Contestant("bisector", "bisector", edit_ours, rows),
        peers=[Contestant("imbalanced-learn", "imblearn", edit_imbalanced_learn, rows)],
        goals={"imbalanced-learn": AtLeast(2)},
        tolerance=0.0,
    ),
]
