"""Checkpoints: what a long fit has reached, kept in a file, so that one that was killed goes on where it was.

A fit is a chain of loops, each of which gives the same numbers whenever it begins with the same ones. So it is
enough to *note*, under a name, what the next turn of a loop begins with, and to *recall* it when the same fit is
called again: what was finished is passed over, and the result has the same bits as without the interruption.

The file holds plain arrays (npz, nothing that could run). It is written under a temporary name and renamed, so that
there is always a whole one; at most every two seconds, and less often where writing takes more than a moment. It is
removed when the fit ends. It says of which parameters and data it is, and is refused for others.
"""

import contextlib
import hashlib
import json
import os
import threading
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import spread_rows
from .sources import MemorySource, Source, source

Arrays = dict[str, NDArray[Any]]
Random = np.random.RandomState | np.random.Generator

# Writing takes milliseconds; what is lost between two of them is cheap to do again.
SECONDS_BETWEEN_SAVES = 2.0
# What takes longer than this to write, because it is large, is written less often in proportion.
_QUICK = 0.1
# Parameters that leave the result as it is.
_WITHOUT_EFFECT = frozenset({"n_jobs", "verbose", "checkpoint"})
# Rows that tell one table from another.
_ROWS_TO_COMPARE = 64
_FINGERPRINT = "fingerprint"
_FORMAT = 1


class Checkpoint:
    """Where a fit notes what it has reached. This one keeps nothing: it stands in where no file is wanted."""

    def note(self, name: str, **values: Any) -> None:
        """Note arrays and numbers under a name, in place of what was noted there before."""

    def recall(self, name: str) -> Arrays | None:
        """Return what was noted under a name when the fit was interrupted; None if nothing was."""
        return None

    def forget(self, name: str) -> None:
        """Drop what was noted under a name, or by the part of that name, and is not needed any more."""

    def part(self, name: str) -> "Checkpoint":
        """Return the checkpoint of a part of the fit, whose names are its own."""
        return self

    def drawn(self, name: str, random: Random, make: Callable[[], Arrays]) -> Arrays:
        """Return arrays that are made with random numbers, and leave the generator as making them does.

        They are made once: a fit that goes on recalls them and the state of the generator.
        """
        return make()


NOWHERE = Checkpoint()


class _Kept(Checkpoint):
    """Base of checkpoints that do keep what is noted."""

    def drawn(self, name: str, random: Random, make: Callable[[], Arrays]) -> Arrays:
        known = self.recall(name)
        if known is not None:
            state = json.loads(str(known.pop("random")))
            if isinstance(random, np.random.Generator):
                random.bit_generator.state = state
            else:
                random.set_state(state)
            return known
        made = make()
        if isinstance(random, np.random.Generator):
            state = random.bit_generator.state
        else:
            state = random.get_state(legacy=False)
        self.note(name, **made, random=json.dumps(state, default=lambda entry: entry.tolist()))
        return made


@contextmanager
def checkpoint_of(
    path: Any,
    estimator: Any,
    rows: Source,
    measured: NDArray[np.float64] | None = None,
    folds: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]] | None = None,
    start: NDArray[np.float64] | None = None,
) -> Iterator[Checkpoint]:
    """Open the checkpoint of a fit, for the time the fit takes.

    Parameters
    ----------
    path : str, path or None
        None keeps nothing.
    estimator : estimator
        Whose parameters the file is for.
    rows : Source
        With targets and weights, if there are any.
    measured : ndarray, optional
        What a pass over all rows told, if one was made: tables that differ anywhere are then told apart.
    folds : sequence of pairs of ndarrays, optional
        How the rows are divided, if they are: what a splitter does cannot be told from its name.
    start : ndarray, optional
        The weights to begin with, if the result depends on them: they may come from a fit before.

    Raises
    ------
    ValueError
        If the file is of another fit, or is none of ours.
    OSError
        If it cannot be written.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bisector import KMeans
    >>> from bisector.engine.checkpoint import checkpoint_of
    >>> from bisector.engine.sources import source
    >>> rows = source(np.ones((4, 2)))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "halving"
    ...     try:
    ...         with checkpoint_of(path, KMeans(), rows) as kept:
    ...             kept.note("halving", x=0.5)
    ...             raise KeyboardInterrupt
    ...     except KeyboardInterrupt:
    ...         pass
    ...     with checkpoint_of(path, KMeans(), rows) as kept:
    ...         print(kept.recall("halving"))
    ...     path.exists()
    {'x': array(0.5)}
    False
    """
    if path is None:
        yield NOWHERE
        return
    data = _of_rows(rows, measured)
    if folds is not None:
        data["folds"] = _digest(*(weights for fold in folds for weights in fold))
    if start is not None:
        data["weights to begin with"] = _digest(start)
    with _opened(path, estimator, data) as kept:
        yield kept


@contextmanager
def checkpoint_of_pairs(
    path: Any,
    estimator: Any,
    some: Callable[[], NDArray[Any]],
    n_rows: int,
    *,
    what: str = "distances",
    weights: NDArray[np.float64] | None = None,
    targets: NDArray[Any] | None = None,
    rows: Any = None,
    start: Sequence[NDArray[np.float64]] = (),
) -> Iterator[Checkpoint]:
    """Open the checkpoint of a fit that only compares rows, which may be anything.

    Parameters
    ----------
    path, estimator
        As of `checkpoint_of`.
    some : callable
        Returns distances or kernel values between some of the rows, or whatever else tells them from others.
    n_rows : int
    what : str
        What `some` returns, in the sentence that refuses others.
    weights, targets : ndarray, optional
        Of all rows.
    rows : array or sparse matrix, optional
        The rows, if they are numbers and are to be compared too.
    start : sequence of ndarrays, optional
        Multipliers of a former fit, with which this one begins.
    """
    if path is None:
        yield NOWHERE
        return
    data = {"number of rows": str(n_rows)} if rows is None else _of_rows(source(rows), None)
    data |= {"targets": _beside(targets), "weights": _beside(weights), what: _digest(some())}
    if len(start):
        data["first multipliers"] = _digest(*start)
    with _opened(path, estimator, data) as kept:
        yield kept


@contextmanager
def _opened(path: Any, estimator: Any, data: Mapping[str, str]) -> Iterator[Checkpoint]:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file, or None, not {path!r}.")
    kept = _File(Path(path), _fingerprint(estimator, data))
    try:
        yield kept
    except BaseException:
        kept.leave()
        raise
    kept.remove()


class _File(_Kept):
    """A checkpoint in a file: what has been noted so far, and when that was last written down."""

    def __init__(self, path: Path, fingerprint: dict[str, str]) -> None:
        self.path = path
        self._notes: dict[str, Arrays] = {}
        self._fingerprint = fingerprint
        self._doubtful = False
        self._took = 0.0
        # Parts of a fit that run side by side note what they reach from threads of their own.
        self._lock = threading.RLock()
        if path.exists():
            stored = _read(path)
            _compare(path, json.loads(str(stored.pop(_FINGERPRINT))), fingerprint)
            for key, value in stored.items():
                name, _, entry = key.rpartition(":")
                self._notes.setdefault(name, {})[entry] = value
        else:
            # Better to learn now than after an hour that nothing can be written there.
            try:
                self._write()
            except OSError as error:
                raise type(error)(
                    f"checkpoint={os.fspath(path)!r} cannot be written ({error.strerror or error}): name a file in "
                    "a folder that exists and may be written to."
                ) from None
        self._saved = time.monotonic()

    def note(self, name: str, **values: Any) -> None:
        made = {key: np.array(value) for key, value in values.items()}
        with self._lock:
            self._notes.setdefault(name, {}).update(made)
            if time.monotonic() - self._saved >= SECONDS_BETWEEN_SAVES * max(1.0, self._took / _QUICK):
                self.save()

    def forget(self, name: str) -> None:
        with self._lock:
            self._notes.pop(name, None)
            for inner in [other for other in self._notes if other.startswith(f"{name}/")]:
                del self._notes[inner]

    def recall(self, name: str) -> Arrays | None:
        with self._lock:
            found = dict(self._notes.get(name, {}))
        # Copies, since a loop may write into what it begins with.
        return {key: value.copy() for key, value in found.items()} or None

    def part(self, name: str) -> Checkpoint:
        return _Part(self, name)

    def save(self) -> None:
        """Write everything down. What cannot be written does not stop the fit."""
        with self._lock:
            began = time.monotonic()
            try:
                self._write()
            except OSError as error:
                if not self._doubtful:
                    warnings.warn(
                        f"checkpoint={os.fspath(self.path)!r} could not be written ({error.strerror or error}): "
                        "the fit goes on, but would begin anew if it were interrupted.",
                        RuntimeWarning,
                        stacklevel=2,
                    )
                self._doubtful = True
            self._saved = time.monotonic()
            self._took = self._saved - began

    def _write(self) -> None:
        fingerprint = np.array(json.dumps(self._fingerprint))
        notes = {f"{name}:{key}": value for name, one in self._notes.items() for key, value in one.items()}
        with open(self._unfinished, "wb") as file:
            np.savez(file, allow_pickle=False, **{_FINGERPRINT: fingerprint, **notes})
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._unfinished, self.path)

    def leave(self) -> None:
        """Keep what an interrupted fit has reached; a fit that has reached nothing leaves no file."""
        if self._notes:
            self.save()
        else:
            self.remove()

    def remove(self) -> None:
        for path in (self.path, self._unfinished):
            with contextlib.suppress(OSError):
                path.unlink()

    @property
    def _unfinished(self) -> Path:
        # Always the same name, so that a process killed while it writes leaves nothing that stays.
        return self.path.with_name(f".{self.path.name}.part")


class _Part(_Kept):
    """The notes of a part of a fit, in the file of the whole."""

    def __init__(self, whole: Checkpoint, name: str) -> None:
        self._whole, self._name = whole, name

    def note(self, name: str, **values: Any) -> None:
        self._whole.note(f"{self._name}/{name}", **values)

    def forget(self, name: str) -> None:
        self._whole.forget(f"{self._name}/{name}")

    def recall(self, name: str) -> Arrays | None:
        return self._whole.recall(f"{self._name}/{name}")

    def part(self, name: str) -> Checkpoint:
        return _Part(self._whole, f"{self._name}/{name}")


def _read(path: Path) -> Arrays:
    remedy = "remove it to begin anew, or name another file"
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError
        with np.load(path, allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
        if _FINGERPRINT not in found:
            raise ValueError
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
        raise ValueError(
            f"checkpoint={os.fspath(path)!r} is no checkpoint, or a damaged one: {remedy}."
        ) from None
    except OSError as error:
        raise type(error)(
            f"checkpoint={os.fspath(path)!r} cannot be read ({error.strerror or error}): {remedy}."
        ) from None
    return found


# Whose checkpoint it is


def _fingerprint(estimator: Any, data: Mapping[str, str]) -> dict[str, str]:
    from bisector import __version__

    parameters = {
        f"parameter {name}": _told(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in _WITHOUT_EFFECT
    }
    return {
        "format": str(_FORMAT),
        "version of bisector": __version__,
        "estimator": type(estimator).__name__,
        **parameters,
        **data,
    }


def _of_rows(rows: Source, measured: NDArray[np.float64] | None) -> dict[str, str]:
    return {
        "number of rows": str(rows.n_rows),
        "number of features": str(rows.n_features),
        "type of the numbers": str(rows.dtype),
        "blocks": _digest(rows.boundaries),
        "values": _digest(*_some_rows(rows)),
        "targets": _beside(rows.y),
        "weights": _beside(rows.sample_weight),
        "values as a whole": "none" if measured is None else _digest(measured),
    }


def _compare(path: Path, stored: Mapping[str, str], here: Mapping[str, str]) -> None:
    for name in {**here, **stored}:
        then, now = stored.get(name, "none"), here.get(name, "none")
        if then != now:
            what = name.removeprefix("parameter ")
            if what != name:
                reason = f"was made with {what}={then}, not {now}"
            elif name in ("format", "version of bisector", "estimator"):
                reason = f"was made by another {name} ({then}, not {now})"
            else:
                reason = f"was made from other data: the {name} differ" + (
                    f" ({then}, not {now})" if name.startswith("number") else ""
                )
            raise ValueError(
                f"checkpoint={os.fspath(path)!r} {reason}. Fit as before to go on, or remove the file to begin "
                "anew."
            )


def _some_rows(rows: Source) -> Iterator[NDArray[Any]]:
    """A few rows: from all over where any can be reached, else the first and the last."""
    if isinstance(rows, MemorySource):
        pieces = [rows.take(spread_rows(rows.n_rows, _ROWS_TO_COMPARE))]
    else:
        first, last = (
            next(iter(rows.blocks(range(number, number + 1)))).X for number in (0, rows.n_blocks - 1)
        )
        pieces = [first[:_ROWS_TO_COMPARE], last[-_ROWS_TO_COMPARE:]]
    for piece in pieces:
        yield piece.toarray() if hasattr(piece, "tocsr") else np.asarray(piece)


def _beside(column: Any) -> str:
    """Tell targets or weights by all their values, if they are here."""
    if column is None:
        return "none"
    return _digest(column) if isinstance(column, np.ndarray) else type(column).__name__


def _digest(*arrays: NDArray[Any]) -> str:
    made = hashlib.blake2b(digest_size=12)
    for array in arrays:
        made.update(f"{array.dtype} {array.shape}".encode())
        plain = array.dtype.kind != "O"
        made.update(np.ascontiguousarray(array).tobytes() if plain else repr(array.tolist()).encode())
    return made.hexdigest()


def _told(value: Any) -> str:
    """Write a parameter as words that are the same in another process."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_told(key)}: {_told(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__  # what it has come to is in the notes
    if hasattr(value, "toarray"):
        value = value.toarray()
    if hasattr(value, "__array__") or isinstance(value, list | tuple | set | frozenset):
        try:
            array = np.asarray(sorted(value) if isinstance(value, set | frozenset) else value)
        except ValueError:  # rows of different lengths
            return f"[{', '.join(map(_told, value))}]"
        return f"{array.dtype} array of shape {array.shape} ({_digest(array)})"
    kind = value if callable(value) and hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"
