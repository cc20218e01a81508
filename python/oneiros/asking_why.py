"""Recall asked about one memory: why a search does not return it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from oneiros.argument_checks import require_text, statuses
from oneiros.explaining import FactorValue
from oneiros.fields import FIELDS
from oneiros.hiding import Limits, hidings
from oneiros.recall import STAGE_OF_CHANNEL, answer, signals_for
from oneiros.searching import Searching
from oneiros.why_not import Standing, WhyNot

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.bounded import Time
    from oneiros.explaining import Explanation
    from oneiros.memory import Memory
    from oneiros.projections import Visible
    from oneiros.ranking.profile import Profile
    from oneiros.recall import Question
    from oneiros.response import SearchResponse
    from oneiros.scopes import Where

__all__ = ["AskingWhy"]


class AskingWhy(Searching):
    """Memories that can be asked why a search does not return one of them."""

    def why_not(
        self,
        query: str,
        id: str,
        *,
        k: int = 10,
        where: Where | None = None,
        session: str | None = None,
        now: Time | None = None,
        embedding: npt.ArrayLike | None = None,
        profile: Profile | str | None = None,
        reinforce: bool | None = None,
        explain: bool = True,
        status: str | Sequence[str] | None = None,
    ) -> WhyNot:
        """Tell why a search does not return a memory; never counts as an access.

        Args:
            query: the search's.
            id: of the memory that is missed.
            k: the search's, like all that follow, so that they can be given as they were.
            where: the search's filter.
            session: taken, and of no effect here.
            now: the search's clock.
            embedding: the search's.
            profile: the search's.
            reinforce: taken, and of no effect here.
            explain: taken, and of no effect here.
            status: the search's.

        Returns:
            :class:`WhyNot`: what hides the memory, how each channel and factor sees it, its place
            and what it lacks of the last place returned. A scope says of a memory outside what it
            says of an id that does not exist.

        Raises:
            As :meth:`search`.
        """
        del reinforce, explain
        require_text("id", id)
        if session is not None:
            FIELDS["session"].check(session)
        self._follow_others()
        question = self._question(query, embedding, k, now, profile, True)
        limits = Limits(
            question.profile.selection, self._checked(where), statuses(status), question.now
        )
        return self._answer(id, question, limits)

    def _answer(self, id: str, question: Question, limits: Limits) -> WhyNot:
        row_sets = self._parts.projections.row_sets
        visible = row_sets.visible(
            limits.selection, limits.where, self._scope(), limits.status, limits.now
        )
        ranked = self._all_candidates(question, visible)
        answered = _blank(id, question, ranked)
        memory = self._load_seen([id])[0]
        row = self._parts.projections.lifecycle.row_of.get(id)
        if memory is None or row is None:
            return answered
        answered = replace(answered, exists=True)
        hidden = hidings(memory, row, row_sets, limits)
        if row not in row_sets.live:
            return replace(answered, hidden=hidden)
        if hidden:
            ranked = self._all_candidates(question, visible.letting_in(row))
        return self._placed(replace(answered, hidden=hidden), memory, row, question, ranked)

    def _placed(
        self, known: WhyNot, memory: Memory, row: int, question: Question, ranked: SearchResponse
    ) -> WhyNot:
        ids = ranked.ids
        place = ids.index(memory.id) + 1 if memory.id in ids else None
        told = None if place is None else ranked.results[place - 1].explanation
        return replace(
            known,
            place=place,
            candidate_count=len(ids),
            explanation=told,
            channels=tuple(self._standings(memory, row, question, ranked, told)),
            factors=self._factors(row, question) if told is None else told.factors,
        )

    def _standings(
        self,
        memory: Memory,
        row: int,
        question: Question,
        ranked: SearchResponse,
        told: Explanation | None,
    ) -> Iterator[Standing]:
        given = {} if told is None else {channel.name: channel for channel in told.channels}
        counts = {stage.name: stage.survivor_count for stage in ranked.trace.stages}
        for channel in question.profile.channels:
            rank = None if told is None else given[channel.name].rank
            score = None if told is None else given[channel.name].score
            depth = channel.depth_for(question.k)
            detail = "" if rank is not None else f"not within the first {depth}"
            if channel.name == "vector" and rank is None:
                if question.vector is None:
                    detail = question.absent
                elif memory.embedding is None:
                    detail = "it has no embedding"
                elif score is None:
                    score = self._cosine(question.vector, row)
            elif rank is None and counts[STAGE_OF_CHANNEL[channel.name]] < depth:
                detail = "no word of the query is in it"
            yield Standing(channel.name, rank, score, depth, detail)

    def _cosine(self, vector: npt.NDArray[np.float32], row: int) -> float | None:
        vectors = self._parts.projections.indexes.vectors
        if vectors is None:
            return None
        cosine = float(vectors.cosines(vector, np.array([row], np.uint32))[0])
        return None if math.isnan(cosine) else cosine

    def _factors(self, row: int, question: Question) -> tuple[FactorValue, ...]:
        """What the factors give a memory that is no candidate."""
        projections = self._parts.projections
        compiled = projections.compiled(question.profile)
        only, none = np.array([row], np.uint32), np.empty(0, np.uint32)
        others = [none] * (len(question.profile.channels) - 1)
        candidates = compiled.plan.candidates(  # as the only one there is
            rankings=[only, *others],
            scores=[np.full(len(rows), np.nan) for rows in (only, *others)],
        )
        placed = compiled.plan.place_of(
            columns=projections.lifecycle.columns,
            candidates=candidates,
            now_seconds=question.now,
            row=row,
            signals=signals_for(compiled, projections, candidates, question.now),
        )
        assert placed is not None  # it is a candidate
        assert placed[0].factors is not None
        values = placed[0].factors[:, 0].tolist()
        return tuple(map(FactorValue, compiled.names, values, compiled.operations))

    def _all_candidates(self, question: Question, visible: Visible) -> SearchResponse:
        """Run the search, and return every candidate."""
        channels = question.profile.channels
        everything = sum(channel.depth_for(question.k) for channel in channels)
        parts = self._parts
        return answer(
            replace(question, limit=everything), parts.projections, visible, self._load_seen
        )


def _blank(id: str, question: Question, ranked: SearchResponse) -> WhyNot:
    """What is said of an id that does not exist: the search alone."""
    last = ranked.results[question.k - 1] if 0 < question.k <= len(ranked) else None
    return WhyNot(
        query=question.query,
        id=id,
        k=question.k,
        now=question.now,
        profile=question.profile.name,
        profile_hash=question.profile.hash,
        exists=False,
        candidate_count=len(ranked),
        kth_id=None if last is None else last.id,
        kth=None if last is None else last.explanation,
    )
