"""Simulated lives as one page that needs nothing else: the picture, and its tables."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from oneiros.simulation.plot import drawn
from oneiros.visible_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.simulation.figures import Lives
    from oneiros.simulation.telling import Told

__all__ = ["page"]

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1.5rem 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; text-align: left; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
"""


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
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{_safe(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{_safe(title)}</h1>\n{picture[picture.index('<svg') :]}\n"
        f"{''.join(map(_table, tables))}</body></html>\n"
    )


def _table(told: Told) -> str:
    head = _row("th", told.heads, told.names)
    rows = "".join(_row("td", row, told.names) for row in told.rows)
    return f"<table><caption>{_safe(told.title)}</caption>{head}{rows}</table>\n"


def _row(tag: str, cells: Sequence[str], names: int) -> str:
    classes = ("" if place < names else ' class="number"' for place in range(len(cells)))
    inner = (f"<{tag}{of}>{_safe(cell)}</{tag}>" for of, cell in zip(classes, cells, strict=True))
    return f"<tr>{''.join(inner)}</tr>\n"


def _safe(text: str) -> str:
    return escape(visible(text))
