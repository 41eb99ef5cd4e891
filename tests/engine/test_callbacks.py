import io
import pickle
import subprocess
import sys
import textwrap
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bisector.engine.callbacks import CallbackSupport, iterations, with_callbacks

X = np.arange(6.0).reshape(-1, 1)
Y = np.array([1.0, 2, 3, 4, 5, 9])


class Approach(CallbackSupport, RegressorMixin, BaseEstimator):
    """Goes half the way to the mean of y in every iteration, until a step is shorter than `tol`."""

    def __init__(
        self, max_iter: int | None = 50, tol: float = 0.1, fail_at: int | None = None, loops: int = 1
    ):
        self.max_iter = max_iter
        self.tol = tol
        self.fail_at = fail_at
        self.loops = loops

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        for _ in range(self.loops):
            place = 0.0
            with iterations(self, "approach", self.max_iter, X=X, y=y, metadata={}) as steps:
                for i in steps:
                    if i == self.fail_at:
                        raise ZeroDivisionError
                    step = (np.mean(y) - place) / 2
                    place += step
                    steps.note(f"step {step:.2g}")
                    steps.fitted(lambda place=place: {"place_": place})
                    if step < self.tol:
                        break
        self.place_, self.n_iter_, self.stopped_ = place, i + 1, steps.stopped
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        return np.full(len(X), self.place_)


class Recorder:
    """A callback that keeps what it is told, and asks to stop after some iterations."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.events: list[tuple[str, str]] = []
        self.places: list[float | None] = []
        self.data: list[tuple[Any, Any]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append(("setup", context.task_name))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator: Any, context: Any, *, X: Any = None, y: Any = None) -> None:
        self.events.append(("begin", context.task_name))
        self.data.append((X, y))

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any = None, y: Any = None, fitted_estimator: Any = None
    ) -> bool:
        self.events.append(("end", context.task_name))
        self.data.append((X, y))
        self.places.append(getattr(fitted_estimator, "place_", None))
        return context.task_name == "iteration" and context.task_id + 1 == self.stop_after


class Follower(Recorder):
    """A recorder that is handed down to the estimators inside the one it is set on."""

    max_propagation_depth = None


ONE_ITERATION = [("begin", "iteration"), ("end", "iteration")]


def record_of(n_iterations: int) -> list[tuple[str, str]]:
    inside = [("begin", "fit"), *ONE_ITERATION * n_iterations, ("end", "fit")]
    return [("setup", "fit"), *inside, ("teardown", "fit")]


@pytest.fixture
def callback() -> Any:
    """scikit-learn's callbacks, which exist from 1.9 on."""
    return pytest.importorskip("sklearn.callback")


def test_the_loop_ends_by_convergence_or_by_its_length() -> None:
    model = Approach().fit(X, Y)
    assert (model.n_iter_, model.place_, model.stopped_) == (6, 3.9375, False)  # 4 (1 - 2⁻⁶)
    assert Approach(max_iter=3).fit(X, Y).n_iter_ == 3
    assert Approach(max_iter=None).fit(X, Y).n_iter_ == 6


def test_the_bar_counts_the_last_iteration_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with iterations(None, "early", 5, verbose=True) as steps:
        for i in steps:
            steps.note(f"at {i}")
            if i == 2:
                break
    with iterations(None, "full", 2, verbose=True) as steps:
        assert list(steps) == [0, 1]
    with iterations(None, "none", 0, verbose=True) as steps:
        assert list(steps) == []
    beginnings = [line.rpartition(" after")[0] for line in terminal.getvalue().splitlines()]
    assert beginnings == ["early: 3/5, at 2, done", "full: 2/2, done", "none: 0/0, done"]


@pytest.mark.parametrize(("max_iter", "n_iterations"), [(50, 6), (4, 4), (None, 6)])
def test_callbacks_hear_of_every_iteration(callback: Any, max_iter: int | None, n_iterations: int) -> None:
    recorder = Recorder()
    Approach(max_iter=max_iter).set_callbacks(recorder).fit(X, Y)
    assert recorder.events == record_of(n_iterations)
    assert all(given is X and target is Y for given, target in recorder.data)


def test_callbacks_see_the_model_of_each_iteration(callback: Any) -> None:
    recorder = Recorder()
    Approach(max_iter=3).set_callbacks(recorder).fit(X, Y)
    assert recorder.places == [2.0, 3.0, 3.5, 3.5]


def test_a_callback_can_stop_the_loop(callback: Any) -> None:
    recorder = Recorder(stop_after=2)
    model = Approach().set_callbacks(recorder, Recorder()).fit(X, Y)
    assert (model.n_iter_, model.place_, model.stopped_) == (2, 3.0, True)
    assert recorder.events == record_of(2)


def test_a_failing_fit_tears_its_callbacks_down_and_can_be_fitted_again(callback: Any) -> None:
    recorder = Recorder()
    model = Approach(fail_at=1).set_callbacks(recorder)
    untouched = set(vars(model))
    with pytest.raises(ZeroDivisionError):
        model.fit(X, Y)
    assert recorder.events == [
        ("setup", "fit"),
        ("begin", "fit"),
        *ONE_ITERATION,
        ONE_ITERATION[0],
        ("teardown", "fit"),
    ]
    assert set(vars(model)) == untouched
    recorder.events.clear()
    model.set_params(fail_at=None).fit(X, Y)
    assert recorder.events == record_of(6)


def test_callbacks_follow_the_first_loop_of_a_fit(callback: Any) -> None:
    recorder = Recorder()
    Approach(loops=3).set_callbacks(recorder).fit(X, Y)
    assert recorder.events == record_of(6)


def test_scores_of_every_iteration_can_be_monitored(callback: Any) -> None:
    monitor = callback.ScoringMonitor(scoring="neg_mean_squared_error")
    Approach().set_callbacks(monitor).fit(X, Y)
    log = monitor.get_logs()
    scores = [row["neg_mean_squared_error"] for row in log.data]
    places = 4 * (1 - 0.5 ** np.array([1, 2, 3, 4, 5, 6, 6]))
    np.testing.assert_allclose(np.sort(scores), np.sort([-np.mean((Y - place) ** 2) for place in places]))


def test_the_progress_bar_of_scikit_learn_completes(
    callback: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    Approach().set_callbacks(callback.ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    assert "Approach - fit" in shown
    assert "100%" in shown


def test_callbacks_of_a_pipeline_follow_the_iterations_inside(callback: Any) -> None:
    follower = Follower()
    make_pipeline(StandardScaler(), Approach(max_iter=3)).set_callbacks(follower).fit(X, Y)
    assert follower.events.count(("begin", "iteration")) == follower.events.count(("end", "iteration")) == 3
    assert follower.events.count(("setup", "fit")) == follower.events.count(("teardown", "fit")) == 1


def test_callbacks_of_a_search_follow_the_iterations_inside(callback: Any) -> None:
    follower = Follower()
    search = GridSearchCV(Approach(), {"max_iter": [2, 3]}, cv=3).set_callbacks(follower).fit(X, Y)
    assert follower.events.count(("end", "iteration")) == 3 * (2 + 3) + search.best_params_["max_iter"]


def test_clones_keep_the_callbacks_and_pickles_work(callback: Any) -> None:
    recorder = Recorder()
    model = Approach(max_iter=3).set_callbacks(recorder).fit(X, Y)
    recorder.events.clear()
    clone(model).fit(X, Y)
    assert recorder.events == record_of(3)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.place_ == model.place_
    assert copy.fit(X, Y).n_iter_ == 3


def test_a_plain_estimator_clones_and_pickles_without_a_trace() -> None:
    model = Approach(max_iter=3).fit(X, Y)
    parameters = {"max_iter", "tol", "fail_at", "loops"}
    assert set(vars(model)) == parameters | {"place_", "n_iter_", "stopped_"}
    assert set(vars(clone(model))) == parameters
    assert vars(pickle.loads(pickle.dumps(model))) == vars(model)


def test_an_older_scikit_learn_has_no_callbacks_and_all_else_works() -> None:
    script = """
    import sys
    sys.modules["sklearn.callback"] = None
    import pickle
    from sklearn.base import BaseEstimator, clone
    from bisector.engine.callbacks import CallbackSupport, iterations, with_callbacks

    class Count(CallbackSupport, BaseEstimator):
        def __init__(self, max_iter=5):
            self.max_iter = max_iter

        @with_callbacks
        def fit(self, X=None, y=None):
            with iterations(self, "counting", self.max_iter) as steps:
                for i in steps:
                    steps.note(str(i))
                    if i == 3:
                        break
            self.n_iter_ = i + 1
            return self

    model = pickle.loads(pickle.dumps(clone(Count()).fit()))
    assert model.n_iter_ == 4 and Count(2).fit().n_iter_ == 2
    assert not hasattr(model, "set_callbacks")
    assert not any(name.startswith("sklearn.callback.") for name in sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)
