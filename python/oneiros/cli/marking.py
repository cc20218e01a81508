"""``oneiros feedback``, ``pin``, ``link``, ``supersede`` and ``conflicts``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError, blamed_on
from oneiros.cli.memories import SNIPPET, IdArgument
from oneiros.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    NowOption,
    PlainOption,
    ScopeOption,
    StoreOption,
    existing,
    opened_scope,
)
from oneiros.cli.terminal import seconds_of, show_plain, show_rows
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line, snippet
from oneiros.model.validation import require_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from oneiros.conflicts import Conflict
    from oneiros.engine.memories import Memories

__all__ = ["conflicts", "feedback", "link", "pin", "supersede"]


class Verdict(StrEnum):
    """The judgement of a memory."""

    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    OUTDATED = "outdated"


def feedback(
    id: IdArgument,
    verdict: Annotated[
        Verdict, typer.Argument(metavar="VERDICT", help="helpful, unhelpful or outdated.")
    ],
    store: StoreOption = DEFAULT_STORE,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="QUESTION",
            help="The question it answered, or did not: the verdict counts for similar questions.",
        ),
    ] = None,
    scope: ScopeOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> None:
    """Say whether a memory helped. Later searches take it into account."""
    with opened_scope(existing(store), scope) as memories:
        memories.feedback(id, verdict.value, query=query, now=seconds_of("--now", now))
        total = memories.get(id).feedback
    words = f"{one_line(id)}: {verdict.value}, feedback {total:+d}"
    _report(store, "feedback", [id], words, json=json, feedback=total)


def pin(
    id: IdArgument,
    store: StoreOption = DEFAULT_STORE,
    unpin: Annotated[bool, typer.Option("--off", help="Take the pin away.")] = False,
    scope: ScopeOption = None,
    json: JsonOption = False,
) -> None:
    """Pin a memory: it does not age, and dream cycles leave it."""
    with opened_scope(existing(store), scope) as memories:
        memories.pin(id, not unpin)
    words = f"{one_line(id)}: {'not pinned' if unpin else 'pinned'}"
    _report(store, "pin", [id], words, json=json, pinned=not unpin)


def link(
    id: IdArgument,
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="Id of the other. Without it, show the links."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    weight: Annotated[float, typer.Option(metavar="NUMBER", help="Above 0, at most 1.")] = 0.5,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the link.")] = False,
    scope: ScopeOption = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Link two memories, so that one leads to the other, or show the links of one."""
    if remove and other is None:
        msg = "--remove: needs OTHER, the other memory of the link"
        raise CommandError(msg)
    with opened_scope(existing(store), scope) as memories:
        if other is None:
            _show_links(store, memories, id, plain=plain, json=json)
            return
        if remove:
            was_linked = memories.unlink(id, other)
        else:
            memories.link(id, other, weight)
            was_linked = True
    done = "linked" if not remove else "link removed" if was_linked else "there was no link"
    words = f"{one_line(id)}, {one_line(other)}: {done}"
    _report(store, "link", [id, other], words, json=json, linked=not remove)


def _show_links(store: Path, memories: Memories, id: str, *, plain: bool, json: bool) -> None:
    links = memories.neighbours(id)
    if json:
        found = [{"id": one.id, "kind": one.kind, "weight": one.weight} for one in links]
        terminal.write("link", store, {"id": id, "links": found, "count": len(found)})
        return
    texts = _texts(memories, [one.id for one in links], plain=plain)
    rows = [
        (one.id, one.kind, f"{one.weight:.3f}", text)
        for one, text in zip(links, texts, strict=True)
    ]
    if rows or plain:
        heads = ("memory", "kind", ">weight", "text")
        show_rows(heads, rows, plain=plain, folds=("memory", "text"))
    else:
        sys.stdout.write(f"{one_line(id)}: no links\n")


def supersede(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Id of what no longer holds.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Id of what holds instead.")],
    store: StoreOption = DEFAULT_STORE,
    reason: Annotated[str, typer.Option(metavar="REASON", help="Why, for people.")] = "",
    scope: ScopeOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> None:
    """Replace a memory by another: searches hide the old one, and it stays in the store."""
    with opened_scope(existing(store), scope) as memories:
        memories.supersede(old, new, reason, now=seconds_of("--now", now))
    words = f"{one_line(old)}: superseded by {one_line(new)}"
    _report(store, "supersede", [old, new], words, json=json)


def conflicts(
    store: StoreOption = DEFAULT_STORE,
    limit: Annotated[
        int, typer.Option("-n", "--limit", min=0, metavar="COUNT", help="Most of them.")
    ] = 20,
    confidence: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="Least confidence of a pair, above 0, at most 1."),
    ] = 0.7,
    scope: ScopeOption = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Find pairs of memories that state different values of one fact; change nothing."""
    with blamed_on("--", sign=""):
        require_number("confidence", confidence, low=0.0, high=1.0, above_low=True)
    with opened_scope(existing(store), scope) as memories:
        found = memories.conflicts(limit=limit, least_confidence=confidence)
        if json:
            pairs = [
                {
                    "older": one.older,
                    "newer": one.newer,
                    "confidence": one.confidence,
                    "reason": one.reason,
                }
                for one in found
            ]
            terminal.write("conflicts", store, {"conflicts": pairs, "count": len(pairs)})
            return
        rows = _conflict_rows(memories, found, plain=plain)
    if plain:
        show_plain(("sure", "older", "newer", "reason", "older text", "newer text"), rows)
    elif rows:
        heads = (">sure", "", "memory", "text")
        show_rows(heads, rows, plain=False, folds=("memory", "text"))
    if not plain:
        sys.stdout.write(f"{count_of(len(found), 'pair')}\n")
        if found:
            sys.stdout.write("oneiros supersede OLDER NEWER settles one\n")


def _conflict_rows(
    memories: Memories, found: Sequence[Conflict], *, plain: bool
) -> list[tuple[str, ...]]:
    """Return two rows a pair for a table, or one for other programs."""
    older = _texts(memories, [one.older for one in found], plain=plain)
    newer = _texts(memories, [one.newer for one in found], plain=plain)
    rows: list[tuple[str, ...]] = []
    for one, old, new in zip(found, older, newer, strict=True):
        if plain:
            rows.append((f"{one.confidence:.3f}", one.older, one.newer, one.reason, old, new))
        else:
            rows.append((f"{one.confidence:.2f}", "older", one.older, old))
            rows.append(("", "newer", one.newer, new))
    return rows


def _texts(memories: Memories, ids: list[str], *, plain: bool) -> list[str]:
    texts = ["" if one is None else one.text for one in memories.get_many(ids)]
    return texts if plain else [snippet(text, SNIPPET) for text in texts]


def _report(
    store: Path, command: str, ids: list[str], words: str, *, json: bool, **more: object
) -> None:
    """Write what was done: one document, or one line."""
    if json:
        terminal.write(command, store, {"ids": ids, **more})
    else:
        sys.stdout.write(f"{words}\n")
