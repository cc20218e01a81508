"""``oneiros inspect``."""

from __future__ import annotations

from typing import Annotated

import typer

from oneiros.cli.options import (
    DEFAULT_STORE,
    EmbedderOption,
    ProfileOption,
    StoreOption,
    embedder_of,
    existing,
    named_profile,
    quiet_engine,
)
from oneiros.inspection.server import serve

__all__ = ["inspect"]


def inspect(
    store: StoreOption = DEFAULT_STORE,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0: a free one.")] = 0,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Allow the page to pin, delete, restore and judge memories, and to undo cycles.",
        ),
    ] = False,
    profile: ProfileOption = None,
    embedder: EmbedderOption = None,
) -> None:
    """Look into a store with a browser on this machine.

    Prints an address with a secret token: anyone on this machine who has it can read the store. Serves until Ctrl-C or
    SIGTERM; then the exit code is 0. Searches of the page count as no use, and nothing is written
    without --write.
    """
    ranking = "oneiros" if profile is None else named_profile("--profile", profile)
    model = None if embedder is None else embedder_of(embedder)
    path = existing(store)
    with quiet_engine(path, model, profile=ranking, read_only=not write) as engine:
        serve(engine, port=port, writes=write)
