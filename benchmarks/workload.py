"""What is raced: a workload names its data, its contestants, the goals and how closely answers must agree.

Nothing here imports NumPy: a contestant's process measures the import of its package, NumPy included.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CLOSE_RACE = 1.5


class Goal(Protocol):
    """What ours should reach against one peer.

    ``margins`` gives one number per pair of times, which is at least zero where that pair alone meets the
    goal; a ``close`` goal is one that noise could decide, so that it asks for more pairs.
    """

    @property
    def close(self) -> bool: ...

    def margins(self, ours: Sequence[float], peer: Sequence[float]) -> list[float]: ...


@dataclass(frozen=True)
class AtLeast:
    """Ours is at least `ratio` times as fast as the peer.

    Examples
    --------
    >>> AtLeast(20).margins(ours=[0.1], peer=[2.5])
    [5.0]
    """

    ratio: float

    @property
    def close(self) -> bool:
        return self.ratio < CLOSE_RACE

    def margins(self, ours: Sequence[float], peer: Sequence[float]) -> list[float]:
        return [theirs / mine - self.ratio for mine, theirs in zip(ours, peer, strict=True)]

    def __str__(self) -> str:
        return f"≥ {self.ratio:.3g}×"


@dataclass(frozen=True)
class Within:
    """Ours takes at most `seconds` longer than the peer.

    Examples
    --------
    >>> Within(0.25).margins(ours=[0.5], peer=[0.5])
    [0.25]
    """

    seconds: float

    @property
    def close(self) -> bool:
        return True

    def margins(self, ours: Sequence[float], peer: Sequence[float]) -> list[float]:
        return [theirs + self.seconds - mine for mine, theirs in zip(ours, peer, strict=True)]

    def __str__(self) -> str:
        return f"≤ peer + {self.seconds:g} s"


@dataclass(frozen=True)
class Contestant:
    """One way to do the work.

    Parameters
    ----------
    label : str
        Name in the table.
    module : str
        Imported first, and timed; a peer whose top-level package is not installed is skipped.
    prepare : callable
        ``prepare(data)`` returns the call to time, which takes no arguments.
    answer : callable
        ``answer(result)`` turns what the call returned into a small dict of arrays to compare; an empty dict
        says that there is nothing to compare.
    environment : mapping
        Environment variables that the contestant's process needs.
    """

    label: str
    module: str
    prepare: Callable[[Any], Callable[[], Any]]
    answer: Callable[[Any], "Mapping[str, ArrayLike]"]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]


@dataclass(frozen=True)
class Workload:
    """A piece of work on seeded data, done by ours and by its peers.

    Parameters
    ----------
    name, about : str
        Name within its family, and one sentence on what it is.
    make : callable
        ``make(rng, **sizes)`` returns the data; each process makes it for itself, from the same seed.
    sizes : mapping
        Arguments of `make`.
    ours : Contestant
    peers : sequence of Contestant
    goals : mapping of str to Goal
        By the peer's label.
    tolerance : float
        Largest difference between two answers, relative to the largest absolute value in its array.
    quick : mapping
        What ``--quick`` changes in `sizes`.
    seconds : float
        After this time no further pair is started, unless the least number of pairs has not been reached.
    patience : float
        After this time without a reply a contestant counts as failed.
    memory : bool
        Whether the peak memory of one call is measured; it sees the contestant's own process only.
    """

    name: str
    about: str
    make: Callable[..., Any]
    sizes: Mapping[str, Any]
    ours: Contestant
    peers: Sequence[Contestant]
    goals: Mapping[str, Goal] = field(default_factory=dict)
    tolerance: float = 1e-8
    quick: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 60.0
    patience: float = 900.0
    memory: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        labels = [contestant.label for contestant in self.contestants]
        if len(set(labels)) < len(labels):
            raise ValueError(f"{self.name}: two contestants share a label: {labels}")
        if strangers := set(self.goals) - set(labels[1:]):
            raise ValueError(
                f"{self.name}: goals against {sorted(strangers)}, who are no peers of this workload"
            )

    @property
    def contestants(self) -> tuple[Contestant, ...]:
        return (self.ours, *self.peers)

    def contestant(self, label: str) -> Contestant:
        return next(contestant for contestant in self.contestants if contestant.label == label)

    def sizes_for(self, quick: bool) -> dict[str, Any]:
        return {**self.sizes, **(self.quick if quick else {})}

    def data(self, quick: bool) -> Any:
        """Make the data: equal in every process."""
        import numpy as np

        return self.make(np.random.default_rng(self.seed), **self.sizes_for(quick))
