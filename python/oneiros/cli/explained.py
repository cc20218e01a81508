"""How scores came about, on a terminal: a tree a result, and one table over all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from oneiros.cli.rendering import told
from oneiros.cli.terminal import text
from oneiros.display import columns_of

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table as RichTable
    from rich.tree import Tree

    from oneiros.display import Branch, Table
    from oneiros.explain.why_not import WhyNot
    from oneiros.search.response import SearchResponse

__all__ = ["parts", "rich_tree", "why_not_document", "why_not_parts"]

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


def why_not_parts(told: WhyNot) -> Iterator[Tree | RichTable | str]:
    """Yield the tree of the answer, and its figures beside those of the last place returned."""
    yield rich_tree(told.tree())
    if told.kth is not None and told.channels and not told.is_returned:
        yield ""
        yield _rich_table(told.table())


def why_not_document(told: WhyNot) -> dict[str, object]:
    """Return the whole answer as JSON values."""
    derived = ("is_returned", "score", "kth_score", "gap", "verdict", "lacked")
    return dataclasses.asdict(told) | {name: getattr(told, name) for name in derived}


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


def _rich_table(table: Table, columns: Iterable[int] | None = None) -> RichTable:
    """Return a table of literal texts, of these columns; None: of all."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415

    rows = table.shown()
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    chosen = list(range(len(table.columns)) if columns is None else columns)
    for column in chosen:
        justify: JustifyMethod = "right" if table.is_figures(column) else "left"
        heading = text(_heading(table.columns[column]))
        shown.add_column(heading, justify=justify, no_wrap=True)
    for row in rows:
        shown.add_row(*(text(row[column]) for column in chosen))
    return shown


def _tables(table: Table, width: int) -> Iterator[RichTable]:
    """Yield the table whole where it fits; else in parts, each with rank and id.

    Args:
        table: its first two columns are rank and id.
        width: columns of the terminal.
    """
    headings = map(_heading, table.columns)
    widths = [
        max(columns_of(line) for cell in (heading, *cells) for line in cell.split("\n"))
        for heading, *cells in zip(headings, *table.shown(), strict=True)
    ]
    for group in _fitting(widths, width):
        yield _rich_table(table, group)


def _heading(name: str) -> str:
    """One word a line, so that a column stays as narrow as its numbers."""
    return name.replace(" ", "\n").replace("_", "\n")


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
