"""Models in files that hold numbers and plain data, never code: written by skops, read with suspicion.

A file names the types it is made of. Only those are made that are classes of this library, or plain ones of NumPy,
SciPy and scikit-learn; a file that names any other is refused before anything of it is built. It is a zip archive
whose members are stored as they are: what is compressed was not written here, and could unfold to any size.
"""

import hashlib
import importlib
import inspect
import io
import json
import os
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bisector.engine.memory import require
from bisector.reports.consistency import check_model
from bisector.reports.faults import ModelFileFault, listed
from bisector.reports.lazy_parts import plain_model

FORMAT = 1
_PACKAGE = __name__.partition(".")[0]
# Types that hold what the user wrote, and cannot be kept without keeping code.
_NEVER = ("bisector.distances.compiled.Compiled",)
_PLAIN = (
    "numpy.dtype",
    "numpy.random.mtrand.RandomState",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)
_MOST_MEMBERS = 100_000
# Of scikit-learn: models that hand arrays of theirs to compiled code, which does not look where it reads.
_UNCHECKED = (
    "sklearn.tree", "sklearn.ensemble", "sklearn.neighbors", "sklearn.svm", "sklearn.cluster",
    "sklearn.metrics._dist_metrics",
)  # fmt: skip


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
        Fitted.
    about : dict
        What was told when it was saved: where the rows come from, their fingerprint, scores.
    versions : dict
        Of bisector, NumPy, scikit-learn and skops when it was written.
    written : str
        When, in universal time.
    """

    model: Any
    about: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    written: str = ""


def save(model: Any, path: str | Path, *, about: Mapping[str, Any] | None = None) -> Path:
    """Write a fitted model to a file from which it can be loaded without running any code.

    Parameters
    ----------
    model : estimator
        Of this library, or of scikit-learn; pipelines of them too. Of a model that was fitted on a Dask collection,
        answers to its training rows that are still to be computed, as ``labels_`` of `KMeans`, are left out.
    path : str or Path
        Where to. The file appears when it is complete, or not at all.
    about : mapping, optional
        Plain data to keep with the model: names, numbers, lists.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ModelFileFault
        If the model holds what only code can bring back, such as a distance that the user wrote; or if it answers
        from training rows that are in the partitions of a Dask collection.

    See Also
    --------
    load

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import bisector
    >>> X, y = bisector.datasets.iris()
    >>> model = bisector.NearestExemplarClassifier().fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = bisector.save(model, Path(folder, "iris.bisector"))
    ...     again = bisector.load(path)
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    import skops.io

    content = {
        "format": FORMAT,
        "model": plain_model(model),
        "about": dict(about or {}),
        "versions": _versions(),
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    try:
        data = skops.io.dumps(content)
        strangers = _strangers(skops.io.get_untrusted_types(data=data))
    except Exception as fault:
        raise ModelFileFault(f"{type(model).__name__} cannot be kept in a file: {_line(fault)}") from fault
    if unsafe := _unchecked(io.BytesIO(data)):
        raise ModelFileFault(
            f"{type(model).__name__} holds {listed(unsafe)}, whose contents could not be checked when the file is "
            "loaded: use the model of bisector instead."
        )
    if strangers:
        raise ModelFileFault(
            f"{type(model).__name__} holds {listed(strangers)}, which only code could bring back: a model file "
            "holds numbers and plain data. Use a distance or kernel of bisector instead of your own function."
        )
    return write_whole(Path(path), data)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote; no code of the file's runs.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    estimator
        Fitted, as it was saved.

    Raises
    ------
    ModelFileFault
        If the file is missing, damaged, of another kind, or names types that are not to be trusted.

    See Also
    --------
    save

    Examples
    --------
    >>> import bisector
    >>> bisector.load("nowhere.bisector")
    Traceback (most recent call last):
    ...
    bisector.reports.faults.ModelFileFault: There is no file nowhere.bisector.
    """
    return read_model(path).model


def read_model(path: str | Path) -> ModelFile:
    """Read a model with what was told about it.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    ModelFile
    """
    import skops.io

    path = Path(path)
    if not path.is_file():
        raise ModelFileFault(f"There is no file {path}.")
    _check_archive(path)
    try:
        named = skops.io.get_untrusted_types(file=path)
        strangers = _strangers(named)
        if strangers:
            raise ModelFileFault(
                f"{path.name} names {listed(strangers)}: these are no types of bisector, NumPy, SciPy or "
                "scikit-learn, and the file is not loaded."
            )
        if unsafe := _unchecked(path):
            raise ModelFileFault(
                f"{path.name} holds {listed(unsafe)}, whose contents cannot be checked: use the models of bisector."
            )
        content = skops.io.load(path, trusted=named)
    except ModelFileFault:
        raise
    except (Exception, RecursionError) as fault:
        raise ModelFileFault(f"{path.name} is damaged, or no model file: {_line(fault)}") from fault
    if not isinstance(content, dict) or not {"format", "model", "versions"} <= content.keys():
        raise ModelFileFault(
            f"{path.name} is no model file of bisector: it holds a {type(content).__name__}."
        )
    if content["format"] != FORMAT:
        raise ModelFileFault(
            f"{path.name} has the format {content['format']!r} (bisector {content['versions'].get('bisector')}), "
            f"and this version reads format {FORMAT}: load it with that version, or fit the model again."
        )
    check_model(content["model"])
    return ModelFile(content["model"], content["about"], content["versions"], content["written"])


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file under a temporary name and rename it, so that nothing half-written is ever seen.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bisector.reports.model_files import write_whole
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a.txt"), b"abc").read_bytes()
    b'abc'
    """
    handle = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner may read; this one is as readable as any other.
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as fault:
        if handle is not None:
            with suppress(OSError):
                os.unlink(name)
        raise ModelFileFault(
            f"{path} cannot be written: {fault.strerror or fault}. Nothing was left behind."
        ) from fault
    return path


def fingerprint(rows: Any, y: Any = None) -> str:
    """Return a short digest of the rows a model was trained on, to tell later whether they were these.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.reports.model_files import fingerprint
    >>> fingerprint(np.eye(2)) == fingerprint(np.eye(2)), fingerprint(np.eye(2)) == fingerprint(np.eye(3))
    (True, False)
    """
    digest = hashlib.sha256()
    for part in (rows, y):
        array = np.ascontiguousarray(part if part is not None else [])
        digest.update(f"{array.shape}{array.dtype.kind}".encode())
        digest.update(array.tobytes() if array.dtype.kind != "O" else repr(array.tolist()).encode())
    return digest.hexdigest()[:16]


def _versions() -> dict[str, str]:
    import sklearn
    import skops

    import bisector

    return {
        "bisector": bisector.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "skops": skops.__version__,
    }


def _strangers(names: list[str]) -> list[str]:
    """Return the types that may not be made: all but classes of ours and a few plain ones."""
    return [name for name in names if name not in _PLAIN and not _is_ours(name)]


def _is_ours(name: str) -> bool:
    """Whether a name is that of a class defined in this library, at the place the name says.

    A function, or a class that a module of ours merely imported, is none: skops would call it with arguments
    from the file.
    """
    module, _, kind = name.rpartition(".")
    if name in _NEVER or module.partition(".")[0] != _PACKAGE or ".." in name:
        return False
    try:
        found = getattr(importlib.import_module(module), kind, None)
    except ImportError:
        return False
    return inspect.isclass(found) and found.__module__ == module


def _unchecked(file: Any) -> list[str]:
    """Return the types whose contents compiled code would read without looking where.

    Trees, indexes and support vectors of ours are checked when they are loaded; those of scikit-learn cannot be.
    """
    with zipfile.ZipFile(file) as archive:
        named = set(_named(json.loads(archive.read("schema.json"))))
    return sorted(f"{module}.{kind}" for module, kind in named if module.startswith(_UNCHECKED))


def _named(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield the modules and names of all types that a file is made of."""
    if isinstance(schema, dict):
        if isinstance(schema.get("__module__"), str):
            yield schema["__module__"], str(schema.get("__class__"))
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _named(part)


def _check_archive(path: Path) -> None:
    """Refuse what is no archive of stored members, or claims to be larger than it is."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(4)
    if start[:1] == b"\x80" or not zipfile.is_zipfile(path):
        kind = (
            "looks like a pickle, which could run any code"
            if start[:1] == b"\x80"
            else "is damaged or incomplete"
        )
        raise ModelFileFault(f"{path.name} is no model file of bisector: it {kind}.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            stored = all(
                one.compress_type == zipfile.ZIP_STORED and one.file_size == one.compress_size
                for one in members
            )
            if not stored or sum(one.file_size for one in members) > size or len(members) > _MOST_MEMBERS:
                raise ModelFileFault(
                    f"{path.name} holds compressed or overlapping members, which bisector never writes: they could "
                    "unfold to any size, and the file is not loaded."
                )
            for member in members:
                _check_member(path, archive, member)
    except (zipfile.BadZipFile, OSError, ValueError) as fault:
        if isinstance(fault, ModelFileFault):
            raise
        raise ModelFileFault(f"{path.name} is damaged: {_line(fault)}") from fault


def _check_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse arrays that claim more numbers than the member has room for, and sparse ones that unfold too far."""
    if member.filename.endswith(".npy"):
        with archive.open(member) as file:
            version = np.lib.format.read_magic(file)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(file)
        if dtype.hasobject or int(np.prod(shape, dtype=object)) * dtype.itemsize > member.file_size:
            raise ModelFileFault(f"{path.name} is damaged: an array in it is larger than the file.")
    elif member.filename.endswith(".npz"):
        with archive.open(member) as file, zipfile.ZipFile(file) as inner:
            unfolded = sum(one.file_size for one in inner.infolist())
        require(unfolded, doing=f"Loading {path.name}", instead="load it where there is more memory")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _line(fault: BaseException) -> str:
    words = str(fault).strip().splitlines()
    return f"{words[0][:160]}." if words and not words[0].endswith(".") else (words or [repr(fault)])[0][:160]
