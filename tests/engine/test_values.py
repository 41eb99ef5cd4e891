"""Values: frozen, equal by content, printed as their call; estimators that hold them; lowered classes in loops."""

import copy
import math
import pickle
from dataclasses import KW_ONLY, FrozenInstanceError
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV

from bisector.distances import (
    Chebyshev,
    Cosine,
    Elliptical,
    Euclidean,
    Hamming,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
)
from bisector.engine.loops import compile_methods, loop
from bisector.engine.values import LOWERED, HoldsValues, Value, frozen_array, lowered, value

only_compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compilation is switched off")


@value
class Ball(Value):
    """A value with every kind of parameter: numbers, text, arrays, nothing, and another value."""

    radius: float = 1.0
    center: Any = None
    inner: Any = None
    _: KW_ONLY
    colour: str = "red"

    def __post_init__(self):
        if self.radius < 0:
            raise ValueError("radius must not be negative")
        if self.center is not None:
            self._set(center=frozen_array(self.center))


@value
class Cube(Value):
    radius: float = 1.0


EXAMPLES = [
    Ball(),
    Ball(2.0, [1.0, 2.0], colour="blue"),
    Ball(inner=Ball(0.5, inner=Cube(3.0))),
    Euclidean([1, 2, 3], squared=True),
    Manhattan(skip_missing=True),
    Chebyshev([0.1, 0.2]),
    Minkowski(1.5, [1.0, 0.0]),
    Minkowski(math.inf),
    Hamming(normalised=False),
    Elliptical([[2.0, 1.0], [1.0, 2.0]]),
    Mahalanobis([[2.0, 1.0], [1.0, 2.0]], squared=True),
    Mahalanobis(),
    Cosine(angle=True),
    Haversine(6371.0, degrees=True),
]
each_example = pytest.mark.parametrize("example", EXAMPLES, ids=repr)


# Equality and hash


def test_equal_by_type_and_content():
    assert Ball(2.0) == Ball(2.0)
    assert Ball(2.0) != Ball(3.0)
    assert Ball(2.0) != Cube(2.0)
    assert Ball() != "Ball()"
    assert Ball(1.0) != Ball(1)  # one prints as 1.0, the other as 1
    assert Ball(inner=Ball(2.0)) == Ball(inner=Ball(2.0))
    assert Minkowski(2) != Euclidean()


def test_arrays_compare_by_shape_and_content():
    assert Ball(center=[1, 2]) == Ball(center=np.array([1.0, 2.0]))
    assert Ball(center=[1, 2]) != Ball(center=[1, 3])
    assert Ball(center=[1, 2]) != Ball(center=[[1, 2]])
    assert Ball(center=[1, 2]) != Ball(center=None)
    assert Ball(center=None) != Ball(center=[1, 2])


def test_equal_values_hash_alike_whichever_zero_they_hold():
    for one, other in [
        (Ball(center=[0.0, 1.0]), Ball(center=[-0.0, 1.0])),
        (Ball(0.0), Ball(-0.0)),
        (Ball(center=np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])), Ball(center=[[1, 2], [3, 4]])),
    ]:
        assert one == other
        assert hash(one) == hash(other)
    assert len({Ball(center=[1, 2]), Ball(center=[1, 2]), Ball(center=[2, 1]), Cube(), Ball()}) == 4


# Frozen


def test_attributes_cannot_be_set_or_deleted():
    ball = Ball()
    with pytest.raises(FrozenInstanceError):
        ball.radius = 2.0
    with pytest.raises(FrozenInstanceError):
        ball.other = 2.0
    with pytest.raises(FrozenInstanceError):
        del ball.radius


def test_arrays_are_read_only_and_not_the_callers():
    given = np.array([1.0, 2.0])
    ball = Ball(center=given)
    given[0] = 9.0
    assert ball.center.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        ball.center[0] = 5.0
    weights = np.array([1.0, 2.0])
    distance = Manhattan(weights)
    weights[:] = 0.0
    assert distance([0, 0], [1, 1]) == 3.0


def test_frozen_array_copies_to_float64_in_c_order():
    made = frozen_array(np.asfortranarray(np.array([[1, 2], [3, 4]], dtype=np.int8)))
    assert made.dtype == np.float64
    assert made.flags.c_contiguous
    assert not made.flags.writeable


# Printed, copied, pickled


@each_example
def test_prints_as_the_call_that_makes_it(example):
    assert eval(repr(example)) == example


def test_prints_only_what_differs_from_the_defaults():
    assert repr(Ball()) == "Ball()"
    assert repr(Ball(2.0, [1, 2])) == "Ball(radius=2.0, center=[1.0, 2.0])"
    assert repr(Ball(inner=Cube())) == "Ball(inner=Cube())"
    assert repr(Minkowski(math.inf)) == "Minkowski(p=float('inf'))"
    assert repr(Elliptical(np.eye(5))) == "Elliptical(M=<array of 5 × 5 numbers>)"


@each_example
def test_pickles_and_stays_frozen(example):
    again = pickle.loads(pickle.dumps(example))
    assert again == example
    assert hash(again) == hash(example)
    for parameter in again.get_params().values():
        assert not isinstance(parameter, np.ndarray) or not parameter.flags.writeable


@each_example
def test_copies_and_clones_are_the_value_itself(example):
    assert copy.copy(example) is example
    assert copy.deepcopy(example) is example
    assert copy.deepcopy({"deep": [example]})["deep"][0] is example
    assert clone(example) is example


# Parameters


def test_get_params_deep_and_shallow():
    ball = Ball(2.0, inner=Ball(0.5, inner=Cube(3.0)))
    assert set(ball.get_params(deep=False)) == {"radius", "center", "inner", "colour"}
    deep = ball.get_params()
    assert deep["inner__radius"] == 0.5
    assert deep["inner__inner__radius"] == 3.0
    assert deep["inner"] is ball.inner


def test_set_params_returns_a_new_value():
    ball = Ball(2.0, inner=Ball(0.5, inner=Cube(3.0)))
    changed = ball.set_params(radius=1.0, inner__inner__radius=7.0, inner__colour="green")
    assert changed == Ball(1.0, inner=Ball(0.5, inner=Cube(7.0), colour="green"))
    assert ball == Ball(2.0, inner=Ball(0.5, inner=Cube(3.0)))
    assert ball.set_params() == ball


def test_set_params_replaces_a_value_and_its_parameter_in_one_call():
    assert Ball().set_params(inner=Cube(1.0), inner__radius=4.0) == Ball(inner=Cube(4.0))


def test_set_params_checks_names_and_values():
    with pytest.raises(
        ValueError, match="Ball has no parameter 'size': its parameters are radius, center, inner"
    ):
        Ball().set_params(size=1)
    with pytest.raises(ValueError, match="Cube has no parameter 'colour'"):
        Ball(inner=Cube()).set_params(inner__colour="red")
    with pytest.raises(ValueError, match=r"Ball's radius is 1\.0, which has no parameters to set"):
        Ball().set_params(radius__p=3)
    with pytest.raises(ValueError, match="radius must not be negative"):
        Ball().set_params(radius=-1.0)


# Estimators that hold values


class NearestMean(HoldsValues, ClassifierMixin, BaseEstimator):
    """The smallest estimator with a distance: classifies by the nearest class mean."""

    def __init__(self, metric="euclidean", other=None):
        self.metric = metric
        self.other = other

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[self.metric.pairwise(X, self.means_).argmin(axis=1)]


def test_an_estimators_distance_is_replaced_not_changed():
    shared = Minkowski(1.5)
    one, other = NearestMean(shared), NearestMean(shared)
    assert one.set_params(metric__p=3) is one
    assert one.metric == Minkowski(3)
    assert other.metric is shared
    assert shared == Minkowski(1.5)


def test_a_distance_and_its_parameter_in_one_call():
    one = NearestMean(Euclidean())
    one.set_params(metric__p=4, metric=Minkowski(1.0), other="x")
    assert one.metric == Minkowski(4.0)
    assert one.other == "x"
    one.set_params(metric__p=1.0, metric__weights=[1.0, 2.0])
    assert one.metric == Minkowski(1.0, [1.0, 2.0])


def test_nested_parameters_reach_estimators_in_place():
    inner = NearestMean(Minkowski(1.0))
    outer = NearestMean(other=inner)
    outer.set_params(other__metric__p=2.5)
    assert outer.other is inner
    assert inner.metric == Minkowski(2.5)
    assert clone(outer).other.metric == Minkowski(2.5)


def test_a_cloned_estimator_holds_the_same_value():
    one = NearestMean(Elliptical(np.eye(5)))
    assert clone(one).metric is one.metric
    assert one.get_params()["metric__squared"] is False


def test_wrong_names_are_refused_and_nothing_is_set():
    one = NearestMean(Minkowski(1.5))
    with pytest.raises(ValueError, match="Minkowski has no parameter 'q'"):
        one.set_params(other="set", metric__q=1)
    assert one.other is None
    with pytest.raises(ValueError, match="NearestMean has no parameter 'metrics'"):
        one.set_params(metrics__p=1)
    with pytest.raises(ValueError, match="'neighbours'"):
        one.set_params(neighbours=3)
    with pytest.raises(
        ValueError, match="NearestMean's metric is 'euclidean', which has no parameters to set"
    ):
        NearestMean().set_params(metric__p=3)


def test_grid_search_over_a_distances_parameter():
    # Two classes that differ in one coordinate; the rest is noise, which a large p hears less.
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 30))
    y = np.arange(60) % 2
    X[:, 0] += 3 * y
    search = GridSearchCV(NearestMean(Minkowski(1.0)), {"metric__p": [0.2, 1.0, 3.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"metric__p": 3.0}
    assert search.best_estimator_.metric == Minkowski(3.0)
    assert search.estimator.metric == Minkowski(1.0)


# Lowered classes


def test_lowered_refuses_classes_that_numba_would_confuse():
    with pytest.raises(TypeError, match="Empty is no NamedTuple with fields"):

        @lowered()
        class Empty(NamedTuple):
            pass

    with pytest.raises(TypeError, match="Plain is no NamedTuple with fields"):

        @lowered()
        class Plain:
            pass

    with pytest.raises(TypeError, match="both lower a class called SquaredTerms"):

        @lowered()
        class SquaredTerms(NamedTuple):
            p: float = 2.0

    assert LOWERED["SquaredTerms"].__module__ == "bisector.distances.terms"


def half(self: Any, x: float) -> float:
    return x / 2.0


def negative(self: Any, x: float) -> float:
    return -x


@lowered(valued=half, rank=3)
class HalvedForTest(NamedTuple):
    unused: float = 0.0


@lowered(valued=half)
class TripledForTest(NamedTuple):
    factor: float

    def valued(self, x: float) -> float:
        return self.factor * x


class Foreign(NamedTuple):
    """Another package's tuple, with fields that have the names of methods of ours."""

    weight: float
    term: float
    valued: float


class MixedForeign(NamedTuple):
    weight: float
    term: int


class WithMethod(NamedTuple):
    factor: float

    def valued(self, x):
        return -1.0


compile_methods(valued=lambda self, x: None)


@loop
def value_of(formula, x):
    return formula.valued(x)


@loop
def fields_of(thing):
    return thing.weight + thing.term


def test_methods_of_lowered_classes_run_in_loops_as_in_python():
    assert HalvedForTest().valued(5.0) == value_of(HalvedForTest(), 5.0) == 2.5
    assert HalvedForTest.rank == 3
    # The class's own method goes before the shared one.
    assert TripledForTest(3.0).valued(5.0) == value_of(TripledForTest(3.0), 5.0) == 15.0


def test_fields_of_other_named_tuples_keep_their_names():
    import bisector.distances.tile_loops  # noqa: F401  makes weight, term and more known to loops

    assert fields_of(Foreign(1.0, 2.0, 3.0)) == 3.0
    assert fields_of(MixedForeign(1.0, 2)) == 3.0


@only_compiled
def test_methods_of_other_named_tuples_are_left_alone():
    with pytest.raises(numba.TypingError):
        value_of(WithMethod(1.0), 5.0)  # as Numba says without us: it knows no methods of tuples

    @numba.extending.overload_method(numba.types.NamedUniTuple, "doubled_for_test")
    def overloaded(self, x):
        return lambda self, x: 2.0 * x

    @numba.njit
    def call(thing, x):
        return thing.doubled_for_test(x)

    assert call(WithMethod(1.0), 5.0) == 10.0
