"""Questions that what the words found decides alone. Source: docs/systems/omega.md O1, O5."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oneiros.channels import ChannelAnswer, RankedList
from oneiros.display import figure
from oneiros.numpy_on_use import np
from oneiros.projections.indexes import ABSENT
from oneiros.ranking.channels import LexicalChannel
from oneiros.ranking.short_cuts import answered_at_once, decided_by_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.gathering import Question, Stages
    from oneiros.response import LoadMemories

__all__ = ["decided"]

AT_ONCE = "not looked at: the fast path answered"
ALONE = "not looked at: what the words found decides alone"


def decided(
    question: Question, answers: Sequence[ChannelAnswer], load: LoadMemories, stages: Stages
) -> tuple[Question, Sequence[ChannelAnswer]]:
    """Return the question as it is ranked, and the answers that give it candidates.

    Args:
        question: the search.
        answers: of the channels, in the order of its profile.
        load: the store's loader.
        stages: the trace; one stage for each short cut that the profile has and that is tried.
    """
    profile = question.profile
    place = next(n for n, one in enumerate(profile.channels) if isinstance(one, LexicalChannel))
    heard = answers[place]
    if profile.fast_path is not None:
        alike, note = _alike(question, heard, load)
        stages.end("fast_path", heard.hits.size, alike.size, note)
        if alike.size:
            found = ChannelAnswer(alike, heard.score_rows)
            at_once = replace(question, profile=answered_at_once(profile), decided=AT_ONCE)
            return at_once, _alone(found, place, len(answers))
    if profile.strong_signal is not None:
        note = _weakness(question, heard)
        kept = sum(one.hits.size for one in answers) if note else heard.hits.size
        stages.end("strong_signal", sum(one.hits.size for one in answers), kept, note)
        if not note:
            alone = replace(question, profile=decided_by_words(profile), decided=ALONE)
            return alone, _alone(heard, place, len(answers))
    return question, answers


def _alone(heard: ChannelAnswer, place: int, count: int) -> list[ChannelAnswer]:
    return [heard if number == place else ABSENT for number in range(count)]


def _alike(question: Question, heard: ChannelAnswer, load: LoadMemories) -> tuple[RankedList, str]:
    """What is almost the question itself, best first, or why nothing is."""
    rule, rows = question.profile.fast_path, heard.hits.rows
    assert rule is not None
    none = RankedList(rows[:0], np.empty(0))
    understood = question.understood
    if understood.intent != "navigational":
        return none, "skipped: the query is not keyword-like"
    if understood.time is not None or understood.leaves_time or question.back_again is not None:
        return none, "skipped: a time is named, or recall is deep"
    assert question.sought is not None
    shares = question.sought.texts.trigram_similarities(
        rows,
        question.spoken,
        characters=rule.characters,
        least=rule.similarity,
        load=load,
    )
    order = np.lexsort((rows, -shares))
    order = order[: int(np.count_nonzero(shares >= rule.similarity))]
    note = "" if len(order) else f"nothing as like as {rule.similarity:g}"
    return RankedList(rows[order], shares[order]), note


def _weakness(question: Question, heard: ChannelAnswer) -> str:
    """Why what the words found does not decide alone; empty where it does."""
    rule, scores = question.profile.strong_signal, heard.hits.scores
    assert rule is not None
    if question.ranks is not None:
        return "skipped: the question is asked in other words too"
    if len(scores) < 2:
        return f"not strong: {len(scores)} hits"
    first, second = float(scores[0]), float(scores[1])
    if first >= rule.threshold and first - second >= rule.gap:
        return ""
    return f"not strong: {figure(first)}, and {figure(first - second)} ahead"
