"""``oneiros stats`` and ``oneiros doctor``: how large the store is, and whether it is well."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from oneiros import __version__
from oneiros.cli import documents
from oneiros.cli.failures import FAILED, CommandError
from oneiros.cli.stores import (
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    existing,
    opened,
    without_vector,
)

__all__ = ["doctor", "stats"]

_OF_VECTORS = ("embedder", "without_vector", "reembedding")


def stats(store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Count what the store holds."""
    with opened(existing(store)) as engine:
        figures = engine.stats()
    if json:
        documents.write(figures)
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
    json: JsonOption = False,
) -> None:
    """Check the store; tell versions.

    Exit code 1 when something is wrong. Without a store at the default place only the machine is
    described.
    """
    is_wanted = store != DEFAULT_STORE or verify_erased is not None or deep or store.exists()
    problems: list[str] = []
    vectors: dict[str, Any] = dict.fromkeys(_OF_VECTORS)
    if is_wanted:
        problems, vectors = _looked_at(existing(store), verify_erased, deep=deep)
    about = machine()
    found: dict[str, object] = {"machine": about, "store": str(store) if is_wanted else None}
    found |= {"problems": problems, "is_clean": not problems, **vectors}
    if json:
        documents.write(found)
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
    import apsw  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    from oneiros import _core  # noqa: PLC0415

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
    sought = sys.stdin.read().removesuffix("\n") if needle == "-" else needle
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
    from oneiros.cli.terminal import output, text  # noqa: PLC0415

    console = output()
    for problem in problems:
        console.print(text(f"problem: {problem}", style="red"))
    if store is None:
        console.print(text(f"no store at {DEFAULT_STORE}: only the machine was looked at"))
    elif not problems:
        console.print(text(f"{store}: clean", style="green"))


def _tell_vectors(figures: Mapping[str, Any]) -> None:
    """Print a note on missing vectors, for a store that has an embedder."""
    from oneiros.cli.terminal import output, text  # noqa: PLC0415

    if figures["embedder"] and figures["without_vector"]:
        output().print(text(f"note: {without_vector(figures['without_vector'])}"))
    if unfinished := figures["reembedding"]:
        words = (
            f"note: replacing all vectors by those of {unfinished['embedder']!r} is unfinished, "
            f"{unfinished['done']} memories are done (oneiros embed --replace)"
        )
        output().print(text(words))


def _show(figures: Mapping[str, object]) -> None:
    from rich.table import Table  # noqa: PLC0415

    from oneiros.cli.terminal import output, text  # noqa: PLC0415

    table = Table.grid(padding=(0, 2))
    for name, value in _flat(figures):
        table.add_row(text(name.replace("_", " "), style="dim"), text(str(documents.plain(value))))
    output().print(table)


def _flat(figures: Mapping[str, object], group: str = "") -> Iterator[tuple[str, object]]:
    """Yield name and value, of groups too, each name after its group's."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{group}{name} ")
        else:
            yield f"{group}{name}", value
