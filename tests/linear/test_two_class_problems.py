"""Several classes as two-class problems: who is set against whom, and who wins."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bisector.solvers.two_class_problems import ordered_problems, two_class_problems

SCHEMES = ["one-vs-rest", "one-vs-one", "nested"]


def test_tables_by_hand():
    np.testing.assert_array_equal(
        two_class_problems("one-vs-rest", 3).problems, [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    )
    np.testing.assert_array_equal(two_class_problems("ovo", 3).problems, [[-1, 1, 0], [-1, 0, 1], [0, -1, 1]])
    np.testing.assert_array_equal(
        two_class_problems("nested", 4, [2, 0, 3, 1]).problems, [[1, 1, -1, 1], [-1, 1, 0, 1], [0, 1, 0, -1]]
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_classes_are_one_problem_and_zero_is_the_first_class(scheme):
    problems = two_class_problems(scheme, 2)
    np.testing.assert_array_equal(problems.problems, [[-1, 1]])
    values = problems.decide(np.array([[-1.0], [0.0], [2.0]]))
    np.testing.assert_array_equal(problems.codes(values), [0, 0, 1])


@pytest.mark.parametrize("scheme", SCHEMES)
@given(st.data())
def test_scores_that_are_right_in_every_problem_decide_for_the_class(scheme, data):
    n_classes = data.draw(st.integers(2, 7))
    order = data.draw(st.permutations(range(n_classes))) if scheme == "nested" and n_classes > 2 else None
    problems = two_class_problems(scheme, n_classes, order)
    codes = np.arange(n_classes)
    sides = np.array([problems.labels(p, codes) for p in range(len(problems))]).T
    noise = np.random.default_rng(data.draw(st.integers(0, 99))).uniform(0.1, 1, sides.shape)
    left_out = np.random.default_rng(1).choice([-1.0, 1.0], sides.shape)
    scores = np.where(sides == 0, left_out, sides) * noise
    np.testing.assert_array_equal(problems.codes(problems.decide(scores)), codes)


def test_level_classes_go_to_the_first():
    pairs = two_class_problems("one-vs-one", 3)
    circle = np.array([[-1.0, 1.0, -1.0]])  # 0 beats 1, 1 beats 2, 2 beats 0
    assert pairs.codes(pairs.decide(circle)) == [0]
    nested = two_class_problems("nested", 3, [2, 1, 0])
    assert nested.codes(nested.decide(np.array([[0.0, 5.0]]))) == [
        2
    ]  # on the boundary of the class split off first
    rest = two_class_problems("one-vs-rest", 3)
    assert rest.codes(rest.decide(np.array([[-1.0, 2.0, 2.0]]))) == [1]


def walk_down(scores, order):
    """Decide one problem after the other, as LFD 6.2.5 tells it."""
    for problem, code in enumerate(order[:-1]):
        if scores[problem] <= 0:
            return code
    return order[-1]


@given(st.permutations(range(5)), st.integers(0, 2**31))
def test_a_nested_sequence_is_decided_one_problem_after_the_other(order, seed):
    problems = two_class_problems("nested", 5, order)
    scores = np.random.default_rng(seed).integers(-2, 3, size=(20, 4)).astype(float)
    expected = [walk_down(row, order) for row in scores]
    np.testing.assert_array_equal(problems.codes(problems.decide(scores)), expected)


def test_bad_schemes_and_orders():
    with pytest.raises(ValueError, match="multi_class must be one of"):
        two_class_problems("all", 3)
    with pytest.raises(ValueError, match="goes with a nested sequence"):
        two_class_problems("one-vs-one", 3, [0, 1, 2])
    with pytest.raises(ValueError, match="class_order must name"):
        ordered_problems("nested", np.array(["a", "b", "c"]), ["a", "b", "b"])
