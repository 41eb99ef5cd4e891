"""Model files: what is saved comes back, and what is hostile stays out."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.reports.crafted import members, write_members

import bisector
from bisector.reports import ModelFileFault, TableEncoder
from bisector.reports.model_files import fingerprint, read_model, write_whole

X, y = bisector.datasets.iris()
PREDICTING = {
    name: kind
    for name, kind in bisector.all_estimators()
    if hasattr(kind, "predict") and not name.endswith("Calibrator")
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.bisector"


@pytest.mark.parametrize("name", PREDICTING)
def test_every_model_comes_back(name, path):
    model = PREDICTING[name]()
    model.fit(X[::3], y[::3] if is_classifier(model) else X[::3, 0] + X[::3, 1])
    again = bisector.load(bisector.save(model, path))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_pipelines_with_tables_come_back_with_their_schema(path):
    frame = pl.DataFrame({"x": X[:, 0], "w": np.where(X[:, 1] > 3, "wide", "narrow")})
    model = make_pipeline(TableEncoder(), StandardScaler(), bisector.SVC()).fit(frame, y)
    bisector.save(model, path, about={"rows": fingerprint(X, y), "n_rows": 150})
    held = read_model(path)
    assert held.about == {"rows": fingerprint(X, y), "n_rows": 150}
    assert held.versions["bisector"] == bisector.__version__
    assert [column.name for column in held.model[0].columns_] == ["x", "w"]
    np.testing.assert_array_equal(held.model.predict(frame), model.predict(frame))


def test_models_with_sparse_rows_come_back(path):
    rows = scipy.sparse.csr_array(np.where(X > 2, X, 0))
    model = bisector.KNeighborsClassifier().fit(rows, y)
    np.testing.assert_array_equal(
        bisector.load(bisector.save(model, path)).predict(rows), model.predict(rows)
    )


def test_a_graph_among_the_parameters_comes_back(path):
    graph = scipy.sparse.csr_matrix(np.tri(len(X), k=-1) - np.tri(len(X), k=-2))
    model = bisector.AgglomerativeClustering(3, connectivity=graph).fit(X)
    back = bisector.load(bisector.save(model, path))
    np.testing.assert_array_equal(back.connectivity.toarray(), graph.toarray())
    np.testing.assert_array_equal(back.predict(X), model.predict(X))


def test_a_users_own_distance_is_refused_by_name(path):
    def mine(a, b):
        return abs(a[0] - b[0])

    model = bisector.KNeighborsClassifier(metric=mine).fit(X, y)
    with pytest.raises(ModelFileFault, match=r"KNeighborsClassifier (holds|cannot be kept)"):
        bisector.save(model, path)
    assert not path.exists()


# Hostile files


class Hostile:
    def __reduce__(self):
        return os.system, ("echo pwned",)


def saved(path):
    bisector.save(bisector.LinearRegression().fit(X, X[:, 0] + y), path)
    return members(path)


def test_pickles_are_refused(path):
    path.write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(ModelFileFault, match="looks like a pickle"):
        bisector.load(path)


@pytest.mark.parametrize("name", ["os.system", "subprocess.Popen", "builtins.eval", "bisector.warmup.warmup"])
@pytest.mark.parametrize("loader", ["ObjectNode", "ConstructorFromReduceNode", "FunctionNode", "TypeNode"])
def test_unknown_types_are_refused_by_name(path, name, loader):
    content = saved(path)
    schema = json.loads(content["schema.json"])
    module, _, kind = name.rpartition(".")
    schema["content"]["about"] = {
        "__class__": kind, "__module__": module, "__loader__": loader, "__id__": 1,
        "content": {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": []},
    }  # fmt: skip
    write_members(path, content | {"schema.json": json.dumps(schema).encode()})
    with pytest.raises(ModelFileFault, match=f"names '{name}'.* not loaded"):
        bisector.load(path)


def test_what_a_module_of_ours_imported_is_not_ours(path):
    content = saved(path)
    text = content["schema.json"].decode().replace('"LinearRegression"', '"Path"')
    text = text.replace('"bisector.linear.linear_regression"', '"bisector.reports.reading"')
    assert '"Path"' in text
    write_members(path, content | {"schema.json": text.encode()})
    with pytest.raises(ModelFileFault, match=r"names .*'bisector\.reports\.reading\.Path'"):
        bisector.load(path)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.999])
def test_truncated_files_are_refused(path, share):
    saved(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelFileFault, match="damaged or incomplete"):
        bisector.load(path)


def test_changed_bytes_are_noticed(path):
    saved(path)
    data = bytearray(path.read_bytes())
    place = data.index(b"\x93NUMPY") + 200
    data[place] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(ModelFileFault, match="damaged"):
        bisector.load(path)


def test_zip_bombs_are_refused_without_unfolding(path):
    content = saved(path)
    write_members(path, content | {"bomb.npy": b"\0" * 50_000_000}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ModelFileFault, match="could unfold to any size"):
        bisector.load(path)


def test_arrays_larger_than_the_file_are_refused(path):
    content = saved(path)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    name = next(name for name in content if name.endswith(".npy"))
    write_members(path, content | {name: header.getvalue() + b"\0" * 8})
    with pytest.raises(ModelFileFault, match="an array in it is larger than the file"):
        bisector.load(path)


def test_sparse_bombs_are_refused(path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", b"\0" * 200_000_000)
    write_members(path, saved(path) | {"x.npz": inner.getvalue()})
    with bisector.config(memory="100 MB"), pytest.raises(MemoryError, match=r"Loading model\.bisector needs"):
        bisector.load(path)


def test_other_archives_and_texts_are_refused(path):
    write_members(path, {"readme.txt": b"hello"})
    with pytest.raises(ModelFileFault, match="no model file"):
        bisector.load(path)
    path.write_text("hello")
    with pytest.raises(ModelFileFault, match="no model file of bisector: it is damaged or incomplete"):
        bisector.load(path)


def test_other_formats_say_which_version_reads_them(path):
    content = saved(path)
    schema = json.loads(content["schema.json"])
    schema["content"]["format"]["content"] = "2"
    write_members(path, content | {"schema.json": json.dumps(schema).encode()})
    with pytest.raises(ModelFileFault, match=r"has the format 2 .* this version reads format 1"):
        bisector.load(path)


# Writing


def test_a_full_disk_leaves_nothing_half_written(path, monkeypatch):
    path.write_bytes(b"the old one")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        ModelFileFault, match=r"cannot be written: No space left on device\. Nothing was left"
    ):
        write_whole(path, b"new")
    assert path.read_bytes() == b"the old one"
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ModelFileFault, match="cannot be written: No such file or directory"):
        bisector.save(bisector.LinearRegression().fit(X, y), tmp_path / "nowhere" / "model")
