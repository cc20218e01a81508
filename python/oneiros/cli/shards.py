"""``oneiros ray``: the shards of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import FAILED
from oneiros.cli.options import JsonOption, PlainOption
from oneiros.cli.terminal import output, show_rows, text
from oneiros.display.counts import count_of
from oneiros.model.validation import require_choice
from oneiros.ray.folder_drain import drain_folder
from oneiros.ray.folder_status import ShardStatus, status
from oneiros.runtime.dataclasses import asdict

__all__ = ["ray"]

_HEADS = (
    *("shard", ">memories", ">deleted", ">links", ">bytes", ">moved here", ">moved away"),
    *("embedder", "remarks"),
)

_MOVED_HEADS = ("scope", ">shard", ">memories", ">seconds")


def ray(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="status, or drain with --shard.")],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the shards, on this machine.")
    ],
    shard: Annotated[
        int | None,
        typer.Option("--shard", metavar="N", help="Number of the shard to drain, from 0."),
    ] = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Show the shards of a folder, whether or not their actors run, or move all scopes off one.

    "status" exits with 1 when something is wrong. "drain" needs all stores on this machine, and no
    process that has them open. The shard then takes no new scopes.
    """
    require_choice("ACTION", action, ("status", "drain"))
    if action == "drain":
        if shard is None:
            msg = "--shard: name the shard to drain"
            raise ValueError(msg)
        _drain(folder, shard, plain=plain, json=json)
        return
    if shard is not None:
        msg = "--shard: only drain takes it"
        raise ValueError(msg)
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
                    for value in (
                        *(state.memories, state.deleted, state.links, state.file_bytes),
                        *(state.moved_here, state.moved_away),
                    )
                ),
                state.embedder or "-",
                _remarks(state),
            )
            for state in found.states
        ]
        show_rows(_HEADS, rows, plain=plain, folds=("remarks", "embedder"))
        if not plain:
            summary = f"{count_of(found.memories, 'memory')} in {count_of(found.shards, 'shard')} by {found.key}"
            output().print(text(summary))
    if found.problems:
        raise typer.Exit(FAILED)


def _remarks(state: ShardStatus) -> str:
    """Return what is wrong with a shard, or what else there is to say; "-" for nothing."""
    remarks = [state.problem] if state.problem else []
    if not state.is_here and not state.problem:
        remarks.append("not on this machine")
    if state.is_drained:
        remarks.append("drained: takes no new scopes")
    remarks += [f"the move of {value!r} is not over" for value in state.leaving]
    return "; ".join(remarks) or "-"


def _drain(folder: Path, shard: int, *, plain: bool, json: bool) -> None:
    moved = drain_folder(folder, shard)
    if json:
        scopes: list[dict[str, Any]] = [asdict(each) for each in moved]
        terminal.write("ray", None, {"folder": str(folder), "shard": shard, "moved": scopes})
        return
    rows = [
        (each.value, str(each.target), str(each.memories), f"{each.seconds:.2f}") for each in moved
    ]
    show_rows(_MOVED_HEADS, rows, plain=plain, folds=("scope",))
    if not plain:
        total = sum(each.memories for each in moved)
        summary = (
            f"{count_of(total, 'memory')} of {count_of(len(moved), 'scope')} left shard {shard}"
        )
        output().print(text(summary))
