"""Trees and tables of scores, as text and as HTML for notebooks; progress bars.

Names and ids are escaped: no control character reaches a terminal, no markup a page.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Final

from oneiros._lazy import needed
from oneiros.display.escaping import one_line, shortened
from oneiros.runtime.dataclasses import NamedTuple, dataclass

if TYPE_CHECKING:
    from datetime import tzinfo

    import pandas as pd

__all__ = [
    "Branch",
    "DisplayTable",
    "columns_of",
    "day",
    "figure",
    "fitted",
    "html_text",
    "moment",
    "padded",
    "progress_bar",
    "tree_text",
]

CELL = 48  # maximum width of a text in a table, in columns


class Branch(NamedTuple):
    """A label and the branches below it."""

    label: str
    branches: Sequence[Branch] = ()


@dataclass(frozen=True, slots=True)
class DisplayTable:
    """Named columns over rows of values.

    ``str(table)`` is its text, a notebook shows it as HTML.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    """One per result; None for a missing value."""

    def shown(self) -> list[tuple[str, ...]]:
        """Return the rows as text: numbers to five digits, long texts cut, None as a dash."""
        return [tuple(map(_cell, row)) for row in self.rows]

    def is_figures(self, column: int) -> bool:
        """Return whether a column contains no text, so that it is right-aligned."""
        return not any(isinstance(row[column], str) for row in self.rows)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame.

        Raises:
            ImportError: pandas is not installed; the message says what to install.
        """
        return needed("pandas", "pandas").DataFrame(list(self.rows), columns=list(self.columns))

    def __str__(self) -> str:
        lines = [tuple(map(one_line, self.columns)), *self.shown()]
        widths = [max(map(columns_of, column)) for column in zip(*lines, strict=True)]
        right = [self.is_figures(number) for number in range(len(widths))]
        return "\n".join(
            "  ".join(
                padded(cell, width, is_right)
                for cell, width, is_right in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        right = [self.is_figures(number) for number in range(len(self.columns))]
        head = "".join(_html_cells("th", self.columns, right))
        body = "".join(f"<tr>{''.join(_html_cells('td', row, right))}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def columns_of(text: str) -> int:
    """Return the width of a line of text in terminal columns: two for each wide character."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of_character, text))


def _columns_of_character(character: str) -> int:
    is_joined = "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff"
    if is_joined or unicodedata.category(character) in _WITHOUT_COLUMN:
        return 0  # vowels and last letters of Hangul join the letter before
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


_WITHOUT_COLUMN: Final = frozenset({"Mn", "Me", "Mc", "Cf", "Cc"})  # marks, formats, controls
_WIDE: Final = frozenset({"W", "F"})


def padded(text: str, columns: int, is_right: bool = False) -> str:
    """Pad the text with blanks to a width in columns, on the left if ``is_right``."""
    blanks = " " * (columns - columns_of(text))
    return blanks + text if is_right else text + blanks


def fitted(text: str, columns: int) -> str:
    """Cut the text to a width in columns, >= 1; an ellipsis marks a cut."""
    if columns_of(text) <= columns:
        return text
    kept = text[: columns - 1]
    while columns_of(kept) > columns - 1:
        kept = kept[:-1]
    return kept + "…"


def figure(value: float) -> str:
    """Return a number to five significant digits."""
    return f"{value:#.5g}"


def day(seconds: float, zone: tzinfo | None = None) -> str:
    """Return the date in a time zone; None: UTC. The number of seconds if it is out of range."""
    return moment(seconds, zone).partition("T")[0]


def moment(seconds: float | None, zone: tzinfo | None = None) -> str:
    """Return a time in ISO 8601 to the second, or the number if it is out of range.

    Args:
        seconds: since the Unix epoch, UTC; None: "-".
        zone: the time zone of the text, which ends with its offset; None: UTC, with "Z".

    >>> from zoneinfo import ZoneInfo
    >>> from oneiros.display.tables import moment
    >>> moment(1_750_000_000), moment(1_750_000_000, ZoneInfo("Asia/Tokyo"))
    ('2025-06-15T15:06:40Z', '2025-06-16T00:06:40+09:00')
    """
    if seconds is None:
        return "-"
    try:  # strftime does not fill years before 1000 up to four digits
        time = datetime.fromtimestamp(seconds, zone or UTC)
        if zone is not None:
            return time.isoformat(timespec="seconds")
        return f"{time.replace(tzinfo=None).isoformat(timespec='seconds')}Z"
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.0f} s"


def tree_text(root: Branch) -> str:
    """Return a tree as lines of text, one per branch."""
    return "\n".join((one_line(root.label), *_lines(root.branches, "")))


def html_text(text: str) -> str:
    """Return text for an HTML page, with tags, entities and control characters escaped."""
    return escape(one_line(text))


def _lines(branches: Sequence[Branch], indent: str) -> Iterator[str]:
    for place, branch in enumerate(branches, start=1):
        is_last = place == len(branches)
        yield f"{indent}{'└─' if is_last else '├─'} {one_line(branch.label)}"
        yield from _lines(branch.branches, indent + ("   " if is_last else "│  "))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return figure(value)
    return fitted(shortened(str(value), CELL), CELL)


def _html_cells(tag: str, row: tuple[object, ...], right: Sequence[bool]) -> Iterator[str]:
    for value, is_right in zip(row, right, strict=True):
        side = ' style="text-align: right"' if is_right else ' style="text-align: left"'
        exact = f' title="{value!r}"' if isinstance(value, float) else ""
        yield f"<{tag}{side}{exact}>{escape(_cell(value))}</{tag}>"


@contextmanager
def progress_bar(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr within the block.

    Args:
        label: description of the task.
        total: number of steps; None: no bar.

    Yields:
        A function to call with the number of steps done.

    Raises:
        ImportError: rich is not installed and a bar is to be shown; the message names the extra.
    """
    if total is None:
        yield _ignore
        return
    console = needed("rich.console", "cli").Console(stderr=True)
    with needed("rich.progress", "cli").Progress(console=console, transient=True) as shown:
        yield partial(shown.advance, shown.add_task(label, total=total))


def _ignore(_steps: int) -> None:
    """Do nothing; advances no bar."""
