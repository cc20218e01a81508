"""Compound questions, part by part: docs/systems/omega.md O10."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.oracles import omega
from tests.oracles.whole.answers import Answer, Found
from tests.oracles.whole.asking import Question
from tests.oracles.whole.doubt import ordered
from tests.oracles.whole.surfacing import without_like
from tests.oracles.whole.world import World

__all__ = ["compound"]


def compound(answers: Sequence[Answer], world: World, question: Question) -> Answer:
    """Return the best score x 1.15 for each further part that found it, then O26 once more."""
    told: dict[str, list[Found]] = {}
    left: dict[str, list[str]] = {}
    for answer in answers:
        for one in answer.results:
            told.setdefault(one.id, []).append(one)
        for id, better in answer.duplicates.items():
            left.setdefault(id, []).extend(better)
    scores = {id: omega.compound([one.score for one in found]) for id, found in told.items()}
    kept, more = without_like(world, ordered(scores, world.place), question.k)
    for id, better in more.items():
        left.setdefault(id, []).extend(better)
    best = {id: max(found, key=lambda one: one.score) for id, found in told.items()}
    results = tuple(replace(best[id], score=scores[id]) for id in kept)
    return Answer(
        results=results,
        direct=None,
        misses=None,
        abstains=not results and any(answer.abstains for answer in answers),
        duplicates=left,
    )
