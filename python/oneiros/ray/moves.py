"""Moving scopes between shards: the order of the steps, and how an interrupted move ends.

The steps are those of :class:`oneiros.ray.shard_scopes.ShardScopes`. Nothing here knows Ray.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from oneiros.errors import StoreCorrupt
from oneiros.ray.shard_scopes import Move, ScopePlace, ShardPlaces
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
    "salt_of",
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


def salt_of(places: Mapping[int, ShardPlaces]) -> str:
    """Return the key of the digests of scopes, which all shards share.

    Args:
        places: by number of the shard, what it knows of scopes.

    Raises:
        StoreCorrupt: shards have noted different ones.
    """
    noted = {each.salt: shard for shard, each in places.items() if each.is_keyed}
    if len(noted) > 1:
        one, other = sorted(noted.values())[:2]
        msg = (
            f"shards {one} and {other} key their scopes in different ways; restore all shards from "
            "one generation"
        )
        raise StoreCorrupt(msg)
    return next(iter(noted), places[min(places)].salt)


def interrupted(places: Mapping[int, ShardPlaces]) -> list[Move]:
    """Return the moves that shards know as not over.

    Args:
        places: by number of the shard, what it knows of scopes.
    """
    salt = salt_of(places)
    return [
        Move(place.move, place.value, shard, place.shard, salt)
        for shard, known in places.items()
        for place in known.by_digest.values()
        if place.state == "leaving"
    ]


def table_of(places: Mapping[int, ShardPlaces]) -> dict[str, int]:
    """Return the shard of every scope that is not, or perhaps not, where its hash says.

    Args:
        places: by number of the shard, what it knows of scopes. No move may be unfinished.

    Returns:
        The number of the shard, by digest of the value.

    Raises:
        StoreCorrupt: shards contradict each other, as after one of them alone was restored from a
            generation that was made before a move.
    """
    salt_of(places)  # raises where they differ
    keyed = {shard: known.by_digest for shard, known in places.items()}
    found: dict[str, tuple[str, int]] = {}
    for shard, known in keyed.items():
        for digest, place in known.items():
            owner = place.shard if place.state == "gone" else shard
            # At the same move, the shard that has the scope says the same as the one that had it.
            found[digest] = max(found.get(digest, ("", owner)), (place.move, owner))
    for digest, (_, owner) in found.items():
        _require_one(digest, owner, keyed)
    return {digest: owner for digest, (_, owner) in found.items()}


def _require_one(digest: str, owner: int, places: Mapping[int, Mapping[str, ScopePlace]]) -> None:
    """Refuse a scope that two shards have, or none.

    Raises:
        StoreCorrupt: naming the shards.
    """
    here = [shard for shard, known in places.items() if _is_here(known.get(digest))]
    last = max((known[digest] for known in places.values() if digest in known), key=_move_of)
    known_by_owner = places.get(owner, {}).get(digest)
    if here not in ([], [owner]) or (last.move and not _is_here(known_by_owner)):
        msg = (
            f"the shards do not agree on where the memories of a moved scope lie: shard {owner} "
            f"should have them, and {here or 'none'} does; restore all shards from one generation"
        )
        raise StoreCorrupt(msg)
    if last.move and last.state == "here" and last.shard != owner:
        former = places.get(last.shard, {}).get(digest)
        if former is None or former.state != "gone":
            msg = (
                f"shard {last.shard} does not know that memories were moved to shard {owner}; "
                "restore all shards from one generation"
            )
            raise StoreCorrupt(msg)


def _is_here(place: ScopePlace | None) -> bool:
    return place is not None and place.state == "here"


def _move_of(place: ScopePlace) -> tuple[str, str]:
    return place.move, place.state


def drain(
    step: Step, shard: int, shards: int, salt: str, move: Callable[[str, int], MovedScope]
) -> list[MovedScope]:
    """Move all scopes off a shard, and let it take no new ones.

    Args:
        step: see :data:`Step`.
        shard: number of the shard.
        shards: the number of shards.
        salt: the key of the digests of scopes.
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
    step(shard, "close_for_new", others, salt)
    moved = []
    for value in step(shard, "values"):
        target = min(others, key=lambda other: (counts[other], other))
        moved.append(move(value, target))
        counts[target] += moved[-1].memories
    return moved
