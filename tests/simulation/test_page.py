"""Simulated lives as one page; needs matplotlib."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from oneiros.simulation.figures import FigureTable, grouped
from oneiros.simulation.plots import page
from tests.simulation.courses import course

pytest.importorskip("matplotlib")


class Cells(HTMLParser):
    """The texts of a page's table cells."""

    def __init__(self, written: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._is_inside = False
        self.feed(written)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as called
        self._is_inside = tag in ("td", "th", "h2")

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.texts.append(data)
        self._is_inside = False


def test_a_page_needs_nothing_else_and_obeys_nothing() -> None:
    hostile = "<script>alert(1)</script>\x1b"
    told = FigureTable("of each kind", ("profile", hostile), [("omega", "4 %")], 1)
    written = page(grouped([course()]), [told], "Lives & deaths")
    assert "<title>Lives &amp; deaths</title>" in written
    assert written.count("<svg") == written.count("</svg>") == 1
    assert "<script" not in written
    assert 'content="default-src &#x27;none&#x27;;' in written  # nor would one be run
    assert not re.search(r'(?:src|href)="(?!#)(?!http://www\.w3\.org)', written)
    shown = ["of each kind", "profile", "<script>alert(1)</script>␛", "omega", "4 %"]
    assert Cells(written).texts == shown
