"""``oneiros purge``: erase for good what was soft-deleted long enough ago."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.failures import interrupt_held
from oneiros.cli.moments import moment, seconds_of
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened
from oneiros.cli.terminal import confirm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.memory import Memory

__all__ = ["purge"]

_MOST_SHOWN = 50  # rows for a terminal; --json names all
_TEXT = 60  # characters of a text in a row
_LEAST = 70  # columns of a terminal for a table


def purge(
    store: StoreOption = DEFAULT_STORE,
    older_than: Annotated[
        float, typer.Option("--older-than", help="Days since the deletion, at least 0.")
    ] = 30.0,
    now: Annotated[
        str | None, typer.Option(help="The clock: ISO 8601 with an offset, or seconds.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be erased.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase without asking.")] = False,
    json: JsonOption = False,
) -> None:
    """Erase for good what was deleted long enough ago, by dream cycles or by hand.

    It shows which memories these are, and asks. Text, vector and links go; nothing brings them back.
    """
    from oneiros.clock import system_clock  # noqa: PLC0415  (--help must not pay for it)
    from oneiros.ranking.declaration import require_number  # noqa: PLC0415

    require_number("--older-than", older_than, low=0.0)
    given = seconds_of("--now", now)
    clock = (
        system_clock() if given is None else given
    )  # one moment for what is shown and what is done
    with opened(existing(store)) as engine:
        ids = engine.purgeable(older_than, now=clock)
        if not json:
            _show(engine.get_deleted(ids[:_MOST_SHOWN]), len(ids), older_than)
        if ids and not (dry_run or yes):
            confirm(f"erase {_memories(len(ids))} for good?", "nothing was erased")
        with interrupt_held():  # what was done must be reported
            erased = engine.purge(older_than, now=clock) if ids and not dry_run else 0
            if json:
                query = {"now": clock, "older_than_days": older_than, "is_dry_run": dry_run}
                documents.write({**query, "erased": erased, "memories": ids})
            elif ids and not dry_run:
                typer.echo(f"{_memories(erased)} erased")


def _show(first: Sequence[Memory | None], count: int, days: float) -> None:
    from rich import box  # noqa: PLC0415  (--json needs no rich)
    from rich.table import Table  # noqa: PLC0415

    from oneiros.cli.terminal import output, show_table, text  # noqa: PLC0415
    from oneiros.visible_text import snippet  # noqa: PLC0415

    console = output()
    if not count:
        console.print(text(f"nothing was deleted more than {days:g} days ago"))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("memory", "kind", "deleted", "text"):
        table.add_column(name, overflow="fold")
    for memory in first:
        if memory is None or memory.deleted_at is None:
            continue  # brought back or erased meanwhile
        deleted = moment(float(round(memory.deleted_at)))
        cells = (memory.id, memory.kind, deleted, memory.title or memory.text)
        table.add_row(*(text(snippet(cell, _TEXT)) for cell in cells))
    show_table(table, _LEAST)
    if count > _MOST_SHOWN:
        console.print(text(f"... and {count - _MOST_SHOWN} more", style="dim"))
    console.print(text(f"{_memories(count)}, deleted more than {days:g} days ago"))


def _memories(count: int) -> str:
    return f"{count} memory" if count == 1 else f"{count} memories"
