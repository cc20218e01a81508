"""The recall path: query -> channels -> candidates -> score -> response, one call a stage."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from oneiros.finishing.steps import finish
from oneiros.finishing.working import WorkingList
from oneiros.gathering import Question, Stages, united
from oneiros.projections.indexes import ABSENT
from oneiros.ranking.channels import TemporalChannel, VectorChannel
from oneiros.response import Duplicate, SearchResponse, shelve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oneiros import _core
    from oneiros.channels import ChannelAnswer
    from oneiros.finishing.working import Row
    from oneiros.projections import Projections, Visible
    from oneiros.projections.stored_rows import StoredIdsByRow
    from oneiros.response import LoadMemories

__all__ = ["NO_TIME", "answer", "answer_many", "ask", "respond", "searched"]

_STAGE_OF_CHANNEL = {
    "lexical": "bm25_search",
    "vector": "vector_search",
    "temporal": "temporal_search",
}

NO_TIME = "absent: the query names no time"


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
    stages = _begun(question, visible)
    answers = ask(question, projections, visible, stages)
    return respond(question, projections, visible, answers, load, stages)


def _begun(question: Question, visible: Visible) -> Stages:
    """Begin the trace with what was done for the question before any channel was asked."""
    stages = Stages()
    told = question.expanded
    if told is not None:
        stages.before(
            "query_expansion", 1 + len(told.texts), told.duration_ms, told.reason, told.tokens
        )
    stages.end("validity_filter", visible.bounds_count, visible.row_count)
    return stages


def ask(
    question: Question, projections: Projections, visible: Visible, stages: Stages
) -> list[ChannelAnswer]:
    """Ask every channel of the profile, in its order."""
    indexes = projections.indexes
    answers: list[ChannelAnswer] = []
    for channel in question.profile.channels:
        depth, note = channel.depth_for(question.k), ""
        if isinstance(channel, VectorChannel):
            permitted = indexes.permitted(question.query, visible.bits, question.syntax)
            heard = indexes.by_vector(question.vector, channel, depth, permitted)
            note = question.absent
        elif isinstance(channel, TemporalChannel):
            heard = _by_time(question, projections, visible, depth)
            note = NO_TIME if question.understood.time is None else ""
        else:
            heard = indexes.by_words(question.query, depth, visible.bits, question.syntax)
            if question.sought is not None and channel.reads_texts:
                heard = question.sought.relevance_of(heard, channel)
        if question.ranks is not None:
            from oneiros.varying import heard_with_variants  # noqa: PLC0415 - few are expanded

            heard = heard_with_variants(question, projections, channel, heard, visible.bits)
        answers.append(heard)
        count = heard.hits.size
        stages.end(_STAGE_OF_CHANNEL[channel.name], visible.row_count, count, note)
    return answers


def _by_time(
    question: Question, projections: Projections, visible: Visible, depth: int
) -> ChannelAnswer:
    """The temporal channel; absent where the question names no time."""
    asked = question.understood.time
    if asked is None:
        return ABSENT
    from oneiros.channels.temporal import nearest_in_time  # noqa: PLC0415 - few name one

    bits = projections.indexes.permitted(question.query, visible.bits, question.syntax)
    permitted = partial(projections.row_sets.permitted_of, bits=bits)
    return nearest_in_time(projections.lifecycle, permitted, asked, depth)


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
    if questions[0].syntax != "plain":  # each permits rows of its own
        return [answer(question, projections, visible, load) for question in questions]
    stages = [_begun(question, visible) for question in questions]
    answers: list[list[ChannelAnswer]] = [[] for _ in questions]
    indexes = projections.indexes
    for channel in questions[0].profile.channels:
        depth = channel.depth_for(questions[0].k)
        notes = [""] * len(questions)
        if isinstance(channel, VectorChannel):
            vectors = [question.vector for question in questions]
            heard = indexes.by_vectors(vectors, channel, depth, visible.bits, threads)
            notes = [question.absent for question in questions]
        elif isinstance(channel, TemporalChannel):
            heard = [_by_time(one, projections, visible, depth) for one in questions]
            notes = ["" if one.understood.time else NO_TIME for one in questions]
        else:
            queries = [question.query for question in questions]
            heard = indexes.by_words_many(queries, depth, visible.bits, threads)
            if channel.reads_texts:
                heard = [
                    one if question.sought is None else question.sought.relevance_of(one, channel)
                    for question, one in zip(questions, heard, strict=True)
                ]
        if any(question.ranks is not None for question in questions):
            from oneiros.varying import heard_with_variants  # noqa: PLC0415 - few are expanded

            heard = [
                one
                if question.ranks is None
                else heard_with_variants(question, projections, channel, one, visible.bits)
                for question, one in zip(questions, heard, strict=True)
            ]
        for one, mine, part, note in zip(heard, answers, stages, notes, strict=True):
            mine.append(one)
            count = one.hits.size
            part.end(_STAGE_OF_CHANNEL[channel.name], visible.row_count, count, note)
    return [
        respond(question, projections, visible, mine, load, part)
        for question, mine, part in zip(questions, answers, stages, strict=True)
    ]


def respond(
    question: Question,
    projections: Projections,
    visible: Visible,
    answers: Sequence[ChannelAnswer],
    load: LoadMemories,
    stages: Stages,
) -> SearchResponse:
    """Make the response of one search of what its channels answered."""
    working = searched(question, projections, visible, answers, load, stages)
    gathered, ids = working.gathered, _IdsOfRows(projections.lifecycle.ids)
    told = [one for one in working.results if ids[one[0]]]  # "": forgotten meanwhile
    misses = [one for one in working.misses if ids[one[0]]]
    alike = [(ids[row], ids[better]) for row, better in working.duplicates]
    response = SearchResponse(
        query=question.query,
        now=question.now,
        profile=question.profile.name,
        profile_hash=question.profile_hash,
        results=shelve(
            [ids[row] for row, *_ in told],
            [one[1:] for one in told],
            working.explanations(told) if question.is_explained else None,
            load,
            working.found(told, ids),
            _hits_of(told, gathered.brought, ids),
        ),
        trace=stages.trace(
            _notes(working.question, working.ranked),
            tuple(Duplicate(id, better) for id, better in alike if id and better),
        ),
        reason=working.reason,
        confidence=working.confidence,
        nearest_misses=shelve(
            [ids[row] for row, *_ in misses],
            [one[1:] for one in misses],
            None,
            load,
        ),
        direct_ids=_direct_ids(working, ids),
    )
    if working.best is not None:
        for (row, *_), result in zip(told, response.results, strict=True):
            result.raw_score = working.raw[row]
    if question.back_again is not None:
        for (row, *_), result in zip(told, response.results, strict=True):
            result.via_deep_recall = question.back_again.hold(row)
    return response


def searched(
    question: Question,
    projections: Projections,
    visible: Visible,
    answers: Sequence[ChannelAnswer],
    load: LoadMemories,
    stages: Stages,
    *,
    is_whole: bool = False,
) -> WorkingList:
    """Take what the channels found to the results.

    Args:
        question: the checked search.
        projections: what searches read.
        visible: the rows that recall may return.
        answers: of the channels, in the order of the profile.
        load: the store's loader.
        stages: the trace.
        is_whole: whether what lies beyond the last place is judged, too.
    """
    working = _taken(question, projections, visible, answers, load, stages, is_whole)
    if (rule := question.profile.retry) is not None and question.k:
        from oneiros.finishing.confidence import retried  # noqa: PLC0415 - few profiles ask

        def search_again(eased: Question) -> WorkingList:
            heard = ask(eased, projections, visible, stages)
            return _taken(eased, projections, visible, heard, load, stages, is_whole)

        working = retried(working, rule, search_again, stages)
    if question.profile.normalisation is not None:
        working.normalise()
    return working


def _taken(
    question: Question,
    projections: Projections,
    visible: Visible,
    answers: Sequence[ChannelAnswer],
    load: LoadMemories,
    stages: Stages,
    is_whole: bool,
) -> WorkingList:
    """What the channels found, ranked and taken through all stages."""
    heard, profile = answers, question.profile
    if profile.fast_path is not None or profile.strong_signal is not None:
        from oneiros.deciding import decided  # noqa: PLC0415 - few profiles have short cuts

        question, heard = decided(question, answers, load, stages)
    gathered = united(question, projections, visible, heard, stages)
    if heard is not answers:  # what they know of the candidates still counts
        gathered = gathered._replace(answers=answers)
    reach = visible.reach
    working = WorkingList(question, projections, gathered, reach, load, is_whole=is_whole)
    ranked = working.ranked
    left = ranked.candidate_count - ranked.kept_count
    note = f"{left} left by the profile's rules" if left else ""
    stages.end("scoring", ranked.candidate_count, len(ranked), note)
    finish(working, stages)
    return working


class _IdsOfRows(dict[int, str]):
    """The ids of the rows that a response tells of, each read once."""

    __slots__ = ("_ids",)

    def __init__(self, ids: Sequence[str] | StoredIdsByRow) -> None:
        self._ids = ids

    def __missing__(self, row: int) -> str:
        id = self[row] = self._ids[row]
        return id


def _direct_ids(working: WorkingList, ids: Mapping[int, str]) -> tuple[str, ...] | None:
    """The direct results before what links brought was merged in, as far as no stage left them."""
    if working.direct is None:
        return None
    left = working.far.keys() | {row for row, _ in working.duplicates}
    return tuple(ids[row] for row in working.direct if ids[row] and row not in left)


def _hits_of(
    told: Sequence[Row], brought: dict[int, int], ids: Mapping[int, str]
) -> dict[int, str]:
    """By place of a result, the id of the hit that brought it."""
    if not brought:
        return {}
    hits = {place: ids[brought[row]] for place, (row, *_) in enumerate(told) if row in brought}
    return {place: id for place, id in hits.items() if id}


def _notes(question: Question, ranked: _core.Ranked) -> list[str]:
    notes = [question.understood.note] if question.understood.note else []
    if ranked.future_count:
        notes.append(f"{ranked.future_count} candidates carry times after now, taken as age 0")
    reach = max(channel.depth_for(question.k) for channel in question.profile.channels)
    if question.k > reach:
        notes.append(
            f"k {question.k} is beyond the channels' depth of {reach}: what lies deeper is not looked at"
        )
    return notes
