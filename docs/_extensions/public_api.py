"""Sphinx extension that writes the API pages from the public names of the library, when a build begins.

There is no list to keep: what ``bisector.__all__`` names gets a page, and the docstring of its room a heading
on the overview. All is written below ``api/generated``; ``api/index.rst`` includes the overview.
"""

import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bisector

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WHOLE_LIBRARY = "For the whole library"


def public_things() -> dict[str, Any]:
    """Return what the library offers, by name."""
    return {name: getattr(bisector, name) for name in bisector.__all__ if not name.startswith("__")}


def heading_of(thing: Any) -> str:
    """Name the group of a public thing: what its room says of itself, up to the first colon or full stop."""
    room = importlib.import_module(".".join(thing.__module__.split(".")[:2]))
    words = (room.__doc__ or "").strip() if hasattr(room, "__path__") else ""
    return words.partition(":")[0].partition(".")[0] or WHOLE_LIBRARY


def overview(things: dict[str, Any]) -> str:
    """Write the tables of the overview, one a room: families first, in the order of the public names."""
    groups: dict[str, list[str]] = {}
    for name, thing in things.items():
        groups.setdefault(heading_of(thing), []).append(name)
    groups[WHOLE_LIBRARY] = groups.pop(WHOLE_LIBRARY, [])
    lines = [".. currentmodule:: bisector", ""]
    for heading, names in groups.items():
        if names:
            lines += [heading, "-" * len(heading), "", ".. autosummary::", "   :nosignatures:", ""]
            lines += [f"   {name}" for name in names] + [""]
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   generated/{name}" for names in groups.values() for name in names]
    return "\n".join(lines) + "\n"


def page(name: str, thing: Any) -> str:
    """Write the page of one public thing."""
    kind = "class" if inspect.isclass(thing) else "function"
    lines = [name, "=" * len(name), "", ".. currentmodule:: bisector", "", f".. auto{kind}:: {name}"]
    if kind == "class":
        lines += ["   :members:"]
    lines += ["", f".. minigallery:: bisector.{name}", "   :add-heading: In the gallery", ""]
    return "\n".join(lines)


def write_pages(app: "Sphinx") -> None:
    """Bring ``api/generated`` up to date; unchanged files are left alone, so that Sphinx need not read them."""
    folder = Path(app.srcdir, "api", "generated")
    folder.mkdir(parents=True, exist_ok=True)
    things = public_things()
    files = {f"{name}.rst": page(name, thing) for name, thing in things.items()}
    files["overview.txt"] = overview(things)
    for path in folder.iterdir():
        if path.is_file() and path.name not in files:
            path.unlink()
    for file, text in files.items():
        path = folder / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def skip_foreign(app: "Sphinx", what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn writes into our classes: its text refers to pages that are not here."""
    function = getattr(member, "fget", None) or member
    module = getattr(function, "__module__", None) or ""
    return True if module.partition(".")[0] == "sklearn" else None


def setup(app: "Sphinx") -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True}
