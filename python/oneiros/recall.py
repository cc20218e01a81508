"""The recall path: query -> channels -> fusion and factors -> response, one call a stage."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from oneiros.explaining import Explanations
from oneiros.response import SearchResponse, SearchTrace, StageTrace, shelve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from oneiros.channels import RankedList
    from oneiros.projections import Projections, Visible
    from oneiros.ranking.profile import Profile
    from oneiros.response import LoadMemories

__all__ = ["Question", "answer", "answer_many"]

STAGE_OF_CHANNEL = {"lexical": "bm25_search", "vector": "vector_search"}


@dataclass(frozen=True, slots=True)
class Question:
    """One search, checked: what the channels and the plan need to know."""

    query: str
    vector: npt.NDArray[np.float32] | None
    """Unit length, shape (dimension,); None leaves the vector channel out."""
    absent: str
    """Why the vector channel is left out; empty when it is not."""
    k: int
    now: float
    profile: Profile
    is_explained: bool


class _Stages:
    """Collects the trace; a stage's time is what passed since the last one ended."""

    def __init__(self) -> None:
        self._started = self._last = perf_counter()
        self._stages: list[StageTrace] = []

    def end(self, name: str, candidates: int, survivors: int, note: str = "") -> None:
        now = perf_counter()
        duration_ms = (now - self._last) * 1e3
        self._stages.append(StageTrace(name, candidates, survivors, duration_ms, note=note))
        self._last = now

    def trace(self, notes: Sequence[str] = ()) -> SearchTrace:
        total_ms = (self._last - self._started) * 1e3
        return SearchTrace(tuple(self._stages), total_ms, tuple(notes))


def answer(
    question: Question, projections: Projections, visible: Visible, load: LoadMemories
) -> SearchResponse:
    """Run one search.

    Args:
        question: the checked search.
        projections: what searches read.
        visible: the rows that recall may return.
        load: the store's loader, for the memories of the results.
    """
    stages = _Stages()
    stages.end("validity_filter", visible.bounds_count, visible.row_count)
    found: list[RankedList] = []
    for channel in question.profile.channels:
        depth = channel.depth
        if channel.name == "vector":
            hits, note = _by_vector(question, projections, visible, depth)
        else:
            hits, note = projections.indexes.by_words(question.query, depth, visible.bits), ""
        found.append(hits)
        stages.end(STAGE_OF_CHANNEL[channel.name], visible.row_count, len(hits.rows), note)
    return _rank(question, projections, found, load, stages)


def answer_many(
    questions: Sequence[Question],
    projections: Projections,
    visible: Visible,
    load: LoadMemories,
    threads: int,
) -> list[SearchResponse]:
    """Run a batch of searches of one profile and k: each channel takes it in one call.

    The answers are those of :func:`answer`, question by question.
    """
    if not questions:
        return []
    profile = questions[0].profile
    stages = [_Stages() for _ in questions]
    found: list[list[RankedList]] = [[] for _ in questions]
    notes = [question.absent for question in questions]
    for part in stages:
        part.end("validity_filter", visible.bounds_count, visible.row_count)
    for channel in profile.channels:
        depth = channel.depth
        if channel.name == "vector":
            vectors = [question.vector for question in questions]
            lists = projections.indexes.by_vectors(vectors, depth, visible.bits, threads)
            said = notes
        else:
            queries = [question.query for question in questions]
            lists = projections.indexes.by_words_many(queries, depth, visible.bits, threads)
            said = [""] * len(questions)
        for hits, mine, part, note in zip(lists, found, stages, said, strict=True):
            mine.append(hits)
            part.end(STAGE_OF_CHANNEL[channel.name], visible.row_count, len(hits.rows), note)
    return [
        _rank(question, projections, mine, load, part)
        for question, mine, part in zip(questions, found, stages, strict=True)
    ]


def _by_vector(
    question: Question, projections: Projections, visible: Visible, depth: int
) -> tuple[RankedList, str]:
    hits = projections.indexes.by_vector(question.vector, depth, visible.bits)
    return hits, question.absent


def _rank(
    question: Question,
    projections: Projections,
    found: Sequence[RankedList],
    load: LoadMemories,
    stages: _Stages,
) -> SearchResponse:
    compiled = question.profile.compile()
    ranked = compiled.plan.rank(
        columns=projections.lifecycle.columns,
        rankings=[hits.rows for hits in found],
        now_seconds=question.now,
        k=question.k,
        explain=question.is_explained,
    )
    hit_count = sum(len(hits.rows) for hits in found)
    stages.end("fusion", hit_count, ranked.candidate_count, "in one pass with scoring")
    ids = projections.lifecycle.ids
    names = [ids[row] for row in ranked.rows.tolist()]
    places = [place for place, name in enumerate(names) if name]  # "": forgotten meanwhile
    stages.end("scoring", ranked.candidate_count, len(places))
    scores = list(
        zip(
            ranked.relevance.tolist(),
            ranked.retention.tolist(),
            ranked.scores.tolist(),
            strict=True,
        )
    )
    explained = question.is_explained
    explanations = Explanations(compiled, found, ranked, places) if explained else None
    notes = []
    if ranked.future_count:
        notes.append(f"{ranked.future_count} candidates carry times after now, taken as age 0")
    reach = max(channel.depth for channel in question.profile.channels)
    if question.k > reach:
        notes.append(
            f"k {question.k} is beyond the channels' depth of {reach}: what lies deeper is not looked at"
        )
    return SearchResponse(
        query=question.query,
        now=question.now,
        profile=question.profile.name,
        profile_hash=question.profile.hash,
        results=shelve(
            [names[place] for place in places],
            [scores[place] for place in places],
            explanations,
            load,
        ),
        trace=stages.trace(notes),
    )
