"""Compiled steps with the rows on the margin: how they enter and leave, and where they move together.

The state of a walk along the path of support vector machines is one `Walk` of arrays. Rows on the margin have a
free multiplier and are its *members*; of their matrix Q = (yᵢyⱼ(kᵢⱼ + c)) the inverse is kept, and changed when a
row enters or leaves. The constant c > 0 moves no solution, as multipliers balance, and makes the matrix positive
definite wherever the path is determined.

Sums and products of whole arrays are written out: each would take longer to compile than all of this together.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import given, loop

# Where a row is: beyond the margin with α = 0, on it with α between, inside with α at its bound; or held there.
OUTSIDE, MEMBER, INSIDE, HELD = 0, 1, 2, 3
# Places of `numbers`: time, intercept and its rate of change, imbalance of the rows inside, largest drift
# mended, and what rounding may add to the speed of a score.
TIME, SHIFT, RATE_OF_SHIFT, SURPLUS, DRIFT, NOISE = 0, 1, 2, 3, 4, 5
# Places of `counts`: members, events, events without time in between, events since scores were made anew, rows
# inside.
N_MEMBERS, N_EVENTS, STANDING, SINCE, N_INSIDE = 0, 1, 2, 3, 4
# The speed of a score is a sum that is off by this share of the sum of its parts' sizes.
ROUNDING = 1e-14
# A matrix is singular if what a row adds to it is less than this share of the row's own length.
LEAST_PIVOT = 1e-14
# Members so near to the margin are on it.
NO_DRIFT = 3e-12


class Walk(NamedTuple):
    """Where a walk along the path stands.

    Attributes
    ----------
    gram : (n, n) kernel values, symmetric
    side : (n,) labels, 1 or −1
    bound : (n,) the bound of α for each unit of time
    role, alpha, score : (n,) the place, the multiplier and f of each row
    pull : (n,) what the rows inside add to every score for each unit of time
    speed : (n,) what a unit of time adds to every score now
    members : numbers of the rows on the margin
    rates : what a unit of time adds to their multipliers
    inverse : that of their matrix
    numbers, counts : as their places say
    passed_by : (n,) rows that cannot move away from the margin while the members stay
    """

    gram: NDArray[np.float64]
    side: NDArray[np.float64]
    bound: NDArray[np.float64]
    role: NDArray[np.int64]
    alpha: NDArray[np.float64]
    score: NDArray[np.float64]
    pull: NDArray[np.float64]
    speed: NDArray[np.float64]
    members: NDArray[np.int64]
    rates: NDArray[np.float64]
    inverse: NDArray[np.float64]
    numbers: NDArray[np.float64]
    counts: NDArray[np.int64]
    passed_by: NDArray[np.bool_]


def begin_walk(gram: Any, side: Any, bound: Any, room: int) -> Walk:
    """Make the state of a walk at time 0, all rows outside, with room for so many members."""
    n = len(side)
    return Walk(
        gram,
        side,
        bound,
        role=np.zeros(n, np.int64),
        alpha=np.zeros(n),
        score=np.zeros(n),
        pull=np.zeros(n),
        speed=np.zeros(n),
        members=np.zeros(room, np.int64),
        rates=np.zeros(room),
        inverse=np.zeros((room, room)),
        numbers=np.zeros(6),
        counts=np.zeros(5, np.int64),
        passed_by=np.zeros(n, np.bool_),
    )


@loop
def enter(walk: Any, row: int, constant: float, work: Any) -> bool:
    """Make a row a member; False, and nothing is changed, if its matrix would be singular."""
    m, y = walk.counts[N_MEMBERS], walk.side
    own = walk.gram[row, row] + constant
    pivot = own
    for a in range(m):
        work[0, a] = y[row] * y[walk.members[a]] * (walk.gram[row, walk.members[a]] + constant)
    for a in range(m):
        work[1, a] = 0.0
    for b in range(m):  # sums over the outer index: the inner one can go four at a time
        weight = work[0, b]
        for a in range(m):
            work[1, a] += weight * walk.inverse[b, a]
    for a in range(m):
        pivot -= work[1, a] * work[0, a]
    if not pivot > LEAST_PIVOT * own:
        return False
    for a in range(m):
        z = work[1, a] / pivot
        for b in range(m):
            walk.inverse[a, b] += z * work[1, b]
        walk.inverse[a, m] = walk.inverse[m, a] = -z
    walk.inverse[m, m] = 1.0 / pivot
    walk.members[m] = row
    if walk.role[row] == INSIDE:
        walk.alpha[row] = walk.numbers[TIME] * walk.bound[row]
        change_pull(walk, row, -1.0)
    walk.role[row] = MEMBER
    walk.counts[N_MEMBERS] = m + 1
    forget(walk)
    return True


@loop
def leave(walk: Any, place: int, role: int) -> None:
    """Let the member at a place go, to the outside or the inside."""
    last = walk.counts[N_MEMBERS] - 1
    row = walk.members[place]
    H = walk.inverse
    for a in range(last + 1):  # the last one takes the place
        H[a, place], H[a, last] = H[a, last], H[a, place]
    for b in range(last + 1):
        H[place, b], H[last, b] = H[last, b], H[place, b]
    for a in range(last):
        z = H[a, last] / H[last, last]
        for b in range(last):
            H[a, b] -= z * H[last, b]
    walk.members[place] = walk.members[last]
    walk.counts[N_MEMBERS] = last
    walk.role[row] = role
    walk.alpha[row] = 0.0
    if role == INSIDE:
        walk.alpha[row] = walk.numbers[TIME] * walk.bound[row]
        change_pull(walk, row, 1.0)
    forget(walk)


@loop
def forget(walk: Any) -> None:
    """Look again at rows that were passed by."""
    for i in range(len(walk.passed_by)):
        walk.passed_by[i] = False


@loop
def shift_all(values: Any, by: float) -> None:
    """Add a number to all values."""
    for i in range(len(values)):
        values[i] += by


@loop
def change_pull(walk: Any, row: int, times: float) -> None:
    """Count a row in or out of those inside."""
    weight = times * walk.side[row] * walk.bound[row]
    values = walk.gram[row]
    for i in range(len(walk.pull)):
        walk.pull[i] += weight * values[i]
    walk.numbers[SURPLUS] += weight
    walk.counts[N_INSIDE] += 1 if times > 0.0 else -1


@loop
def aim(walk: Any, constant: float, work: Any) -> None:
    """Find how multipliers, intercept and scores change with time, as long as the members stay.

    Members must not move: what of their speed is left by a worn inverse is taken out, twice at most.
    """
    m, y = walk.counts[N_MEMBERS], walk.side
    for a in range(m):
        walk.rates[a] = 0.0
    walk.numbers[RATE_OF_SHIFT] = 0.0
    for i in range(len(walk.speed)):
        walk.speed[i] = walk.pull[i]
    missing = walk.numbers[SURPLUS]
    for _ in range(3):
        for a in range(m):
            work[2, a] = -y[walk.members[a]] * walk.speed[walk.members[a]]
        shift = balance(walk, missing, constant, work)
        size = 0.0
        for a in range(m):
            walk.rates[a] += work[2, a]
            size += abs(walk.rates[a]) * walk.gram[walk.members[a], walk.members[a]]
        for i in range(len(walk.role)):
            size += walk.bound[i] * walk.gram[i, i] * (walk.role[i] == INSIDE)
        walk.numbers[NOISE] = ROUNDING * size
        walk.numbers[RATE_OF_SHIFT] += shift
        shift_all(walk.speed, shift)
        add_members(walk, work[2], walk.speed)
        missing, left = walk.numbers[SURPLUS], 0.0
        for a in range(m):
            missing += y[walk.members[a]] * walk.rates[a]
            left = max(left, abs(walk.speed[walk.members[a]]))
        if left <= walk.numbers[NOISE]:
            break


@loop
def balance(walk: Any, missing: float, constant: float, work: Any) -> float:
    """Solve the members' equations, whose right-hand sides are in the third row of `work`, and are replaced.

    Returns the change of the intercept that goes with the changes of the multipliers, whose balance makes up
    for what is `missing`.
    """
    m, y = walk.counts[N_MEMBERS], walk.side
    against = along = 0.0
    for a in range(m):
        work[0, a] = work[1, a] = 0.0
    for b in range(m):
        first, second, line = work[2, b], y[walk.members[b]], walk.inverse[b]
        for a in range(m):
            work[0, a] += first * line[a]
            work[1, a] += second * line[a]
    for a in range(m):
        against += y[walk.members[a]] * work[0, a]
        along += y[walk.members[a]] * work[1, a]
    shift = (against + missing) / along
    for a in range(m):
        work[2, a] = work[0, a] - shift * work[1, a]
    return shift - constant * missing


@loop
def mend(walk: Any, target: float, constant: float, work: Any) -> float:
    """Move members back onto the margin, and return how far off they had been."""
    m, y = walk.counts[N_MEMBERS], walk.side
    worst, missing = 0.0, 0.0
    for i in range(len(walk.role)):
        if walk.role[i] == INSIDE:
            missing += y[i] * walk.bound[i] * walk.numbers[TIME]
        else:
            missing += y[i] * walk.alpha[i]
    for a in range(m):
        work[2, a] = target - y[walk.members[a]] * walk.score[walk.members[a]]
        worst = max(worst, abs(work[2, a]))
    if worst <= NO_DRIFT or m == 0:
        return worst
    shift = balance(walk, missing, constant, work)
    for a in range(m):
        walk.alpha[walk.members[a]] += work[2, a]
    walk.numbers[SHIFT] += shift
    shift_all(walk.score, shift)
    add_members(walk, work[2], walk.score)
    return worst


@loop
def add_members(walk: Any, amounts: Any, scores: Any) -> None:
    """Add to scores what amounts of the members' multipliers contribute."""
    m, n = walk.counts[N_MEMBERS], len(scores)
    a = 0
    while a + 4 <= m:
        i, j, k, l = walk.members[a], walk.members[a + 1], walk.members[a + 2], walk.members[a + 3]
        one, two = amounts[a] * walk.side[i], amounts[a + 1] * walk.side[j]
        three, four = amounts[a + 2] * walk.side[k], amounts[a + 3] * walk.side[l]
        first, second, third, fourth = walk.gram[i], walk.gram[j], walk.gram[k], walk.gram[l]
        for r in range(n):
            scores[r] += (one * first[r] + two * second[r]) + (three * third[r] + four * fourth[r])
        a += 4
    while a < m:
        row = walk.members[a]
        amount, values = amounts[a] * walk.side[row], walk.gram[row]
        for r in range(n):
            scores[r] += amount * values[r]
        a += 1


@loop
def settle(walk: Any, target: float, constant: float, work: Any) -> float:
    """Compute scores anew, move members back onto the margin, and return how far off they had been."""
    n, m, y = len(walk.score), walk.counts[N_MEMBERS], walk.side
    surplus = total = 0.0
    for i in range(n):
        walk.score[i], walk.pull[i] = walk.numbers[SHIFT], 0.0
        total += walk.bound[i]
    walk.counts[N_INSIDE] = 0
    for row in range(n):
        role = walk.role[row]
        if role in (INSIDE, HELD):
            values, unit = walk.gram[row], y[row] * walk.bound[row]
            amount = unit * walk.numbers[TIME] if role == INSIDE else y[row] * walk.alpha[row]
            growth = unit if role == INSIDE else 0.0
            for i in range(n):
                walk.score[i] += amount * values[i]
                walk.pull[i] += growth * values[i]
            surplus += growth
            walk.counts[N_INSIDE] += role == INSIDE
    walk.numbers[SURPLUS] = surplus if abs(surplus) > 1e-12 * total else 0.0
    for a in range(m):
        work[0, a] = walk.alpha[walk.members[a]]
    add_members(walk, work[0], walk.score)
    worst = mend(walk, target, constant, work)
    if worst > NO_DRIFT:
        mend(walk, target, constant, work)
    return worst


def small_walk() -> Walk:
    """Make the walk of two rows, all inside, for loops to be compiled with."""
    gram = given(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    walk = begin_walk(gram, given(np.array([1.0, -1.0])), given(np.ones(2)), room=4)
    walk.role[:] = INSIDE
    return walk


def warm() -> None:
    """Compile the loops of this module."""
    walk, work = small_walk(), np.zeros((3, 4))
    settle(walk, 1.0, 1.0, work)
    enter(walk, 0, 1.0, work)
    aim(walk, 1.0, work)
    leave(walk, 0, INSIDE)
