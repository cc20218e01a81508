"""``oneiros delete`` and ``oneiros forget``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError, interrupt_held
from oneiros.cli.memories import WhereOption
from oneiros.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    NowOption,
    ScopeOption,
    StoreOption,
    YesOption,
    condition_of,
    existing,
    opened_scope,
)
from oneiros.cli.terminal import confirm, moment, seconds_of
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line

__all__ = ["delete", "forget"]

IdsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Ids of memories.", show_default=False),
]


def delete(
    ids: IdsArgument = None,
    store: StoreOption = DEFAULT_STORE,
    where: WhereOption = None,
    scope: ScopeOption = None,
    yes: YesOption = False,
    now: NowOption = None,
    json: JsonOption = False,
) -> None:
    """Delete memories so that oneiros restore can bring them back. With --where it asks."""
    _require_ids_or_filter("delete", ids, where)
    clock = seconds_of("--now", now)
    with opened_scope(existing(store), scope) as memories:
        condition = condition_of(where)
        if condition is not None and not yes:
            count = memories.count(condition)
            confirm(f"delete {count_of(count, 'memory')}?", "nothing was deleted")
        if condition is None:
            for id in ids or ():
                memories.get(id)  # all of them or none
        with interrupt_held():
            if condition is None:
                deleted = sum(memories.delete(id, now=clock) for id in dict.fromkeys(ids or ()))
            else:
                deleted = memories.delete(where=condition, now=clock)
            if json:
                named = {} if ids is None else {"ids": ids}
                terminal.write("delete", store, {**named, "deleted": deleted})
            else:
                sys.stdout.write(f"{count_of(deleted, 'memory')} deleted\n")


def forget(
    ids: IdsArgument = None,
    store: StoreOption = DEFAULT_STORE,
    where: WhereOption = None,
    keep_derived: Annotated[
        bool, typer.Option("--keep-derived", help="Keep what was derived from them.")
    ] = False,
    scope: ScopeOption = None,
    yes: YesOption = False,
    now: NowOption = None,
    json: JsonOption = False,
) -> None:
    """Erase memories for good, with what was derived from them. It asks first.

    Texts, vectors, links and verdicts go from every file of the store. Nothing brings them back.
    """
    _require_ids_or_filter("forget", ids, where)
    clock = seconds_of("--now", now)
    with opened_scope(existing(store), scope) as memories:
        condition = condition_of(where)
        if not yes:
            if condition is None:
                named = count_of(len(dict.fromkeys(ids or ())), "memory")
            else:  # a filter matches soft-deleted memories too, which count() leaves out
                live = count_of(memories.count(condition), "memory")
                named = f"{live}, and the deleted ones that match"
            plus = "" if keep_derived else ", with what was derived from them,"
            confirm(f"erase {named}{plus} for good?", "nothing was erased")
        with interrupt_held():
            if condition is None:
                receipt = memories.forget_many(ids or (), derived=not keep_derived, now=clock)
            else:
                receipt = memories.forget(where=condition, derived=not keep_derived, now=clock)
            if json:
                document = receipt.to_dict() | {"erased_at": moment(receipt.erased_at)}
                terminal.write("forget", store, document)
            else:
                derived = f", {len(receipt.derived)} of them derived" if receipt.derived else ""
                sys.stdout.write(f"{count_of(len(receipt), 'memory')} erased{derived}\n")


def _require_ids_or_filter(command: str, ids: list[str] | None, where: str | None) -> None:
    if bool(ids) == (where is not None):
        msg = f"{one_line(command)}: give ids or --where, one of the two"
        raise CommandError(msg)
