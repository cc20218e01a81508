"""One search asked about single memories: rank in each channel, factors, score and place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from oneiros.dataclasses_on_use import replace
from oneiros.explaining import Explanation, Explanations, FactorValue
from oneiros.ranking.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.ranking.finishing import Surfacing
from oneiros.search.explained import Explained
from oneiros.search.notes import NO_TIME, far_words
from oneiros.search.pipeline import Search
from oneiros.why_not import Hiding, Standing, WhyNot

if TYPE_CHECKING:
    from oneiros.projections import Projections, Visible
    from oneiros.ranking.channels import ChannelDeclaration
    from oneiros.response import LoadMemories
    from oneiros.search.request import SearchRequest

__all__ = ["Placing"]

_DECIDED: Final = {
    1: "not looked at: the fast path answered",
    2: "not looked at: what the words found decides alone",
}
"""By short cut: why other channels have no say."""


class Placing:
    """One search, run to its end.

    Args:
        request: the checked search, explained.
        projections: what searches read.
        visible: the rows that it may return.
        load: the store's loader.
    """

    def __init__(
        self,
        request: SearchRequest,
        projections: Projections,
        visible: Visible,
        load: LoadMemories,
    ) -> None:
        self._projections, self._request = projections, request
        self._search = search = Search(request, projections, visible, load, is_whole=True)
        search.run.run()
        self._explained = Explained(search)
        self._ranking = search.ranking
        self._rows = [row for row, *_ in search.run.results()]
        uncut = search.run.uncut()
        ranked = set(search.run.ranked(linked=False).rows.tolist())
        self._standing = [row for row, *_ in uncut if row in ranked]
        """Of all that channels found and no stage left out, in order."""
        self._is_reordered = any(
            (-better[3], better[0]) > (-other[3], other[0]) for better, other in pairwise(uncut)
        )

    def answer(self, id: str) -> WhyNot:
        """Return what is said of an id that does not exist: the search alone."""
        request, rows = self._request, self._rows
        is_full = 0 < request.k == len(rows)
        return WhyNot(
            query=request.query,
            id=id,
            k=request.k,
            now=request.now,
            profile=request.profile.name,
            profile_hash=request.profile_hash,
            exists=False,
            candidate_count=len(self._standing),
            kth_id=self._projections.lifecycle.ids[rows[-1]] if is_full else None,
            kth=self._explained.explanation(rows[-1]) if is_full else None,
            linked_place=self._linked_place(id),
        )

    def _linked_place(self, id: str) -> int | None:
        """The place of a memory among the results, where links brought it there."""
        row = self._projections.lifecycle.row_of.get(id)
        if row is None or row not in self._explained.linked or row not in self._rows:
            return None
        return self._rows.index(row) + 1

    def placed(self, answered: WhyNot, row: int) -> WhyNot:
        """Return the answer with all that the search makes of a row."""
        hidden = answered.hidden
        found = self._search.run.place_of(row=row, plan=None)
        told = None if found is None else Explanations(self._ranking.compiled, found[0], [0])[0]
        if told is not None:
            told = self._explained.finished(row, told, is_linked=False)
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
            and place <= self._request.k
            and row not in self._rows,
            is_reordered=self._is_reordered,
            candidate_count=len(self._standing),
            explanation=told,
            channels=tuple(self._standings(row, told)),
            factors=self._factors(row) if told is None else told.factors,
        )

    def _place_of_returned(self, row: int) -> tuple[int | None, tuple[Hiding, ...]]:
        """The place of a ranked row from 1, and what leaves it out if it has none."""
        run = self._search.run
        if row in self._standing:
            return self._standing.index(row) + 1, ()
        for one, better in run.duplicates:
            if one == row:
                id = self._projections.lifecycle.ids[better]
                return None, (Hiding("duplicate", f"it is like {id!r}, which stands better"),)
        far, rule = run.far().get(row), self._search.abstention
        why = self._search.reason
        if far is not None and isinstance(rule, Surfacing):
            why = f"not near enough: {far_words(far, rule)}"
        return None, (Hiding("abstention", why),)

    def _leaving(self, row: int, told: Explanation) -> Iterator[Hiding]:
        """Yield why a candidate has no place: its score, or the rules, each asked on its own."""
        if math.isnan(told.score):
            yield Hiding("rule", "its score is no number")
            return
        profile = self._ranking.profile
        for rule in profile.keep:
            alone = self._projections.compiled(profile.replace(keep=(rule,)), self._request.added)
            found = self._search.run.place_of(row=row, plan=alone.plan)
            if found is not None and found[1] is None:
                yield Hiding("rule", f"left out by the profile's rule {rule.name!r}")

    def _standings(self, row: int, told: Explanation | None) -> Iterator[Standing]:
        for number, channel in enumerate(self._request.profile.channels):
            rank = None if told is None else told.channels[number].rank
            score = None if told is None else told.channels[number].score
            if rank is None and score is None:
                raw = self._search.run.score_of(channel=number, row=row)
                score = None if math.isnan(raw) else raw
            if rank is None and score == 0.0 and isinstance(channel, LexicalChannel):
                score = None  # not one word
            detail = "" if rank is not None else self._missed(channel, score)
            depth = channel.depth_for(self._request.k)
            yield Standing(channel.name, rank, score, depth, detail)

    def _missed(self, channel: ChannelDeclaration, score: float | None) -> str:
        """Why a channel gives a memory no rank."""
        request = self._request
        if self._search.run.short_cut:
            return _DECIDED[self._search.run.short_cut]
        beyond = f"not within the first {channel.depth_for(request.k)}"
        if isinstance(channel, VectorChannel):
            if request.vector is None:
                return request.absent
            if score is None:
                return "it has no embedding"
            minimum = self._minimum()
            is_far = minimum is not None and score < minimum
            return f"farther than the least cosine {minimum:g}" if is_far else beyond
        if isinstance(channel, TemporalChannel):
            if request.understood.time is None or self._search.run.is_relaxed:
                return NO_TIME
            return beyond if score else "further from the named time than that is long, in days"
        if score is not None:
            return beyond
        is_plain = request.syntax == "plain"
        return "no word of the query is in it" if is_plain else "it does not match the query"

    def _minimum(self) -> float | None:
        """The least cosine that the vector channel finds, as the search was answered."""
        channels = self._ranking.profile.channels
        return next((one.minimum for one in channels if isinstance(one, VectorChannel)), None)

    def _factors(self, row: int) -> tuple[FactorValue, ...]:
        """What the factors give a memory that is no candidate: as the only one there is."""
        found = self._search.run.alone(row=row)
        if found is None:
            return ()
        return Explanations(self._ranking.compiled, found[0], [0])[0].factors
