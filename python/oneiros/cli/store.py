"""``oneiros stats``, ``doctor``, ``backup``, ``export``, ``profiles``, ``embed``, ``restore`` and ``purge``."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import apsw
import numpy as np
import typer

from oneiros import __version__, _core
from oneiros.cli import terminal
from oneiros.cli.failures import FAILED, CommandError, interrupt_held, renamed
from oneiros.cli.options import (
    DEFAULT_STORE,
    EmbedderOption,
    JsonOption,
    NowOption,
    PlainOption,
    ScopeOption,
    StoreOption,
    embedder_of,
    existing,
    opened,
    opened_scope,
    without_vector,
)
from oneiros.cli.terminal import (
    confirm,
    flat,
    grid,
    moment,
    output,
    require_writable,
    seconds_of,
    show_plain,
    show_plain_figures,
    show_rows,
    show_table,
    table,
    text,
    text_of_stdin,
)
from oneiros.clock import system_clock
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line, snippet
from oneiros.model.validation import require_number
from oneiros.models.named import is_of_the_box
from oneiros.scoring import profiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.model.memory import Memory

__all__ = ["backup", "doctor", "embed", "export", "profiles_known", "purge", "restore", "stats"]


_OF_VECTORS = ("embedder", "without_vector", "reembedding")


def stats(
    store: StoreOption = DEFAULT_STORE, plain: PlainOption = False, json: JsonOption = False
) -> None:
    """Count what the store holds."""
    with opened(existing(store)) as engine:
        figures = engine.stats()
    if json:
        terminal.write("stats", store, figures)
    elif plain:
        show_plain_figures(figures)
    else:
        _show(figures)


def doctor(
    store: StoreOption = DEFAULT_STORE,
    verify_erased: Annotated[
        str | None,
        typer.Option(help="Look for these bytes in every file of the store; - reads them in."),
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Verify the checksum of every row, and every index.")
    ] = False,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Check the store, show versions.

    Exit code 1 when something is wrong. Without a store at the default place only the machine is
    described.
    """
    is_wanted = store != DEFAULT_STORE or verify_erased is not None or deep or store.exists()
    problems: list[str] = []
    vectors: dict[str, Any] = dict.fromkeys(_OF_VECTORS)
    if is_wanted:
        problems, vectors = _looked_at(existing(store), verify_erased, deep=deep)
    about = machine()
    found = {"machine": about, "problems": problems, "is_clean": not problems, **vectors}
    if json:
        terminal.write("doctor", store if is_wanted else None, found)
    elif plain:
        show_plain_figures({**found, "store": str(store) if is_wanted else None})
    else:
        _show(about)
        _tell(store if is_wanted else None, problems)
        _tell_vectors(vectors)
    if problems:
        raise typer.Exit(FAILED)


def machine() -> dict[str, str]:
    """Return the versions of what the engine stands on, and the SIMD path that the core runs.

    The path is the best that the machine has, or the one that the variable ONEIROS_SIMD names.
    """
    return {
        "oneiros": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "sqlite": apsw.sqlite_lib_version(),
        "faiss": _version("faiss-cpu"),
        "numpy": np.__version__,
        "unicode_tables": _core.unicode_version,
        "simd": _core.simd_path(),
    }


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _looked_at(path: Path, needle: str | None, *, deep: bool) -> tuple[list[str], dict[str, Any]]:
    """Return the problems of a store and the figures of its vectors."""
    sought = text_of_stdin() if needle == "-" else needle
    if sought == "":
        msg = "--verify-erased: must not be empty"
        raise CommandError(msg)
    with opened(path) as engine:
        problems = list(engine.check(deep=deep))
        figures = dict.fromkeys(_OF_VECTORS) if problems else engine.stats()
        if sought is not None and not engine.verify_erased(sought):
            problems.append("the text is still in the store's files")
    return problems, {name: figures[name] for name in _OF_VECTORS}


def _tell(store: Path | None, problems: list[str]) -> None:
    console = output()
    for problem in problems:
        console.print(text(f"problem: {problem}", style="red"))
    if store is None:
        console.print(text(f"no store at {DEFAULT_STORE}: only the machine was looked at"))
    elif not problems:
        console.print(text(f"{store}: clean", style="green"))


def _tell_vectors(figures: Mapping[str, Any]) -> None:
    """Print a note on missing vectors, for a store that has an embedder."""
    if figures["embedder"] and figures["without_vector"]:
        output().print(text(f"note: {without_vector(figures['without_vector'])}"))
    if unfinished := figures["reembedding"]:
        words = (
            f"note: replacing all vectors by those of {unfinished['embedder']!r} is unfinished, "
            f"{count_of(unfinished['done'], 'memory')} done (oneiros embed --replace)"
        )
        output().print(text(words))


def _show(figures: Mapping[str, object]) -> None:
    rows = (
        (text(one_line(name.replace("_", " ")), style="dim"), one_line(str(terminal.plain(value))))
        for name, value in flat(figures)
    )
    output().print(grid(rows))


def restore(
    id: Annotated[str, typer.Argument(help="Id of the memory.")],
    store: StoreOption = DEFAULT_STORE,
    scope: ScopeOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> None:
    """Bring back a memory that was deleted or archived, by a dream cycle or otherwise.

    That counts as a use of it, so that the next cycle does not find it stale again.
    """
    clock = seconds_of("--now", now)
    with opened_scope(existing(store), scope) as memories:
        was_away = memories.restore(id, now=clock)
    if json:
        terminal.write("restore", store, {"ids": [id], "restored": was_away})
    else:
        sys.stdout.write(f"{one_line(id)}: {'restored' if was_away else 'it was not away'}\n")


_MOST_SHOWN = 50  # rows for a terminal; --json names all
_TEXT = 60  # characters of a text in a row
_LEAST = 70  # columns of a terminal for a table


def purge(
    store: StoreOption = DEFAULT_STORE,
    older_than: Annotated[
        float, typer.Option("--older-than", help="Days since the deletion, at least 0.")
    ] = 30.0,
    scope: ScopeOption = None,
    now: NowOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be erased.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase without asking.")] = False,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Erase for good what was deleted long enough ago, by dream cycles or by hand.

    It shows which memories these are, and asks. Text, vector and links go; nothing brings them back.
    """
    require_number("--older-than", older_than, low=0.0)
    given = seconds_of("--now", now)
    # One moment for what is shown and what is done.
    clock = system_clock() if given is None else given
    with opened_scope(existing(store), scope) as memories:
        ids = memories.purgeable(older_than, now=clock)
        if plain:
            rows = map(_purged_row, filter(None, memories.get_deleted(ids)))
            show_plain(("memory", "kind", "deleted", "text"), rows)
        elif not json:
            _show_purged(memories.get_deleted(ids[:_MOST_SHOWN]), len(ids), older_than)
        if ids and not (dry_run or yes):
            confirm(f"erase {count_of(len(ids), 'memory')} for good?", "nothing was erased")
        with interrupt_held():  # what was done must be reported
            erased = memories.purge(older_than, now=clock) if ids and not dry_run else 0
            if json:
                query = {"now": clock, "older_than_days": older_than, "is_dry_run": dry_run}
                found = {**query, "erased": erased, "ids": ids, "count": len(ids)}
                terminal.write("purge", store, found)
            elif ids and not (dry_run or plain):
                typer.echo(f"{count_of(erased, 'memory')} erased")


def _show_purged(first: Sequence[Memory | None], count: int, days: float) -> None:
    console = output()
    if not count:
        console.print(text(f"nothing was deleted more than {days:g} days ago"))
        return
    rows = []
    for memory in first:
        if memory is None or memory.deleted_at is None:
            continue  # brought back or erased meanwhile
        rows.append([snippet(cell, _TEXT) for cell in _purged_row(memory)])
    heads = ("memory", "kind", "deleted", "text")
    show_table(table(*heads, rows=rows, folds=heads), _LEAST)
    if count > _MOST_SHOWN:
        console.print(text(f"... and {count - _MOST_SHOWN} more", style="dim"))
    console.print(text(f"{count_of(count, 'memory')}, deleted more than {days:g} days ago"))


def _purged_row(memory: Memory) -> tuple[str, str, str, str]:
    deleted = "-" if memory.deleted_at is None else moment(float(round(memory.deleted_at)))
    return memory.id, memory.kind, deleted, memory.title or memory.text


def embed(
    store: StoreOption = DEFAULT_STORE,
    embedder: EmbedderOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace all vectors by those of this embedder.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="With --replace: drop what an unfinished run made.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Make the vectors that memories lack.

    256 memories a transaction. After an interrupt or an error run it again: it continues with the
    rest. A store with vectors of hashing gets them without --embedder. With --replace searches use
    the old vectors until the new ones are complete.
    """
    if restart and not replace:
        msg = "--restart: only together with --replace"
        raise CommandError(msg)
    path = existing(store)
    chosen = None if embedder is None else embedder_of(embedder)
    is_shown = sys.stderr.isatty()
    with opened(path, embedder=None if replace else chosen) as engine:
        if chosen is not None and replace:
            count = engine.reembed(chosen, resume=not restart, progress=is_shown)
        elif chosen is None and (replace or is_of_the_box(engine.embedder_name) is None):
            msg = "--embedder: needed, such as hashing, onnx:FOLDER or module:attribute"
            raise CommandError(msg)
        else:
            count = engine.embed_missing(progress=is_shown)
        figures = engine.stats()
    if json:
        found = {name: figures[name] for name in ("embedder", "without_vector")}
        terminal.write("embed", store, {"embedded": count, **found})
    else:
        sys.stdout.write(f"{count} embedded: {one_line(str(store))}\n")


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of the copy.")],
    store: StoreOption = DEFAULT_STORE,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the file if there is one.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Copy the store while it is in use. The copy appears whole or not at all."""
    require_writable("FILE", file, {})
    if file.exists() and not replace:
        msg = f"FILE: {file} exists; --replace replaces it"
        raise CommandError(msg)
    with opened(existing(store)) as engine, renamed("path", "FILE"):
        engine.backup(file, replace=replace)
    size = file.stat().st_size
    if json:
        terminal.write("backup", store, {"file": str(file), "bytes": size})
    else:
        sys.stdout.write(f"{one_line(str(file))}: {size:,} bytes\n")


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .jsonl file; replaced.")],
    store: StoreOption = DEFAULT_STORE,
    scope: ScopeOption = None,
    embeddings: Annotated[
        bool, typer.Option("--embeddings/--no-embeddings", help="Write the vectors, too.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Write memories as JSON lines, which import reads. The file appears whole or not at all."""
    require_writable("FILE", file, {"--store": store})
    with opened_scope(existing(store), scope) as memories, renamed("path", "FILE"):
        count = memories.export(file, embeddings=embeddings)
    if json:
        terminal.write("export", store, {"file": str(file), "count": count})
    else:
        sys.stdout.write(f"{one_line(str(file))}: {count_of(count, 'memory', grouped=True)}\n")


def profiles_known(plain: PlainOption = False, json: JsonOption = False) -> None:
    """List the profiles, the default first, and what each is made of."""
    known = [profiles.get(name) for name in profiles.names()]
    known.sort(key=lambda one: one.name != "oneiros")
    if json:
        found = [
            {
                "name": one.name,
                "channels": [channel.name for channel in one.channels],
                "factors": [factor.name for factor in one.factors],
            }
            for one in known
        ]
        terminal.write("profiles", None, {"profiles": found, "count": len(found)})
        return
    rows = [
        (
            one.name,
            ", ".join(channel.name for channel in one.channels),
            ", ".join(factor.name for factor in one.factors) or "-",
        )
        for one in known
    ]
    show_rows(("profile", "channels", "factors"), rows, plain=plain, folds=("channels", "factors"))
