"""Stored text on a terminal: shown, never obeyed."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from oneiros.cli.terminal import output, show_table, table, text
from oneiros.display.escaping import OBEYED, one_line, snippet, visible

HOSTILE = [
    ("\x1b[2Jgone", "␛[2Jgone"),  # clears the screen
    ("\x1b]0;title\x07", "␛]0;title␇"),  # retitles the window
    ("\x1b]8;;https://x\x1b\\link", "␛]8;;https://x␛\\link"),  # a link that says another address
    ("\x9b31mred", "⟨U+009B⟩31mred"),  # the one-byte form of ESC [
    ("a\rb", "a␍b"),  # overwrites the line
    ("a\x08b", "a␈b"),
    ("\x00nul", "␀nul"),
    ("del\x7f", "del␡"),
    ("user\u202etxt.exe", "user⟨U+202E⟩txt.exe"),  # right-to-left override
    ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
    ("a\u2028b", "a⟨U+2028⟩b"),
    ("lone \ud800", "lone ⟨U+D800⟩"),
]


@pytest.mark.parametrize(("stored", "shown"), HOSTILE)
def test_what_a_terminal_would_obey_is_made_visible(stored: str, shown: str) -> None:
    assert visible(stored) == shown


def test_ordinary_text_is_left_alone() -> None:
    ordinary = "line one\n\tline two: naïve, שלום, 日本語, 👩‍💻, ␛ as a picture"
    assert visible(ordinary) == ordinary


@given(st.text(st.characters(codec=None)))
def test_no_text_keeps_a_character_that_is_obeyed(stored: str) -> None:
    shown = visible(stored)
    assert not re.search(OBEYED, shown)
    assert all(ord(character) >= 0x20 or character in "\n\t" for character in shown)
    assert visible(shown) == shown
    assert "\n" not in one_line(stored)
    shown.encode()  # can be written to any UTF-8 stream


@given(st.text(), st.integers(2, 50))
def test_a_snippet_is_one_line_of_at_most_its_length(stored: str, length: int) -> None:
    shown = snippet(stored, length)
    assert len(shown) <= length
    assert "\n" not in shown


def test_a_snippet_marks_its_cut() -> None:
    assert snippet("one  two\nthree", 20) == "one two three"
    assert snippet("abcdefghij", 5) == "abcd…"
    assert snippet("a" + " " * 1000 + "b", 5).endswith("…")


@pytest.mark.parametrize(
    "stored", ["[bold red]x[/]", "[link=file:///etc]x[/link]", ":smile:", "[/]"]
)
def test_markup_in_stored_text_is_printed_as_it_is(stored: str) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="truecolor", width=80)
    console.print(text(stored))
    assert stream.getvalue() == stored + "\n"


@pytest.mark.parametrize(("width", "least"), [(22, None), (120, None), (20, 20)])
def test_a_table_that_has_room_is_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, least: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show_table(numbers(), least)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "count", "share"]
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(("width", "least"), [(21, None), (40, 41)])
def test_where_it_has_none_a_row_is_a_line_that_names_its_cells(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, least: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show_table(numbers(), least)
    told = " ".join(capsys.readouterr().out.split())
    assert told == "ant ␛[2J: count 1; share 14.0% ant ␛[2J: share 86.0%"


def numbers() -> Table:
    table = Table("name", "count", "share", box=None, pad_edge=False)
    table.add_row(text("ant \x1b[2J"), "1", "14.0%")
    table.add_row("", "", text("86.0%"))
    return table


def test_output_without_a_terminal_has_80_columns_or_those_of_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for columns, width in (("", 80), ("0", 80), ("many", 80), ("132", 132)):
        monkeypatch.setenv("COLUMNS", columns)
        assert output().width == width
    monkeypatch.delenv("COLUMNS")
    assert output().width == 80


def test_a_table_that_is_too_wide_names_its_cells_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    made = table("profile", ">trips\nnDCG@10", ">all", rows=[("oneiros", "0.123", "0.456")])
    show_table(made)
    shown = capsys.readouterr().out
    assert " ".join(shown.split()) == "oneiros: trips nDCG@10 0.123; all 0.456"
