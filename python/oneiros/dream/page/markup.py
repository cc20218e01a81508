"""HTML by parts: whatever is no :class:`Html` is text, and escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from oneiros.visible_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Html", "cells", "element", "stored"]

_VOID: Final = frozenset({"meta"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """Return an element.

    Args:
        name: of the element; never a stored text.
        *children: HTML, or text, which is escaped; characters that are obeyed become visible.
        **attributes: their values are escaped; an underscore at the end of a name is left out, any
            other is a dash.
    """
    given = "".join(
        f' {name.removesuffix("_").replace("_", "-")}="{_escaped(value)}"'
        for name, value in attributes.items()
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    inner = "".join(map(_escaped, children))
    return Html(f"<{name}{given}>{inner}</{name}>")


def stored(text: str) -> Html:
    """Return a text of the store: escaped, and its direction kept from what stands beside it."""
    return element("bdi", text)


def cells(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()
) -> Html:
    """Return a table.

    Args:
        heads: of the columns.
        rows: HTML or text, a cell a column.
        numbers: the heads of the columns that hold numbers, which stand on the right.
    """
    sides = [{"class_": "number"} if head in numbers else {} for head in heads]
    top = element(
        "tr",
        *(
            element("th", head, scope="col", **side)
            for head, side in zip(heads, sides, strict=True)
        ),
    )
    body = (
        element("tr", *(element("td", cell, **side) for cell, side in zip(row, sides, strict=True)))
        for row in rows
    )
    table = element("table", element("thead", top), element("tbody", *body))
    return element("div", table, class_="wide")


def _escaped(given: str) -> str:
    return given if isinstance(given, Html) else escape(visible(given))
