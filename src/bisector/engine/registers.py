"""Code for many numbers at a time, emitted step by step: what intrinsics of groups, blocks and squares share."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

# Numbers that are worked on at once: so many float32 fill one register of the widest kind in use.
LANES = 16


class Registers:
    """Registers of floating numbers of one type, and of as many 32-bit integers.

    Parameters
    ----------
    context, builder
        As Numba hands them to an intrinsic.
    dtype : numba type
        Of the numbers.
    lanes : int
        How many numbers a register has.
    """

    def __init__(self, context: Any, builder: Any, dtype: Any, lanes: int = LANES) -> None:
        self.builder, self.align, self.lanes = builder, dtype.bitwidth // 8, lanes
        self.numbers = ir.VectorType(context.get_value_type(dtype), lanes)
        self.integers = ir.VectorType(ir.IntType(32), lanes)
        self.zero = ir.Constant(self.numbers, [0.0] * lanes)
        self._multiply_add = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(self.numbers, [self.numbers] * 3),
            f"llvm.fma.v{lanes}f{dtype.bitwidth}",
        )

    def integer(self, value: int) -> Any:
        """Return a constant."""
        return ir.Constant(ir.IntType(64), value)

    def place(self, start: Any, *steps: Any) -> Any:
        """Return the address so many numbers after another."""
        for step in steps:
            start = self.builder.gep(start, [self.integer(step) if isinstance(step, int) else step])
        return start

    def line(self, start: Any, number: Any) -> Any:
        """Return the address of a line of a table whose lines fill a register."""
        return self.place(start, self.builder.mul(number, self.integer(self.lanes)))

    def load(self, address: Any, kind: Any = None) -> Any:
        """Fill a register from memory that need not be aligned to it."""
        kind = self.numbers if kind is None else kind
        loaded = self.builder.load(self.builder.bitcast(address, kind.as_pointer()))
        loaded.align = 4 if kind is self.integers else self.align
        return loaded

    def store(self, value: Any, address: Any) -> None:
        """Write a register to memory that need not be aligned to it."""
        stored = self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()))
        stored.align = 4 if value.type is self.integers else self.align

    def repeat(self, value: Any, kind: Any = None) -> Any:
        """Fill a register with one number."""
        blank = ir.Constant(self.numbers if kind is None else kind, ir.Undefined)
        alone = self.builder.insert_element(blank, value, ir.Constant(ir.IntType(32), 0))
        return self.shuffle(alone, blank, [0] * self.lanes)

    def shuffle(self, left: Any, right: Any, lanes: list[int]) -> Any:
        """Take lanes of two registers, those of the second by numbers from `lanes` on."""
        return self.builder.shuffle_vector(left, right, ir.Constant(self.integers, lanes))

    def turned(self, table: list[Any]) -> list[Any]:
        """Make columns of lines: squares of 2, 4, 8, … lanes have two of their corners exchanged."""
        table, lanes, step = list(table), self.lanes, 1
        while step < lanes:
            stays = [lane & step == 0 for lane in range(lanes)]
            upper = [lane if stay else lane - step + lanes for lane, stay in enumerate(stays)]
            lower = [lane + step if stay else lane + lanes for lane, stay in enumerate(stays)]
            for i in range(lanes):
                if i & step == 0:
                    pair = table[i], table[i + step]
                    table[i], table[i + step] = self.shuffle(*pair, upper), self.shuffle(*pair, lower)
            step *= 2
        return table

    def multiply_add(self, left: Any, right: Any, added: Any) -> Any:
        """Return left · right + added, rounded once."""
        return self.builder.call(self._multiply_add, [left, right, added])

    def hold(self, count: int) -> list[Any]:
        """Return places for so many running sums, all zero, which become registers."""
        held = [cgutils.alloca_once(self.builder, self.numbers) for _ in range(count)]
        for sum_ in held:
            self.builder.store(self.zero, sum_)
        return held

    def add_to(self, held: Any, left: Any, right: Any) -> None:
        """Add a product to a running sum."""
        self.builder.store(self.multiply_add(left, right, self.builder.load(held)), held)
