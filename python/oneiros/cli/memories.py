"""``oneiros add``, ``list``, ``last``, ``update`` and ``history``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError, blamed_on
from oneiros.cli.options import (
    DEFAULT_STORE,
    AnalyzerOption,
    EmbedderOption,
    JsonOption,
    NowOption,
    PlainOption,
    ScopeOption,
    StoreOption,
    TimezoneOption,
    condition_of,
    each_field,
    existing,
    opened_scope,
    zone_of,
)
from oneiros.cli.sources import read_cell
from oneiros.cli.terminal import moment, seconds_of, show_rows, text_of_stdin
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line, snippet
from oneiros.display.tables import day
from oneiros.display.tables import moment as second
from oneiros.errors import DuplicateId
from oneiros.model.fields import FIELDS
from oneiros.search.records import memory_record

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from oneiros.model.memory import Memory

__all__ = ["add", "history", "last", "list_memories", "update"]

SNIPPET = 160  # characters of a text in a table

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the memory.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Any field of a memory, as importance=0.9, tags='a; b', metadata='{\"a\": 1}'. "
        "May be given again.",
        show_default=False,
    ),
]
KindOption = Annotated[
    str | None, typer.Option(metavar="KIND", help="Kind of memory, such as fact.")
]
TagOption = Annotated[
    list[str] | None, typer.Option(metavar="TAG", help="A tag; may be given again.")
]
WhereOption = Annotated[
    str | None,
    typer.Option(metavar="JSON", help='Filter: {"kind": "fact", "created_at": [START, END]}.'),
]


def add(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What to remember; - reads it from stdin.")
    ],
    store: StoreOption = DEFAULT_STORE,
    id: Annotated[
        str | None, typer.Option(metavar="ID", help="Its id. Default: a new one.")
    ] = None,
    kind: KindOption = None,
    title: Annotated[str | None, typer.Option(metavar="TITLE", help="Its title.")] = None,
    tag: TagOption = None,
    fields: SetOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the memory that has the id.")
    ] = False,
    scope: ScopeOption = None,
    embedder: EmbedderOption = None,
    analyzer: AnalyzerOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> None:
    """Remember a text. A store that is missing is created.

    Prints the id. --embedder makes a vector of the text; a store whose vectors are those of
    "hashing" gets one without it.
    """
    options = {"id": id, "kind": kind, "title": title, "tags": tag}
    named = {name: value for name, value in options.items() if value is not None}
    given = named | _fields(fields, {"text": "TEXT"} | {name: _OPTIONS[name] for name in named})
    with opened_scope(store, scope, embedder, analyzer) as memories:
        try:
            new = memories.add(
                _text(text),
                on_conflict="replace" if replace else "raise",
                now=seconds_of("--now", now),
                **given,
            )
        except DuplicateId as error:
            words, is_seen, _ = str(error).partition(";")  # what follows is for callers in Python
            msg = f"--{words}; --replace replaces it" if is_seen else f"--{words}"
            raise CommandError(msg) from error
    if json:
        terminal.write("add", store, {"ids": [new]})
    else:
        sys.stdout.write(f"{one_line(new)}\n")


_OPTIONS: Final = {"id": "--id", "kind": "--kind", "title": "--title", "tags": "--tag"}


def update(
    id: IdArgument,
    store: StoreOption = DEFAULT_STORE,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its new text; - reads it from stdin.")
    ] = None,
    fields: SetOption = None,
    merge_metadata: Annotated[
        bool,
        typer.Option("--merge-metadata", help="Keep keys of metadata that --set does not name."),
    ] = False,
    scope: ScopeOption = None,
    embedder: EmbedderOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> None:
    """Change fields of a memory; "--set FIELD=" empties one. The former state stays in its history."""
    changes = _fields(fields, {} if text is None else {"text": "--text"}, clears=True)
    if text is not None:
        changes["text"] = _text(text)
    if not changes:
        msg = "update: give --text or --set FIELD=VALUE"
        raise CommandError(msg)
    clock = seconds_of("--now", now)
    with opened_scope(existing(store), scope, embedder) as memories:
        memories.update(id, merge_metadata=merge_metadata, now=clock, **changes)
    if json:
        terminal.write("update", store, {"ids": [id]})
    else:
        sys.stdout.write(f"{one_line(id)}: updated ({', '.join(changes)})\n")


def list_memories(
    store: StoreOption = DEFAULT_STORE,
    where: WhereOption = None,
    kind: KindOption = None,
    tag: TagOption = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="ORDER", help="oldest, newest, a field, or -field. Default: as they were added."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("-n", "--limit", min=0, metavar="COUNT", help="Most of them.")
    ] = 20,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="Begin after this memory.")
    ] = None,
    scope: ScopeOption = None,
    timezone: TimezoneOption = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """List memories, a page at a time. Does not count as use."""
    condition = condition_of(where, kind=None if kind is None else [kind], tags=tag)
    with opened_scope(existing(store), scope, timezone=timezone) as memories:
        page = memories.list(condition, order=order, limit=limit, after=after, with_total=True)
        total = len(page) if page.total is None else page.total
        if json:
            _write_memories("list", store, page, total)
        else:
            _show_memories(page, total, zone=zone_of(timezone), plain=plain)


def last(
    count: Annotated[int, typer.Argument(min=0, metavar="COUNT", help="How many.")] = 10,
    store: StoreOption = DEFAULT_STORE,
    session: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this session.")
    ] = None,
    scope: ScopeOption = None,
    timezone: TimezoneOption = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Show the newest memories in the order of time, as a chat. Does not count as use."""
    with opened_scope(existing(store), scope, timezone=timezone) as memories:
        found = memories.last(count, session=session)
        if json:
            _write_memories("last", store, found, len(found))
        else:
            _show_memories(found, len(found), zone=zone_of(timezone), plain=plain)


def history(
    id: IdArgument,
    store: StoreOption = DEFAULT_STORE,
    scope: ScopeOption = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Show what a memory was, revision by revision, the present one last."""
    with opened_scope(existing(store), scope) as memories:
        revisions = memories.history(id)
        if json:
            document = [
                {
                    "revision": one.revision,
                    "recorded_at": _moment(one.recorded_at),
                    "until": _moment(one.until),
                    "changed": list(one.changed),
                    "memory": memory_record(one.memory),
                }
                for one in revisions
            ]
            found = {"id": id, "revisions": document, "count": len(document)}
            terminal.write("history", store, found)
            return
        rows = [
            (
                "-" if one.revision is None else str(one.revision),
                "before" if one.recorded_at is None else second(one.recorded_at),
                ", ".join(one.changed) or "-",
                _cut(one.memory, plain=plain),
            )
            for one in revisions
        ]
    heads = (">revision", "recorded", "changed", "text")
    show_rows(heads, rows, plain=plain, folds=("recorded", "changed", "text"))


def _write_memories(command: str, store: Path, found: Sequence[Memory], count: int) -> None:
    records = [memory_record(memory) for memory in found]
    terminal.write(command, store, {"memories": records, "count": count})


def _show_memories(
    found: Sequence[Memory], total: int, *, zone: tzinfo | None, plain: bool
) -> None:
    """Write memories on stdout: plain lines, or a table with a line below.

    Args:
        found: the memories.
        total: number of all that match, of which these are the first.
        zone: whose days are shown; None: those of UTC.
        plain: for :func:`oneiros.cli.terminal.show_rows`.
    """
    rows = [
        (memory.id, memory.kind, _occurred(memory, zone), _cut(memory, plain=plain))
        for memory in found
    ]
    heads = ("memory", "kind", "day", "text")
    show_rows(heads, rows, plain=plain, folds=("memory", "kind", "text"))
    if not plain:
        part = f"{len(found)} of " if total > len(found) else ""
        sys.stdout.write(f"{part}{count_of(total, 'memory')}\n")


def _occurred(memory: Memory, zone: tzinfo | None) -> str:
    return day(memory.created_at if memory.event_at is None else memory.event_at, zone)


def _cut(memory: Memory, *, plain: bool) -> str:
    """Return title and text: whole where plain, else their beginning."""
    whole = f"{memory.title}: {memory.text}" if memory.title else memory.text
    return whole if plain else snippet(whole, SNIPPET)


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else moment(seconds)


def _text(given: str) -> str:
    """Return a text, or what stdin holds for "-", without the line's end."""
    if given != "-":
        return given
    return text_of_stdin()


def _fields(
    given: list[str] | None, others: Mapping[str, str], *, clears: bool = False
) -> dict[str, Any]:
    """Return fields and values of ``--set FIELD=VALUE``, each read as a cell of CSV is.

    Args:
        given: the values of the option.
        others: by field, the argument or option that gives it as well.
        clears: whether a value of no characters empties a field that can be empty.

    Raises:
        CommandError: no field, one that is given twice, or a value that it refuses.
    """
    fields: dict[str, Any] = {}
    for name, value in each_field("--set", given):
        if name not in FIELDS:
            msg = f"--set: {name!r} is no field of a memory"
            raise CommandError(msg)
        if name in others:
            msg = f"--set: {name!r} is given as {others[name]}"
            raise CommandError(msg)
        with blamed_on("--set"):
            fields[name] = _empty(name) if clears and not value else read_cell(name, value)
        if fields[name] is not None:
            with blamed_on("--set", (TypeError,)), suppress(ValueError):  # which the engine reports
                FIELDS[name].check(fields[name])
    return fields


def _empty(name: str) -> Any:
    """Return the value of an emptied field.

    Raises:
        ValueError: the field always has a value.
    """
    if FIELDS[name].nullable:
        return None
    return {} if FIELDS[name].kind == "metadata" else read_cell(name, "")
