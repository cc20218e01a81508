"""``oneiros embed``: make missing vectors, or replace all of them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.failures import CommandError
from oneiros.cli.stores import (
    DEFAULT_STORE,
    EmbedderOption,
    JsonOption,
    StoreOption,
    embedder_of,
    existing,
    opened,
)
from oneiros.visible_text import one_line

__all__ = ["embed"]


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
    rest. With --replace searches use the old vectors until the new ones are complete.
    """
    if embedder is None:
        msg = "--embedder: needed, such as onnx:FOLDER or module:attribute"
        raise CommandError(msg)
    if restart and not replace:
        msg = "--restart: only together with --replace"
        raise CommandError(msg)
    path = existing(store)
    chosen = embedder_of(embedder)
    is_shown = sys.stderr.isatty()
    with opened(path, embedder=None if replace else chosen) as engine:
        if replace:
            count = engine.reembed(chosen, resume=not restart, progress=is_shown)
        else:
            count = engine.embed_missing(progress=is_shown)
        figures = engine.stats()
    if json:
        told = {"store": str(store), "embedded": count, "embedder": figures["embedder"]}
        documents.write({**told, "without_vector": figures["without_vector"]})
    else:
        sys.stdout.write(f"{count} embedded: {one_line(str(store))}\n")
