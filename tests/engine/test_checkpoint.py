"""Checkpoints: killed at any moment, a fit goes on to the same bits; other data and parameters are refused."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone

from bisector import (
    ElasticNet,
    ElasticNetCV,
    GaussianMixture,
    KMeans,
    KMedoids,
    Lasso,
    LassoCV,
    LinearSVC,
    LogisticRegression,
)
from bisector.engine import checkpoint as checkpoints
from bisector.engine.checkpoint import NOWHERE, checkpoint_of
from bisector.engine.sources import source

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 4)) + 2.0 * RNG.integers(0, 4, size=(3000, 1))
LABELS = np.where(X.sum(axis=1) + RNG.normal(size=3000) > 12, "far", "near")

# A fit in a process of its own, which kills itself at the n-th time it writes: before or after the renaming.
# So every moment between two notes is met, that in the middle of writing included.
KILLED = """
import json, os, signal, sys
import numpy as np
import bisector
from bisector.engine import checkpoint

plan = json.loads(sys.argv[1])
checkpoint.SECONDS_BETWEEN_SAVES = 0.0
renamed, written = os.replace, 0

def replace(there, here):
    global written
    written += 1
    if written == plan["kill"] and plan["before"]:
        os.kill(os.getpid(), signal.SIGKILL)
    renamed(there, here)
    if written == plan["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)

os.replace = replace
data = np.load(plan["data"])
model = getattr(bisector, plan["kind"])(**plan["parameters"], checkpoint=plan["path"])
model.fit(data["X"], data["X"][:, 0] if plan["kind"] == "LassoCV" else data["y"])
np.savez(plan["result"], **{name: value for name, value in vars(model).items() if name.endswith("_")})
"""

# Each a process a few times over, which takes a while: the slow ones differ from others by little.
FITS = {
    "k-means with bounds": ("KMeans", {"n_clusters": 70, "random_state": 1, "n_init": 2, "max_iter": 8}),
    "mixture": ("GaussianMixture", {"n_components": 3, "random_state": 0, "n_init": 2, "max_iter": 12}),
    "logistic": ("LogisticRegression", {"C": 2.0}),
    "support vectors": ("LinearSVC", {"loss": "hinge"}),
}
SLOW = {
    "medoids": ("KMedoids", {"n_clusters": 12, "random_state": 0}),
    "k-means": ("KMeans", {"n_clusters": 6, "random_state": 0}),
    "k-means without seed": ("KMeans", {"n_clusters": 5, "init": "random", "n_init": 3, "tol": 0.0}),
    "k-means in passes": ("KMeans", {"n_clusters": 9, "init": "k-means||", "random_state": 0}),
    "mixture by chance": (
        "GaussianMixture",
        {"n_components": 2, "init_params": "random", "random_state": 0, "tol": 0.0, "max_iter": 12},
    ),
    "logistic by conjugate gradients": ("LogisticRegression", {"C": 2.0, "solver": "newton-cg"}),
    "logistic with corners": ("LogisticRegression", {"C": 0.05, "l1_ratio": 0.5}),
    "logistic without penalty": ("LogisticRegression", {"C": float("inf")}),
    "support vectors, squared": ("LinearSVC", {"C": 10.0}),
    "lasso, chosen": ("LassoCV", {"alphas": 20}),
    "perceptron": ("Perceptron", {"max_iter": 60, "averaged": True, "random_state": 0}),
    "kernel perceptron": ("KernelPerceptron", {"max_iter": 6, "random_state": 0}),
    "perceptron with a penalty": ("Perceptron", {"penalty": "l2", "tol": None, "random_state": 0}),
    "support vectors with corners": ("LinearSVC", {"penalty": "l1", "tol": 1e-6}),
}
# Without random numbers, or always with the same.
SEEDED = ("LogisticRegression", "LinearSVC", "LassoCV")
NAMES = [*FITS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
DEATHS = 4


def run(tmp_path, kind, parameters, kill=0, before=False):
    np.savez(tmp_path / "data.npz", X=X, y=LABELS)
    plan = {
        "data": str(tmp_path / "data.npz"), "path": str(tmp_path / "kept"), "kill": kill, "before": before,
        "result": str(tmp_path / "result.npz"), "kind": kind, "parameters": parameters,
    }  # fmt: skip
    return subprocess.run([sys.executable, "-W", "ignore", "-c", KILLED, json.dumps(plan)], check=False)


def results(tmp_path):
    with np.load(tmp_path / "result.npz", allow_pickle=True) as stored:
        return {name: stored[name] for name in stored.files if stored[name].dtype.kind in "fiub"}


@pytest.mark.parametrize("name", NAMES)
def test_killed_again_and_again_it_ends_at_the_same_bits(name, tmp_path):
    kind, parameters = {**FITS, **SLOW}[name]
    seeded = "random_state" in parameters or kind in SEEDED
    if seeded:
        assert run(tmp_path, kind, parameters).returncode == 0
        expected = results(tmp_path)
        (tmp_path / "result.npz").unlink()
    deaths = 0
    while True:
        found = run(tmp_path, kind, parameters, kill=2 * (deaths < DEATHS), before=deaths % 2 == 1)
        if found.returncode == 0:
            break
        assert found.returncode == -signal.SIGKILL
        assert (tmp_path / "kept").exists()
        deaths += 1
    assert deaths > 1
    assert {path.name for path in tmp_path.iterdir()} == {"data.npz", "result.npz"}
    if seeded:
        for what, value in results(tmp_path).items():
            np.testing.assert_array_equal(value, expected[what], err_msg=what)


def test_killed_from_outside_at_any_time(tmp_path):
    """As a scheduler kills: whatever the process is doing."""
    kind, parameters = "KMeans", {"n_clusters": 40, "random_state": 3, "n_init": 8, "tol": 0.0}
    assert run(tmp_path, kind, parameters).returncode == 0
    expected = results(tmp_path)
    (tmp_path / "result.npz").unlink()
    plan = {
        "data": str(tmp_path / "data.npz"), "path": str(tmp_path / "kept"), "kill": 0, "before": False,
        "result": str(tmp_path / "result.npz"), "kind": kind, "parameters": parameters,
    }  # fmt: skip
    for patience in (0.02, 0.11, 0.05):
        process = subprocess.Popen([sys.executable, "-c", KILLED, json.dumps(plan)])
        while not (tmp_path / "kept").exists() and process.poll() is None:
            time.sleep(0.005)
        time.sleep(patience)
        process.kill()
        process.wait()
    assert run(tmp_path, kind, parameters).returncode == 0
    for what, value in results(tmp_path).items():
        np.testing.assert_array_equal(value, expected[what], err_msg=what)


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """The path of the checkpoint of a fit that was interrupted after a few moves."""
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN_SAVES", 0.0)
    path = tmp_path / "kept"
    interrupt(monkeypatch, path)
    return path


def interrupt(monkeypatch, path, after=3):
    with monkeypatch.context() as patched:
        save, count = checkpoints._File.save, [0]

        def saving(self):
            save(self)
            count[0] += 1
            if count[0] == after:
                raise KeyboardInterrupt

        patched.setattr(checkpoints._File, "save", saving)
        with pytest.raises(KeyboardInterrupt):
            KMeans(6, random_state=0, checkpoint=path).fit(X)
    assert path.exists()


def test_an_interrupted_fit_goes_on_and_leaves_no_file(interrupted):
    whole = KMeans(6, random_state=0).fit(X)
    found = KMeans(6, random_state=0, checkpoint=interrupted, n_jobs=1, verbose=0).fit(X)
    np.testing.assert_array_equal(found.cluster_centers_, whole.cluster_centers_)
    np.testing.assert_array_equal(found.labels_, whole.labels_)
    np.testing.assert_array_equal(found.history_, whole.history_)
    assert list(interrupted.parent.iterdir()) == []


def test_other_data_are_refused(interrupted):
    others = {
        "number of rows": X[1:],
        "number of features": X[:, :3],
        "type of the numbers": X.astype(np.float32),
        "values": X + 1e-9,
    }
    others["values as a whole"] = X.copy()
    others["values as a whole"][1] += 1e-3  # a row that is not among the few that are compared
    for what, other in others.items():
        with pytest.raises(ValueError, match=f"made from other data: the {what} differ"):
            KMeans(6, random_state=0, checkpoint=interrupted).fit(other)
    with pytest.raises(ValueError, match="made from other data: the weights differ"):
        KMeans(6, random_state=0, checkpoint=interrupted).fit(X, sample_weight=np.ones(3000))
    assert interrupted.exists()


def test_other_parameters_are_refused(interrupted):
    for parameters, message in [
        ({"n_clusters": 7}, "was made with n_clusters=6, not 7"),
        ({"random_state": 1}, "was made with random_state=0, not 1"),
        ({"init": X[:6]}, r"was made with init='k-means\+\+', not float64 array of shape \(6, 4\)"),
        ({"init": np.ptp}, "not numpy.ptp"),
    ]:
        model = KMeans(6, random_state=0, checkpoint=interrupted).set_params(**parameters)
        with pytest.raises(ValueError, match=message):
            model.fit(X)
        assert not hasattr(model, "labels_")
    with pytest.raises(ValueError, match=r"made by another estimator \(KMeans, not GaussianMixture\)"):
        GaussianMixture(2, checkpoint=interrupted).fit(X)


def test_rows_that_are_only_compared_are_told_by_their_distances(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    path = tmp_path / "kept"
    with monkeypatch.context() as patched:
        patched.setattr("bisector.solvers.medoid_search.swap_medoids", stop)
        with pytest.raises(KeyboardInterrupt):
            KMedoids(3, checkpoint=path).fit(X[:200])
    for other, what in ((X[:199], "number of rows"), (2 * X[:200], "distances")):
        with pytest.raises(ValueError, match=f"made from other data: the {what} differ"):
            KMedoids(3, checkpoint=path).fit(other)
    with pytest.raises(ValueError, match="made from other data: the weights differ"):
        KMedoids(3, checkpoint=path).fit(X[:200], sample_weight=np.arange(1.0, 201.0))
    with pytest.raises(ValueError, match="was made with metric='euclidean', not 'manhattan'"):
        KMedoids(3, metric="manhattan", checkpoint=path).fit(X[:200])
    found = KMedoids(3, checkpoint=path).fit(X[:200])
    np.testing.assert_array_equal(found.medoid_indices_, KMedoids(3).fit(X[:200]).medoid_indices_)
    assert not path.exists()


def test_damaged_and_foreign_files_are_refused_and_kept(interrupted):
    whole = interrupted.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    for damaged in (whole[:middle], flipped, b"", b"a,b\n1,2\n"):
        interrupted.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"is no checkpoint, or a damaged one: remove it to begin anew"):
            KMeans(6, random_state=0, checkpoint=interrupted).fit(X)
        assert interrupted.read_bytes() == damaged
    np.savez(interrupted.with_suffix(".npz"), x=np.ones(3))
    with pytest.raises(ValueError, match="is no checkpoint"):
        KMeans(6, random_state=0, checkpoint=interrupted.with_suffix(".npz")).fit(X)


def test_objects_are_not_loaded(interrupted):
    np.savez(interrupted.with_suffix(".npz"), fingerprint=np.array([{"code": 1}], dtype=object))
    with pytest.raises(ValueError, match="is no checkpoint"):
        KMeans(6, checkpoint=interrupted.with_suffix(".npz")).fit(X)


def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot be written .*: name a file in a folder that exists"):
        KMeans(6, checkpoint=tmp_path / "missing" / "kept").fit(X)
    with pytest.raises(ValueError, match="is no checkpoint"):
        KMeans(6, checkpoint=tmp_path).fit(X)
    with pytest.raises(TypeError, match="checkpoint must be the path of a file, or None, not 3"):
        KMeans(6, checkpoint=3).fit(X)
    if os.name == "posix" and os.getuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(PermissionError, match="cannot be written"):
            KMeans(6, checkpoint=tmp_path / "kept").fit(X)
        tmp_path.chmod(0o700)


def test_a_full_disk_does_not_stop_the_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN_SAVES", 0.0)
    write, count = checkpoints._File._write, [0]

    def full(self):
        count[0] += 1
        if count[0] > 2:
            raise OSError(28, "No space left on device")
        write(self)

    monkeypatch.setattr(checkpoints._File, "_write", full)
    with pytest.warns(RuntimeWarning, match="No space left on device.*the fit goes on") as told:
        found = KMeans(6, random_state=0, checkpoint=tmp_path / "kept").fit(X)
    assert len(told) == 1
    np.testing.assert_array_equal(found.labels_, KMeans(6, random_state=0).fit(X).labels_)
    assert not (tmp_path / "kept").exists()


def test_bad_rows_leave_no_file(tmp_path):
    bad = X.copy()
    bad[5, 2] = np.nan
    for kind in (KMeans(3), GaussianMixture(2)):
        with pytest.raises(ValueError, match="NaN"):
            clone(kind).set_params(checkpoint=tmp_path / "kept").fit(bad)
    for kind in (LogisticRegression(), LinearSVC(), LinearSVC(penalty="l1")):
        with pytest.raises(ValueError, match="NaN"):
            clone(kind).set_params(checkpoint=tmp_path / "kept").fit(bad, LABELS)
    for kind in (Lasso(), LassoCV()):
        with pytest.raises(ValueError, match="NaN"):
            clone(kind).set_params(checkpoint=tmp_path / "kept").fit(bad, X[:, 0])
    assert list(tmp_path.iterdir()) == []


def test_it_is_written_now_and_then_only(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    saves = []
    monkeypatch.setattr(checkpoints._File, "_write", lambda self: saves.append(now[0]))
    with checkpoint_of(tmp_path / "kept", KMeans(), source(X)) as kept:
        for _ in range(100):
            now[0] += 0.25
            kept.part("loop").note("turn", x=now[0])
    assert saves == [0.0, *np.arange(2.0, 25.1, 2.0)]


def test_what_is_forgotten_is_not_written(tmp_path):
    path = tmp_path / "kept"
    with contextlib.suppress(KeyboardInterrupt), checkpoint_of(path, KMeans(), source(X)) as kept:
        run = kept.part("run")
        for place in (kept, run):
            place.note("turn", x=1, y=2)
            place.note("turns", x=3)
        run.forget("turn")
        raise KeyboardInterrupt
    assert {name for name in checkpoints._read(path) if name.endswith(("x", "y"))} == {
        "turn:x", "turn:y", "turns:x", "run/turns:x",
    }  # fmt: skip


def test_without_a_path_nothing_is_kept():
    with checkpoint_of(None, KMeans(), source(X)) as kept:
        assert kept is NOWHERE
        kept.note("turn", x=1)
        assert kept.recall("turn") is None


KINDS = (
    KMeans, KMedoids, GaussianMixture, LogisticRegression, LinearSVC, Lasso, ElasticNet, LassoCV, ElasticNetCV,
)  # fmt: skip


def test_the_parameter_is_one_of_the_estimator(tmp_path):
    for kind in KINDS:
        model = clone(kind(checkpoint=tmp_path / "kept"))
        assert model.get_params()["checkpoint"] == tmp_path / "kept"
        assert kind().checkpoint is None


def test_any_generator_goes_on_where_it_was(tmp_path):
    rows = source(X)
    for make in (np.random.RandomState, lambda seed: np.random.RandomState(np.random.PCG64(seed))):
        random = make(5)
        random.normal()  # the second half of a pair is now waiting
        with contextlib.suppress(KeyboardInterrupt), checkpoint_of(tmp_path / "kept", KMeans(), rows) as kept:
            first = kept.drawn("start", random, lambda: {"x": random.normal(size=3)})  # noqa: B023
            raise KeyboardInterrupt
        after = random.normal(size=4)
        other = make(99)
        with checkpoint_of(tmp_path / "kept", KMeans(), rows) as kept:
            again = kept.drawn("start", other, dict)
        np.testing.assert_array_equal(again["x"], first["x"])
        np.testing.assert_array_equal(other.normal(size=4), after)
