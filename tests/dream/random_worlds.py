"""Small random worlds whose every field that Reverie's phases read varies, often at a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

from tests.dream.worlds import DAY, HOUR, NOW, Fields, World
from tests.oracles.ieee import as_float32

__all__ = ["PREVIOUS", "WORLDS"]

T = TypeVar("T")

KINDS = (
    *("note", "session", "bug", "config", "decision"),
    *("reference", "heuristic", "directive", "preference"),
    *("issue", "setup", "rule", "user_preference", "fact"),
)
LIMITS = (0.0, 1.0, 15.0, 30.0, 60.0, 90.0, 180.0, 360.0)
AGES = (*(days * DAY for days in LIMITS), HOUR, HOUR + 1.0, -DAY)
STRENGTHS = (0.0, 0.005, 0.01, 0.0101, 0.05, 0.2, 0.25, 0.5, 0.99, 1.0)
WORDS = ("ada", "likes", "black", "coffee", "été", "the")
VECTORS = ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (0.8, 0.6), (-1.0, 0.0))
SOMETIMES: dict[str, Sequence[object]] = {
    "priority": range(1, 6),
    "kind": KINDS,
    "topic": ("a", "b"),
    "project": ("p", "q"),
    "session": ("s", "t"),
    "user": ("ada",),
    "trust": (0.0, 0.25, 0.5),
    "embedding": VECTORS,
    "strength": tuple(map(as_float32, STRENGTHS)),
    "access_count": range(6),
    "revision_count": range(3),
    "duplicate_count": range(3),
    "session_spread": range(1, 7),
    "depth": range(1, 4),
    "canonical_layer": ("episodic", "intermediate", "semantic"),
    "importance_tag": ("explicit", "cross_session", "schema_violation"),
    "status": ("consolidated", "archived", "quarantined"),
    "replayed_at": (NOW - DAY,),
}
RARELY: dict[str, object] = {
    "pinned": True,
    "core": True,
    "superseded_by": "other",
    "deleted_at": NOW - DAY,
    "erased": True,
}
_BYTES = 72


def _memory(drawn: bytes) -> Fields:
    """Return the memory that the bytes decide; all zero: an old one of no words, and nothing else."""
    left = iter(drawn)

    def one_of(options: Sequence[T]) -> T:
        return options[next(left) % len(options)]

    def share() -> float:
        return int.from_bytes((next(left), next(left), next(left))) / (2**24 - 1)

    def is_there(most: int) -> bool:
        return next(left) >= most

    length = one_of((None, 0, 20, 800))  # days; None: at a limit
    age = one_of(AGES) if length is None else share() * length * DAY
    texts = ("", "ada likes coffee")  # many say the same
    count = one_of(range(7))
    text = texts[count] if count < 2 else " ".join(one_of(WORDS) for _ in range(count - 2))
    fields: Fields = {"text": text, "created_at": NOW - age}
    for name in ("updated_at", "last_accessed_at", "learned_at"):
        if is_there(128):
            fields[name] = NOW - age * (1.0 if is_there(128) else share())
    if is_there(128):
        fields["importance"] = as_float32(share())
    for name, options in SOMETIMES.items():
        if is_there(128):
            fields[name] = one_of(options)
    return fields | {name: value for name, value in RARELY.items() if is_there(230)}


# A draw for each field would take longer than the cycle.
_MEMORIES = st.binary(min_size=_BYTES, max_size=_BYTES).map(_memory)

WORLDS = st.lists(_MEMORIES, max_size=14).map(World)
"""Up to fourteen memories."""

PREVIOUS = st.none() | st.sampled_from([NOW, NOW - DAY, NOW - 90 * DAY, NOW - 400 * DAY])
"""When the cycle before was."""
