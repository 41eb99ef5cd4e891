"""What can be wrong with a table or a file, told in one sentence; the command line shows just that sentence."""


class DataFault(ValueError):
    """Something is wrong with the data, and the message says what to do about it."""


class TableFault(DataFault):
    """A table cannot be read or used."""


class ModelFileFault(DataFault):
    """A model cannot be written to a file, or a file holds no model that may be read."""


def listed(names: list[str], most: int = 5) -> str:
    """Write names in quotes, a few of them when there are many.

    Examples
    --------
    >>> from bisector.reports.faults import listed
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ("'a', 'b' and 'c'", "'a', 'b' and 2 more")
    """
    shown = [repr(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
