"""Pages of the site that stand elsewhere in the repository, and links to files outside ``docs``.

``PAGES`` names the files that are pages of the site. The page in ``docs`` holds a link to the file, for
readers on a code host; Sphinx reads the file in its place. Links between pages are relative, and each
leads to a file. A link to a file in ``PAGES`` becomes a link to its page. Any other link to a file
outside ``docs`` becomes a download, and one to a folder becomes plain text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["PAGES", "relinked", "setup"]

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
PAGES = {
    "benchmarks": "bench/README.md",
    "changelog": "CHANGELOG.md",
    "architecture": "ARCHITECTURE.md",
    "contributing": "CONTRIBUTING.md",
}
_PAGE_OF = {ROOT / path: DOCS / f"{name}.md" for name, path in PAGES.items()}
_LINK = re.compile(
    r"(?P<text>!?\[(?:[^\]\[]|\[[^\]]*\])*\])\((?P<target>(?!\w+:|#)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)"
)
_FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)


def relinked(text: str, source: Path, page: Path) -> str:
    """Return the Markdown of ``source`` as the page ``page``: its links lead from there.

    Args:
        text: Markdown.
        source: the file it comes from, from which its relative links lead.
        page: the page's file in ``docs``.
    """

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(source.parent / match["target"]))
        target = _PAGE_OF.get(target, target)
        if target.is_dir():
            return match["text"][1:-1]
        anchor = match["anchor"] or ""
        return f"{match['text']}({os.path.relpath(target, page.parent)}{anchor})"

    # Every other part is a block of code, which has no links.
    parts = _FENCE.split(text)
    parts[::2] = [_LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def _read(app: Sphinx, docname: str, content: list[str]) -> None:
    page = DOCS / f"{docname}.md"
    if not page.exists():
        return
    source = page
    if docname in PAGES:
        source = ROOT / PAGES[docname]
        app.env.note_dependency(str(source), docname=docname)
        content[0] = source.read_text(encoding="utf-8")
    content[0] = relinked(content[0], source, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the event of a page that was read."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
