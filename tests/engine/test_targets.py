"""Labels become codes: by counting where they are whole numbers close together, by sorting elsewhere."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays, integer_dtypes, unsigned_integer_dtypes

from bisector.engine.targets import check_labels, told_apart

DTYPES = integer_dtypes(endianness="=") | unsigned_integer_dtypes(endianness="=")


@given(arrays(DTYPES, st.integers(1, 30)))
def test_counting_tells_apart_what_sorting_does(values):
    for some in (values, values // 100, np.where(values > 0, values.max(), values.min())):
        found, places = told_apart(some)
        expected, numbers = np.unique(some, return_inverse=True)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(places, numbers)
        assert found.dtype == some.dtype


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_labels_at_the_ends_of_their_type(dtype):
    kind = np.iinfo(dtype)
    for ends in ([kind.min, kind.min + 1], [kind.max - 1, kind.max], [kind.min, kind.max]):
        values = np.array(ends * 200, dtype=dtype)
        found, places = told_apart(values)
        np.testing.assert_array_equal(found, np.array(ends, dtype=dtype))
        np.testing.assert_array_equal(places, [0, 1] * 200)


def test_numbers_that_are_hardly_labels_are_still_warned_of():
    with pytest.warns(UserWarning, match="number of unique classes is greater than 50%"):
        check_labels(object(), np.arange(100), 100)
    with pytest.raises(ValueError, match="Unknown label type"):
        check_labels(object(), np.linspace(0, 1, 100), 100)
