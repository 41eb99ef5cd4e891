"""The documentation tells the truth: its code runs and prints what it shows, its links and lists are right."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

import bisector

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Written by people: the page of benchmarks is not.
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(page for page in sorted(DOCS.glob("*.md")) if page.name != "benchmarks.md"),
    *sorted(DOCS.glob("guide/**/*.md")),
]
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def fences(page: Path, language: str) -> list[tuple[int, str]]:
    """Return (line number, code) of the code blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    found = [match for match in FENCE.finditer(text) if match[1] == language]
    return [(text.count("\n", 0, match.start(2)), match[2]) for match in found]


@pytest.mark.parametrize("page", [page for page in PAGES if fences(page, "pycon")], ids=name)
def test_sessions_print_what_is_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # pages write files
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    parser, names, report = doctest.DocTestParser(), {"__name__": "__main__"}, []
    for line, code in fences(page, "pycon"):
        # An empty line ends what doctest expects; on a page it is part of what is printed.
        code = re.sub(r"^\n(?!>>> )", "<BLANKLINE>\n", code, flags=re.MULTILINE)
        test = parser.get_doctest(code, names, name(page), str(page), line)
        runner.run(test, out=report.append, clear_globs=False)
        names = test.globs
    assert runner.tries > 0
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_is_shown_as_sessions(page: Path) -> None:
    """So that the test above runs it."""
    assert fences(page, "python") == fences(page, "py") == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(FENCE, "", page.read_text(encoding="utf-8"))
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if not link.startswith("https://")]
    # The gallery is written by `make docs`: its pages from scripts of the same name, its index from a text.
    paths = [
        re.sub(r"gallery/(\w+)\.rst$", r"examples/\1.py", link).replace("index.py", "README.txt")
        for link in links
    ]
    assert [path for path in paths if not (page.parent / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))) <= targets


def test_readme_tells_what_is_here() -> None:
    (here,) = table_columns(ROOT / "README.md", "names")
    public = set(bisector.__all__) - {"__version__"}
    assert {name for name in public if name[0].isupper()} <= here <= public


def test_readme_tells_figures_that_were_measured() -> None:
    told = set()
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
        if row := re.fullmatch(r"\| [^|]+ \| `(\w+/\w+)` \| ([^|]+) \|", line):
            ratios = re.findall(r"([A-Za-z][\w, -]+?) ([\d.]+×)", row[2])
            told |= {(row[1], peer, ratio) for peer, ratio in ratios}
    measured, family = set(), ""
    for line in (DOCS / "benchmarks.md").read_text(encoding="utf-8").replace("\\_", "_").splitlines():
        if line.startswith("## "):
            family = line[3:].lower().replace(" ", "_")
        elif (cells := [cell.strip() for cell in line.strip("|").split("|")]) and len(cells) > 4:
            measured.add((f"{family}/{cells[0]}", cells[1], cells[4].partition(" ")[0]))
    assert len(told) >= 10
    assert told <= measured


def test_architecture_tells_of_every_room() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rooms = re.findall(
        r"^\| `([\w./]+)` \|", text.partition("## The rooms")[2].partition("## ")[0], re.MULTILINE
    )
    package = ROOT / "src" / "bisector"
    folders = {init.parent.name for init in package.glob("*/__init__.py")}
    assert folders <= set(rooms)
    assert [room for room in rooms if not is_room(package / room)] == []


def is_room(path: Path) -> bool:
    return path.is_file() or (path / "__init__.py").is_file()


def test_architecture_names_files_that_exist() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    walk = text.partition("## One fit, walked through")[2].partition("\n## ")[0]
    files = re.findall(r"`((?:engine|solvers|measures|linear)/\w+\.py)`", walk)
    assert len(set(files)) >= 8
    assert [file for file in files if not (ROOT / "src" / "bisector" / file).exists()] == []


def test_api_pages_cover_the_public_names() -> None:
    spec = importlib.util.spec_from_file_location("public_api", DOCS / "_extensions" / "public_api.py")
    public_api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(public_api)
    things = public_api.public_things()
    assert {"__version__", *things} == set(bisector.__all__)
    overview = public_api.overview(things)
    assert all(f"   generated/{thing}\n" in overview for thing in things)
    assert "Linear models\n-------------" in overview


def test_citation_cites_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^([\w-]+): (\S.*)$", text, re.MULTILINE))
    assert stated["version"].strip('"') == bisector.__version__
    assert stated["license"] == "BSD-3-Clause"
    assert {"cff-version", "message", "title", "type"} <= stated.keys()


def table_columns(page: Path, *headings: str) -> list[set[str]]:
    """Return the names in code type below headings of the page's table that has them."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    head = next(row for row in rows if set(headings) <= {*row})
    body = [row for row in rows if len(row) == len(head)]
    return [
        {word for row in body for word in re.findall(r"`(\w+)`", row[head.index(heading)])}
        for heading in headings
    ]
