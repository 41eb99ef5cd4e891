import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bisector
from bisector.engine.settings import Settings, current


@pytest.fixture(autouse=True)
def measured() -> Iterator[None]:
    with bisector.config(memory=None):
        yield


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [
        (2_000_000_000, 2_000_000_000),
        (2e9, 2_000_000_000),
        (np.int64(5000), 5000),
        ("2 GB", 2_000_000_000),
        ("1.5GiB", 3 * 2**29),
        ("300MB", 300_000_000),
        (" 7 kib ", 7 * 1024),
        ("0.5 TB", 500_000_000_000),
        ("640 B", 640),
        ("640", 640),
        (None, None),
    ],
)
def test_sizes_are_read_in_decimal_and_binary_units(given: object, n_bytes: int | None) -> None:
    with bisector.config(memory=given):
        assert current() == Settings(memory=n_bytes)


def test_a_setting_holds_at_once_and_until_changed() -> None:
    bisector.config(memory="1 GB")
    assert current().memory == 1_000_000_000
    bisector.config(memory=None)
    assert current().memory is None


def test_blocks_nest_and_put_the_former_value_back() -> None:
    bisector.config(memory="3 GB")
    with bisector.config(memory="2 GB"):
        with bisector.config(memory="1 GB"):
            assert current().memory == 1_000_000_000
        assert current().memory == 2_000_000_000
    assert current().memory == 3_000_000_000


def fail_inside_a_block() -> None:
    with bisector.config(memory="1 GB"):
        raise ZeroDivisionError


def test_an_error_inside_a_block_passes_through_and_the_former_value_is_back() -> None:
    with pytest.raises(ZeroDivisionError):
        fail_inside_a_block()
    assert current().memory is None


def test_the_same_object_serves_two_blocks() -> None:
    small = bisector.config(memory="1 GB")
    for _ in range(2):
        with small as shown:
            assert shown.memory == current().memory == 1_000_000_000
        assert current().memory is None


def test_without_arguments_it_shows_what_is_set_and_changes_nothing() -> None:
    with bisector.config(memory="2 GB"):
        with bisector.config() as shown:
            assert shown.memory == 2_000_000_000
            assert repr(shown) == "bisector.config(memory=2000000000, scratch=None)"
        assert current().memory == 2_000_000_000
    assert repr(bisector.config()) == "bisector.config(memory=None, scratch=None)"


def test_the_setting_counts_in_every_thread() -> None:
    seen: list[int | None] = []
    with bisector.config(memory="1 GB"):
        thread = threading.Thread(target=lambda: seen.append(current().memory))
        thread.start()
        thread.join()
    assert seen == [1_000_000_000]


def test_an_unknown_setting_is_refused_by_name() -> None:
    with pytest.raises(
        TypeError, match=r"^bisector\.config has no setting 'memroy'; use memory or scratch\.$"
    ):
        bisector.config(memroy="2 GB")
    assert current().memory is None


@pytest.mark.parametrize(
    "value", ["much", "2 XB", "2G", "-1 GB", "1,5 GB", "", "GB", 0, -5, float("inf"), float("nan"), "0.1 B"]
)
def test_a_bad_size_is_refused_with_advice(value: object) -> None:
    with pytest.raises(
        ValueError, match=r'memory.*; give a number of bytes, a size such as "2 GB"'
    ) as refusal:
        bisector.config(memory=value)
    assert repr(value) in str(refusal.value)
    assert current().memory is None


@pytest.mark.parametrize("value", [True, [1], b"2 GB", 2j])
def test_a_value_of_a_wrong_type_is_refused_with_advice(value: object) -> None:
    with pytest.raises(TypeError, match=r"of type \w+; give a number of bytes"):
        bisector.config(memory=value)


def test_settings_are_a_plain_value() -> None:
    settings = Settings(memory=5)
    assert pickle.loads(pickle.dumps(settings)) == settings
    with pytest.raises(AttributeError):
        settings.memory = 6


def test_a_scratch_folder_must_exist(tmp_path: Path) -> None:
    with bisector.config(scratch=tmp_path) as shown:
        assert shown.scratch == str(tmp_path)
    assert bisector.config().scratch is None
    with pytest.raises(ValueError, match="no folder: make it first"):
        bisector.config(scratch=tmp_path / "missing")
    with pytest.raises(TypeError, match="the path of a folder"):
        bisector.config(scratch=3)  # type: ignore[typeddict-item]
