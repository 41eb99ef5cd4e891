"""How Sphinx builds this documentation: `make docs`, or `make gallery` for the pictures alone.

Nothing is fetched from a network, and every warning is an error.
"""

import sys
from pathlib import Path

import bisector

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "bisector"
author = "The bisector developers"
project_copyright = author
release = version = bisector.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "public_api",
]
exclude_patterns = ["_build", "examples"]
if tags.has("gallery"):  # noqa: F821 (Sphinx puts `tags` here: `make gallery` builds the pictures only)
    extensions.remove("public_api")
    include_patterns = ["gallery/**"]
    root_doc = "gallery/index"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Parameters are typed in the docstrings; attributes too, many of which are computed when asked for.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("bisector",),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_", "__repr__"),
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 60,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "bisector"
html_static_path = ["_static"]
html_css_files = ["bisector.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"architecture": [], "benchmarks": [], "changelog": [], "contributing": [], "index": []}
html_theme_options = {
    "logo": {"image_light": "_static/mark.svg", "image_dark": "_static/mark.svg", "text": "bisector"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
