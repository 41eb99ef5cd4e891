"""Scores of two classes, as calibrators meet them."""

import numpy as np
from hypothesis import strategies as st


def normal_scores(n=400, apart=2.0, share=0.5, seed=0):
    """Scores of unit variance around −apart/2 and apart/2."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    return rng.normal(size=n) + apart * (y - 0.5), y


@st.composite
def awkward_scores(draw):
    """Scores with ties, constant ones, separated or reversed classes, far from zero, tiny or huge; and weights."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.permutation(np.arange(n) % draw(st.integers(2, 4)) == 0).astype(int)
    y[:2] = [0, 1]
    scores = rng.normal(size=n) + draw(st.sampled_from([0.0, 1.0, -1.0, 20.0])) * y
    form = draw(st.sampled_from(["plain", "rounded", "constant", "labels", "far", "tiny", "huge", "outlier"]))
    if form == "rounded":
        scores = np.round(scores)
    elif form == "constant":
        scores[:] = 7.1
    elif form == "labels":
        scores[:] = y
    elif form == "far":
        scores += 1e8
    elif form == "tiny":
        scores *= 1e-200
    elif form == "huge":
        scores *= 1e200
    elif form == "outlier":
        scores[-1] = 1e6
    weight = rng.integers(0, 4, size=n).astype(float)
    weight[:2] = 1.0
    return scores, y, weight
