"""A page read back, as a browser's parser would."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Read", "read"]

_VOID = {"meta"}


class Read(HTMLParser):
    """What a page holds: its elements, the text of each section, and whether all is closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        """By the anchor of the section; "" outside of all."""
        self.cells: list[list[str]] = []
        """Rows of tables, each cell's text."""
        self._open: list[str] = []
        self._section = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        if tag == "section":
            self._section = given["id"] or ""
        elif tag == "tr":
            self.cells.append([])
        elif tag in ("td", "th"):
            self.cells[-1].append("")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "section":
            self._section = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._section] = self.texts.get(self._section, "") + data
        if {"td", "th"} & set(self._open):
            self.cells[-1][-1] += data

    @property
    def is_closed(self) -> bool:
        return not self._open

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element of a name."""
        return [given for name, given in self.elements if name == tag]


def read(page: str) -> Read:
    found = Read()
    found.feed(page)
    found.close()
    return found
