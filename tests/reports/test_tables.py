"""Reading tables, guessing what their columns hold, and encoding them."""

import numpy as np
import pandas
import polars as pl
import pytest

from bisector.reports import TableEncoder, TableFault, describe_columns, read_blocks, read_table
from bisector.reports.cautions import cautions
from bisector.reports.encoding import MISSING, OTHER
from bisector.reports.target import choose_target


@pytest.fixture
def written(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# Reading


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_seen(written, separator):
    frame = read_table(written(separator.join(["a", "b"]) + "\n" + separator.join(["1", "x"]) + "\n"))
    assert frame.to_dict(as_series=False) == {"a": [1.0], "b": ["x"]}


def test_types_are_guessed(written):
    text = "n,b,d,t,w,code\n1,yes,2024-01-31,2024-01-31 10:00:00,x,01\nNA,no,2023-12-01,2024-01-31 11:30:00,y,02\n"
    frame = read_table(written(text), types={"code": "category"})
    assert frame.dtypes == [pl.Float64, pl.Boolean, pl.Date, pl.Datetime("us"), pl.String, pl.String]
    assert frame["n"].to_list() == [1.0, None]
    assert frame["b"].to_list() == [True, False]


def test_words_that_stand_for_missing_cells_are_missing_in_frames_too():
    frame = pl.DataFrame({"x": ["1", " NA ", "3"], "w": ["a", "?", "b"]})
    encoder = TableEncoder().fit(frame)
    assert encoder.levels_ == {"w": [MISSING, "a", "b"]}
    np.testing.assert_array_equal(encoder.transform(frame)[:, 0], [1, 2, 3])


def test_days_come_first_unless_that_cannot_be(written):
    assert str(read_table(written("d\n03/04/2024\n05/06/2024\n"))["d"][0]) == "2024-04-03"
    assert str(read_table(written("d\n03/14/2024\n05/06/2024\n"))["d"][0]) == "2024-03-14"


def test_a_few_cells_of_another_kind_are_missing(written):
    frame = read_table(written("x\n" + "\n".join([*map(str, range(99)), "broken"]) + "\n"))
    assert frame["x"].dtype == pl.Float64
    assert frame["x"].null_count() == 1


def test_many_cells_of_another_kind_make_words(written):
    frame = read_table(written("x\n" + "\n".join([*map(str, range(50)), *["broken"] * 50]) + "\n"))
    assert frame["x"].dtype == pl.String


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_binary_tables(tmp_path, suffix):
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
    path = tmp_path / f"data.{suffix}"
    (frame.write_parquet if suffix == "parquet" else frame.write_ipc)(path)
    assert read_table(path).equals(frame)
    assert pl.concat(read_blocks(path)).equals(frame)


def test_blocks_give_all_rows_in_order(written):
    path = written("x\n" + "\n".join(map(str, range(5000))) + "\n")
    blocks = list(read_blocks(path, rows=700))
    assert len(blocks) > 1
    assert [int(x) for block in blocks for x in block["x"]] == list(range(5000))


FAULTS = {
    "empty": (b"", "data.csv is empty"),
    "only a header": (b"a,b\n", "header but no rows"),
    "long line": (b"a,b\n1,2\n3,4,5\n", "Line 3 of data.csv has 3 cells, but the header names 2 columns"),
    "short line": (b"a,b\n1,2\n3\n", "Line 3 of data.csv has 1 cell, but"),
    "latin-1": (b"a,b\n1,caf\xe9\n", r"not UTF-8 \(line 2 has the byte 0xe9\): convert it"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_are_told_in_one_sentence(written, case):
    content, words = FAULTS[case]
    with pytest.raises(TableFault, match=words) as raised:
        read_table(written(content))
    assert "\n" not in str(raised.value)


def test_a_missing_file_and_a_folder(tmp_path, written):
    written("a\n1\n", "data.csv")
    with pytest.raises(TableFault, match=r"There is no file .*dat\.csv \(beside it there are 'data\.csv'\)"):
        read_table(tmp_path / "dat.csv")
    with pytest.raises(TableFault, match="is a folder"):
        read_table(tmp_path)


def test_a_parquet_file_that_is_none(written):
    with pytest.raises(TableFault, match="no readable parquet file"):
        read_table(written(b"PAR1 but not really", "data.parquet"))


def test_types_must_exist(written):
    path = written("a\n1\n2\n")
    with pytest.raises(TableFault, match="no column 'b' to give a type to; it has 'a'"):
        read_table(path, types={"b": "number"})
    with pytest.raises(TableFault, match="'float' is no type of a column: choose among number"):
        read_table(path, types={"a": "float"})


# Roles


def roles(**columns):
    return {column.name: (column.role, column.use) for column in describe_columns(pl.DataFrame(columns))}


def test_what_cannot_help_is_dropped_with_a_reason():
    n = 40
    found = roles(
        id=list(range(100, 100 + n)),
        row=[float(i) for i in range(n)],
        same=[1.0] * n,
        empty=[None] * n,
        key=[f"k{i}" for i in range(n)],
        text=[f"some words {i}" for i in range(n)],
        x=np.random.default_rng(0).normal(size=n),
    )
    assert {name: role for name, (role, _) in found.items() if role != "dropped"} == {"x": "number"}
    assert found["id"][1] == found["row"][1] == found["key"][1] == "names the rows"
    assert found["same"][1] == "has the same value in every row"
    assert found["empty"][1] == "every cell is missing"
    assert found["text"][1] == "free text"


def test_distinct_whole_numbers_that_mean_something_stay():
    assert roles(price=[3, 1, 2, 10, 40])["price"][0] == "number"


def test_lists_are_dropped():
    assert roles(x=[[1], [2]])["x"][0] == "dropped"


# Encoding


def test_encoding_by_hand():
    frame = pl.DataFrame(
        {"x": [1.0, None, 4.0], "sure": [True, False, None], "when": ["1970-01-02", "1970-01-03", "1970-01-05"],
         "colour": ["red", None, "blue"]}
    )  # fmt: skip
    encoder = TableEncoder().fit(frame)
    names = ["x", "sure", "when", f"colour={MISSING}", "colour=blue", "colour=red"]
    assert encoder.get_feature_names_out().tolist() == names
    expected = [[1, 1, 1, 0, 0, 1], [2.5, 0, 2, 1, 0, 0], [4, 0.5, 4, 0, 1, 0]]
    np.testing.assert_array_equal(encoder.transform(frame), expected)


def test_a_value_never_seen_is_none_of_the_known_or_other():
    few = TableEncoder().fit(pl.DataFrame({"w": ["a", "b", "a"]}))
    np.testing.assert_array_equal(few.transform(pl.DataFrame({"w": ["c"]})), [[0, 0]])
    words = [f"v{i % 60}" for i in range(6000)]
    many = TableEncoder().fit(pl.DataFrame({"w": words}))
    assert many.levels_["w"][-1] == OTHER
    assert len(many.levels_["w"]) == 51
    assert many.transform(pl.DataFrame({"w": ["new"]}))[0, -1] == 1


def test_words_of_a_file_are_read_as_they_were_when_trained():
    encoder = TableEncoder().fit(pl.DataFrame({"x": [1.0, 2.0, 4.0], "b": [True, False, True]}))
    np.testing.assert_array_equal(
        encoder.transform(pl.DataFrame({"b": ["no", "yes"], "x": ["3", None], "more": ["?", "?"]})),
        [[3, 0], [2, 1]],
    )


def test_pandas_polars_and_arrays_agree():
    polars_frame = pl.DataFrame({"x": [1.0, None, 3.0], "w": ["a", None, "b"]})
    pandas_frame = pandas.DataFrame({"x": [1.0, np.nan, 3.0], "w": pandas.Categorical(["a", None, "b"])})
    first, second = TableEncoder().fit(polars_frame), TableEncoder().fit(pandas_frame)
    np.testing.assert_array_equal(first.transform(polars_frame), second.transform(pandas_frame))
    rows = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    np.testing.assert_array_equal(TableEncoder().fit_transform(rows), rows)


def test_missing_renamed_and_changed_columns_are_named():
    encoder = TableEncoder().fit(pl.DataFrame({"height": [1.0, 2.0, 3.0], "age": [1.0, 5.0, 3.0]}))
    with pytest.raises(
        TableFault, match=r"lacks the column 'height' .* \(is 'Height' the same as 'height'\?\)"
    ):
        encoder.transform(pl.DataFrame({"Height": [1.0], "age": [2.0]}))
    with pytest.raises(TableFault, match=r"'age' held numbers .* 1 of 2 cells .* such as 'old' in row 1"):
        encoder.transform(pl.DataFrame({"height": [1.0, 2.0], "age": ["1", "old"]}))


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(
        TableFault, match="None of the 1 columns can be used: 'x' has the same value in every row"
    ):
        TableEncoder().fit(pl.DataFrame({"x": [1.0, 1.0]}))


# Targets


def test_kinds_of_targets():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({
        "class": np.arange(100) % 3, "zero_one": (np.arange(100) % 2).astype(float), "number": rng.normal(size=100),
        "count": rng.permutation(100), "word": ["a", "b"] * 50, "flag": [True, False] * 50, "same": [1] * 100,
    })  # fmt: skip
    kinds = {name: choose_target(frame, name).kind for name in frame.columns if name != "same"}
    assert kinds == {
        "class": "classes", "zero_one": "classes", "number": "number", "count": "number", "word": "classes",
        "flag": "classes",
    }  # fmt: skip
    with pytest.raises(TableFault, match="'same' is '1' in every row: there is nothing to learn"):
        choose_target(frame, "same")
    with pytest.raises(TableFault, match="no column 'klass' to predict; it has 'class'"):
        choose_target(frame, "klass")


# Cautions


def test_leaks_repeats_scales_and_correlation_are_told():
    rng = np.random.default_rng(0)
    y = rng.normal(size=600)
    noise = rng.normal(size=600)
    frame = pl.DataFrame({"leak": 3 * y + 1, "noise": noise, "again": 1000 * noise, "y": y})
    frame = pl.concat([frame, frame[:10]])
    target = choose_target(frame, "y")
    features = frame.drop("y")
    said = " ".join(cautions(features, TableEncoder().fit(features), target))
    assert "Leakage suspect: 'leak' alone gives 'y' almost exactly" in said
    assert "10 of 610 rows repeat" in said
    assert "'again' and 'noise' say nearly the same (correlation 1)" in said
    assert "'again' varies 1000 times as much as" in said


def test_a_class_that_a_word_gives_away_is_a_leak():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    frame = pl.DataFrame({"x": rng.normal(size=500) + y, "status": np.where(y == 1, "paid", "open"), "y": y})
    said = cautions(frame.drop("y"), TableEncoder().fit(frame.drop("y")), choose_target(frame, "y"))
    assert said[0].startswith("Leakage suspect: 'status' alone gives 'y'")


def test_clean_tables_cause_no_worry():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    assert cautions(frame, TableEncoder().fit(frame)) == []
