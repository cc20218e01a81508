"""``oneiros ray status``: the shards of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import FAILED
from oneiros.cli.options import JsonOption, PlainOption
from oneiros.cli.terminal import output, show_rows, text
from oneiros.model.validation import require_choice
from oneiros.ray.folder_status import status
from oneiros.runtime.dataclasses import asdict

__all__ = ["ray"]

_HEADS = ("shard", ">memories", ">deleted", ">links", ">bytes", "embedder", "problem")


def ray(
    action: Annotated[str, typer.Argument(metavar="status", help="What to show.")],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the shards, on this machine.")
    ],
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Show the shards of a folder, whether or not their actors run.

    Exit code 1 when something is wrong.
    """
    require_choice("ACTION", action, ("status",))
    found = status(folder)
    if json:
        states: list[dict[str, Any]] = [asdict(state) for state in found.states]
        document: dict[str, Any] = {
            "folder": found.folder,
            "key": found.key,
            "memories": found.memories,
            "shards": states,
            "count": found.shards,
            "problems": list(found.problems),
        }
        terminal.write("ray", None, document)
    else:
        rows = [
            (
                str(state.shard),
                *(
                    "-" if value is None else str(value)
                    for value in (state.memories, state.deleted, state.links, state.file_bytes)
                ),
                state.embedder or "-",
                state.problem or ("-" if state.is_here else "not on this machine"),
            )
            for state in found.states
        ]
        show_rows(_HEADS, rows, plain=plain, folds=("problem", "embedder"))
        if not plain:
            summary = f"{found.memories} memories in {found.shards} shards by {found.key}"
            output().print(text(summary))
    if found.problems:
        raise typer.Exit(FAILED)
