"""Simulated lives as one page that needs nothing else: the picture, and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.dream.page.markup import Html, cells, element
from oneiros.dream.page.style import STYLE
from oneiros.simulation.plot import drawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.simulation.figures import Lives
    from oneiros.simulation.telling import Told

__all__ = ["page"]


def page(lives: Sequence[Lives], tables: Sequence[Told], title: str) -> str:
    """Return a page in HTML that loads nothing.

    Args:
        lives: at least one, drawn.
        tables: below the picture, in their order.
        title: of the page.

    Raises:
        ImportError: matplotlib is not installed.
    """
    picture = drawn(lives).decode()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", STYLE),
    )
    body = element(
        "body",
        element("h1", title),
        element("figure", Html(picture[picture.index("<svg") :])),
        *map(_section, tables),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _section(told: Told) -> Html:
    table = cells(told.heads, told.rows, numbers=told.heads[told.names :])
    return element("section", element("h2", told.title), table)
