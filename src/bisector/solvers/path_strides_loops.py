"""Compiled strides along the path of support vector machines: many events, and the members' matrix inverted once.

A step of the walk costs a pass over the inverse of the members' matrix and another over the kernel values of all
rows with the members. A stride of a few dozen events does without either:

- The inverse stays as it was, H₀; what has happened since is a sum of outer products, H = H₀ + Σσzzᵀ, which are
  added to it in the end by one matrix product.
- A row that joins needs H₀k. For the rows that seem to meet the margin first, it is solved for ahead, by one matrix
  product too; few others join.
- H·y and H·(y pull), of which the multipliers' rates are made, follow each event in time linear in the members.
- A score is computed when it matters (`path_lookout_loops`).

A stride takes clear events only. Ties, steps of no length and matrices near to singular are left to the walk.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import loop

from .margin_members_loops import (
    INSIDE,
    MEMBER,
    N_EVENTS,
    N_INSIDE,
    N_MEMBERS,
    OUTSIDE,
    RATE_OF_SHIFT,
    SHIFT,
    SURPLUS,
    TIME,
    change_pull,
    small_walk,
)
from .path_lookout_loops import (
    ASIDE,
    FIRST_SQUARE,
    LONGEST,
    MEAN,
    MEAN_PACE,
    N_CHANGES,
    N_FIRST,
    N_SLOTS,
    NOT_SOLVED,
    SQUARE,
    STRAYED,
    TURN,
    TURNED,
    dot,
    look,
    next_event,
)
from .path_proof_loops import is_astray, write_down, write_up

# A row enters clearly if it adds this share of its own length to the matrix.
CLEAR_PIVOT = 1e-8
# To see whether it goes astray, a stride looks at one member at each event, so many slots further on.
SAMPLE, LOST_MARGIN = 37, -1


@loop
def turn(walk: Any, stride: Any, constant: float) -> None:
    """Find how multipliers and intercept change with time, and how fast scores can."""
    y, numbers = walk.side, walk.numbers
    n_slots = stride.counts[N_SLOTS]
    against, along = numbers[SURPLUS], 0.0
    for s in range(n_slots):
        row = stride.row[s]
        if walk.role[row] == MEMBER:
            against -= y[row] * stride.pulled[s]
            along += y[row] * stride.ones[s]
    shift = against / along
    numbers[RATE_OF_SHIFT] = shift - constant * numbers[SURPLUS]
    # ‖w′‖² is the sum of all growth times speed, and members have none.
    square, size = numbers[SURPLUS] * numbers[RATE_OF_SHIFT], 0.0
    for s in range(n_slots):
        row = stride.row[s]
        if walk.role[row] == MEMBER:
            stride.rates[s] = -stride.pulled[s] - shift * stride.ones[s]
            stride.growth[row] = y[row] * stride.rates[s]
            square += stride.growth[row] * walk.pull[row]
    for i in range(len(walk.role)):
        if walk.role[i] == INSIDE:
            size += stride.growth[i] * walk.pull[i]
    square += size
    rounding, n = 1e-13 * abs(size), len(walk.role)
    state = stride.numbers
    state[TURN] += np.sqrt(abs(square - state[SQUARE]) + rounding)
    state[SQUARE] = square
    state[MEAN_PACE] = numbers[RATE_OF_SHIFT] + dot(stride.growth, stride.mean_value, n)
    # ⟨w′, w₀′⟩ is the sum of growth times speed at the start, since growth sums to zero.
    along_first = dot(stride.growth, stride.first_speed, n)
    first_square = state[FIRST_SQUARE]
    state[ASIDE] = np.sqrt(max(square + first_square - 2.0 * along_first, 0.0) + rounding)


@loop
def go_on(walk: Any, stride: Any, elapsed: float) -> None:
    """Let multipliers and intercept change as they do."""
    walk.numbers[TIME] += elapsed
    walk.numbers[SHIFT] += elapsed * walk.numbers[RATE_OF_SHIFT]
    stride.numbers[MEAN] += elapsed * stride.numbers[MEAN_PACE]
    stride.numbers[TURNED] += elapsed * stride.numbers[TURN]
    stride.numbers[STRAYED] += elapsed * stride.numbers[ASIDE]
    for i in range(len(stride.amount)):
        stride.amount[i] += elapsed * stride.growth[i]
    for s in range(stride.counts[N_SLOTS]):
        if walk.role[stride.row[s]] == MEMBER:
            walk.alpha[stride.row[s]] += elapsed * stride.rates[s]


@loop
def change(stride: Any, z: Any, weight: float, ones: float, pulled: float) -> None:
    """Change the inverse by σzzᵀ, where z has been written already, and what is made of it."""
    k = stride.counts[N_CHANGES]
    stride.weights[k] = weight
    stride.counts[N_CHANGES] = k + 1
    for s in range(stride.counts[N_SLOTS]):
        stride.ones[s] += weight * ones * z[s]
        stride.pulled[s] += weight * pulled * z[s]


@loop
def add_changes(stride: Any, values: Any, z: Any) -> None:
    """Add to z what all changes of the inverse make of values."""
    n_slots = stride.counts[N_SLOTS]
    for k in range(stride.counts[N_CHANGES]):
        line = stride.changes[k]
        amount = stride.weights[k] * dot(line, values, n_slots)
        for s in range(n_slots):
            z[s] += amount * line[s]


@loop
def solve_first(walk: Any, stride: Any, row: int, values: Any, z: Any) -> None:
    """Write H₀k of a row, whose k are the values, into z."""
    n_slots, n_first = stride.counts[N_SLOTS], stride.counts[N_FIRST]
    for s in range(n_slots):
        z[s] = 0.0
    if 0 <= stride.slot[row] < n_first:
        z[stride.slot[row]] = 1.0  # k is a column of the matrix that H₀ inverts
        return
    if stride.solved[row] != NOT_SOLVED:
        solution = stride.solutions[stride.solved[row]]
        for s in range(n_first):
            z[s] = solution[s]
        return
    b = 0
    while b + 4 <= n_first:
        one, two, three, four = values[b], values[b + 1], values[b + 2], values[b + 3]
        first, second = walk.inverse[b], walk.inverse[b + 1]
        third, fourth = walk.inverse[b + 2], walk.inverse[b + 3]
        for s in range(n_first):
            z[s] += (one * first[s] + two * second[s]) + (three * third[s] + four * fourth[s])
        b += 4
    while b < n_first:
        amount, line = values[b], walk.inverse[b]
        for s in range(n_first):
            z[s] += amount * line[s]
        b += 1


@loop
def join(walk: Any, stride: Any, row: int, constant: float, values: Any) -> bool:
    """Make a row a member; False, and nothing is changed, if it is not clear that it can be one.

    Slots whose member has left take part in k: their lines of H are zero.
    """
    y, n_slots = walk.side, stride.counts[N_SLOTS]
    z = stride.changes[stride.counts[N_CHANGES]]
    ones = pulled = 0.0
    own = pivot = walk.gram[row, row] + constant
    for s in range(n_slots):
        other = stride.row[s]
        values[s] = y[row] * y[other] * (walk.gram[row, other] + constant)
    solve_first(walk, stride, row, values, z)
    add_changes(stride, values, z)
    for s in range(n_slots):
        other = stride.row[s]
        z[s] = z[s] if walk.role[other] == MEMBER else 0.0
        pivot -= z[s] * values[s]
        ones += z[s] * y[other]
        pulled += z[s] * y[other] * walk.pull[other]
    if not pivot > CLEAR_PIVOT * own:
        return False
    slot = stride.slot[row]
    if slot < 0:
        slot = n_slots
        stride.slot[row], stride.row[slot] = slot, row
        stride.ones[slot] = stride.pulled[slot] = 0.0
        stride.counts[N_SLOTS] = slot + 1
        write_up(walk, stride, slot)
    z[slot] = -1.0
    change(stride, z, 1.0 / pivot, ones - y[row], pulled - y[row] * walk.pull[row])
    if walk.role[row] == INSIDE:
        walk.alpha[row] = walk.numbers[TIME] * walk.bound[row]
        change_pull(walk, row, -1.0)
        count_pull(walk, stride, slot, -1.0, constant)
    walk.role[row], stride.sign[row] = MEMBER, 0.0
    walk.counts[N_MEMBERS] += 1
    return True


@loop
def part(walk: Any, stride: Any, slot: int, role: int, target: float, constant: float) -> bool:
    """Let the member in a slot go, to the outside or the inside; False if it is not clear that it can."""
    row, n_slots, n_first = stride.row[slot], stride.counts[N_SLOTS], stride.counts[N_FIRST]
    z = stride.changes[stride.counts[N_CHANGES]]
    for s in range(n_slots):
        z[s] = 0.0
    if slot < n_first:
        for s in range(n_first):
            z[s] = walk.inverse[slot, s]
    for k in range(stride.counts[N_CHANGES]):
        line = stride.changes[k]
        amount = stride.weights[k] * line[slot]
        for s in range(n_slots):
            z[s] += amount * line[s]
    if not z[slot] > 0.0:
        return False
    for s in range(n_slots):
        z[s] = z[s] if walk.role[stride.row[s]] == MEMBER else 0.0
    look(walk, stride, row, target)  # while amounts and growth belong together
    stride.growth[row] = 0.0
    if role == INSIDE:
        change_pull(walk, row, 1.0)
        count_pull(walk, stride, slot, 1.0, constant)
        stride.growth[row] = walk.side[row] * walk.bound[row]
    change(stride, z, -1.0 / z[slot], stride.ones[slot], stride.pulled[slot])
    stride.ones[slot] = stride.pulled[slot] = 0.0
    walk.role[row], stride.sign[row] = role, walk.side[row] if role == OUTSIDE else -walk.side[row]
    walk.alpha[row] = walk.numbers[TIME] * walk.bound[row] if role == INSIDE else 0.0
    stride.amount[row] = walk.side[row] * walk.alpha[row]
    walk.counts[N_MEMBERS] -= 1
    return True


@loop
def count_pull(walk: Any, stride: Any, slot: int, times: float, constant: float) -> None:
    """Follow in H·(y pull) that the row of a slot of the inverse is counted in or out of those inside."""
    row = stride.row[slot]
    weight = times * walk.side[row] * walk.bound[row]
    stride.pulled[slot] += times * walk.bound[row]
    for s in range(stride.counts[N_SLOTS]):
        stride.pulled[s] -= weight * constant * stride.ones[s]


@loop
def take(
    walk: Any,
    stride: Any,
    target: float,
    end: float,
    constant: float,
    values: Any,
    times: Any,
    rows: Any,
    roles: Any,
) -> int:
    """Take a stride until the next event is not clear, or it has been long enough.

    Returns how many events it had; LOST_MARGIN if its members are off it.
    """
    event = np.zeros(3, np.int64)
    for k in range(LONGEST):
        if walk.counts[N_EVENTS] + 2 > len(times) or walk.counts[N_INSIDE] == 0 or walk.counts[N_MEMBERS] < 2:
            return k
        turn(walk, stride, constant)
        if is_astray(walk, stride, stride.row[(SAMPLE * k) % stride.counts[N_SLOTS]], target):
            return LOST_MARGIN
        elapsed = next_event(walk, stride, target, event)
        if elapsed < 0.0 or not walk.numbers[TIME] + elapsed < end:
            return k
        go_on(walk, stride, elapsed)
        row, slot = event[0], event[1]
        if slot >= 0:
            changed = part(walk, stride, slot, event[2], target, constant)
        else:
            changed = join(walk, stride, row, constant, values)
        if not changed:
            return k
        write_down(walk, stride, row, k, times, rows, roles)
    return LONGEST


def warm() -> None:
    """Compile the loops of this module, and those it calls."""
    from .path_strides import Strides

    walk = small_walk()
    walk.role[:] = MEMBER
    walk.members[:2], walk.counts[N_MEMBERS] = (0, 1), 2
    walk.inverse[:2, :2] = np.eye(2)
    log = np.zeros(8), np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8)
    Strides(walk.gram).take(walk, 1.0, np.inf, 1.0, log)
