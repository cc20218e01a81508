"""Output of the commands: literal text, tables, progress, questions, times, JSON documents."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from oneiros.cli.failures import FAILED, CommandError
from oneiros.display.escaping import one_line, visible
from oneiros.display.json_values import plain
from oneiros.model.memory import iso_time
from oneiros.model.validation import moment as check
from oneiros.runtime.files import require_replaceable

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "confirm",
    "flat",
    "grid",
    "moment",
    "output",
    "plain",
    "progress_bar",
    "range_of",
    "require_folder",
    "require_writable",
    "seconds_of",
    "show_plain",
    "show_plain_figures",
    "show_rows",
    "show_table",
    "table",
    "text",
    "text_of_stdin",
    "write",
]


def require_writable(option: str, path: Path, others: Mapping[str, Path | None]) -> None:
    """Refuse a file that could not be written in the end, or that the command itself needs.

    Args:
        option: that names it.
        path: of the file.
        others: what the command reads or writes besides, by option; None: not given.

    Raises:
        CommandError: there is no such folder, nothing can be written there, or another option
            names the same file.
        ValueError: it is a symbolic link, a folder or a device.
    """
    if str(path) == "-":  # elsewhere a name of stdout, which cannot appear whole or not at all
        msg = f"{option}: must be a file's name, got '-'"
        raise CommandError(msg)
    require_folder(option, path)
    if path.is_dir():
        msg = f"{option}: must be a file's name, got the folder {str(path)!r}"
        raise CommandError(msg)
    require_replaceable(option, path)
    for name, other in others.items():
        if other is not None and os.path.realpath(other) == os.path.realpath(path):
            msg = f"{option}: must be another file than that of {name}, got {str(path)!r}"
            raise CommandError(msg)


def require_folder(option: str, path: Path) -> None:
    """Refuse a path in whose folder no file can be made.

    Raises:
        CommandError: there is no such folder, or nothing can be written there.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        msg = f"{option}: {path.parent}: no such folder"
        raise CommandError(msg)
    if not os.access(folder, os.W_OK | os.X_OK):
        msg = f"{option}: {path.parent}: nothing can be written in this folder"
        raise CommandError(msg)


def write(
    command: str,
    store: Path | str | None,
    document: Mapping[str, object],
    *,
    is_line: bool = False,
) -> None:
    """Write one document and a newline to stdout: command and store, then what is given.

    Times are in ISO 8601: numbers under ``now`` or a name that ends in ``_at``. ASCII only: control
    characters and bidirectional marks in stored text stay escaped, so that even a document shown on
    a terminal is harmless.

    Args:
        command: its name.
        store: the file of the store that it read, as given; None: none.
        document: the rest; no name in it is ``command`` or ``store``.
        is_line: on one line, for a command that writes a document after the other.
    """
    head = {"command": command, "store": None if store is None else str(store)}
    assert not head.keys() & document.keys()
    whole = _dated(plain(head | dict(document)))
    json.dump(whole, sys.stdout, allow_nan=False, indent=None if is_line else 2)
    sys.stdout.write("\n")


def _dated(document: Any) -> dict[str, Any]:
    """Return a document with times in ISO 8601, its own and those of objects that it lists.

    What lies deeper is left alone: there, names of fields may stand for counts.
    """
    return {
        name: [_with_times(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else value
        for name, value in _with_times(document).items()
    }


def _with_times(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: moment(value)
        if (name == "now" or name.endswith("_at")) and isinstance(value, int | float)
        else value
        for name, value in values.items()
    }


def seconds_of(name: str, written: str | None) -> float | None:
    """Return seconds since the epoch of ISO 8601 with an offset, or of a plain number; None of None.

    Raises:
        ValueError: anything else, naming the option and the value.
    """
    if written is None:
        return None
    try:
        given: float | str = float(written)
    except ValueError:
        given = written
    return float(check(name)(given))


def range_of(name: str, written: str | None) -> tuple[float | None, float | None] | None:
    """Return the pair of times of ``START/END``, either of which may be left out; None of None.

    Raises:
        CommandError: no "/", or two.
        ValueError: a time that :func:`seconds_of` refuses.
    """
    if written is None:
        return None
    ends = written.split("/")
    if len(ends) != 2:
        msg = f"{name}: expected START/END, got {written!r}"
        raise CommandError(msg)
    start, end = (seconds_of(name, end.strip() or None) for end in ends)
    return start, end


def moment(seconds: float) -> str:
    """Return ISO 8601 in UTC, or the number itself outside the calendar's years."""
    time = iso_time(seconds)
    return time if isinstance(time, str) else f"{time:.0f} s"


Advance = Callable[[int], None]

LEAST_COLUMN = 10  # columns of the terminal that a table of memories needs for each of its own
TABLE_WIDTH = 80  # columns that a table of memories or settings takes at most
PLAIN_WIDTH = 80  # columns where there is neither a terminal nor the variable COLUMNS
_UNBOUNDED = 10_000


def confirm(question: str, refusal: str) -> None:
    """Ask on stderr, and return once the answer on stdin is yes.

    Args:
        question: ends with a question mark.
        refusal: what is so without a yes, such as "nothing was erased".

    Raises:
        CommandError: another answer, or none: there is no terminal.
    """
    sys.stdout.flush()
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer:
        sys.stderr.write("\n")
        msg = f"--yes: needed where stdin has no answer; {refusal}"
        raise CommandError(msg)
    if answer.strip().lower() not in ("y", "yes"):
        raise CommandError(refusal, FAILED)


def text_of_stdin() -> str:
    """Return what stdin holds, without the last line's end.

    Raises:
        CommandError: it is closed, or no UTF-8.
    """
    if sys.stdin is None:
        msg = "stdin: must not be closed"
        raise CommandError(msg)
    try:
        given = sys.stdin.read()
        given.encode()  # a lone surrogate stands for a byte where Python does not refuse it itself
    except UnicodeError as error:
        msg = "stdin: not UTF-8"
        raise CommandError(msg) from error
    return given.removesuffix("\n")


def text(stored: str, style: str = "") -> Text:
    """Return rich text that holds ``stored`` literally: no markup, no escapes."""
    from rich.text import Text  # noqa: PLC0415 - --json needs no rich

    return Text(visible(stored), style=style)


def table(
    *heads: str,
    rows: Iterable[Iterable[str | Text]] = (),
    folds: Container[str] = (),
    **style: Any,
) -> Table:
    """Return a table of literal texts.

    Args:
        heads: of the columns; one that begins with ">" stands over figures, on the right.
        rows: their cells.
        folds: heads of the columns whose cells are folded where they have no room.
        style: arguments of rich's table.
    """
    from rich import box  # noqa: PLC0415 - --json needs no rich
    from rich.table import Table  # noqa: PLC0415

    made = Table(**{"box": box.SIMPLE_HEAD, "pad_edge": False, "show_edge": False, **style})
    for head in heads:
        name = head.removeprefix(">")
        made.add_column(
            text(name),
            justify="left" if name == head else "right",
            no_wrap=name not in folds,
            overflow="fold" if name in folds else "ellipsis",
        )
    for row in rows:
        made.add_row(*(text(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def grid(rows: Iterable[Iterable[str | Text]] = (), **style: Any) -> Table:
    """Return a table of literal texts without heads and lines; cells are folded."""
    plain_style = {"box": None, "show_header": False, "padding": (0, 2), "collapse_padding": True}
    made = table(rows=rows, **plain_style | style)
    for column in made.columns:
        column.overflow = "fold"  # a cell that has no room is not cut
    return made


def output() -> Console:
    """Return a console on stdout: colours on a terminal only, a fixed width elsewhere."""
    return _console(sys.stdout)


def show_plain(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write rows on stdout for other programs: lines of cells between tabs, the heads first.

    Args:
        heads: of the columns.
        rows: their cells, uncut, each on one line; None: an empty one.
    """
    for row in (heads, *rows):
        cells = ("" if cell is None else one_line(str(cell)) for cell in row)
        sys.stdout.write("\t".join(cells) + "\n")


def show_plain_figures(figures: Mapping[str, object], head: str = "figure") -> None:
    """Write figures on stdout for other programs: a line each, and the name of a group before its own.

    Args:
        figures: by name; times and lists as in a document of :func:`write`.
        head: over the names.
    """
    rows = (
        (name, value if value is None or isinstance(value, str) else json.dumps(value))
        for name, value in flat(_dated(plain(figures)))
    )
    show_plain((head, "value"), rows)


def flat(figures: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, Any]]:
    """Yield name and value, of groups too, each name after its group's."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{group}{name} ")
        else:
            yield f"{group}{name}", value


def show_table(table: Table, least: int | None = None) -> None:
    """Write a table on stdout; on a terminal too narrow for it, a line a row that names its cells.

    Args:
        table: the first column names a row; an empty cell there is that of the row before.
        least: columns from which on there is room, cells being folded; None: as many as it takes
            without.
    """
    console = output()
    unbounded = console.options.update(width=_UNBOUNDED)
    needed = console.measure(table, options=unbounded).maximum if least is None else least
    if needed <= console.width:
        console.print(table)
        return
    if table.title:
        console.print(table.title)
    heads = [" ".join(str(column.header).split("\n")) for column in table.columns[1:]]
    name = ""
    for first, *others in zip(*(column.cells for column in table.columns), strict=True):
        name = str(first) or name
        cells = (f"{head} {cell}" for head, cell in zip(heads, others, strict=True) if str(cell))
        console.print(text(f"{name}: {'; '.join(cells)}"))


def show_rows(
    heads: tuple[str, ...],
    rows: Iterable[tuple[str | Text, ...]],
    *,
    plain: bool,
    folds: Container[str] = (),
) -> None:
    """Write rows on stdout: a table of at most 80 columns, or plain lines for other programs.

    Where a terminal has fewer than 10 columns for each of the table, each row becomes a line.

    Args:
        heads: of the columns, as for :func:`table`.
        rows: their cells; stored text in them is shown literally.
        plain: whether to write lines as :func:`show_plain` does.
        folds: heads of the columns whose cells are folded where they have no room; the others'
            cells are cut.
    """
    if plain:
        show_plain((head.removeprefix(">") for head in heads), rows)
        return
    made = table(*heads, rows=rows, folds=folds)
    console = output()
    if console.width < LEAST_COLUMN * len(heads):
        show_table(made, LEAST_COLUMN * len(heads))
        return
    console.width = min(console.width, TABLE_WIDTH)
    console.print(made)


@contextmanager
def progress_bar(label: str, total: int | None) -> Iterator[Advance]:
    """Show a progress bar on stderr while the block runs, if stderr is a terminal.

    Args:
        label: what is going on; no stored text.
        total: steps until done, None when not known.

    Yields:
        Call it with the number of steps done; safe when nothing is shown.
    """
    from rich import progress  # noqa: PLC0415 - --json needs no rich

    if not sys.stderr.isatty():
        yield _nothing
        return

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=_console(sys.stderr), transient=True) as shown:
        task = shown.add_task(label, total=total)
        yield partial(shown.advance, task)


def _nothing(_steps: int) -> None:
    """Advance no bar."""


def _width_of_pipes() -> int:
    """Return the columns of output that goes to a pipe or a file."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isascii() and given.isdigit() and int(given) else PLAIN_WIDTH


def _console(stream: TextIO) -> Console:
    from rich.console import Console  # noqa: PLC0415 - --json needs no rich

    width = None if stream.isatty() else _width_of_pipes()
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)
