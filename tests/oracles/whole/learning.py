"""What a search leaves behind, by profile: cognitive.md C11 to C13, house.md H7, reverie.md R20, M9, A13, O33."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tests.oracles import remembering, reverie
from tests.oracles.records import time_of, value
from tests.oracles.whole.asking import Question
from tests.oracles.whole.world import World

__all__ = ["Learning", "counts_only", "reverie_rule", "spaced"]

Learning = Callable[[World, Question, Sequence[str], Sequence[tuple[str, bool]]], None]
"""(world, question, ids of the direct results, (id, whether links brought it) of the returned)."""

COUNTER_LIMIT = 2**32 - 1


def counts_only(
    world: World, question: Question, direct: Sequence[str], returned: Sequence[tuple[str, bool]]
) -> None:
    """M9, A13, O33: access_count + 1, last_accessed_at = now; and who asked (fields.md)."""
    del direct
    for id, _ in returned:
        record = world.records[id]
        record["access_count"] = min(value(record, "access_count") + 1, COUNTER_LIMIT)
        record["last_accessed_at"] = question.now
        if question.session is not None:
            record["sessions"].add(question.session)
        spread = max(value(record, "session_spread"), len(record["sessions"]))
        record["session_spread"] = spread


def reverie_rule(
    world: World, question: Question, direct: Sequence[str], returned: Sequence[tuple[str, bool]]
) -> None:
    """R20: counted, and more stable the longer it had rested."""
    stable = {}
    for id, _ in returned:
        record = world.records[id]
        used = time_of(record, question.now, "last_accessed_at")
        life = reverie.Life(
            created_at=record["created_at"],
            last_accessed_at=None if math.isnan(used) else used,
            stability=value(record, "stability"),
        )
        stable[id] = reverie.reinforce(life, question.now).stability
    counts_only(world, question, direct, returned)
    for id, stability in stable.items():
        world.records[id]["stability"] = stability


def spaced(rule: remembering.Rule) -> Learning:
    """C11 to C13, after the numbers of a profile."""

    def learn(
        world: World,
        question: Question,
        direct: Sequence[str],
        returned: Sequence[tuple[str, bool]],
    ) -> None:
        sessions = {id: record["sessions"] for id, record in world.records.items()}
        remembering.World(world.records, world.graph, sessions).found(
            rule, direct, returned, question.now, question.session
        )

    return learn
