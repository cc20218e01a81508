"""Measures the cost of forgetting: the lives of a dated collection, with a limit on what is kept.

The events are those of :mod:`oneiros.evaluation.use`. From time to time, and once before the final
questions, a policy chooses which memories stay, and the others are archived. "worth" is the dream
cycle with the profile's budget (docs/systems/house.md H15); the other policies are those of caches,
and controls. All keep the same number of memories.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, get_args

from oneiros.engine import Engine
from oneiros.evaluation.metrics import Gain, mean, ndcg_at, paired_gain, recall_at
from oneiros.evaluation.tasks import engine_in_memory, ranked
from oneiros.evaluation.use import DEPTH, Arrival, Life, Search, measured_questions, use
from oneiros.filters import where
from oneiros.model.validation import require_choice, require_number
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.phases.house import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oneiros.model.memory import Memory
    from oneiros.scoring.profile import Profile

__all__ = [
    "POLICIES",
    "SHORTEST_DAYS",
    "ForgettingFigures",
    "Policy",
    "forget_along",
    "measure_forgetting",
]

Policy = Literal["worth", "lru", "lfu", "fifo", "random", "shortest"]
POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
"""The policies, by what goes first.

- "worth": what the profile's phase :class:`Budget` values least
- "lru": what was not found or added for the longest time
- "lfu": what was found least often, then as "lru"
- "fifo": the oldest
- "random": anything
- "shortest": the shortest text
"""

SHORTEST_DAYS: Final = 0.01
"""Shortest time between two cycles."""

_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingFigures:
    """The cost of a policy for questions that are asked for the first time."""

    policy: Policy
    count: int
    """Number of questions."""
    kept: float
    """The share of the memories that were kept at the end, mean over the lives."""
    ndcg: float
    """nDCG@10."""
    recall: float
    """Recall@10."""
    ndcg_gain: Gain
    """The difference to a life in which nothing is forgotten."""
    recall_gain: Gain
    """The same for recall."""


def forget_along(
    engine: Engine, life: Life, policy: Policy | None, *, share: float, every_days: float
) -> tuple[dict[str, list[str]], float]:
    """Live a life, with feedback, while a policy decides what stays.

    Args:
        engine: holds no memory of the life. Its profile has the phase :class:`Budget`.
        life: the events.
        policy: see :data:`POLICIES`; None: nothing is forgotten.
        share: of the memories to keep.
        every_days: between two cycles.

    Returns:
        Question id -> ids of the results of its measured search, best first; and the share of the
        memories that were kept at the end.
    """
    if policy is not None:
        require_choice("policy", policy, POLICIES)
    shuffled = random.Random(life.name)
    lots: dict[str, float] = {}
    rankings: dict[str, list[str]] = {}
    for event in _with_cycles(life, every_days):
        if isinstance(event, Arrival):
            engine.add_many(event.records, now=event.at)
            lots.update((record["id"], shuffled.random()) for record in event.records)
        elif isinstance(event, float):
            if policy == "worth":
                engine.dream(event, keep=share)
            elif policy is not None:
                _keep(engine, policy, share, lots, event)
        elif event.measured_as is None:
            use(engine, event, gives_feedback=True)
        else:
            found = ranked(engine, event.question, k=DEPTH, now=event.at)
            rankings[event.question.id] = found
    gone = engine.count(where(status="archived"))
    return rankings, 1.0 - gone / max(1, len(lots))


def measure_forgetting(
    lives: Sequence[Life],
    profile: Profile,
    *,
    share: float = 0.5,
    every_days: float = 7.0,
    policies: Sequence[Policy] = POLICIES,
    seed: int = 0,
    advance: Callable[[int], None] | None = None,
) -> tuple[ForgettingFigures, ...]:
    """Live every life under each policy, each time in a new engine in memory.

    Only the profile's phase :class:`Budget` runs in the cycles, so that all policies keep equally
    many.

    Args:
        lives: of one collection, with questions that are asked for the first time at the end.
        profile: determines ranking and worth; without the phase, its defaults are taken.
        share: of the memories to keep, above 0 to 1.
        every_days: between two cycles, at least 0.01.
        policies: what to measure.
        seed: of the bootstrap.
        advance: called with 1 after each life of each policy.

    Returns:
        One entry per policy.

    Raises:
        ValueError, TypeError: an argument is out of range.
    """
    require_number("share", share, low=0.0, high=1.0, above_low=True)
    require_number("every_days", every_days, low=SHORTEST_DAYS)
    budget = next((phase for phase in profile.phases if isinstance(phase, Budget)), Budget())
    chosen = profile.replace(phases=(replace(budget, least_value=None),))

    def lived(policy: Policy | None) -> tuple[dict[str, list[str]], float]:
        rankings: dict[str, list[str]] = {}
        kept = []
        for life in lives:
            with engine_in_memory(chosen, life.analyzer) as engine:
                found, left = forget_along(engine, life, policy, share=share, every_days=every_days)
            rankings |= found
            kept.append(left)
            if advance is not None:
                advance(1)
        return rankings, mean(kept)

    questions = measured_questions(lives, "new")
    if not questions:
        msg = "lives: must have questions that are asked for the first time, got none"
        raise ValueError(msg)

    def each(
        rankings: Mapping[str, Sequence[str]],
        metric: Callable[[Sequence[str], Mapping[str, float], int], float],
    ) -> list[float]:
        return [metric(rankings[one.id], one.answers, DEPTH) for one in questions]

    whole, _ = lived(None)
    figures = []
    for policy in policies:
        rankings, kept = lived(policy)
        ndcg, recall = each(rankings, ndcg_at), each(rankings, recall_at)
        figures.append(
            ForgettingFigures(
                policy=policy,
                count=len(questions),
                kept=kept,
                ndcg=mean(ndcg),
                recall=mean(recall),
                ndcg_gain=paired_gain(each(whole, ndcg_at), ndcg, seed=seed),
                recall_gain=paired_gain(each(whole, recall_at), recall, seed=seed),
            )
        )
    return tuple(figures)


def _with_cycles(life: Life, every_days: float) -> Iterator[Arrival | Search | float]:
    """Yield the events with the times of cycles between, the last one before the final questions."""
    arrivals = [event for event in life.events if isinstance(event, Arrival)]
    if not arrivals:
        yield from life.events
        return
    first = min(float(arrivals[0].records[0]["created_at"]), arrivals[0].at)
    final = max(event.at for event in life.events)
    due = first + every_days * _DAY
    is_done = False
    for event in life.events:
        while due <= min(event.at, final - 1.0):
            yield due
            due += every_days * _DAY
        if event.at >= final and not is_done and isinstance(event, Search):
            yield final
            is_done = True
        yield event


def _keep(
    engine: Engine, policy: Policy, share: float, lots: Mapping[str, float], now: float
) -> None:
    """Archive what goes first under a policy, and bring back what it keeps again."""
    memories = [memory for memory in engine.get_many(list(lots)) if memory is not None]

    def used_at(memory: Memory) -> float:
        return max(memory.created_at, memory.last_accessed_at or -math.inf)

    order: dict[Policy, Callable[[Memory], tuple[float, ...]]] = {
        "lru": lambda memory: (used_at(memory),),
        "lfu": lambda memory: (memory.access_count, used_at(memory)),
        "fifo": lambda memory: (memory.created_at,),
        "random": lambda memory: (lots[memory.id],),
        "shortest": lambda memory: (len(memory.text),),
    }
    memories.sort(key=order[policy], reverse=True)
    room = math.ceil(share * len(memories))
    for place, memory in enumerate(memories):
        status = "archived" if place >= room else "consolidated"
        if (memory.status == "archived") != (status == "archived"):
            engine.update(memory.id, status=status, now=now)
