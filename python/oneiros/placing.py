"""One search asked about single memories: rank in each channel, factors, score and place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from oneiros.explaining import Explanation, Explanations, FactorValue
from oneiros.finishing.working import by_score
from oneiros.gathering import Stages
from oneiros.ranking.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.recall import NO_TIME, ask, searched
from oneiros.why_not import Hiding, Standing, WhyNot

if TYPE_CHECKING:
    from oneiros.channels import ChannelAnswer
    from oneiros.gathering import Question
    from oneiros.projections import Projections, Visible
    from oneiros.ranking.channels import ChannelDeclaration
    from oneiros.response import LoadMemories

__all__ = ["Placing"]


class Placing:
    """One search, up to its candidates.

    Args:
        question: the checked search, explained.
        projections: what searches read.
        visible: the rows that it may return.
        load: the store's loader.
    """

    def __init__(
        self, question: Question, projections: Projections, visible: Visible, load: LoadMemories
    ) -> None:
        self._projections, stages = projections, Stages()
        answers = ask(question, projections, visible, stages)
        self._working = working = searched(
            question, projections, visible, answers, load, stages, is_whole=True
        )
        self._question, self._gathered = working.question, working.gathered
        self._rows = [row for row, *_ in working.results]
        self._standing = [row for row, *_ in working.uncut if row in working.place_of]
        """Of all that channels found and no stage left out, in order."""
        pairs = pairwise(working.uncut)
        self._is_reordered = any(by_score(better) > by_score(other) for better, other in pairs)

    def answer(self, id: str) -> WhyNot:
        """Return what is said of an id that does not exist: the search alone."""
        question, rows = self._question, self._rows
        is_full = 0 < question.k == len(rows)
        return WhyNot(
            query=question.query,
            id=id,
            k=question.k,
            now=question.now,
            profile=question.profile.name,
            profile_hash=question.profile_hash,
            exists=False,
            candidate_count=len(self._standing),
            kth_id=self._projections.lifecycle.ids[rows[-1]] if is_full else None,
            kth=self._working.explanation(rows[-1]) if is_full else None,
            linked_place=self._linked_place(id),
        )

    def _linked_place(self, id: str) -> int | None:
        """The place of a memory among the results, where links brought it there."""
        row = self._projections.lifecycle.row_of.get(id)
        if row is None or row not in self._working.linked or row not in self._rows:
            return None
        return self._rows.index(row) + 1

    def placed(self, answered: WhyNot, row: int) -> WhyNot:
        """Return the answer with all that the search makes of a row."""
        gathered, hidden = self._gathered, answered.hidden
        found = gathered.place_of(row, self._question.now)
        told = None if found is None else Explanations(gathered.compiled, found[0], [0])[0]
        if told is not None:
            told = self._working.finished(row, told, is_linked=False)
        place = None if found is None else found[1]
        if told is not None and place is None:
            hidden = (*hidden, *self._leaving(row, told))
        elif place is not None:
            place, left_out = self._place_of_returned(row)
            hidden = (*hidden, *left_out)
        return replace(
            answered,
            hidden=hidden,
            place=place,
            is_displaced=not hidden
            and place is not None
            and place <= self._question.k
            and row not in self._rows,
            is_reordered=self._is_reordered,
            candidate_count=len(self._standing),
            explanation=told,
            channels=tuple(self._standings(row, told)),
            factors=self._factors(row) if told is None else told.factors,
        )

    def _place_of_returned(self, row: int) -> tuple[int | None, tuple[Hiding, ...]]:
        """The place of a ranked row from 1, and what leaves it out if it has none."""
        working = self._working
        if row in self._standing:
            return self._standing.index(row) + 1, ()
        for one, better in working.duplicates:
            if one == row:
                id = self._projections.lifecycle.ids[better]
                return None, (Hiding("duplicate", f"it is like {id!r}, which stands better"),)
        far = working.far.get(row)
        why = working.reason if far is None else f"not near enough: {far(row)}"
        return None, (Hiding("abstention", why),)

    def _leaving(self, row: int, told: Explanation) -> Iterator[Hiding]:
        """Yield why a candidate has no place: its score, or the rules, each asked on its own."""
        if math.isnan(told.score):
            yield Hiding("rule", "its score is no number")
            return
        profile = self._question.profile
        for rule in profile.keep:
            alone = self._projections.compiled(profile.replace(keep=(rule,)), self._question.added)
            found = self._gathered._replace(compiled=alone).place_of(row, self._question.now)
            if found is not None and found[1] is None:
                yield Hiding("rule", f"left out by the profile's rule {rule.name!r}")

    def _standings(self, row: int, told: Explanation | None) -> Iterator[Standing]:
        for number, channel in enumerate(self._question.profile.channels):
            rank = None if told is None else told.channels[number].rank
            score = None if told is None else told.channels[number].score
            if rank is None and score is None:
                score = _raw_score(self._gathered.answers[number], row)
            if rank is None and score == 0.0 and isinstance(channel, LexicalChannel):
                score = None  # not one word
            detail = "" if rank is not None else self._missed(channel, score)
            depth = channel.depth_for(self._question.k)
            yield Standing(channel.name, rank, score, depth, detail)

    def _missed(self, channel: ChannelDeclaration, score: float | None) -> str:
        """Why a channel gives a memory no rank."""
        question = self._question
        if question.decided:
            return question.decided
        beyond = f"not within the first {channel.depth_for(question.k)}"
        if isinstance(channel, VectorChannel):
            if question.vector is None:
                return question.absent
            if score is None:
                return "it has no embedding"
            is_far = channel.minimum is not None and score < channel.minimum
            return f"farther than the least cosine {channel.minimum:g}" if is_far else beyond
        if isinstance(channel, TemporalChannel):
            if question.understood.time is None:
                return NO_TIME
            return beyond if score else "further from the named time than that is long, in days"
        if score is not None:
            return beyond
        is_plain = self._question.syntax == "plain"
        return "no word of the query is in it" if is_plain else "it does not match the query"

    def _factors(self, row: int) -> tuple[FactorValue, ...]:
        """What the factors give a memory that is no candidate: as the only one there is."""
        gathered, question = self._gathered, self._question
        only, none = np.array([row], np.uint32), np.empty(0, np.uint32)
        rankings = [only, *[none] * (len(question.profile.channels) - 1)]
        alone = gathered.compiled.plan.candidates(
            hits=[(rows, np.full(len(rows), np.nan)) for rows in rankings]
        )
        signals = gathered.signals_of(alone, question)
        found = gathered._replace(candidates=alone, signals=signals).place_of(row, question.now)
        return () if found is None else Explanations(gathered.compiled, found[0], [0])[0].factors


def _raw_score(heard: ChannelAnswer, row: int) -> float | None:
    """The score that a search would give the row; None where the channel has none."""
    if heard.score_rows is None:
        return None
    score = float(heard.score_rows(np.array([row], np.uint32))[0])
    return None if math.isnan(score) else score
