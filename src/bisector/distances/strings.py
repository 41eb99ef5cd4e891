"""Distances between strings: how much must be edited to turn one into the other.

They are computed by RapidFuzz, which is imported when it is first needed; while it works, other threads work too.
A row is a string, or a list of tokens (words, say, or any hashable things), which are compared as characters are.
"""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Law, Pairs, Rows
from bisector.distances.string_rows import StringRows, string_rows
from bisector.engine.validation import check_flag, check_number
from bisector.engine.values import value

# A tile of strings up to so long has the usual shape; of longer strings it holds fewer, so that no thread waits
# long for another to finish its last.
_USUAL_LENGTH = 64
_FEWEST_ROWS = 16
_LARGEST_WEIGHT = 2**31 - 1


class StringDistance(Distance):
    """A distance between strings or lists of tokens that RapidFuzz computes.

    Attributes
    ----------
    module : str
        What it is called in RapidFuzz.
    """

    module: ClassVar[str]

    @property
    def function(self) -> str:
        """The name of RapidFuzz's function of two strings."""
        return "distance"

    @property
    def arguments(self) -> dict[str, Any]:
        """What the function takes besides."""
        return {}

    @property
    def counts(self) -> bool:
        """Whether distances are whole numbers."""
        return False

    def scorer(self) -> Any:
        """RapidFuzz's function of two strings."""
        from rapidfuzz import distance

        return getattr(getattr(distance, self.module), self.function)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> StringRows:
        return string_rows(X, like, name)

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        assert isinstance(outer, StringRows)
        assert isinstance(inner, StringRows)
        return StringPairs(self, outer.comparable_with(inner), inner, flipped=flipped and not self.symmetric)

    def __call__(self, x: Any, y: Any) -> float:
        right = self.prepare([y], name="y")
        left = self.prepare([x], like=right, name="x")
        return float(self.scorer()(left.strings[0], right.strings[0], **self.arguments))


class StringPairs(Pairs):
    """Pairs of strings; the distance is what decides."""

    def __init__(
        self, distance: StringDistance, outer: StringRows, inner: StringRows, *, flipped: bool
    ) -> None:
        self.shape = (len(outer), len(inner))
        self._outer, self._inner = outer.strings, inner.strings
        self._flipped = flipped
        self._scorer, self._arguments = distance.scorer(), distance.arguments
        # RapidFuzz tells counts and shares apart by the dtype they are asked in.
        self._dtype = np.int64 if distance.counts else np.float64

    @cached_property
    def tile_shape(self) -> tuple[int, int]:  # type: ignore[override]
        length = sum(map(len, self._inner)) // max(len(self._inner), 1)
        shrink = max(1, length // _USUAL_LENGTH)
        height, width = Pairs.tile_shape
        return max(_FEWEST_ROWS, height // shrink), max(_FEWEST_ROWS, width // shrink)

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        left, right = self._outer[outer.start : outer.stop], self._inner[inner.start : inner.stop]
        tile = self._compare(right, left).T if self._flipped else self._compare(left, right)
        out[row : row + len(left), column : column + len(right)] = tile

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self.fill(outer, inner, out, row, column)

    def _compare(self, queries: list[str], choices: list[str]) -> NDArray[Any]:
        from rapidfuzz.process import cdist

        # One worker: tiles are shared out among threads already, and it leaves the interpreter to others.
        return cdist(
            queries,
            choices,
            scorer=self._scorer,
            scorer_kwargs=self._arguments,
            dtype=self._dtype,
            workers=1,
        )


class _EditDistance(StringDistance):
    """A count, or its share of the largest count that strings of these lengths can have."""

    normalised: bool
    # Whether the share keeps the triangle inequality.
    share_law: ClassVar[Law] = "none"

    def __post_init__(self) -> None:
        self._set(normalised=check_flag("normalised", self.normalised))

    @property
    def law(self) -> Law:
        return self.share_law if self.normalised else "metric"

    @property
    def counts(self) -> bool:
        return not self.normalised

    @property
    def function(self) -> str:
        return "normalized_distance" if self.normalised else "distance"


@value
class Levenshtein(_EditDistance):
    """The fewest characters that must be inserted, deleted or substituted to turn one string into the other.

    A metric when insertions cost what deletions cost, and substitutions something. The share is none: "ab" and "ba"
    are at distance 1, but each only at 1/3 from "aba".

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the largest distance that strings of these lengths can have; two empty strings are at distance 0.
    weights : (int, int, int), default=(1, 1, 1)
        What it costs to insert, to delete and to substitute a character on the way from x to y. If inserting and
        deleting differ, the distance is not symmetric.

    Examples
    --------
    >>> from bisector.distances import Levenshtein
    >>> Levenshtein()("kitten", "sitting")
    3.0
    >>> Levenshtein(normalised=True)("kitten", "")
    1.0
    >>> Levenshtein()("to be or not to be".split(), "not to be".split())
    3.0
    """

    normalised: bool = False
    weights: tuple[int, int, int] = (1, 1, 1)

    names = ("levenshtein",)
    module = "Levenshtein"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(weights=_checked_costs(self.weights))

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        insertion, deletion, _ = self.weights
        return insertion == deletion

    @property
    def law(self) -> Law:
        if not self.symmetric:
            return "none"
        # Free substitutions leave only lengths to be compared.
        return super().law if self.weights[2] else "pseudo-metric"

    @property
    def arguments(self) -> dict[str, Any]:
        return {"weights": self.weights}


def _checked_costs(weights: Any) -> tuple[int, int, int]:
    wanted = "weights must be what inserting, deleting and substituting cost, three whole numbers"
    try:
        costs = tuple(weights)
    except TypeError:
        raise TypeError(f"{wanted}, not {weights!r}.") from None
    if len(costs) != 3 or not all(
        isinstance(cost, int | np.integer) and not isinstance(cost, bool) for cost in costs
    ):
        raise ValueError(f"{wanted}, not {weights!r}: multiply them all to make them whole.")
    if not all(0 <= cost <= _LARGEST_WEIGHT for cost in costs):
        raise ValueError(f"{wanted} from 0 to {_LARGEST_WEIGHT}, not {weights!r}.")
    insertion, deletion, substitution = map(int, costs)
    if insertion == deletion == 0:
        raise ValueError("weights make inserting and deleting free: no two strings would be apart.")
    return insertion, deletion, substitution


@value
class OSA(_EditDistance):
    """Levenshtein distance that also swaps neighbouring characters, but edits no part twice (optimal alignment).

    No metric: from "ba" by way of "ab" to "acb" takes two steps, but at once it takes three, since characters that
    were swapped may not be parted. `DamerauLevenshtein` lifts that limit, and is slower.

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the length of the longer string; two empty strings are at distance 0.

    Examples
    --------
    >>> from bisector.distances import OSA
    >>> OSA()("ba", "acb")
    3.0
    """

    normalised: bool = False

    names = ("osa",)
    module = "OSA"

    @property
    def law(self) -> Law:
        return "none"


@value
class DamerauLevenshtein(_EditDistance):
    """Levenshtein distance that also swaps neighbouring characters, as often as it helps.

    A metric; its share is none: "ab" and "bc" are at distance 1, but each only at 1/3 from "abc".

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the length of the longer string; two empty strings are at distance 0.

    Examples
    --------
    >>> from bisector.distances import DamerauLevenshtein
    >>> DamerauLevenshtein()("ba", "acb")
    2.0
    """

    normalised: bool = False

    names = ("damerau-levenshtein",)
    module = "DamerauLevenshtein"


@value
class Indel(_EditDistance):
    """The fewest characters that must be inserted or deleted to turn one string into the other.

    A metric; its share is none: "a" and "b" are at distance 1, but each only at 1/3 from "ab".

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the sum of the lengths; two empty strings are at distance 0.

    Examples
    --------
    >>> from bisector.distances import Indel
    >>> Indel()("kitten", "sitting")
    5.0
    """

    normalised: bool = False

    names = ("indel",)
    module = "Indel"


@value
class LCS(_EditDistance):
    """The length of the longer string less that of the longest common subsequence; a metric, and so is its share.

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the length of the longer string; two empty strings are at distance 0.

    Examples
    --------
    >>> from bisector.distances import LCS
    >>> LCS()("kitten", "sitting")  # the longest common subsequence is "ittn"
    3.0
    """

    normalised: bool = False

    names = ("lcs",)
    module = "LCSseq"
    share_law = "metric"


@value
class StringHamming(_EditDistance):
    """The number of places in which two strings differ; those that only the longer has differ too.

    A metric, and so is its share. `Hamming` does this for rows of numbers.

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the length of the longer string; two empty strings are at distance 0.

    Examples
    --------
    >>> from bisector.distances import StringHamming
    >>> StringHamming()("karolin", "kathrin")
    3.0
    """

    normalised: bool = False

    names = ("string-hamming",)
    module = "Hamming"
    share_law = "metric"


@value
class Prefix(_EditDistance):
    """The length of the longer string less that of the beginning both share; a metric, and so is its share.

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the length of the longer string; two empty strings are at distance 0.

    Examples
    --------
    >>> from bisector.distances import Prefix
    >>> Prefix()("10115", "10178")
    2.0
    """

    normalised: bool = False

    names = ("prefix",)
    module = "Prefix"
    share_law = "metric"


@value
class Postfix(_EditDistance):
    """The length of the longer string less that of the ending both share; a metric, and so is its share.

    Parameters
    ----------
    normalised : bool, default=False
        Divide by the length of the longer string; two empty strings are at distance 0.

    Examples
    --------
    >>> from bisector.distances import Postfix
    >>> Postfix()("station", "nation")
    2.0
    """

    normalised: bool = False

    names = ("postfix",)
    module = "Postfix"
    share_law = "metric"


@value
class Jaro(StringDistance):
    """1 − Jaro's similarity, made for names: what share of characters both have nearby, and in the same order.

    No metric: "aba" and "bab" are at distance 1, but at 1/12 and 7/36 from "abab".

    Examples
    --------
    >>> from bisector.distances import Jaro
    >>> round(Jaro()("MARTHA", "MARHTA"), 4)
    0.0556
    """

    names = ("jaro",)
    module = "Jaro"

    @property
    def law(self) -> Law:
        return "none"


@value
class JaroWinkler(StringDistance):
    """Jaro's distance, made smaller for strings that begin alike. No metric.

    Parameters
    ----------
    prefix_weight : float, default=0.1
        How much each of up to four common first characters takes off; from 0, which gives `Jaro`, to 0.25.

    Examples
    --------
    >>> from bisector.distances import JaroWinkler
    >>> round(JaroWinkler()("MARTHA", "MARHTA"), 4)
    0.0389
    """

    prefix_weight: float = 0.1

    names = ("jaro-winkler",)
    module = "JaroWinkler"

    def __post_init__(self) -> None:
        weight = check_number("prefix_weight", self.prefix_weight, at_least=0)
        if weight > 0.25:
            raise ValueError(
                f"prefix_weight must be at most 0.25, not {self.prefix_weight!r}: more than all would match."
            )
        self._set(prefix_weight=weight)

    @property
    def law(self) -> Law:
        return "none"

    @property
    def arguments(self) -> dict[str, Any]:
        return {"prefix_weight": self.prefix_weight}
