"""Model files with wrong numbers: what could make a compiled loop read astray is refused when it is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import is_classifier
from sklearn.svm import SVC as PeersSVC
from sklearn.tree import DecisionTreeClassifier as PeersTree
from tests.reports.crafted import FAR, arrays, members, with_array, write_members

import bisector
from bisector.reports import ModelFileFault

X, y = bisector.datasets.iris()
X, y = X[::4], y[::4]
ALL = {
    name: kind
    for name, kind in bisector.all_estimators()
    if hasattr(kind, "predict") and not name.endswith("Calibrator")
}


def fitted(model):
    return model.fit(X, y if is_classifier(model) else X[:, 0] + X[:, 1])


def refused(path, model, name, change):
    """Save a model, change one of its arrays, and return what is said when it is loaded."""
    bisector.save(fitted(model), path)
    content = members(path)
    member, array = next((member, array) for label, member, array in arrays(content) if label.endswith(name))
    write_members(path, with_array(content, member, change(array.copy())))
    with pytest.raises(ModelFileFault) as caught:
        bisector.load(path)
    return str(caught.value)


def at(place, number):
    def change(array):
        array.reshape(-1)[place] = number
        return array

    return change


def without_a_column(array):
    return np.ascontiguousarray(array[:, :-1])


WRONG = {
    "a child that is not there": (bisector.DecisionTreeClassifier(), "tree_.children", at(0, FAR), "children"),
    "a child above its parent": (bisector.DecisionTreeClassifier(), "tree_.children", at(1, 0), "children"),
    "a feature that is not there": (bisector.DecisionTreeRegressor(), "tree_.feature", at(0, 4), "features"),
    "a parent that is not there": (bisector.DecisionTreeRegressor(), "tree_.parent", at(2, -FAR), "parents"),
    "nodes without thresholds": (
        bisector.DecisionTreeRegressor(), "tree_.threshold", lambda a: a[:-1], "different lengths",
    ),
    "a row that is not there": (bisector.KNeighborsClassifier(), ".ids", at(-1, FAR), "rows that it lacks"),
    "rows in another order": (bisector.KNeighborsClassifier(), ".ids", at(0, 5), "rows that it lacks"),
    "fewer rows than numbers": (
        bisector.KNeighborsRegressor(algorithm="kd_tree"), ".rows.values", lambda a: a[:-1], "other rows",
    ),
    "neighbours of fewer columns": (
        bisector.KNeighborsClassifier(algorithm="ball_tree"), ".rows.values", without_a_column, "3 columns",
    ),
    "centres of fewer columns": (bisector.KMeans(2), "cluster_centers_", without_a_column, "cluster_centers_"),
    "medoids of fewer columns": (bisector.KMedoids(2), "_references.values", without_a_column, "3 columns"),
    "bumps of fewer columns": (bisector.KernelDensity(), "X_fit_", without_a_column, "X_fit_"),
    "support vectors of fewer columns": (
        bisector.SVC(), "support_vectors_", without_a_column, "support_vectors_",
    ),
    "a merge of what is not there": (
        bisector.AgglomerativeClustering(), "children_", at(0, FAR), "merges what there is not",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_numbers_are_refused(tmp_path, case):
    said = refused(tmp_path / "model", *WRONG[case][:3])
    assert said.startswith("The parts of the model do not fit together: ")
    assert WRONG[case][3] in said


def test_what_can_be_made_anew_is_not_taken_from_the_file(tmp_path):
    """The boxes of a k-d tree are arranged anew from the rows, whatever the file says of them."""
    path = tmp_path / "model"
    model = fitted(bisector.KNeighborsClassifier(algorithm="kd_tree"))
    bisector.save(model, path)
    content = members(path)
    boxes = [(member, array) for label, member, array in arrays(content) if ".structure.boxes" in label]
    assert boxes
    for member, array in boxes:
        content = with_array(content, member, np.zeros_like(array))
    write_members(path, content)
    np.testing.assert_array_equal(bisector.load(path).predict(X), model.predict(X))


def test_sparse_rows_must_point_to_columns_that_are_there(tmp_path):
    path = tmp_path / "model"
    bisector.save(bisector.KNeighborsClassifier().fit(scipy.sparse.csr_array(X), y), path)
    content = members(path)
    for name, data in content.items():
        if name.endswith(".npz"):
            file = tmp_path / "matrix.npz"
            file.write_bytes(data)
            matrix = scipy.sparse.load_npz(file)
            matrix.indices[0] = FAR
            scipy.sparse.save_npz(file, matrix)
            content[name] = file.read_bytes()
    write_members(path, content)
    with pytest.raises(ModelFileFault, match=r"do not fit together|damaged"):
        bisector.load(path)


@pytest.mark.parametrize("model", [PeersSVC(), PeersTree()])
def test_models_that_cannot_be_checked_are_not_kept(tmp_path, model):
    with pytest.raises(ModelFileFault, match=r"holds 'sklearn\.[^']+'.* use the model of bisector"):
        bisector.save(model.fit(X, y), tmp_path / "model")


@pytest.mark.slow
def test_no_changed_file_makes_a_loop_read_astray(tmp_path):
    """Every array and every whole number of every model is changed; what still loads must read where it may."""
    far = np.vstack([X + 0.1 * i for i in range(6)])
    models = {name: fitted(kind()) for name, kind in ALL.items()}
    for algorithm in ("kd_tree", "ball_tree", "brute"):
        model = bisector.KNeighborsClassifier(algorithm=algorithm)
        models[algorithm] = model.fit(far, np.tile(y, 6))
    for metric in ("manhattan", "chebyshev", "cosine", "mahalanobis"):
        models[metric] = fitted(bisector.KNeighborsClassifier(metric=metric))
    for linkage in ("single", "complete", "average"):
        models[linkage] = fitted(bisector.AgglomerativeClustering(3, linkage=linkage))
    models["polynomial"] = fitted(bisector.SVC(kernel="poly"))
    for name, model in models.items():
        bisector.save(model, tmp_path / f"{name}.bisector")
        np.save(tmp_path / f"{name}.npy", X[::8])
    found = subprocess.run(
        [sys.executable, "-m", "tests.reports.crafted", str(tmp_path)],
        cwd=Path(__file__).parents[2], env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert found.stdout == ""
