"""``oneiros restore``: what was deleted or archived is found again."""

from __future__ import annotations

from typing import Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.moments import seconds_of
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened

__all__ = ["restore"]


def restore(
    id: Annotated[str, typer.Argument(help="Id of the memory.")],
    store: StoreOption = DEFAULT_STORE,
    now: Annotated[
        str | None, typer.Option(help="The clock: ISO 8601 with an offset, or seconds.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Take one memory back that a dream cycle or anybody deleted or archived.

    That counts as a use of it, so that the next cycle does not find it stale again.
    """
    clock = seconds_of("--now", now)
    with opened(existing(store)) as engine:
        was_away = engine.restore(id, now=clock)
    if json:
        documents.write({"id": id, "restored": was_away})
        return
    from oneiros.cli.terminal import output, text  # noqa: PLC0415  (--json needs no rich)

    output().print(text(f"{id}: restored" if was_away else f"{id}: it was not away"))
