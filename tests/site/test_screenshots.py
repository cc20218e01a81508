"""Pictures of pages in the site: taken where there is a browser, named and left out where there is none."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

for package in ("sphinx", "myst_parser"):
    pytest.importorskip(package, reason="needs the packages of the site: pip install '.[docs]'")

from docs.site.outside_pages import ROOT
from docs.site.pictured import PICTURED, Pictured
from docs.site.screenshots import browser, pictures_of, taken
from tests.inspection.browser import CHROMIUM

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
CONF = """
import sys
sys.path.insert(0, {root!r})
from tests.inspection import browser
{also}
extensions = ["myst_parser", "docs.site.screenshots"]
html_theme = "basic"
"""
PAGE = "# T\n\n```{screenshot} notebook-response\nA *response*.\n```\n"


def build(folder: Path, page: str, also: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "conf.py").write_text(CONF.format(root=str(ROOT), also=also), encoding="utf-8")
    (folder / "index.md").write_text(page, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", ".", "out"]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)


def size_of(path: Path) -> tuple[int, int]:
    """Return width and height of a PNG."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_without_chromium_the_page_builds_and_one_line_says_so(tmp_path: Path) -> None:
    done = build(tmp_path, PAGE + PAGE.removeprefix("# T\n"), "browser.CHROMIUM = None")
    assert done.returncode == 0, done.stderr
    said = "screenshots: Chromium is not installed; the site has no pictures of pages\n"
    assert done.stderr == said
    assert "<img" not in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


@needs_chromium
def test_a_page_has_pictures_of_both_widths_and_themes(tmp_path: Path) -> None:
    done = build(tmp_path, PAGE)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<em>response</em>" in page
    for width, theme, file in pictures_of("notebook-response"):
        assert f'src="_images/pages/{file}"' in page
        assert f'class="only-{theme}"' in page
        assert size_of(tmp_path / "out" / "_images" / "pages" / file)[0] == width


@needs_chromium
def test_pictures_are_of_the_whole_page_in_the_colours_of_the_theme(tmp_path: Path) -> None:
    @contextmanager
    def address(folder: Path) -> Iterator[str]:
        path = folder / "page.html"
        head = (
            '<meta name="color-scheme" content="light dark">'
            '<meta name="viewport" content="width=device-width">'
        )
        body = "<style>body{margin:0;height:700px;background:Canvas}</style>"
        path.write_text(f"<!doctype html>{head}{body}", encoding="utf-8")
        yield path.as_uri()

    with browser() as made:
        whole = taken(made, "made", tmp_path, Pictured(address))
        cut = taken(made, "cut", tmp_path, Pictured(address, tallest=300))
    assert [size_of(path) for path in whole] == [(900, 700)] * 2 + [(400, 700)] * 2
    assert [size_of(path)[1] for path in cut] == [300] * 4
    light, dark, *_ = (path.read_bytes() for path in whole)
    assert light != dark


def test_an_unknown_name_fails_the_build(tmp_path: Path) -> None:
    done = build(tmp_path, PAGE.replace("notebook-response", "nothing"))
    assert done.returncode != 0
    assert "screenshot: must be one of dream, lives" in done.stderr


def test_every_page_is_shown_somewhere() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md"))
    assert [name for name in PICTURED if f"{{screenshot}} {name}\n" not in pages] == []
