"""Compiled loops on disk: an entry is either right or absent.

Numba's own cache stamps an entry with the file of the outer function only and keeps an index beside the
machine code. Both can lie: an edited callee keeps running its old code, a class of the user is pickled into
an entry that breaks every later call, and two processes writing the index at once bind one's signature to
the other's code. Here instead:

- The folder is named by a hash of the source of every room that holds loops, the Python ABI and the versions of
  what compiles. A process whose rooms were edited after it started no longer reads or writes anything, because
  it may hold both old and new code. A loop anywhere else is compiled in memory only.
- An entry is one file, named by a hash of everything its machine code depends on: loop, signature, bytecode,
  closure, fast-math variant, target CPU and compiler switches. It is written under a temporary name and then
  renamed, so no reader meets half a file and no lock is needed.
- An entry begins with a checksum of its key and content. Whatever cannot be read, checked or rebuilt is a
  miss; a folder that cannot be written means no cache. Neither is ever an error.
- Only signatures of numbers, arrays of numbers, tuples of those and NamedTuple classes of this package are
  kept. Classes and functions of users are compiled in memory only, as are loops defined outside this package.
- Compiled functions carry symbol names that no other process uses (`_name_symbols_apart`).

The folder lies in the user's cache directory, or where ``BISECTOR_CACHE_DIR`` says. Entries are pickles: like
``__pycache__``, the folder must be writable only by those whose code one would run.
"""

import contextlib
import hashlib
import itertools
import os
import pickle
import re
import secrets
import shutil
import sys
import tempfile
import time
from functools import cache, reduce
from pathlib import Path
from types import CodeType, FunctionType, NoneType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import compiler, config, sigutils
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache
from numba.core.serialize import dumps

_PACKAGE = __name__.partition(".")[0]
_ROOT = Path(__file__).parents[1]
_ROOMS = ("engine", "distances", "kernels", "exemplars", "search", "solvers")
_FOLDER_NAME = re.compile(r"loops-[0-9a-f]{32}")
_DAY = 86_400
_UNUSED_DAYS = 30
_FOLDERS_KEPT = 24
_CHECKSUM_BYTES = 32

_SCALARS = (
    types.Integer,
    types.IntegerLiteral,
    types.Float,
    types.Complex,
    types.Boolean,
    types.BooleanLiteral,
)
_TUPLES = (types.UniTuple, types.Tuple, types.StarArgUniTuple, types.StarArgTuple)
_CONSTANTS = (bool, int, float, complex, str, bytes, NoneType, np.number, np.bool_)
# Switches that change machine code without appearing in Numba's description of the target.
_SWITCHES = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML")


def cache_folder() -> Path | None:
    """Where this process keeps compiled loops; None when it must not keep any.

    There is none when the package's source cannot be read or was edited since the process started, or when
    the user has no home directory.
    """
    digest = _environment_digest()
    if digest is None or _source_stamps() != _STAMPS_AT_START:
        return None
    try:
        return _user_cache() / f"loops-{digest}"
    except RuntimeError:  # no home directory
        return None


class LoopCache(_Cache):
    """The entries of one loop, in the form in which Numba's dispatcher asks for them.

    Parameters
    ----------
    function : function
        The plain function that the loop compiles.
    variant : str
        Which compile options the loop has, for functions compiled in more than one way.
    """

    def __init__(self, function: FunctionType, variant: str) -> None:
        self._function = function
        self._variant = variant
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        folder = cache_folder()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        folder = cache_folder()
        if folder is not None:
            for path in folder.glob(f"{self._stem()}-*.loop"):
                with contextlib.suppress(OSError):
                    path.unlink()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Rebuild what was compiled for this signature, or return None."""
        target_context.refresh()
        # Whatever goes wrong, compiling again is right; so every exception means a miss.
        with contextlib.suppress(Exception):
            entry = self._entry(sig, target_context.codegen())
            if entry is not None:
                path, key = entry
                content = path.read_bytes()
                payload = content[_CHECKSUM_BYTES:]
                if content[:_CHECKSUM_BYTES] == _checksum(key, payload):
                    _mark_used(path.parent)
                    return compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for this signature, if it can be kept."""
        # The loop is compiled already: failing to keep it must not take it away.
        with contextlib.suppress(Exception):
            entry = self._entry(sig, data.codegen)
            if entry is not None and not data.lifted and not data.library.has_dynamic_globals:
                path, key = entry
                payload = dumps(data._reduce())
                _write(path, _checksum(key, payload) + payload)

    def _entry(self, sig: Any, codegen: Any) -> tuple[Path, bytes] | None:
        """Path and key of the entry for a signature; None if it must not be on disk."""
        folder = cache_folder() if self._enabled and _is_ours(self._function.__module__) else None
        if folder is None:
            return None
        arguments, returns = sigutils.normalize_signature(sig)
        closure = self._function.__closure__ or ()
        try:
            key = repr(
                (
                    [_type_name(kind) for kind in arguments],
                    None if returns is None else _type_name(returns),
                    [_constant_name(cell.cell_contents) for cell in closure],
                    _code_name(self._function.__code__),
                    (self._function.__module__, self._function.__qualname__, self._variant),
                    codegen.magic_tuple(),
                    [getattr(config, switch, None) for switch in _SWITCHES],
                )
            ).encode()
        except _ForeignError:
            return None
        return folder / f"{self._stem()}-{_digest(key)}.loop", key

    def _stem(self) -> str:
        identity = (self._function.__module__, self._function.__qualname__, self._variant)
        return f"{self._function.__name__}-{_digest(repr(identity).encode())[:8]}"


class _ForeignError(Exception):
    """Met a type or value whose meaning is not fixed by this package's source."""


def _type_name(kind: Any) -> str:
    """Name a Numba type so that it means the same in every process."""
    if type(kind) in _SCALARS or isinstance(kind, types.NoneType):
        return kind.name
    if type(kind) is types.Array and (type(kind.dtype) in _SCALARS or _is_plain_record(kind.dtype)):
        return kind.name
    if isinstance(kind, types.Omitted):
        return f"omitted({_constant_name(kind.value)})"
    if type(kind) in _TUPLES:
        return f"{type(kind).__name__}({', '.join(map(_type_name, kind))})"
    if isinstance(kind, types.BaseNamedTuple):
        return f"{_class_name(kind.instance_class)}({', '.join(map(_type_name, kind))})"
    raise _ForeignError(kind)


def _is_plain_record(kind: Any) -> bool:
    """Tell whether a type is a record of numbers: its name says all, field by field with their places."""
    return type(kind) is types.Record and all(type(field.type) in _SCALARS for field in kind.fields.values())


def _class_name(cls: type) -> str:
    """Name a class of this package by where it is found again; a class found nowhere is foreign."""
    if _is_ours(cls.__module__):
        with contextlib.suppress(AttributeError, KeyError):
            if reduce(getattr, cls.__qualname__.split("."), sys.modules[cls.__module__]) is cls:
                return f"{cls.__module__}:{cls.__qualname__}"
    raise _ForeignError(cls)


def _constant_name(value: object) -> str:
    """Write a default or closure value so that equal text means equal machine code."""
    if isinstance(value, tuple) and type(value) is tuple:
        return f"({', '.join(map(_constant_name, value))})"
    if isinstance(value, _CONSTANTS):
        return f"{type(value).__name__} {value!r}"
    raise _ForeignError(value)


def _code_name(code: CodeType) -> tuple[object, ...]:
    """Describe bytecode with its constants and names, without file, lines or memory addresses."""
    constants = [
        _code_name(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _is_ours(module: str | None) -> bool:
    return module is not None and module.split(".")[:2] in [[_PACKAGE, room] for room in _ROOMS]


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _checksum(key: bytes, payload: bytes) -> bytes:
    # The key is part of it, so that a file under a wrong name is a miss.
    return hashlib.blake2b(key + payload, digest_size=_CHECKSUM_BYTES).digest()


def _source_stamps() -> dict[str, tuple[int, int]]:
    """Time and size of every source file that loops may depend on; cheap enough to ask before each compile."""
    stamps = {}
    for folder, _, names in itertools.chain.from_iterable(os.walk(_ROOT / room) for room in _ROOMS):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):  # gone meanwhile: the stamps differ, as they should
                    state = os.stat(path)
                    stamps[path] = state.st_mtime_ns, state.st_size
    return stamps


@cache
def _environment_digest() -> str | None:
    """Hash the package's source and what compiles it; None if the source is not in plain files."""
    if str(Path(__file__)) not in _STAMPS_AT_START:
        return None
    versions = (numba.__version__, sys.modules["llvmlite"].__version__, np.__version__)
    abi = (sys.implementation.cache_tag, getattr(sys, "abiflags", ""), sys.maxsize)
    digest = hashlib.blake2b(repr((versions, abi)).encode(), digest_size=16)
    try:
        for path in sorted(_STAMPS_AT_START):
            content = Path(path).read_bytes()
            digest.update(repr((os.path.relpath(path, _ROOT), len(content))).encode())
            digest.update(content)
    except OSError:
        return None
    return digest.hexdigest()


def _user_cache() -> Path:
    """Find the directory for bisector's caches, as each platform places them."""
    if chosen := os.environ.get("BISECTOR_CACHE_DIR"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / _PACKAGE / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / _PACKAGE
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path there is to be ignored, says the specification.
    return (Path(chosen) if os.path.isabs(chosen) else Path.home() / ".cache") / _PACKAGE


def _write(path: Path, content: bytes) -> None:
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


@cache
def _mark_used(folder: Path) -> None:
    """Leave today's date on a folder, once per process, for `_sweep` to see that it is in use."""
    with contextlib.suppress(OSError):
        if time.time() - folder.stat().st_mtime > _DAY:
            os.utime(folder)


def _sweep(newest: Path) -> None:
    """Remove the folders of older sources: those long unused, and all but the latest few."""
    siblings = [folder for folder in newest.parent.iterdir() if _FOLDER_NAME.fullmatch(folder.name)]
    used = {folder: folder.stat().st_mtime for folder in siblings}
    for rank, folder in enumerate(sorted(siblings, key=used.__getitem__, reverse=True)):
        unused = time.time() - used[folder] > _UNUSED_DAYS * _DAY
        if folder != newest and (unused or rank >= _FOLDERS_KEPT):
            shutil.rmtree(folder, ignore_errors=True)


def _name_symbols_apart() -> None:
    """Let Numba number the functions it compiles from a random start.

    The number is part of a symbol's name; the module of a NamedTuple class is not, nor are the constants of a
    closure. Counted from one in every process, equal names are given to different code by two processes, and
    a third that loads both and calls them from one loop runs the first one's code twice.
    """
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


_STAMPS_AT_START = _source_stamps()
_name_symbols_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_name_symbols_apart)
