"""The least and the second least of products of rows with blocks of centres, which never leave the registers.

A product of matrices is written to memory and read again to be searched. Where only the least of each row is asked
for, sixteen rows and sixteen centres are multiplied in registers, turned so that every row has a lane of its own,
and searched there. The rows may stand anywhere, so that those a block of centres cannot be nearest to are left out.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from bisector.engine.registers import LANES, Registers

# Rows whose sums are made while the columns pass by, so that no addition waits for the one before.
_TOGETHER = 8


def two_least(
    rows: NDArray[Any], listed: NDArray[np.int64], start: int, blocks: NDArray[Any], b: int, beside: NDArray[Any],
    least: NDArray[Any], second: NDArray[Any], owners: NDArray[np.int32],
) -> None:  # fmt: skip
    """Multiply 16 rows by the centres of block b, and note the two least sums, and the number of the least.

    Parameters
    ----------
    rows : (n, d)
    listed : (m,)
        The rows meant are ``listed[start:start+16]``.
    blocks : (n_blocks, d, 16)
        Centres side by side.
    beside : (n_blocks · 16,)
        What is added to the products with each centre.
    least, second, owners : (m,), changed from `start` on
        What is known already; of equals, the first stays. What is not a number is passed over.

    The floating arrays are of one type.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.two_least import two_least
    >>> rows, listed = np.array([[1.0], [-1.0]]), np.array([0, 1] * 8)
    >>> least, second, owners = np.full(16, np.inf), np.full(16, np.inf), np.zeros(16, np.int32)
    >>> two_least(rows, listed, 0, np.arange(16.0).reshape(1, 1, 16), 0, np.zeros(16), least, second, owners)
    >>> least[:2], second[:2], owners[:2]
    (array([  0., -15.]), array([  1., -14.]), array([ 0, 15], dtype=int32))
    """
    here, centres = slice(start, start + LANES), slice(b * LANES, (b + 1) * LANES)
    sums = rows[listed[here]] @ blocks[b] + beside[centres]
    for c in range(LANES):
        nearer = sums[:, c] < least[here]
        above = np.where(nearer, least[here], sums[:, c])
        least[here] = np.where(nearer, sums[:, c], least[here])
        owners[here] = np.where(nearer, b * LANES + c, owners[here])
        second[here] = np.where(above < second[here], above, second[here])


@intrinsic
def _two_least(
    typing_context: Any, rows: Any, listed: Any, start: Any, blocks: Any, b: Any, beside: Any,
    least: Any, second: Any, owners: Any,
) -> Any:  # fmt: skip
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        registers = _Block(context, builder, rows.dtype)
        table, numbers, packed, added, lowest, next_lowest, of = (
            context.make_array(signature.args[place])(context, builder, arguments[place])
            for place in (0, 1, 3, 5, 6, 7, 8)
        )
        start, b = arguments[2], arguments[4]
        _, n_columns = cgutils.unpack_tuple(builder, table.shape)
        first = builder.mul(b, registers.integer(LANES))
        block = registers.place(packed.data, builder.mul(first, n_columns))
        lines = [
            registers.place(
                table.data, builder.mul(builder.load(registers.place(numbers.data, start, r)), n_columns)
            )
            for r in range(LANES)
        ]
        norms = registers.load(registers.place(added.data, first))
        sums = [
            builder.fadd(product, norms)
            for r in range(0, LANES, _TOGETHER)
            for product in registers.products(lines[r : r + _TOGETHER], block, n_columns)
        ]
        outcome = [registers.place(array.data, start) for array in (lowest, next_lowest, of)]
        registers.search(registers.turned(sums), first, *outcome)
        return context.get_dummy_value()

    return types.void(rows, listed, types.int64, blocks, types.int64, beside, least, second, owners), emit


class _Block(Registers):
    """What is emitted for sixteen rows and a block of as many centres, step by step."""

    def products(self, lines: list[Any], block: Any, n_columns: Any) -> list[Any]:
        """Multiply rows by a block of centres: one register for each row."""
        builder = self.builder
        held = self.hold(len(lines))
        with cgutils.for_range(builder, n_columns) as passing:
            centres = self.load(self.line(block, passing.index))
            for line, sum_ in zip(lines, held, strict=True):
                self.add_to(sum_, self.repeat(builder.load(self.place(line, passing.index))), centres)
        return [builder.load(sum_) for sum_ in held]

    def search(self, lows: list[Any], first: Any, least_at: Any, second_at: Any, owners_at: Any) -> None:
        """Update the two least by registers that have a lane for each row, one for each centre."""
        builder = self.builder
        least, second = self.load(least_at), self.load(second_at)
        owners = self.load(owners_at, self.integers)
        first = self.repeat(builder.trunc(first, ir.IntType(32)), self.integers)
        for c, low in enumerate(lows):
            nearer = builder.fcmp_ordered("<", low, least)
            above = builder.select(nearer, least, low)
            least = builder.select(nearer, low, least)
            number = builder.add(first, ir.Constant(self.integers, [c] * LANES))
            owners = builder.select(nearer, number, owners)
            second = builder.select(builder.fcmp_ordered("<", above, second), above, second)
        self.store(least, least_at)
        self.store(second, second_at)
        self.store(owners, owners_at)


@overload(two_least)
def _compile_two_least(
    rows: Any, listed: Any, start: Any, blocks: Any, b: Any, beside: Any, least: Any, second: Any, owners: Any
) -> Any:
    arrays = rows, blocks, beside, least, second
    flat = all(isinstance(kind, types.Array) and kind.layout == "C" for kind in (*arrays, listed, owners))
    if flat and isinstance(rows.dtype, types.Float) and len({kind.dtype for kind in arrays}) == 1:

        def noted(
            rows: Any, listed: Any, start: Any, blocks: Any, b: Any, beside: Any,
            least: Any, second: Any, owners: Any,
        ) -> Any:  # fmt: skip
            _two_least(rows, listed, start, blocks, b, beside, least, second, owners)

        return noted
    return None
