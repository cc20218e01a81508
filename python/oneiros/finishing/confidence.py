"""How sure a search is of what it found, and how it asks again. Source: docs/systems/omega.md O28."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from oneiros.display import figure
from oneiros.numpy_on_use import np
from oneiros.ranking.channels import VectorChannel
from oneiros.ranking.easing import eased_profile

if TYPE_CHECKING:
    from oneiros.finishing.working import WorkingList
    from oneiros.gathering import Question, Stages
    from oneiros.ranking.finishing import AdaptiveRetry

__all__ = ["confidence_of", "retried"]


def retried(
    first: WorkingList,
    rule: AdaptiveRetry,
    search_again: Callable[[Question], WorkingList],
    stages: Stages,
) -> WorkingList:
    """Return the better of two searches, of which the second is made only where it is needed.

    Args:
        first: what was found.
        rule: the profile's.
        search_again: takes another question to its results.
        stages: the trace.
    """
    first.confidence = before = confidence_of(first, rule)
    if before >= rule.least_confidence:
        count, note = len(first.results), f"not needed: confidence {figure(before)}"
        stages.end("adaptive_retry", count, count, note)
        return first
    stages.prefix = "retry/"
    second = search_again(_asked_again(first.question, rule))
    stages.prefix = ""
    second.confidence = after = confidence_of(second, rule)
    kept = second if after > before else first
    told = "kept" if kept is second else "not kept"
    note = f"confidence {figure(before)}, asked again {figure(after)}: {told}"
    stages.end("adaptive_retry", len(first.results), len(kept.results), note)
    return kept


def confidence_of(working: WorkingList, rule: AdaptiveRetry) -> float:
    """Return how near the first results are to the question, 0 to 1; no multiplier counts."""
    question = working.question
    count = min(rule.results, question.k)
    rows = np.array([row for row, *_ in working.results[:count]], np.uint32)
    if not len(rows):
        return 0.0
    assert question.sought is not None
    near = question.sought.word_ratios(rows)
    for channel, heard in zip(question.profile.channels, working.gathered.answers, strict=True):
        if isinstance(channel, VectorChannel) and heard.score_rows is not None:
            near = np.fmax(near, np.minimum(heard.score_rows(rows), 1.0))  # NaN: no embedding
    return float(near.sum()) / count


def _asked_again(question: Question, rule: AdaptiveRetry) -> Question:
    """Return the question with less asked of a result, and without the time it names."""
    understood = question.understood
    here = understood.situation
    if here is not None:
        here = here._replace(
            min_vec=here.min_vec * rule.relaxation,
            min_text=here.min_text * rule.relaxation,
            min_composite=here.min_composite * rule.score_relaxation,
        )
    return replace(
        question,
        profile=eased_profile(question.profile, rule),
        understood=understood._replace(
            time=None, leaves_time=understood.time is not None, situation=here
        ),
    )
