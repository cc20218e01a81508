"""The documentation site: ``nox -s docs`` builds it, without a network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import oneiros

project = "Oneiros"
author = "the Oneiros authors"
project_copyright = "the Oneiros authors, Apache-2.0"
release = version = oneiros.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docs.site.computed",
    "docs.site.diagrams",
    "docs.site.docstrings",
    "docs.site.licences",
    "docs.site.mathml",
    "docs.site.outside_pages",
    "docs.site.references",
    "docs.site.screenshots",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["site/**"]
root_doc = "index"

# Every reference must lead somewhere, and a page that does not parse is an error (-n -W).
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# ```math blocks: a code host draws them, too.
myst_fence_as_directive = ["math"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
add_module_names = False
# Not spelled out into NumPy's own parts.
autodoc_type_aliases = {
    "npt.ArrayLike": "numpy.typing.ArrayLike",
    "npt.DTypeLike": "numpy.typing.DTypeLike",
}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r"$^",
}

html_theme = "pydata_sphinx_theme"
html_title = "Oneiros"
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_sidebars = {page: [] for page in ("index", "tutorial", "faq")}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark",
}
