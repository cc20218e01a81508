"""Trees and tables of scores on terminals of every width, with hostile texts in all of them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from oneiros.cli.search import parts, rich_tree
from oneiros.display.tables import Branch
from tests.cli.test_rendering import HOSTILE, explained, memory, response


def printed(width: int, id: str = "m1") -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, color_system=None)
    for part in parts(response([memory(id=id, text=HOSTILE)], [explained()]), width):
        console.print(part)
    return stream.getvalue().splitlines()


def figures(lines: list[str]) -> list[str]:
    """What stands in the row of the result, in each part of the table, without rank and id."""
    return [cell for line in lines for cell in line.split()[2:] if line.startswith("   1   m1")]


@pytest.mark.parametrize("width", [30, 50, 80, 120, 400])
def test_the_table_has_every_figure_at_any_width(width: int) -> None:
    lines = printed(width)
    assert max(map(len, lines)) <= width
    assert figures(lines) == [
        *("1", "3.5000", "2", "-", "0.50000"),
        *("1.2500", "0.50000", "0.31250"),
    ]


def test_a_wide_terminal_has_it_in_one_part() -> None:
    assert sum(line.startswith("rank") for line in printed(120)) == 1
    assert sum(line.startswith("rank") for line in printed(50)) > 1


def test_a_tree_stands_under_each_text() -> None:
    lines = printed(120)
    assert lines[1].startswith("m1  note  ")
    assert lines[2:8] == [
        "├── score 0.31250",
        "├── relevance 0.50000",
        "│   ├── lexical: rank 1, score 3.5000",
        "│   └── vector: rank 2",
        "├── × 1.2500 time_decay = 0.62500",
        "└── × 0.50000 strength = 0.31250",
    ]


def test_hostile_ids_texts_and_labels_are_printed_as_they_are() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=120, force_terminal=True, color_system=None)
    console.print(rich_tree(Branch(HOSTILE, [Branch(HOSTILE)])))
    shown = stream.getvalue() + "\n".join(printed(120, id=f"m{HOSTILE}"))
    for character in ("\x1b", "\x9b", "\u202e"):
        assert character not in shown
    assert shown.count("[bold red]gone[/]") >= 5  # two labels; text, id, id in the table
