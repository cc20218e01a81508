"""What the commands write on a terminal: literal text, consoles, progress, questions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TextIO

from oneiros.cli.failures import FAILED, CommandError
from oneiros.visible_text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = ["confirm", "output", "progress_bar", "show_table", "text"]

Advance = Callable[[int], None]

PLAIN_WIDTH = 120  # columns where there is no terminal to ask
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


def text(stored: str, style: str = "") -> Text:
    """Return rich text that holds ``stored`` literally: no markup, no escapes."""
    from rich.text import Text  # noqa: PLC0415  (--json needs no rich)

    return Text(visible(stored), style=style)


def output() -> Console:
    """Return a console on stdout: colours on a terminal only, a fixed width elsewhere."""
    return _console(sys.stdout)


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
    heads = [str(column.header) for column in table.columns[1:]]
    name = ""
    for first, *others in zip(*(column.cells for column in table.columns), strict=True):
        name = str(first) or name
        told = (f"{head} {cell}" for head, cell in zip(heads, others, strict=True) if str(cell))
        console.print(text(f"{name}: {'; '.join(told)}"))


@contextmanager
def progress_bar(label: str, total: int | None) -> Iterator[Advance]:
    """Show a progress bar on stderr while the block runs, if stderr is a terminal.

    Args:
        label: what is going on; no stored text.
        total: steps until done, None when not known.

    Yields:
        Call it with the number of steps done; safe when nothing is shown.
    """
    if not sys.stderr.isatty():
        yield _nothing
        return
    from rich import progress  # noqa: PLC0415

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


def _console(stream: TextIO) -> Console:
    from rich.console import Console  # noqa: PLC0415

    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)
