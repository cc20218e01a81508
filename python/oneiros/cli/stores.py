"""The store a command works on: which file, and opening it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli.failures import CommandError

if TYPE_CHECKING:
    from oneiros.engine import Engine

__all__ = ["DEFAULT_STORE", "JsonOption", "StoreOption", "existing", "opened"]

DEFAULT_STORE = Path("oneiros.db")

StoreOption = Annotated[
    Path, typer.Option("--store", "-s", envvar="ONEIROS_STORE", help="File of the store.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="One JSON document on stdout instead of text.")
]


def existing(path: Path) -> Path:
    """Return the path of a store that is there: reading must never create one.

    Raises:
        CommandError: no such file, or nothing is in it.
    """
    if not path.is_file():
        msg = f"{path}: no such store (--store or ONEIROS_STORE names it)"
        raise CommandError(msg)
    if not path.stat().st_size:  # opened, it would become a store
        msg = f"{path}: no store: the file is empty"
        raise CommandError(msg)
    return path


@contextmanager
def opened(path: Path, analyzer: str | None = None) -> Iterator[Engine]:
    """Open the engine over the store, and close it whatever happens in the block.

    Args:
        path: the store's file.
        analyzer: how its words are told from now on; None: as before.

    Raises:
        CommandError: no such analyzer, or its package is not installed.
    """
    from oneiros.engine import Engine  # noqa: PLC0415  (--help must not pay for it)

    if analyzer is not None:
        from oneiros import analyzers  # noqa: PLC0415

        try:
            analyzers.make(analyzer)
        except (ValueError, ImportError) as error:
            msg = f"--analyzer: {error}"
            raise CommandError(msg) from error
    with Engine(path, analyzer=analyzer) as engine:
        yield engine
