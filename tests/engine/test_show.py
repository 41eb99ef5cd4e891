import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bisector.engine.show import Caution, Heading, Paragraph, Sheet, Table, number, p_value, stars

NAN, INF = float("nan"), float("inf")


# The expected words are those of R's print(x, digits = 4).
@pytest.mark.parametrize(
    ("x", "words"),
    [
        (152.13348, "152.1"),
        (-0.5, "-0.5"),
        (2.0, "2"),
        (0.0, "0"),
        (-0.0, "0"),
        (1 / 3, "0.3333"),
        (0.0001234, "0.0001234"),
        (0.00001234, "1.234e-05"),
        (0.0001, "1e-04"),
        (123456.789, "123457"),
        (1234567890.0, "1.235e+09"),
        (100000.0, "1e+05"),
        (99999.6, "1e+05"),
        (0.99999, "1"),
        (1.5e300, "1.5e+300"),
        (-2e-300, "-2e-300"),
        (5e-324, "4.941e-324"),
        (NAN, "NA"),
        (INF, "Inf"),
        (-INF, "-Inf"),
        (100000, "100000"),
        (np.int64(-1234567), "-1234567"),
        (np.float32(0.1), "0.1"),
        (np.float64(12.34567), "12.35"),
    ],
)
def test_numbers_are_written_as_r_writes_them(x: float, words: str) -> None:
    assert number(x) == words


@pytest.mark.parametrize(("digits", "words"), [(1, "3"), (2, "3.1"), (3, "3.14"), (7, "3.141593")])
def test_the_number_of_digits_can_be_chosen(digits: int, words: str) -> None:
    assert number(np.pi, digits) == words


@given(st.floats(-1e300, 1e300, allow_subnormal=False), st.integers(1, 15))
def test_a_written_number_is_near_and_short(x: float, digits: int) -> None:
    words = number(x, digits)
    # Half a unit of the last digit, and a little for the rounding of this very comparison.
    assert abs(float(words) - x) <= 0.5000001 * 10.0 ** (1 - digits) * abs(x)
    assert len(words) <= digits + len("-.e-308")


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.0, "<2e-16"),
        (1e-20, "<2e-16"),
        (3e-16, "3e-16"),
        (0.003124, "0.00312"),
        (4.51e-7, "4.51e-07"),
        (1.0, "1"),
        (NAN, "NA"),
    ],
)
def test_p_values_are_written_as_r_writes_them(p: float, words: str) -> None:
    assert p_value(p) == words


def test_stars_include_the_upper_end_of_their_level() -> None:
    levels = [0.0, 0.001, 0.0011, 0.01, 0.05, 0.051, 0.1, 0.11, 1.0, NAN]
    assert [stars(p) for p in levels] == ["***", "***", "**", "**", "*", ".", ".", "", "", ""]


def test_numbers_stand_right_and_words_left() -> None:
    table = Table(
        columns=["", "Estimate", "p", ""],
        rows=[
            ["(Intercept)", 152.13348, "<2e-16", "***"],
            ["bmi", -0.25, 0.0123, "*"],
            ["age", NAN, None, ""],
        ],
        title="Coefficients:",
        notes=["Two of three.", "So it is."],
    )
    assert table.text() == "\n".join(
        [
            "Coefficients:",
            "             Estimate       p",
            "(Intercept)     152.1  <2e-16  ***",
            "bmi             -0.25  0.0123  *",
            "age                NA",
            "Two of three.",
            "So it is.",
        ]
    )
    assert str(table) == table.text()


def test_a_column_with_one_word_stands_left() -> None:
    assert Table(["x"], [[10], ["dropped"]]).text().splitlines() == ["x", "10", "dropped"]
    assert Table(["xx"], [[1], ["12%"], [INF]]).text().splitlines() == [" xx", "  1", "12%", "Inf"]


def test_truth_values_are_words() -> None:
    assert Table(["ok?"], [[True], [np.False_]]).text().splitlines() == ["ok?", "True", "False"]


def test_wide_and_combining_characters_keep_the_columns_straight() -> None:
    table = Table(["name", "n"], [["長さ", 1], ["e\u0301te\u0301", 2], ["abcde", 3]])
    assert table.text().splitlines() == ["name   n", "長さ   1", "e\u0301te\u0301    2", "abcde  3"]


def test_control_characters_in_names_neither_break_lines_nor_reach_the_terminal() -> None:
    table = Table(["a\nb"], [["\x1b[31mred"], ["tab\there"], ["line\u2028end"]], title="x\ry", notes=["\x07"])
    assert table.text().splitlines() == [
        "x\\ry",
        "a\\nb",
        "\\x1b[31mred",
        "tab\\there",
        "line\\u2028end",
        "\\x07",
    ]


def test_empty_tables_are_still_tables() -> None:
    assert Table(["a", "b"], []).text() == "a  b"
    assert Table([], []).text() == ""
    assert Table([], [], title="Nothing", notes=["at all"]).text() == "Nothing\nat all"
    for table in [Table(["a", "b"], []), Table([], []), Table([], [[], []], title="t", notes=["n"])]:
        assert outline(table.html())[0] == "table"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="Row 1 of the table has 1 cells under 2 columns"):
        Table(["a", "b"], [[1, 2], [3]])


def test_a_table_holds_plain_data_that_cannot_change() -> None:
    rows = [[1, 2.0]]
    table = Table(iter(["a", "b"]), (row for row in rows))
    rows[0][0] = 99
    assert table.rows == ((1, 2.0),)
    assert table == Table(["a", "b"], [[1, 2.0]])
    assert hash(table) == hash(Table(["a", "b"], [[1, 2.0]]))
    with pytest.raises(AttributeError):
        table.title = "other"


class Outline(HTMLParser):
    """The tags of a page, its texts, and the sides its cells lean to; every tag must be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.sides: list[tuple[str, str]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if side := re.search(r"text-align: (\w+)", dict(attrs).get("style") or ""):
            self.sides.append((tag, side[1]))
        if tag != "br":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def close(self) -> None:
        super().close()
        assert self._open == []


def read(page: str) -> Outline:
    reader = Outline()
    reader.feed(page)
    reader.close()
    return reader


def outline(page: str) -> list[str]:
    return read(page).tags


EVIL = "<script>alert('x')</script>\"&"


def test_html_escapes_every_text() -> None:
    table = Table([EVIL], [[EVIL]], title=EVIL, notes=[EVIL])
    sheet = Sheet([Heading(EVIL), EVIL, Paragraph(EVIL), Caution(EVIL), table, Sheet([EVIL])])
    page = read(sheet.html())
    assert "script" not in page.tags
    assert page.tags.count("table") == 1
    assert [text.strip() for text in page.texts if EVIL in text] == [EVIL] * 9


def test_html_aligns_as_text_does() -> None:
    page = read(Table(["name", "coef"], [["bmi", 1.23456], ["age", NAN]], title="T", notes=["n"]).html())
    assert " ".join(page.tags) == "table caption thead tr th th tbody tr td td tr td td tfoot tr td"
    assert page.texts == ["T", "name", "coef", "bmi", "1.235", "age", "NA", "n"]
    assert page.sides[1:-1] == [("th", "left"), ("th", "right"), *[("td", "left"), ("td", "right")] * 2]


def test_html_leaves_colours_to_the_page() -> None:
    page = Sheet([Heading("h"), Caution("c"), Table(["a"], [[1]], notes=["n"])]).html()
    assert not re.search(r"background|#[0-9a-f]{3}|rgb|(?<!current)color\s*:", page)


def test_notebooks_get_the_html_and_consoles_the_text() -> None:
    table = Table(["a"], [[1]])
    sheet = Sheet([table])
    assert table._repr_html_() == table.html()
    assert sheet._repr_html_() == sheet.html()
    assert repr(sheet) == str(sheet) == sheet.text() == table.text()


def test_a_sheet_sets_its_parts_apart_by_blank_lines() -> None:
    sheet = Sheet([Heading("長さ fit"), "One line.\nAnother line.", Caution("Beware."), Table(["a"], [[1]])])
    assert sheet.text() == "長さ fit\n========\n\nOne line.\nAnother line.\n\nWarning: Beware.\n\na\n1"
    assert " ".join(outline(sheet.html())) == "div h4 p br p strong table thead tr th tbody tr td"


def test_an_empty_sheet_is_empty() -> None:
    assert Sheet([]).text() == ""
    assert outline(Sheet([]).html()) == ["div"]


def test_long_paragraphs_are_wrapped_between_words() -> None:
    words = "well-known " * 30 + "x" * 120
    lines = Paragraph(words).text().splitlines()
    assert " ".join(lines) == words
    assert max(map(len, lines[:-1])) <= 88
    assert lines[-1] == "x" * 120
