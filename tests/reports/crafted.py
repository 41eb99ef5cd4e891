"""Model files with changed contents; run as a program, it says which of them would make a loop read astray.

With ``NUMBA_DISABLE_JIT=1`` loops are plain Python, which looks where it reads: an IndexError in a loop is what
would have been a wild read in machine code.
"""

import io
import json
import signal
import sys
import traceback
import warnings
import zipfile
from pathlib import Path

import numpy as np

METHODS = ("predict", "predict_proba", "decision_function", "score_samples", "kneighbors", "transform", "apply",
           "decision_path", "radius_neighbors")  # fmt: skip
FAR = 1_000_000


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, content, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def arrays(content):
    """Yield the name of each array of a model, such as ``model.tree_.feature``, its member and its numbers."""
    for name, node in _nodes(json.loads(content["schema.json"]), ""):
        if str(node.get("file", "")).endswith(".npy"):
            yield name, node["file"], np.load(io.BytesIO(content[node["file"]]))


def with_array(content, member, array):
    """Return the members of a file with another array in the place of one."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return content | {member: file.getvalue()}


def _nodes(schema, name):
    if isinstance(schema, dict):
        if "__loader__" in schema:
            yield name, schema
        for key, part in schema.items():
            yield from _nodes(part, name if key in ("content", "attrs") else f"{name}.{key}".lstrip("."))
    elif isinstance(schema, list):
        for place, part in enumerate(schema):
            yield from _nodes(part, f"{name}[{place}]")


def changes(content):
    """Yield changed contents with what was changed: numbers that point far away, arrays that are short or long."""
    for name, member, array in arrays(content):
        for label, other in _other_arrays(array):
            yield f"{name} {label}", with_array(content, member, other)
    schema = json.loads(content["schema.json"])
    for name, node in list(_nodes(schema, "")):
        number = node.get("content")
        if node["__loader__"] == "JsonNode" and isinstance(number, str) and number.lstrip("-").isdigit():
            for other in (int(number) + 1, int(number) - 1, FAR, -FAR):
                node["content"] = str(other)
                yield f"{name} = {other}", content | {"schema.json": json.dumps(schema).encode()}
            node["content"] = number


def _other_arrays(array):
    if array.dtype.kind == "i" and array.size:
        for place in {0, array.size - 1}:
            for number in (FAR, -FAR):
                other = array.copy()
                other.reshape(-1)[place] = number
                yield f"{number} at {place}", other
    for axis in {0, array.ndim - 1} if array.ndim and array.size else ():
        yield f"shorter along {axis}", np.delete(array, -1, axis)
        yield f"longer along {axis}", np.concatenate([array, np.take(array, [-1], axis)], axis)
    if array.ndim:
        yield "empty", array[:0]


class _Endless(Exception):
    pass


def astray(model, rows):
    """Return where a loop reads astray when a model answers or learns more, if one does."""
    for method in (*METHODS, "partial_fit"):
        try:
            answers = [model.predict(rows)] if method == "partial_fit" else []
            getattr(model, method, lambda *_: None)(rows, *answers)
        except (IndexError, ValueError) as fault:
            last = [f for f in traceback.extract_tb(fault.__traceback__) if "bisector" in f.filename][-1:]
            if last and last[0].filename.endswith(("_loops.py", "terms.py")):
                return f"{method}: {last[0].name} in {Path(last[0].filename).name}: {fault}"
        except _Endless:
            return f"{method} does not end"
        except Exception:
            continue  # a clear error is what a wrong number may lead to
    return None


def main(folder):
    from bisector.reports import ModelFileFault
    from bisector.reports.model_files import read_model

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

    def endless(*_):
        raise _Endless

    signal.signal(signal.SIGALRM, endless)
    changed = Path(folder, "changed")
    for path in sorted(Path(folder).glob("*.bisector")):
        content = members(path)
        rows = np.load(path.with_suffix(".npy"))
        for label, other in changes(content):
            write_members(changed, other)
            try:
                model = read_model(changed).model
            except (ModelFileFault, MemoryError):
                continue
            width = getattr(model, "n_features_in_", None)
            usable = rows.ndim == 2 and isinstance(width, int) and 0 < width < 100
            signal.alarm(30)
            found = astray(model, np.resize(rows, (len(rows), width)) if usable else rows)
            signal.alarm(0)
            if found:
                print(f"{path.stem}, {label}: {found}")


if __name__ == "__main__":
    main(sys.argv[1])
