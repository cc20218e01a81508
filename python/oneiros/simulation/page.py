"""Simulated lives as one page that needs nothing else: the picture, and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.dream.page.document import document
from oneiros.dream.page.markup import Html, cells, element
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
    return document(
        title,
        element("h1", title),
        element("figure", Html(picture[picture.index("<svg") :])),
        *map(_section, tables),
    )


def _section(told: Told) -> Html:
    table = cells(told.heads, told.rows, numbers=told.heads[told.names :])
    return element("section", element("h2", told.title), table)
