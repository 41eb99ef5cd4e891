"""Stretches of a file: where in it something begins and ends."""

Stretch = tuple[int, int]

# Stretches with less than this between them are read as one: asking once more takes longer.
_GAP = 2**16


def joined(stretches: list[Stretch]) -> list[Stretch]:
    """Return stretches in order, those that are near each other as one.

    Examples
    --------
    >>> from bisector.engine.stretches import joined
    >>> joined([(1_000_000, 1_000_100), (10, 5000), (5020, 6000)])
    [(10, 6000), (1000000, 1000100)]
    """
    found: list[Stretch] = []
    for first, last in sorted(stretches):
        if found and first - found[-1][1] < _GAP:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found


def cut_short(last: int) -> OSError:
    """Say that a file ends before its byte `last`."""
    return OSError(
        f"A file has no byte {last}: is it shorter than when it was opened, because it was written anew?"
    )
