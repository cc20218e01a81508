"""Pictures of pages, taken while the site is built: the directive ``screenshot``.

Its argument names a page of ``docs.site.pictured``, its content is the caption. The page is opened in
Chromium without a window, 900 and 400 pixels wide, light and dark; the site shows those of its theme. Where
there is no Chromium, the build says so in one line and shows no picture.

``python -m docs.site.screenshots FOLDER [NAME ...]`` takes the pictures alone.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from docs.site.pictured import PICTURED, Pictured
from tests.inspection.browser import CHROMIUM, Browser, Page

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["THEMES", "WIDTHS", "pictures_of", "setup", "taken"]

WIDTHS = (900, 400)
THEMES = ("light", "dark")
PLACE = "_images/pages"
_PATIENCE = 60.0
_READY = (
    "document.readyState === 'complete' && "
    "document.getElementById('main')?.getAttribute('aria-busy') !== 'true'"
)


_WITHOUT = """{{
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {{
    texts.currentNode.data = texts.currentNode.data.replaceAll({}, "");
  }}
}}"""
"""Takes the temporary folder out of the texts of a page: pictures are of an agent's store."""


def pictures_of(name: str) -> Iterator[tuple[int, str, str]]:
    """Yield width, theme and file name of each picture of a page."""
    for width in WIDTHS:
        for theme in THEMES:
            yield width, theme, f"{name}-{width}-{theme}.png"


@contextmanager
def browser() -> Iterator[Browser]:
    """Yield a browser with an empty profile."""
    with tempfile.TemporaryDirectory(prefix="oneiros-docs-", ignore_cleanup_errors=True) as folder:
        made = Browser(Path(folder))
        try:
            yield made
        finally:
            made.close()


def taken(made: Browser, name: str, folder: Path, pictured: Pictured | None = None) -> list[Path]:
    """Take the pictures of a page; return their files."""
    one = PICTURED[name] if pictured is None else pictured
    files = []
    with (
        tempfile.TemporaryDirectory(prefix="oneiros-docs-") as scratch,
        one.address(Path(scratch)) as address,
    ):
        for width, theme, file in pictures_of(name):
            page = made.page(width, 300, is_dark=theme == "dark")
            page.command("Page.navigate", url=address)
            _wait(page)
            page.run(one.prepare)
            page.run(_WITHOUT.format(json.dumps(f"{scratch}/")))
            _wait(page)
            height = min(int(page.run("document.documentElement.scrollHeight")), one.tallest)
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
            shot = page.command("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
            files.append(folder / file)
            files[-1].write_bytes(base64.b64decode(shot["data"]))
    return files


def _wait(page: Page) -> None:
    """Wait until the page is complete, and was drawn."""
    end = time.monotonic() + _PATIENCE
    while not page.run(f"location.href !== 'about:blank' && {_READY}"):
        if time.monotonic() > end:
            msg = f"the page is not complete after {_PATIENCE:.0f} s"
            raise TimeoutError(msg)
        time.sleep(0.05)
    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


class Screenshot(SphinxDirective):
    """Pictures of a page."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the pictures, those of one theme shown at a time."""
        name = self.arguments[0]
        if name not in PICTURED:
            msg = f"screenshot: must be one of {', '.join(PICTURED)}, got {name!r}"
            raise self.error(msg)
        made = _browser_of(self.env.app)
        if made is None:
            return []
        folder = Path(self.env.app.outdir) / PLACE
        folder.mkdir(parents=True, exist_ok=True)
        taken(made, name, folder)
        caption = " ".join(self.content)
        up = "../" * self.env.docname.count("/")
        images = "".join(
            f'<a class="only-{theme}" style="flex: {width}" href="{up}{PLACE}/{file}">'
            f'<img class="dark-light" src="{up}{PLACE}/{file}" loading="lazy"'  # dimmed without it
            f' alt="{escape(caption)}, {width} pixels wide, {theme}"></a>'
            for width, theme, file in pictures_of(name)
        )
        figure = nodes.figure("", classes=["pictured"])
        figure += nodes.raw("", f'<div class="pages">{images}</div>', format="html")
        if caption:
            words, _ = self.state.inline_text(caption, self.lineno)
            figure += nodes.caption("", "", *words)
        return [figure]


def _browser_of(app: Sphinx) -> Browser | None:
    """Return the build's browser, started at the first picture; None where there is none."""
    state: dict[str, Any] = app.__dict__.setdefault("oneiros_screenshots", {})
    if "browser" not in state:
        if CHROMIUM is None:
            sys.stderr.write(
                "screenshots: Chromium is not installed; the site has no pictures of pages\n"
            )
            state["browser"] = None
        else:
            state["stack"] = browser()
            state["browser"] = state["stack"].__enter__()
    found: Browser | None = state["browser"]
    return found


def _close(app: Sphinx, _error: Exception | None) -> None:
    stack = app.__dict__.get("oneiros_screenshots", {}).get("stack")
    if stack is not None:
        stack.__exit__(None, None, None)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("screenshot", Screenshot)
    app.connect("build-finished", _close)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


def main(given: Sequence[str]) -> None:
    """Take the pictures of all pages, or of those named."""
    folder = Path(given[0])
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as made:
        for name in given[1:] or PICTURED:
            for path in taken(made, name, folder):
                sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
