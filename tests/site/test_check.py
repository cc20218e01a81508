"""The check of a built site finds links that lead nowhere and files that come from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.check import complaints

GOOD = '<h1 id="top">A</h1><a href="b.html#end">b</a><a href="#top">up</a><img src="c.svg">'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "template.html").write_text('<a href="{{ nowhere }}">x</a>')
    (tmp_path / "_static" / "style.css").write_text("a { background: url(data:image/png;base64,) }")
    (tmp_path / "b.html").write_text('<p id="end"></p><a href="https://example.org/">out</a>')
    (tmp_path / "c.svg").write_text("<svg/>")
    (tmp_path / "a.html").write_text(GOOD)
    return tmp_path


def test_a_sound_site_has_no_complaint(site: Path) -> None:
    assert list(complaints(site)) == []


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ('<a href="gone.html">x</a>', "a.html: no page gone.html"),
        ('<a href="b.html#gone">x</a>', "a.html: no anchor b.html#gone"),
        ('<a href="#gone">x</a>', "a.html: no anchor #gone"),
        ('<a href="_static">x</a>', "a.html: no page _static"),
        ('<img src="gone.png">', "a.html: no file gone.png"),
        (
            '<script src="https://cdn.example/a.js"></script>',
            "a.html: loads https://cdn.example/a.js",
        ),
        ('<link rel="stylesheet" href="//cdn.example/a.css">', "a.html: loads //cdn.example/a.css"),
        ('<img srcset="https://cdn.example/a.png 2x">', "a.html: loads https://cdn.example/a.png"),
    ],
)
def test_each_defect_is_named(site: Path, added: str, complaint: str) -> None:
    (site / "a.html").write_text(GOOD + added)
    assert list(complaints(site)) == [complaint]


def test_a_style_that_loads_from_elsewhere_is_named(site: Path) -> None:
    (site / "_static" / "style.css").write_text("a { background: url(https://cdn.example/a.png) }")
    (found,) = complaints(site)
    assert found.startswith("_static/style.css: loads url(https://cdn.example")


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    assert list(complaints(tmp_path)) == [f"{tmp_path}: no page"]
