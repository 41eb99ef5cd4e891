"""The page in a real browser: it needs no network, sorts, suits phones, dark rooms and keyboards.

Skipped where there is no Chromium with its driver; `make test-browser` installs them where it may.
"""

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest
from tests.reports.browser import CHROMIUM, DRIVER, Browser

import bisector
from bisector.reports import built_in
from bisector.reports.writing import report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DRIVER and CHROMIUM), reason="there is no Chromium with its driver here"),
]

TAB, ENTER = "\ue004", "\ue007"
PICTURES = os.environ.get("BISECTOR_SCREENSHOTS")  # a folder to look at them later


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    with_target = report(built_in("breast_cancer")[:150], "diagnosis", minutes=0.05, name="Breast <tumours>")
    without = report(
        {
            "across": bisector.datasets.four_gaussians(60).X[:, 0],
            "up": bisector.datasets.four_gaussians(60).X[:, 1],
        }
    )
    return {"prediction": with_target.save(folder / "a.html"), "clusters": without.save(folder / "b.html")}


@pytest.fixture(scope="module")
def browser():
    with Browser() as running:
        yield running


@pytest.fixture(params=["prediction", "clusters"])
def page(request, pages, browser):
    browser.tell("Emulation.setEmulatedMedia", features=[])
    browser.tell("Emulation.clearDeviceMetricsOverride")
    browser.log("browser"), browser.log("performance")
    browser.open(pages[request.param])
    browser.name = request.param
    return browser


def picture(page, name):
    if PICTURES:
        page.picture(Path(PICTURES) / f"{page.name}-{name}.png")


def test_nothing_is_asked_of_any_host_and_nothing_fails(page):
    events = [json.loads(entry["message"])["message"] for entry in page.log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert asked
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    assert page.log("browser") == []
    picture(page, "light")


def test_contents_lead_to_sections(page):
    links = page.run("return [...document.querySelectorAll('nav li a')].map(a => a.hash)")
    assert len(links) >= 6
    for link in links:
        place = page.run("document.querySelector(`nav a[href='${arguments[0]}']`).click();"
                         "return document.querySelector(arguments[0])?.tagName", link)  # fmt: skip
        assert place == "H2"


COLUMN = """
const rows = document.querySelectorAll('table')[arguments[0]].tBodies[0].rows;
return [...rows].map(row => row.cells[arguments[1]].textContent);
"""


def test_tables_sort_by_number_and_by_word(page):
    tables = page.run("return [...document.querySelectorAll('table')].map(t => [...t.tHead.rows[0].cells].map(c => "
                      "c.classList.contains('n')))")  # fmt: skip
    place, column = next((i, kinds.index(True)) for i, kinds in enumerate(tables) if True in kinds)
    click = (
        "document.querySelectorAll('table')[arguments[0]].querySelectorAll('th button')[arguments[1]].click()"
    )
    page.run(click, place, column)
    ascending = [float(x.rstrip("%")) for x in page.run(COLUMN, place, column) if x]
    assert ascending == sorted(ascending)
    page.run(click, place, column)
    descending = [float(x.rstrip("%")) for x in page.run(COLUMN, place, column) if x]
    assert descending == ascending[::-1]
    said = page.run("return document.querySelectorAll('table')[arguments[0]].querySelectorAll('th')[arguments[1]]"
                    ".getAttribute('aria-sort')", place, column)  # fmt: skip
    assert said == "descending"


def test_a_phone_needs_no_sideways_scrolling(page):
    page.tell("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    page.run("location.reload()")
    assert page.run("return document.documentElement.scrollWidth") <= 390
    picture(page, "phone")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_the_page(page, scheme):
    page.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (light == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.run(CONTRAST) == []
    picture(page, scheme)


# Words whose colour and background differ by less than 4.5 to 1 (WCAG AA).
CONTRAST = """
const shade = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
  .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
const behind = e => { while (e) { const c = getComputedStyle(e).backgroundColor;
  if (!/, 0\\)$|transparent/.test(c)) return c; e = e.parentElement; } return 'rgb(255, 255, 255)'; };
const found = [], words = 'p, a, td, th button, caption, h1, h2, summary, dt, dd, figcaption, code, strong';
for (const e of document.querySelectorAll(words)) {
  const a = shade(getComputedStyle(e).color), b = shade(behind(e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) found.push(e.tagName + ': ' + e.textContent.slice(0, 40));
}
return found;
"""


def test_the_keyboard_reaches_everything(page):
    wanted = page.run("return document.querySelectorAll('a, button, summary, [tabindex=\\'0\\']').length")
    reached = set()
    for _ in range(wanted + 5):
        page.press(TAB)
        number = page.run("return [...document.querySelectorAll('a, button, summary, [tabindex=\\'0\\']')]"
                          ".indexOf(document.activeElement)")  # fmt: skip
        reached.add(number)
    assert reached >= set(range(wanted))
    page.run("document.querySelector('th button').focus()")
    page.press(ENTER)
    assert page.run("return document.activeElement.parentElement.getAttribute('aria-sort')") == "ascending"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_an_accessibility_checker_finds_nothing(page, scheme, width):
    page.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.tell(
        "Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=False
    )
    page.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.run(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    assert page.wait_for(CHECKED) == []


# What axe-core finds: rule, how bad it is, and where.
CHECKED = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(
  found => done(found.violations.map(v => [v.id, v.impact, v.nodes.slice(0, 3).map(n => n.html.slice(0, 120))])),
  fault => done(['axe failed: ' + fault]));
"""


def test_on_paper_there_is_the_content_and_nothing_to_click(page):
    page.tell("Emulation.setEmulatedMedia", media="print")
    shown = "return getComputedStyle(document.querySelector(arguments[0])).display"
    assert [page.run(shown, part) for part in ("nav", ".copy", ".skip")] == ["none"] * 3
    assert page.run(shown, "main") == "block"
    page.tell("Emulation.setEmulatedMedia", media="")


def test_names_landmarks_headings_and_table_heads(page):
    assert page.run(ACCESSIBLE) == []


ACCESSIBLE = """
const wrong = [];
if (!document.documentElement.lang) wrong.push('no language');
for (const once of ['main', 'h1']) if (document.querySelectorAll(once).length !== 1) wrong.push(once);
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
if (twice.length) wrong.push('ids twice: ' + twice.slice(0, 3));
for (const e of document.querySelectorAll('a, button, summary'))
  if (!e.textContent.trim()) wrong.push('no name: ' + e.outerHTML);
for (const e of document.querySelectorAll('[role=img], [role=region], figure'))
  if (!e.getAttribute('aria-label')) wrong.push('no label: ' + e.className);
for (const e of document.querySelectorAll('svg'))
  if (!e.closest('[role=img]')) wrong.push('a picture without a role');
for (const t of document.querySelectorAll('table'))
  if (!t.caption || [...t.tHead.rows[0].cells].some(c => c.scope !== 'col')) wrong.push('a table without heads');
let last = 0;
for (const h of document.querySelectorAll('h1, h2, h3, h4')) {
  const level = Number(h.tagName[1]);
  if (level > last + 1) wrong.push('heading skips a level: ' + h.textContent);
  last = level;
}
for (const e of document.querySelectorAll('[aria-labelledby]'))
  if (!document.getElementById(e.getAttribute('aria-labelledby'))) wrong.push('label is missing');
return wrong;
"""
