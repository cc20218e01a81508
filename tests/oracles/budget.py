"""The worth of memories and those that fit in a budget, one at a time: docs/systems/house.md H15."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.oracles import bm25, house, texts
from tests.oracles.ieee import as_float32
from tests.oracles.kinds import entry
from tests.oracles.records import DAY, validity_of, value

__all__ = ["kept", "size_of", "worth"]

Memory = Mapping[str, Any]
Words = Callable[[str], Sequence[str]]

FIRST = {"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"}
SECOND = {"you", "your", "yours", "yourself", "yourselves"}
KIND_WEIGHTS = {  # docs/systems/reverie.md R16
    "directive": 1.5,
    "preference": 1.3,
    "decision": 1.2,
    "heuristic": 1.1,
    "session": 0.7,
}
YOUNGEST_DAYS = 7.0  # H8
MOST_PRUNED = 0.1
KEPT_IMPORTANCE = 0.8
KEPT_PRIORITY = 4


def runs(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores of a normalised text, each time."""
    apart = (
        character if character.isalnum() or character == "_" else " "
        for character in texts.normal(text)
    )
    return "".join(apart).split()


def is_live(memory: Memory) -> bool:
    return not memory.get("is_deleted") and memory.get("status") != "quarantined"


def is_set_aside(memory: Memory) -> bool:
    """Whether the rule archived a memory: archived, dated, hot."""
    return (
        memory.get("status") == "archived"
        and memory.get("cold_since") is not None
        and value(memory, "tier") == "hot"
    )


def is_judged(memory: Memory) -> bool:
    return is_live(memory) and (memory.get("status") != "archived" or is_set_aside(memory))


def worth(memories: Mapping[str, Memory], now: float, words: Words) -> dict[str, float]:
    """Return the worth of each judged memory; ``words`` is the index's analyzer."""
    there = {id: memory for id, memory in memories.items() if is_live(memory)}
    said = {id: _distinct(memory, words) for id, memory in there.items()}
    frequency: dict[str, int] = {}
    for distinct in said.values():
        for word in distinct:
            frequency[word] = frequency.get(word, 0) + 1
    idf = {word: bm25.IDF["lucene"](len(there), count) for word, count in frequency.items()}
    asks = {id: house.asking_share(memory["text"]) > 0 for id, memory in there.items()}
    answers = dict.fromkeys(there, 0.0)
    asking = dict.fromkeys(there, 0.0)
    for session in _sessions(there):
        for place, id in enumerate(session):
            answers[id] = float(place > 0 and asks[session[place - 1]])
            asking[id] = sum(asks[other] for other in session) / len(session)
    return {
        id: _worth(
            memory, now, sum(idf[word] for word in sorted(said[id])), answers[id], asking[id]
        )
        for id, memory in there.items()
        if is_judged(memory)
    }


def _worth(memory: Memory, now: float, said: float, answers: float, asking: float) -> float:
    words = runs(memory["text"])
    count = max(len(words), 1)
    first = sum(word in FIRST for word in words) / count
    second = sum(word in SECOND for word in words) / count
    changed = max(memory["created_at"], memory.get("updated_at") or memory["created_at"])
    feedback = value(memory, "feedback")
    kind_weight = entry(KIND_WEIGHTS, value(memory, "kind"), 1.0)
    return (
        4.0 * said / (said + 30.0)
        + 5.1 * (min(first, 0.2) - min(second, 0.2))
        + 0.8 * answers * min(1.0, 60.0 / count)
        - 1.6 * asking * math.log(max(1.0, len(words) / 60.0))
        - 1.2 * math.log(1.0 + max(0.0, now - changed) / DAY / 365.0)
        + 0.8 * math.copysign(math.log(1.0 + abs(feedback)), feedback)
        + 2.0 * (value(memory, "importance") - 0.5)
        + math.log(kind_weight)
        + math.log(max(value(memory, "trust"), 0.001))
    )


def _distinct(memory: Memory, words: Words) -> set[str]:
    parts = [memory["text"], memory.get("title") or "", *memory.get("tags", ())]
    return {word for part in parts for word in words(part)}


def _sessions(memories: Mapping[str, Memory]) -> list[list[str]]:
    """Return the memories of each session in the order of H4, archived ones included."""
    sessions: dict[str, list[str]] = {}
    for id, memory in memories.items():  # in order of insertion
        if memory.get("session") is not None:
            sessions.setdefault(memory["session"], []).append(id)

    def when(id: str) -> float:
        event = memories[id].get("event_at")
        return float(memories[id]["created_at"] if event is None else event)

    return [sorted(ids, key=when) for ids in sessions.values()]


def size_of(memory: Memory) -> int:
    """Return the bytes of the normalised text, and 4 for each component of the vector."""
    vector = memory.get("embedding")
    return len(texts.normal(memory["text"]).encode()) + 4 * (0 if vector is None else len(vector))


def is_fixed(memory: Memory, now: float) -> bool:
    """Whether no budget takes a memory away: protected, important or young."""
    learned = max(memory["created_at"], memory.get("learned_at") or -math.inf)
    return bool(
        value(memory, "pinned")
        or value(memory, "core")
        or value(memory, "importance_tag") in ("explicit", "schema_violation")
        or max(0.0, now - learned) / DAY < YOUNGEST_DAYS
        or value(memory, "importance") >= as_float32(KEPT_IMPORTANCE)
        or value(memory, "priority") >= KEPT_PRIORITY
    )


def kept(
    memories: Mapping[str, Memory],
    now: float,
    words: Words,
    *,
    share: float | None = None,
    count: int | None = None,
    size: int | None = None,
    least_value: float | None = None,
    day_limit: int | None = None,
) -> set[str]:
    """Return the ids of the judged memories that are not archived after a cycle.

    Args:
        memories: by id, in order of insertion.
        now: the cycle's clock.
        words: the index's analyzer.
        share: of the judged memories, rounded up.
        count: of memories.
        size: bytes of texts and vectors.
        least_value: what is worth less goes, as far as ``day_limit`` allows.
        day_limit: how many memories may go for the least worth; None: as the rails say, a tenth of
            the memories that are live and not archived.
    """
    values = worth(memories, now, words)
    rows = {id: row for row, id in enumerate(memories)}

    def order(id: str) -> tuple[bool, bool, float, float, int]:
        memory = memories[id]
        return (
            not is_fixed(memory, now),
            memory.get("superseded_by") is not None or validity_of(memory)[1] < now,
            -values[id],
            -memory["created_at"],
            rows[id],
        )

    best_first = sorted(values, key=order)
    room = len(best_first)
    if share is not None:
        room = min(room, math.ceil(share * len(best_first)))
    if count is not None:
        room = min(room, count)
    if size is not None:
        total = 0
        for place, id in enumerate(best_first):
            total += size_of(memories[id])
            if total > size:
                room = min(room, place)
                break
    stays = {id for place, id in enumerate(best_first) if place < room}
    stays |= {id for id in best_first if is_fixed(memories[id], now)}
    if least_value is None:
        return stays
    low = [
        id
        for id in reversed(best_first)
        if id in stays and values[id] < least_value and not is_fixed(memories[id], now)
    ]
    shown = [id for id in values if not is_set_aside(memories[id])]
    limit = math.floor(MOST_PRUNED * len(shown)) if day_limit is None else day_limit
    fresh = [id for id in low if not is_set_aside(memories[id])]
    waits = set(fresh[max(0, limit - sum(id not in stays for id in shown)) :])
    return stays - (set(low) - waits)
