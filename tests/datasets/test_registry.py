"""Every dataset by its name: it loads, says what it shows, and is the same for the same seed."""

import hashlib
import inspect
import os
import pickle
import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bisector import datasets
from bisector.datasets.registry import makes

NAMES = datasets.names()


def maker(name):
    return getattr(datasets, name)


def takes_seed(name):
    return "seed" in inspect.signature(maker(name)).parameters


SEEDED = [name for name in NAMES if takes_seed(name)]
every_dataset = pytest.mark.parametrize("name", NAMES)
every_seeded = pytest.mark.parametrize("name", SEEDED)


PROMISED = {
    "Example 7.1": "height_weight",
    "Example 7.2": "height_weight_outlier",
    "Example 7.3": "suppressor",
    "Figure 7.3": "correlated_features",
    "Example 7.4": "overlapping_classes",
    "Examples 7.5 and 7.6": "margin_points",
    "Example 7.7": "gaussian_classes",
    "Example 7.8": "disc_and_ring",
    "Example 8.3": "scatter_points",
    "Example 8.5": "five_numbers",
    "Figure 8.13": "rescaled_pair",
    "Figure 8.16": "grid",
    "Figure 8.17": "triangle",
    "Figure 8.18": "uniform_square",
    "Problem 6.1": "seven_points",
    "Figure 6.7": "noisy_curve",
    "Problem 6.13": "four_gaussians",
    "Problem 6.16b": "random_mixture",
    "Problem 3.1": "double_semicircle",
    "Figure 6.6": "digit_features",
}


@pytest.mark.parametrize(("place", "name"), PROMISED.items())
def test_every_place_in_the_sources_has_its_dataset(place, name):
    assert datasets.load(name).source.endswith(f", {place}")


def test_names_are_in_order_and_many_take_a_seed():
    assert sorted(NAMES) == NAMES
    assert {*PROMISED.values(), "iris", "wine", "breast_cancer", "diabetes", "linnerud"} <= {*NAMES}
    assert {"height_weight", "double_semicircle", "digit_features"} <= {*SEEDED}


@every_dataset
def test_a_dataset_is_whole(name):
    data = datasets.load(name)
    n, d = data.X.shape
    assert data.name == name
    assert n >= 3
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert len(set(data.feature_names)) == len(data.feature_names) == d
    if data.y is None:
        assert data.target_names == data.class_names == ()
        return
    assert data.y.dtype in (np.int64, np.float64)
    assert data.y.flags.c_contiguous
    several = len(data.target_names) > 1
    assert data.y.shape == ((n, len(data.target_names)) if several else (n,))
    assert not set(data.target_names) & set(data.feature_names)
    if data.class_names:
        np.testing.assert_array_equal(np.unique(data.y), np.arange(len(data.class_names)))


@every_dataset
def test_its_words_are_there_and_short(name):
    data = datasets.load(name)
    assert re.fullmatch(r"[A-Z0-9].{15,78}\.", data.shows)
    assert 5 < len(data.title) <= 45
    assert not data.title.endswith(".")
    assert re.match(r"(Flach, (Example|Figure)|LFD, (Problem|Figure)|scikit-learn|after [A-Z])", data.source)


@every_dataset
def test_the_maker_is_documented_with_an_example(name):
    words = inspect.getdoc(maker(name))
    assert f"datasets.{name}(" in words.partition("Examples")[2]
    parameters = inspect.signature(maker(name)).parameters
    documented = words.partition("Parameters\n----------\n")[2].partition("\n\nReturns")[0]
    named = [
        word for line in re.findall(r"^(\w[\w, ]*) : ", documented, re.MULTILINE) for word in line.split(", ")
    ]
    assert named == list(parameters)
    assert inspect.signature(maker(name)).return_annotation is datasets.Dataset
    assert maker(name).__name__ == name


@every_dataset
def test_all_have_defaults_so_that_a_name_is_enough(name):
    parameters = inspect.signature(maker(name)).parameters.values()
    assert all(parameter.default is not inspect.Parameter.empty for parameter in parameters)


@every_dataset
def test_twice_the_same_in_arrays_of_its_own(name):
    first, second = maker(name)(), datasets.load(name)
    assert first == second
    second.X[0, 0] += 1
    assert first != second
    assert first == maker(name)()


@every_dataset
def test_it_pickles(name):
    data = datasets.load(name)
    assert pickle.loads(pickle.dumps(data)) == data
    assert pickle.loads(pickle.dumps(maker(name))) is maker(name)


def test_nothing_is_fetched(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a dataset asked for the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    assert all(len(datasets.load(name).X) for name in NAMES)


# Seeds


@every_seeded
def test_seeds_decide(name):
    options = {"n": 50} if name == "digit_features" else {}
    make = maker(name)
    assert make(seed=7, **options) == make(seed=np.int64(7), **options)
    assert not np.array_equal(make(seed=7, **options).X, make(seed=8, **options).X)


@every_seeded
def test_a_generator_is_used_up(name):
    options = {"n": 50} if name == "digit_features" else {}
    make, rng = maker(name), np.random.default_rng(3)
    first, second = make(seed=rng, **options), make(seed=rng, **options)
    assert first == make(seed=3, **options)
    assert first != second


@every_seeded
def test_the_global_seed_is_left_alone(name):
    np.random.seed(5)  # noqa: NPY002 (what is tested)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = maker(name)(seed=1)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(6)  # noqa: NPY002
    assert first == maker(name)(seed=1)


def test_threads_make_no_difference():
    alone = [datasets.load(name) for name in NAMES]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(datasets.load, NAMES)) == alone


@pytest.mark.parametrize("threads", ["1", "4"])
def test_nor_do_those_of_linear_algebra(threads):
    code = (
        "import hashlib, sys; from bisector import datasets;"
        "data = datasets.load('suppressor', n=100_000);"
        "sys.stdout.write(hashlib.sha256(data.X.tobytes() + data.y.tobytes()).hexdigest())"
    )
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
    }
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    here = datasets.suppressor(100_000)
    assert ran.stdout == hashlib.sha256(here.X.tobytes() + here.y.tobytes()).hexdigest()


# Names


def test_the_package_offers_every_maker():
    assert {*datasets.__all__} == {"Dataset", "load", "names", "overview", *NAMES}
    assert all(hasattr(datasets, name) for name in datasets.__all__)


def test_a_new_maker_is_known_at_once(monkeypatch):
    monkeypatch.setattr("bisector.datasets.registry._MAKERS", {})

    @makes("One point", shows="There is nothing to see.", source="this test")
    def one_point(x: float = 0.0):
        return np.array([[x]]), None, ("x",), (), ()

    assert datasets.names() == ["one_point"]
    data = datasets.load("one_point", x=3.0)
    assert (data.name, data.title, data.X[0, 0]) == ("one_point", "One point", 3)
    assert "There is nothing to see." in str(datasets.overview())


def test_two_datasets_cannot_have_one_name():
    with pytest.raises(ValueError, match="There is a dataset 'grid' already"):

        @makes("Another grid", shows="It is refused.", source="this test")
        def grid():
            return np.zeros((1, 1)), None, ("x",), (), ()

    assert datasets.load("grid").title == "Eight points on a grid"


def test_options_reach_the_maker():
    data = datasets.load("height_weight", n=7, noise=0, seed=4)
    assert data == datasets.height_weight(7, noise=0, seed=4)
    assert len(data.X) == 7


@pytest.mark.parametrize(
    ("asked", "suggested"),
    [
        ("gird", "grid"),
        ("iri", "iris"),
        ("Wine", "wine"),
        ("semicircle", "double_semicircle"),
        ("digits", "digit_features"),
    ],
)
def test_an_unknown_name_gets_the_nearest_one_first(asked, suggested):
    words = f"There is no dataset '{asked}'; did you mean '{suggested}'.*datasets.names\\(\\) lists them all"
    with pytest.raises(ValueError, match=words):
        datasets.load(asked)


@pytest.mark.parametrize("asked", ["", "zzzzzzz", None, 3, ["iris"]])
def test_what_is_near_nothing_gets_no_suggestion(asked):
    with pytest.raises(ValueError, match="There is no dataset") as error:
        datasets.load(asked)
    assert str(error.value) == f"There is no dataset {asked!r}. datasets.names() lists them all."


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match="'uniform_square' has no option 'size'; it takes n, seed"):
        datasets.load("uniform_square", size=3)
    with pytest.raises(TypeError, match="'iris' has no option 'n'; it takes none"):
        datasets.load("iris", n=3)


def test_the_overview_has_a_line_for_each():
    lines = str(datasets.overview()).splitlines()
    for name in NAMES:
        line = next(line for line in lines if line.split("  ")[0] == name)
        assert line.endswith(datasets.load(name).shows)
    headings = [lines[i - 1] for i, line in enumerate(lines) if line and set(line) == {"="}]
    chapters = [heading.partition(":")[0] for heading in headings]
    assert chapters == [
        "Flach, chapter 7", "Flach, chapter 7", "Flach, chapter 8",
        "Learning From Data, chapter 6", "Synthetic clusters", "Tables that come with scikit-learn",
    ]  # fmt: skip
    assert datasets.overview()._repr_html_().count("<tr>") == len(NAMES) + len(headings)


def test_importing_is_cheap():
    code = (
        "import sys; from bisector import datasets; datasets.names(); datasets.overview(); datasets.grid();"
        "heavy = ['numba', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'polars', 'pyarrow'];"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
