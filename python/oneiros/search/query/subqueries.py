"""Compound queries: each part is searched and the results are merged. Source: docs/systems/omega.md O10."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, overload

from oneiros import _core
from oneiros.runtime.dataclasses import replace
from oneiros.search.response import BuiltParts, ResultMemories, SearchResponse, SearchResult
from oneiros.search.trace import Duplicate, SearchTrace, StageTrace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oneiros.explain.explanation import Explanation
    from oneiros.index import Projections
    from oneiros.scoring.understanding import Understanding
    from oneiros.search.request import SearchRequest
    from oneiros.search.response import LoadMemories

__all__ = ["merged_answer", "parts_of"]


def parts_of(query: str, understanding: Understanding) -> list[str]:
    """Return the parts of a question, in order; of a question that is not compound, itself alone.

    A question is split at its conjunctions ("and also"). Without any it is split at its commas, if
    each part begins with a clause mark ("what ..., when ..."). Parts that are too short are dropped.
    """
    text = query.strip()
    if understanding.most_parts == 1 or _stays_whole(text, understanding):
        return [query]
    pieces = [text]
    if understanding.conjunctions:
        border = _border(understanding.conjunctions, understanding.not_before)
        pieces = border.split(text)
    if len(pieces) == 1 and understanding.clause_marks:
        pieces = _clauses(text, understanding.clause_marks)
    parts = [_trimmed(piece, understanding.trailing_marks) for piece in pieces]
    parts = [
        part
        for part in parts
        if len(part) >= understanding.least_characters
        and len(part.split()) >= understanding.least_words
    ]
    return parts[: understanding.most_parts] if len(parts) > 1 else [query]


def _stays_whole(text: str, understanding: Understanding) -> bool:
    return len(text) < understanding.least_question_characters or any(
        text.count(quote) >= understanding.least_quotes for quote in understanding.quotes
    )


def _clauses(text: str, clause_marks: tuple[str, ...]) -> list[str]:
    """Return what stands between commas, if each begins with a clause mark; else the whole."""
    begins = _beginning(clause_marks).match
    clauses = [clause for clause in map(str.strip, text.split(",")) if clause]
    return clauses if all(map(begins, clauses)) else [text]


def _trimmed(piece: str, marks: tuple[str, ...]) -> str:
    """Return a piece without blanks at its ends and marks at its end."""
    end = len(piece)
    while end and (piece[end - 1] in marks or piece[end - 1].isspace()):
        end -= 1
    return piece[:end].lstrip()


@lru_cache(maxsize=64)
def _border(conjunctions: tuple[str, ...], not_before: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of a conjunction between blanks, a comma before it or not.

    It never goes back into blanks that it has read, and starts at most twice in each run of them.
    """
    held = rf"(?!(?:{_any_of(not_before)})(?![\w'\u2019-]))" if not_before else ""
    pattern = rf"(?:,|(?<!\s))\s++(?:{_any_of(conjunctions)})\s++{held}"
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=64)
def _beginning(clause_marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{_any_of(clause_marks)})(?!\w)", re.IGNORECASE)


def _any_of(phrases: Iterable[str]) -> str:
    """The pattern of one of the phrases, tried in their order."""
    return "|".join(r"\s++".join(map(re.escape, phrase.split())) for phrase in phrases)


class _Found(NamedTuple):
    """A memory, and the parts that found it."""

    row: int
    best: SearchResult
    """Of the part that gives it the most; of several, the first."""
    gain: float
    parts: tuple[str, ...]

    @property
    def score(self) -> float:
        return self.best.raw_score * self.gain


def merged_answer(
    query: str,
    parts: Sequence[SearchRequest],
    answers: Sequence[SearchResponse],
    projections: Projections,
    load: LoadMemories,
) -> SearchResponse:
    """Return the answer to a compound question, of those to its parts.

    Each memory has the best of its scores, times ``part_gain`` for each further part that found it.

    Args:
        query: the whole question.
        parts: two or more, in order.
        answers: one a part, each with the best ``k``.
        projections: what they were read from.
        load: the store's loader, for the memories of the results.
    """
    started = perf_counter()
    first, asked = answers[0], [question.query for question in parts]
    everything = _merged(parts, answers, projections)
    found, again = _without_duplicates(everything, parts[0], projections)
    reasons = dict.fromkeys(one.reason for one in answers if one.reason)
    best = max((one.score for one in found), default=0.0)
    share_of = best if parts[0].profile.normalisation is not None and best > 0 else None  # O29
    scores = [one.score if share_of is None else one.score / share_of for one in found]
    ids = [one.best.id for one in found]
    memories = ResultMemories(ids, load)
    explanations = _Explained(found, share_of) if parts[0].is_explained else None
    results = tuple(
        SearchResult(
            memories,
            one.best.id,
            (one.best.relevance_score, one.best.retention_score, score),
            explanations,
            place,
        )
        for place, (one, score) in enumerate(zip(found, scores, strict=True))
    )
    for result, one in zip(results, found, strict=True):
        result.found_by_links = one.best.found_by_links
        result.neighbour_of = one.best.neighbour_of
        result.via_deep_recall = one.best.via_deep_recall
        result.parts = one.parts
        result.raw_score = one.score
    return SearchResponse(
        query=query,
        now=first.now,
        profile=first.profile,
        profile_hash=first.profile_hash,
        ids=ids,
        scores=scores,
        memories=memories,
        answer=BuiltParts(
            results,
            _trace(asked, answers, len(everything), len(found), again, started),
            () if results else _misses(answers),
            _direct_ids(answers, everything),
        ),
        reason="" if results else "; ".join(reasons),
        confidence=None if first.confidence is None else min(map(_confidence, answers)),
        parts=tuple(asked),
    )


def _merged(
    parts: Sequence[SearchRequest], answers: Sequence[SearchResponse], projections: Projections
) -> list[_Found]:
    """All that the parts found, each once, best first."""
    row_of, reader = projections.lifecycle.row_of, parts[0].profile.understanding
    assert reader is not None
    told: dict[str, list[tuple[str, SearchResult]]] = {}
    for question, answer in zip(parts, answers, strict=True):
        for result in answer:
            told.setdefault(result.id, []).append((question.query, result))
    found = [
        _Found(
            row,
            max((result for _, result in held), key=lambda one: one.raw_score),
            reader.part_gain ** (len(held) - 1),
            tuple(part for part, _ in held),
        )
        for id, held in told.items()
        if (row := row_of.get(id)) is not None  # None: forgotten meanwhile
    ]
    return sorted(found, key=lambda one: (-one.score, one.row))


def _without_duplicates(
    found: list[_Found], question: SearchRequest, projections: Projections
) -> tuple[list[_Found], tuple[Duplicate, ...]]:
    """The best ``k``, and what is left out for one of another part that it is like. O26."""
    k, rule = question.k, question.profile.duplicates
    if rule is None or not found:
        return found[:k], ()
    vectors = projections.indexes.vectors
    kept, left = _core.first_of_each(
        texts=projections.texts.column,
        vectors=vectors.column if vectors else None,
        rows=[one.row for one in found],
        most=k,
        characters=rule.characters,
        cosine=rule.cosine,
    )
    again = tuple(Duplicate(found[one].best.id, found[better].best.id) for one, better in left)
    return [found[place] for place in kept], again


def _trace(
    asked: Sequence[str],
    answers: Sequence[SearchResponse],
    found: int,
    returned: int,
    again: tuple[Duplicate, ...],
    started: float,
) -> SearchTrace:
    """The stages of every part, and the merge behind them."""
    stages: list[StageTrace] = []
    notes: list[str] = []
    for number, (part, answer) in enumerate(zip(asked, answers, strict=True), start=1):
        for stage in answer.trace.stages:
            note = f"part {number}: {stage.note}" if stage.note else f"part {number}"
            stages.append(replace(stage, note=note))
        notes.append(f"part {number}: {part}")
        notes += [f"part {number}: {note}" for note in answer.trace.notes]
    merge_ms = (perf_counter() - started) * 1e3
    stages.append(StageTrace("compound", found, returned, merge_ms, note=f"{len(asked)} parts"))
    return SearchTrace(
        tuple(stages),
        sum(answer.trace.total_ms for answer in answers) + merge_ms,
        tuple(notes),
        tuple(one for answer in answers for one in answer.trace.duplicates) + again,
    )


def _direct_ids(
    answers: Sequence[SearchResponse], everything: Sequence[_Found]
) -> tuple[str, ...] | None:
    """What the channels of any part found before links were followed; None where none were."""
    if all(answer.direct_ids is None for answer in answers):
        return None
    direct = dict.fromkeys(
        id
        for answer in answers
        for id in (answer.ids if answer.direct_ids is None else answer.direct_ids)
    )
    place = {one.best.id: number for number, one in enumerate(everything)}
    return tuple(sorted(direct, key=lambda id: place.get(id, len(place))))


def _misses(answers: Sequence[SearchResponse]) -> tuple[SearchResult, ...]:
    """The nearest of all parts, each once, as many as one part tells of."""
    nearest: dict[str, SearchResult] = {}
    told = [one for answer in answers for one in answer.nearest_misses]
    for one in sorted(told, key=lambda one: -one.combined_score):
        nearest.setdefault(one.id, one)
    return tuple(nearest.values())[: max(len(answer.nearest_misses) for answer in answers)]


class _Explained(Sequence["Explanation | None"]):
    """The explanations of the merged results, each made when it is touched."""

    def __init__(self, found: Sequence[_Found], share_of: float | None) -> None:
        self._found = found
        self._share_of = share_of

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Explanation | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[Explanation | None]: ...
    def __getitem__(self, index: int | slice) -> Explanation | list[Explanation | None] | None:
        if isinstance(index, slice):
            return [_explanation(one, self._share_of) for one in self._found[index]]
        return _explanation(self._found[index], self._share_of)


def _explanation(one: _Found, share_of: float | None) -> Explanation | None:
    from oneiros.explain.explanation import FactorValue  # noqa: PLC0415 - for those who ask why

    told = one.best.explanation
    if told is None:
        return None
    told = replace(told, score=one.best.raw_score, divided_by=None)
    if len(one.parts) > 1:
        told = told.with_factor(FactorValue("parts", one.gain))
    return told if share_of is None else told.as_share_of(share_of)


def _confidence(answer: SearchResponse) -> float:
    return 0.0 if answer.confidence is None else answer.confidence
