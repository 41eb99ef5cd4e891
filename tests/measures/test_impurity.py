"""Impurities by hand, and what they do when one class grows."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bisector.measures.impurity import impurity, relative_impurity, split_impurity

ALL = ("gini", "entropy", "sqrt-gini", "minority")


def test_by_hand():
    assert impurity([1, 3]) == pytest.approx(2 * 0.25 * 0.75)
    assert impurity([1, 3], "sqrt-gini") == pytest.approx(np.sqrt(2 * 0.25 * 0.75))
    assert impurity([1, 3], "minority") == 0.25
    assert impurity([1, 1, 1, 1], "entropy") == 2.0
    assert impurity([2, 1, 1]) == pytest.approx(1 - (0.25 + 0.0625 + 0.0625))
    assert impurity([0, 0]) == 0.0


@pytest.mark.parametrize("criterion", ALL)
@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(any))
def test_pure_is_zero_even_is_largest_and_order_does_not_matter(criterion, counts):
    value = impurity(counts, criterion)
    assert impurity(counts[::-1], criterion) == pytest.approx(value)
    assert value <= impurity([1] * len(counts), criterion) + 1e-12
    if sum(count > 0 for count in counts) == 1:
        assert value == 0.0


@pytest.mark.parametrize("criterion", ALL)
@given(
    left=st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any),
    right=st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any),
)
def test_no_split_makes_things_worse(criterion, left, right):
    assert split_impurity([left, right], criterion) <= impurity(np.add(left, right), criterion) + 1e-12


def test_bad_counts():
    with pytest.raises(ValueError, match="not negative"):
        impurity([1, -1])
    with pytest.raises(ValueError, match="criterion"):
        impurity([1, 1], "purity")
    with pytest.raises(ValueError, match="pure"):
        relative_impurity([[3, 0], [2, 0]])
