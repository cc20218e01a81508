"""Draining a shard of a folder whose actors do not run, in this process and without Ray."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from oneiros.clock import system_clock
from oneiros.engine.engine import QuietEngine
from oneiros.index.indexes import LexicalOptions
from oneiros.model.ids import new_ulid
from oneiros.model.validation import index_of, within
from oneiros.ray.folder_status import status
from oneiros.ray.moves import (
    MovedScope,
    drain,
    finish,
    interrupted,
    move_scope,
    salt_of,
    table_of,
)
from oneiros.ray.routing import Layout
from oneiros.ray.shard import store_file
from oneiros.ray.shard_scopes import Move, ShardPlaces, ShardScopes
from oneiros.runtime.dataclasses import fields

__all__ = ["drain_folder"]


def drain_folder(folder: str | os.PathLike[str], shard: int) -> list[MovedScope]:
    """Move all scopes off a shard of a folder, and let it take no new ones.

    As :meth:`oneiros.ray.ShardedEngine.drain`, for stores that all lie on this machine and that no
    process has open. If it is killed, call it again: no memory is lost or doubled.

    Args:
        folder: the ``folder`` of :class:`oneiros.ray.ShardedEngine`.
        shard: number of the shard, from 0.

    Returns:
        What was moved.

    Raises:
        FileNotFoundError: there is no such folder, or no shard in it.
        ValueError: no such shard, no other one takes scopes, or a store is missing or damaged.
        ScopeBusy: a process has one of the stores open.
        DuplicateId, MixedShards: as :meth:`oneiros.ray.ShardedEngine.move`.

    Examples:
        >>> import oneiros.ray
        >>> with oneiros.ray.ShardedEngine("emptied", shards=2, key="user") as engine:
        ...     id = engine.add("Ada likes her coffee black", user="ada")
        ...     shard = engine.scope(user="ada").shard
        >>> [moved.value for moved in oneiros.ray.drain_folder("emptied", shard)]
        ['ada']
    """
    found = status(folder)
    within("shard", index_of("shard", shard), 0, found.shards - 1)
    away = [state.shard for state in found.states if not state.is_here]
    if found.problems or away:
        reasons = [*found.problems, *(f"shard {number}: not on this machine" for number in away)]
        msg = f"folder: cannot be drained: {'; '.join(dict.fromkeys(reasons))}"
        raise ValueError(msg)
    layout = Layout(found.shards, found.key)
    with ExitStack() as stack:
        paths = [store_file(Path(found.folder), number) for number in range(layout.shards)]
        # A store without a commit would take the lexical options of the default profile.
        written = [number for number, state in enumerate(found.states) if state.revision]
        engines = {n: stack.enter_context(QuietEngine(paths[n])) for n in written}
        lexical: dict[str, Any] = {}
        if written:
            known = engines[written[0]]._options
            lexical = {each.name: getattr(known, each.name) for each in fields(LexicalOptions)}
        scopes: list[ShardScopes] = []
        for number, path in enumerate(paths):
            if number not in engines:
                engines[number] = stack.enter_context(QuietEngine(path, **lexical))
            engine = engines[number]
            scopes.append(ShardScopes(engine, number, layout))
            stack.callback(scopes[-1].close)

        def step(number: int, name: str, *args: Any) -> Any:
            return getattr(scopes[number], name)(*args)

        def places() -> dict[int, ShardPlaces]:
            return {number: each.places for number, each in enumerate(scopes)}

        salt = salt_of(places())
        for move in interrupted(places()):
            finish(step, move)
        table_of(places())
        return drain(
            step,
            shard,
            layout.shards,
            salt,
            lambda value, to: move_scope(
                step, Move(new_ulid(system_clock()), value, source=shard, target=to, salt=salt)
            ),
        )
