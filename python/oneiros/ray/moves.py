"""Moving scopes between shards: the order of the steps, and how an interrupted move ends.

The steps are those of :class:`oneiros.ray.shard_scopes.ShardScopes`. Nothing here knows Ray.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from oneiros.errors import StoreCorrupt
from oneiros.ray.shard_scopes import Move, ScopePlace
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.ray.shard_scopes import Changed

__all__ = [
    "MovedScope",
    "Step",
    "drain",
    "finish",
    "interrupted",
    "move_scope",
    "table_of",
]


Step = Callable[..., Any]
"""Takes the number of a shard, the name of a step and its arguments. It may repeat the step."""

_AT_ONCE: Final = 500  # memories in one message
_FEW: Final = 100  # changed memories that are left to the moment in which writes wait
_MOST_ROUNDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedScope:
    """A scope that was moved."""

    value: str
    """Value of the key."""
    source: int
    """Number of the shard that had it."""
    target: int
    """Number of the shard that has it now."""
    memories: int
    """Number of its memories, soft-deleted ones too."""
    seconds: float
    """Seconds that it took."""
    waiting_seconds: float
    """Seconds of these in which writes to the scope waited."""


def move_scope(step: Step, move: Move) -> MovedScope:
    """Move a scope.

    Whatever is raised, and wherever the caller is killed, the memories are in one of the two shards;
    :func:`finish` says in which.

    Raises:
        Exception: what a step raised. The scope is where it was, unless a shard is unavailable.
    """
    began = left_at = time.monotonic()
    try:
        step(move.target, "begin", move)
        since, changed_count = 0, _FEW
        for _ in range(_MOST_ROUNDS):
            if changed_count < _FEW:
                break
            since, changed_count = _copy(step, move, since)
        left_at = time.monotonic()
        step(move.source, "leave", move)
        _copy(step, move, since)
        remainder = step(move.source, "remainder", move.value)
        step(move.target, "take", move, remainder)
        step(move.source, "release", move)
    except BaseException as error:
        if not finish(step, move) or not isinstance(error, Exception):
            raise
    ended = time.monotonic()
    return MovedScope(
        value=move.value,
        source=move.source,
        target=move.target,
        memories=len(remainder.sequences),
        seconds=ended - began,
        waiting_seconds=ended - left_at,
    )


def _copy(step: Step, move: Move, since: int) -> tuple[int, int]:
    """Copy what changed after a revision; return the next revision, and the number of memories."""
    changed: Changed = step(move.source, "changed", move.value, since)
    numbers = changed.sequences
    for start in range(0, len(numbers), _AT_ONCE):
        rows = step(move.source, "rows", numbers[start : start + _AT_ONCE])
        step(move.target, "stage", move, rows, [])
    for start in range(0, len(changed.links), _AT_ONCE):
        step(move.target, "stage", move, [], changed.links[start : start + _AT_ONCE])
    return changed.revision, len(numbers)


def finish(step: Step, move: Move) -> bool:
    """End a move that was interrupted: finish it if the target has taken the scope, else undo it.

    Returns:
        Whether the scope has moved.
    """
    taken: bool = step(move.target, "settle", move)
    step(move.source, "release" if taken else "keep", move)
    return taken


def interrupted(places: Mapping[int, Mapping[str, ScopePlace]]) -> list[Move]:
    """Return the moves that shards know as not over.

    Args:
        places: by number of the shard, what it knows of scopes.
    """
    return [
        Move(place.move, value, shard, place.shard)
        for shard, known in places.items()
        for value, place in known.items()
        if place.state == "leaving"
    ]


def table_of(places: Mapping[int, Mapping[str, ScopePlace]]) -> dict[str, int]:
    """Return the shard of every scope that is not, or perhaps not, where its hash says.

    Args:
        places: by number of the shard, what it knows of scopes. No move may be unfinished.

    Raises:
        StoreCorrupt: shards contradict each other, as after one of them alone was restored from a
            generation that was made before a move.
    """
    found: dict[str, tuple[str, int]] = {}
    for shard, known in places.items():
        for value, place in known.items():
            owner = place.shard if place.state == "gone" else shard
            # At the same move, the shard that has the scope says the same as the one that had it.
            found[value] = max(found.get(value, ("", owner)), (place.move, owner))
    for value, (_, owner) in found.items():
        _require_one(value, owner, places)
    return {value: owner for value, (_, owner) in found.items()}


def _require_one(value: str, owner: int, places: Mapping[int, Mapping[str, ScopePlace]]) -> None:
    """Refuse a scope that two shards have, or none.

    Raises:
        StoreCorrupt: naming the shards.
    """
    here = [shard for shard, known in places.items() if _is_here(known.get(value))]
    last = max((known[value] for known in places.values() if value in known), key=_move_of)
    known_by_owner = places.get(owner, {}).get(value)
    if here not in ([], [owner]) or (last.move and not _is_here(known_by_owner)):
        msg = (
            f"the shards do not agree on where the memories of {value!r} lie: shard {owner} should "
            f"have them, and {here or 'none'} does; restore all shards from one generation"
        )
        raise StoreCorrupt(msg)
    if last.move and last.state == "here" and last.shard != owner:
        former = places.get(last.shard, {}).get(value)
        if former is None or former.state != "gone":
            msg = (
                f"shard {last.shard} does not know that the memories of {value!r} were moved to "
                f"shard {owner}; restore all shards from one generation"
            )
            raise StoreCorrupt(msg)


def _is_here(place: ScopePlace | None) -> bool:
    return place is not None and place.state == "here"


def _move_of(place: ScopePlace) -> tuple[str, str]:
    return place.move, place.state


def drain(
    step: Step, shard: int, shards: int, move: Callable[[str, int], MovedScope]
) -> list[MovedScope]:
    """Move all scopes off a shard, and let it take no new ones.

    Args:
        step: see :data:`Step`.
        shard: number of the shard.
        shards: the number of shards.
        move: moves a value to a shard.

    Raises:
        ValueError: no other shard takes scopes.
        Exception: what a step raised. Call it again for the rest.
    """
    others = [n for n in range(shards) if n != shard and not step(n, "is_closed_for_new")]
    if not others:
        msg = f"shard: no shard but {shard} takes scopes; reopen() one first"
        raise ValueError(msg)
    counts = {other: int(step(other, "memory_count")) for other in others}
    step(shard, "close_for_new", others)
    moved = []
    for value in step(shard, "values"):
        target = min(others, key=lambda other: (counts[other], other))
        moved.append(move(value, target))
        counts[target] += moved[-1].memories
    return moved
