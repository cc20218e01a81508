"""How scores came about, on a terminal: a tree a result, and one table over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from oneiros.cli.rendering import told
from oneiros.cli.terminal import text

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table as RichTable
    from rich.tree import Tree

    from oneiros.display import Branch, Table
    from oneiros.response import SearchResponse

__all__ = ["parts", "rich_tree"]

_GAP = 3  # columns between the columns of a table
_KEYS = 2  # columns that every table begins with: rank and id


def parts(response: SearchResponse, width: int) -> Iterator[Tree | RichTable]:
    """Yield a tree a result, then the table over all of them; nothing without results.

    Args:
        response: the answer, explained.
        width: columns of the terminal.
    """
    yield from _result_trees(response)
    if response.results:
        yield from _tables(response.table(), width)


def _result_trees(response: SearchResponse) -> Iterator[Tree]:
    """Yield each result's text over the tree of its score; memories are read here."""
    from rich.text import Text  # noqa: PLC0415  (--json needs no rich)

    for rank, result in enumerate(response.results, start=1):
        if result.explanation is not None:
            label = Text(f"{rank}  ").append_text(told(result))
            tree = result.explanation.tree()
            yield rich_tree(tree._replace(label=""), label, first=tree.label)


def rich_tree(root: Branch, label: RenderableType | None = None, *, first: str = "") -> Tree:
    """Return a tree of texts that are shown literally.

    Args:
        root: what to show.
        label: stands in place of the root's own.
        first: one more branch, before the others.
    """
    from rich.tree import Tree  # noqa: PLC0415

    tree = Tree(text(root.label) if label is None else label, guide_style="dim")
    if first:
        tree.add(text(first, style="bold"))
    for branch in root.branches:
        tree.add(rich_tree(branch))
    return tree


def _tables(table: Table, width: int) -> Iterator[RichTable]:
    """Yield the table whole where it fits; else in parts, each with rank and id.

    Args:
        table: its first two columns are rank and id.
        width: columns of the terminal.
    """
    from rich import box  # noqa: PLC0415
    from rich.cells import cell_len  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415

    rows = table.shown()
    headings = [name.replace(" ", "\n").replace("_", "\n") for name in table.columns]
    widths = [
        max(cell_len(line) for cell in (heading, *cells) for line in cell.split("\n"))
        for heading, *cells in zip(headings, *rows, strict=True)
    ]
    for group in _fitting(widths, width):
        part = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for column in group:
            justify: JustifyMethod = "right" if table.is_figures(column) else "left"
            part.add_column(text(headings[column]), justify=justify, no_wrap=True)
        for row in rows:
            part.add_row(*(text(row[column]) for column in group))
        yield part


def _fitting(widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Yield groups of columns, rank and id in each, no wider than the terminal where it can be."""
    keys = list(range(_KEYS))
    group, used = list(keys), sum(widths[:_KEYS])
    for column in range(_KEYS, len(widths)):
        if used + widths[column] + _GAP * len(group) > width and len(group) > _KEYS:
            yield group
            group, used = list(keys), sum(widths[:_KEYS])
        group.append(column)
        used += widths[column]
    yield group
