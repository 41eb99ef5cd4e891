"""What a perceptron's next pass begins with, in a checkpoint.

That are the weights (current, of the longest run, best, and for averages), the number of steps at every row, the
course, and the steps themselves if they are recorded. References and surpluses are not noted: they spare looks at
rows that are surely right, and change no mistake. A walk that goes on has none, looks at every row once, and has
them again. Neither are orders: those of the passes that are done are skipped.
"""

from math import inf
from typing import Any

from bisector.engine.checkpoint import Checkpoint

_WEIGHTS = ("w", "run", "pocket", "moments")
# Noting takes about as long as so many visits.
_VISITS_A_NOTE = 2**12


def passes_a_note(n_visits: int) -> int:
    """Return after how many passes of so many visits a note is worth its while."""
    return max(1, _VISITS_A_NOTE // n_visits)


class WalkNotes:
    """The notes of one walk.

    Parameters
    ----------
    kept : Checkpoint
    """

    def __init__(self, kept: Checkpoint) -> None:
        self._kept = kept
        self._steps = 0  # recorded steps that are noted

    def note(self, walk: Any) -> None:
        """Note where a walk stands between two passes, or at its end."""
        count = int(walk.course[0].recorded)
        if count > self._steps:
            # Only those that are new: all of them would take longer with every pass. Noted before the course,
            # which says how many count.
            new = slice(self._steps, count)
            self._kept.note(
                f"steps {self._steps}",
                passes=walk.record.passes[new],
                rows=walk.record.rows[new],
                steps=walk.record.steps[new],
            )
            self._steps = count
        vectors = {name: getattr(walk.weights, name) for name in _WEIGHTS}
        self._kept.note("walk", course=walk.course, mistakes=walk.about.mistakes, **vectors)

    def recall(self, walk: Any) -> None:
        """Put a walk that has not begun where it stood when it was interrupted, if it was."""
        known = self._kept.recall("walk")
        if known is None:
            return
        walk.course[0] = known["course"][0]
        walk.about.mistakes[:] = known["mistakes"]
        for name in _WEIGHTS:
            getattr(walk.weights, name)[:] = known[name]
        here = walk.course[0]
        # No reference is left; the next is made as soon as references are worth while.
        walk.weights.drifts[:] = inf
        here.oldest, here.looked = here.newest + 1, walk.rows.n_rows
        while self._steps < here.recorded:
            part = self._kept.recall(f"steps {self._steps}")
            assert part is not None
            end = self._steps + len(part["rows"])
            while len(walk.record.rows) < end:
                walk.make_room()
            for name, values in part.items():
                getattr(walk.record, name)[self._steps : end] = values
            self._steps = end
