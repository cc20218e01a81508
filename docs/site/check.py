"""Check a built site: ``python -m docs.site.check build/docs``.

Every link and file that a page names lies in the site, every ``#anchor`` exists in its page, and no page
loads anything from elsewhere. Links that a reader clicks may lead elsewhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["complaints"]

_LOADED = {  # tag -> the attribute whose file a browser loads by itself
    **dict.fromkeys(("img", "script", "iframe", "source"), ("src", "srcset", "poster", "data")),
    **dict.fromkeys(("video", "audio", "embed", "object"), ("src", "srcset", "poster", "data")),
    "link": ("href",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
_NOT_LOADED = ("canonical", "next", "prev", "author", "license")  # values of <link rel="...">
_OF_CSS = re.compile(r"url\(\s*['\"]?(https?:)?//[^)]*\)|@import[^;]*(https?:)?//[^;]*")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in _NOT_LOADED:
            return
        for name in _LOADED.get(tag, ()):
            if name in values:
                self.loaded.append(values[name].split()[0] if name == "srcset" else values[name])


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _pages(folder: Path) -> list[Path]:
    """Return the pages: files of a theme's own in ``_static`` are templates."""
    found = (path for path in folder.rglob("*.html") if "_static" not in path.parts)
    return sorted(found)


def complaints(folder: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere and each file that comes from elsewhere.

    Args:
        folder: the folder of the built site.
    """
    pages = {path.resolve(): _read(path) for path in _pages(folder)}
    if not pages:
        yield f"{folder}: no page"
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for target in page.loaded:
            if target.startswith("data:"):
                continue
            if urlsplit(target).scheme or target.startswith("//"):
                yield f"{name}: loads {target}"
            elif not (path.parent / unquote(urlsplit(target).path)).exists():
                yield f"{name}: no file {target}"
        for target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.exists() or to.is_dir():
                yield f"{name}: no page {target}"
            elif (
                parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].anchors
            ):
                yield f"{name}: no anchor {target}"
    for path in sorted(folder.rglob("*.css")):
        for match in _OF_CSS.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(folder)}: loads {match.group(0)[:80]}"


def main() -> int:
    folder = Path(sys.argv[1])
    found = list(complaints(folder))
    sys.stdout.writelines(f"{line}\n" for line in found)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    count = len(_pages(folder))
    sys.stdout.write(f"{count} pages, {size / 1e6:.1f} MB, {len(found)} complaints\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
