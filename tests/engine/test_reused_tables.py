"""Tables that are used again as soon as nobody refers to them."""

import threading

import numpy as np
from hypothesis import given, strategies as st

from bisector.engine.reused_tables import ReusedTables


@given(
    st.lists(
        st.tuples(st.sampled_from([(4, 2), (3, 2), (4, 0)]), st.sampled_from(["f4", "f8"]), st.integers(0, 5))
    )
)
def test_no_table_in_use_is_given_again(steps):
    """Views hold on to a table as the table itself does."""
    tables, held = ReusedTables(), {}
    for number, (shape, dtype, dropped) in enumerate(steps):
        table = tables.empty(shape, dtype)
        assert table.shape == shape
        assert table.dtype == dtype
        table[:] = number
        held[number] = table[1:] if number % 2 else table.T
        del table
        held.pop(number - dropped, None)
        for expected, view in held.items():
            assert (view == expected).all()


def test_a_table_comes_back_when_its_last_view_is_gone():
    tables = ReusedTables()
    view = tables.empty((5, 2), np.float64)[1:, :1]
    place = view.ctypes.data - 16
    assert tables.empty((5, 2), np.float64).ctypes.data != place
    del view
    given_again = {tables.empty((5, 2), np.float64).ctypes.data for _ in range(3)}
    assert place in given_again


def test_threads_never_share_a_table():
    tables, faults = ReusedTables(), []

    def work(name):
        for step in range(2000):
            one, other = tables.empty((50, 4), np.float64), tables.empty((50, 4), np.float64)
            one[:], other[:] = name, step
            if (one != name).any() or (other != step).any():
                faults.append((name, step))

    threads = [threading.Thread(target=work, args=(-1.0 - name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
