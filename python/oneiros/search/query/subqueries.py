"""Compound queries: split, searched part by part and merged. docs/systems/omega.md O10."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache, partial
from time import perf_counter
from typing import TYPE_CHECKING

from oneiros import _core, explain
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.search.response import BuiltParts, ResultMemories, SearchResponse, SearchResult
from oneiros.search.trace import Duplicate, SearchTrace, StageTrace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oneiros.explain.explanation import Explanation
    from oneiros.index import ReadModel
    from oneiros.scoring.understanding import Understanding
    from oneiros.search.call import SearchRequest, Window
    from oneiros.search.response import LoadMemories

__all__ = ["merged_answer", "parts_of"]


def parts_of(query: str, understanding: Understanding) -> list[str]:
    """Return the parts of a compound query, in order; for any other query, only the query.

    A query is split at conjunctions ("and also"). Without any, it is split at commas if each part
    begins with a clause mark ("what ..., when ..."). Parts that are too short are dropped.
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
    """Return the clauses between commas if each begins with a clause mark; else the whole text."""
    begins = _beginning(clause_marks).match
    clauses = [clause for clause in map(str.strip, text.split(",")) if clause]
    return clauses if all(map(begins, clauses)) else [text]


def _trimmed(piece: str, marks: tuple[str, ...]) -> str:
    """Return the piece without blanks at both ends and without marks at its end."""
    end = len(piece)
    while end and (piece[end - 1] in marks or piece[end - 1].isspace()):
        end -= 1
    return piece[:end].lstrip()


@lru_cache(maxsize=64)
def _border(conjunctions: tuple[str, ...], not_before: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a conjunction between blanks, with or without a comma before it.

    The pattern does not backtrack into blanks, and starts at most twice in each run of them.
    """
    exception = rf"(?!(?:{_any_of(not_before)})(?![\w'\u2019-]))" if not_before else ""
    pattern = rf"(?:,|(?<!\s))\s++(?:{_any_of(conjunctions)})\s++{exception}"
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=64)
def _beginning(clause_marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{_any_of(clause_marks)})(?!\w)", re.IGNORECASE)


def _any_of(phrases: Iterable[str]) -> str:
    """Return the pattern of any of the phrases, tried in their order."""
    return "|".join(r"\s++".join(map(re.escape, phrase.split())) for phrase in phrases)


class _Merged(NamedTuple):
    """A memory, and the parts that found it."""

    row: int
    best: SearchResult
    """Result of the part with the highest score; the first of equal ones."""
    gain: float
    parts: tuple[str, ...]

    @property
    def score(self) -> float:
        return self.best.raw_score * self.gain


def merged_answer(
    query: str,
    requests: Sequence[SearchRequest],
    responses: Sequence[SearchResponse],
    read_model: ReadModel,
    load: LoadMemories,
    window: Window,
) -> SearchResponse:
    """Merge the responses of the parts of a compound query, two or more.

    A memory's score is the best of its scores, times ``part_gain`` for each further part that found
    it. Of the merged results those in the window are returned.
    """
    started = perf_counter()
    first, parts = responses[0], [request.query for request in requests]
    merged = _merged(requests, responses, read_model)
    found, duplicates = _without_duplicates(merged, requests[0], read_model)
    reasons = dict.fromkeys(response.reason for response in responses if response.reason)
    best = max((memory.score for memory in found), default=0.0)
    is_share = requests[0].profile.normalisation is not None and 0 < best < math.inf  # O29
    share_of = best if is_share else None
    scores = [memory.score / best if is_share else memory.score for memory in found]
    found_count, places = len(found), window.places(scores)
    found, scores = [found[place] for place in places], [scores[place] for place in places]
    ids = [memory.best.id for memory in found]
    memories = ResultMemories(ids, load)
    results = tuple(
        SearchResult(
            memories,
            memory.best.id,
            (memory.best.relevance_score, memory.best.retention_score, score),
            partial(_explanation, memory, share_of) if requests[0].is_explained else None,
            partial(getattr, memory.best, "channels"),
        )
        for memory, score in zip(found, scores, strict=True)
    )
    for result, memory in zip(results, found, strict=True):
        result.found_by_links = memory.best.found_by_links
        result.neighbour_of = memory.best.neighbour_of
        result.via_deep_recall = memory.best.via_deep_recall
        result.parts = memory.parts
        result.raw_score = memory.score
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
            _trace(
                parts,
                responses,
                (len(merged), found_count, len(found)),
                duplicates,
                started,
                window,
            ),
            () if found_count else _misses(responses),
            _direct_ids(responses, merged if window.is_whole else found),
        ),
        reason="" if found_count else "; ".join(reasons),
        confidence=None if first.confidence is None else min(map(_confidence, responses)),
        parts=tuple(parts),
    )


def _merged(
    requests: Sequence[SearchRequest],
    responses: Sequence[SearchResponse],
    read_model: ReadModel,
) -> list[_Merged]:
    """Return all memories that the parts found, without repetitions, best first."""
    row_of, reader = read_model.lifecycle.row_of, requests[0].profile.understanding
    assert reader is not None
    results_by_id: dict[str, list[tuple[str, SearchResult]]] = {}
    for request, response in zip(requests, responses, strict=True):
        for result in response:
            results_by_id.setdefault(result.id, []).append((request.query, result))
    found = [
        _Merged(
            row,
            max((result for _, result in results), key=lambda result: result.raw_score),
            reader.part_gain ** (len(results) - 1),
            tuple(part for part, _ in results),
        )
        for id, results in results_by_id.items()
        if (row := row_of.get(id)) is not None  # None: forgotten since
    ]
    return sorted(found, key=lambda memory: (-memory.score, memory.row))


def _without_duplicates(
    found: list[_Merged], request: SearchRequest, read_model: ReadModel
) -> tuple[list[_Merged], tuple[Duplicate, ...]]:
    """Return the best ``k``, and the duplicates of better results that are left out. O26."""
    k, rule = request.k, request.profile.duplicates
    if rule is None or not found:
        return found[:k], ()
    vectors = read_model.indexes.vectors
    kept, left = _core.first_of_each(
        texts=read_model.texts.column,
        vectors=vectors.column if vectors else None,
        rows=[memory.row for memory in found],
        most=k,
        characters=rule.characters,
        cosine=rule.cosine,
    )
    duplicates = tuple(
        Duplicate(found[place].best.id, found[better].best.id) for place, better in left
    )
    return [found[place] for place in kept], duplicates


def _trace(
    parts: Sequence[str],
    responses: Sequence[SearchResponse],
    counts: tuple[int, int, int],
    duplicates: tuple[Duplicate, ...],
    started: float,
    window: Window,
) -> SearchTrace:
    """Return the stages of all parts, followed by the merge and the window.

    ``counts`` has the numbers of memories found, kept and returned.
    """
    found_count, kept_count, returned_count = counts
    stages: list[StageTrace] = []
    notes: list[str] = []
    traces = [response.trace for response in responses]
    for number, (part, trace) in enumerate(zip(parts, traces, strict=True), start=1):
        for stage in trace.stages:
            note = f"part {number}: {stage.note}" if stage.note else f"part {number}"
            stages.append(replace(stage, note=note))
        notes.append(f"part {number}: {part}")
        notes += [f"part {number}: {note}" for note in trace.notes]
    merge_ms = (perf_counter() - started) * 1e3
    note = f"{len(parts)} parts"
    stages.append(StageTrace("compound", found_count, kept_count, merge_ms, note=note))
    if not window.is_whole:
        stages.append(window.stage(kept_count, returned_count))
    return SearchTrace(
        tuple(stages),
        sum(trace.total_ms for trace in traces) + merge_ms,
        tuple(notes),
        tuple(pair for trace in traces for pair in trace.duplicates) + duplicates,
    )


def _direct_ids(
    responses: Sequence[SearchResponse], merged: Sequence[_Merged]
) -> tuple[str, ...] | None:
    """Return the ids that channels found in any part; None if no links were followed."""
    if all(response.direct_ids is None for response in responses):
        return None
    direct = dict.fromkeys(
        id
        for response in responses
        for id in (response.ids if response.direct_ids is None else response.direct_ids)
    )
    place_of = {memory.best.id: place for place, memory in enumerate(merged)}
    return tuple(sorted(direct, key=lambda id: place_of.get(id, len(place_of))))


def _misses(responses: Sequence[SearchResponse]) -> tuple[SearchResult, ...]:
    """Return the nearest misses of all parts, at most as many as the part with most of them."""
    nearest: dict[str, SearchResult] = {}
    misses = [miss for response in responses for miss in response.nearest_misses]
    for miss in sorted(misses, key=lambda miss: -miss.combined_score):
        nearest.setdefault(miss.id, miss)
    return tuple(nearest.values())[: max(len(response.nearest_misses) for response in responses)]


def _explanation(memory: _Merged, share_of: float | None) -> Explanation | None:
    explanation = memory.best.explanation
    if explanation is None:
        return None
    explanation = replace(explanation, score=memory.best.raw_score, divided_by=None)
    if len(memory.parts) > 1:
        explanation = explanation.with_factor(explain.explanation.FactorValue("parts", memory.gain))
    return explanation if share_of is None else explanation.as_share_of(share_of)


def _confidence(response: SearchResponse) -> float:
    return 0.0 if response.confidence is None else response.confidence
