"""The recall path: query -> channels -> candidates -> score -> response, one call a stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from oneiros.gathering import Gathered, Question, Stages, united
from oneiros.projections.indexes import ABSENT
from oneiros.ranking.channels import TemporalChannel, VectorChannel
from oneiros.ranking.finishing import Surfacing
from oneiros.response import Duplicate, SearchResponse, shelve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oneiros import _core
    from oneiros.association.found import Found
    from oneiros.channels import ChannelAnswer
    from oneiros.explaining import Explanation, Explanations
    from oneiros.projections import Projections, Visible
    from oneiros.projections.stored_rows import StoredIdsByRow
    from oneiros.ranking.compiled import CompiledProfile
    from oneiros.response import LoadMemories

__all__ = [
    "Finished",
    "answer",
    "answer_many",
    "finished",
    "gather",
]

_STAGE_OF_CHANNEL = {
    "lexical": "bm25_search",
    "vector": "vector_search",
    "temporal": "temporal_search",
}


NO_TIME = "absent: the query names no time"


class Finished(NamedTuple):
    """The candidates that a search goes on with. Places are those of ``ranked``."""

    ranked: _core.Ranked
    places: Sequence[int]
    """Of what is returned, best first."""
    duplicates: Sequence[tuple[int, int]] = ()
    """Places of what is left out, each with that of the better one it is like."""
    far: Mapping[int, str] = {}
    """By place, why one is too far off."""
    reason: str = ""
    """Why nothing is returned although there are candidates."""
    misses: Sequence[int] = ()
    """Of the nearest, where nothing is returned."""
    stages: Sequence[tuple[str, int, int, str]] = ()
    """Name, candidates, survivors and note of those that ran."""


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
    stages = Stages()
    stages.end("validity_filter", visible.bounds_count, visible.row_count)
    answers = _ask(question, projections, visible, stages)
    return _respond(question, projections, visible, answers, load, stages)


def gather(question: Question, projections: Projections, visible: Visible) -> Gathered:
    """Find the candidates of one search, and go no further."""
    stages = Stages()
    answers = _ask(question, projections, visible, stages)
    return united(question, projections, visible, answers, stages)


def _ask(
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

    permitted = projections.indexes.permitted(question.query, visible.bits, question.syntax)
    rows = projections.row_sets.permitted_rows(permitted)
    return nearest_in_time(projections.lifecycle, rows, asked, depth)


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
    stages = [Stages() for _ in questions]
    for part in stages:
        part.end("validity_filter", visible.bounds_count, visible.row_count)
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
        for one, mine, part, note in zip(heard, answers, stages, notes, strict=True):
            mine.append(one)
            count = one.hits.size
            part.end(_STAGE_OF_CHANNEL[channel.name], visible.row_count, count, note)
    return [
        _respond(question, projections, visible, mine, load, part)
        for question, mine, part in zip(questions, answers, stages, strict=True)
    ]


def _respond(
    question: Question,
    projections: Projections,
    visible: Visible,
    answers: Sequence[ChannelAnswer],
    load: LoadMemories,
    stages: Stages,
) -> SearchResponse:
    gathered = united(question, projections, visible, answers, stages)
    ended = finished(question, projections, gathered, load)
    ranked, ids = ended.ranked, projections.lifecycle.ids
    results = ranked.results()
    rows = [row for row, *_ in results]
    places = [place for place in ended.places if ids[rows[place]]]  # "": forgotten meanwhile
    left = ranked.candidate_count - ranked.kept_count
    note = f"{left} left by the profile's rules" if left else ""
    stages.end("scoring", ranked.candidate_count, len(ranked), note)
    for stage in ended.stages:
        stages.end(*stage)
    duplicates = tuple(Duplicate(ids[rows[a]], ids[rows[b]]) for a, b in ended.duplicates)
    told = [results[place] for place in places]
    explanations: Sequence[Explanation] | None = None
    if question.is_explained:
        explanations = _explanations(gathered.compiled, ranked, places)
    found: dict[int, Found] = {}
    direct: tuple[str, ...] | None = None
    if visible.reach is not None and told:
        from oneiros.expanding import expanded  # noqa: PLC0415 - for stores with links

        direct = tuple(ids[row] for row, *_ in told)
        more = expanded(question, projections, visible.reach, gathered, told, explanations)
        if question.profile.duplicates is not None:
            from oneiros.finishing import without_duplicates  # noqa: PLC0415

            more, again = without_duplicates(more, question.profile.duplicates, projections)
            duplicates += again
        told, explanations, found = more.results, more.explanations, more.found
        for stage in more.stages:
            stages.end(*stage)
    response = SearchResponse(
        query=question.query,
        now=question.now,
        profile=question.profile.name,
        profile_hash=question.profile_hash,
        results=shelve(
            [ids[row] for row, *_ in told],
            [one[1:] for one in told],
            explanations,
            load,
            found,
            _hits_of(told, gathered.brought, ids),
        ),
        trace=stages.trace(_notes(question, ranked), duplicates),
        reason=ended.reason,
        nearest_misses=shelve(
            [ids[rows[place]] for place in ended.misses],
            [results[place][1:] for place in ended.misses],
            None,
            load,
        ),
        direct_ids=direct,
    )
    if question.back_again is not None:
        for (row, *_), result in zip(told, response.results, strict=True):
            result.via_deep_recall = question.back_again.hold(row)
    return response


def _hits_of(
    told: Sequence[tuple[int, float, float, float]],
    brought: dict[int, int],
    ids: Sequence[str] | StoredIdsByRow,
) -> dict[int, str]:
    """By place of a result, the id of the hit that brought it."""
    if not brought:
        return {}
    return {place: ids[brought[row]] for place, (row, *_) in enumerate(told) if row in brought}


def finished(
    question: Question, projections: Projections, gathered: Gathered, load: LoadMemories
) -> Finished:
    """Rank the candidates and leave out what the profile does not let through.

    Args:
        question: the search; the best ``k`` are returned.
        projections: what it reads.
        gathered: its candidates.
        load: the store's loader, for the texts of a search that may come to nothing.
    """
    profile = question.profile
    is_judged = isinstance(profile.abstention, Surfacing) or question.vector is not None
    if profile.duplicates is None and (profile.abstention is None or not is_judged):
        ranked = gathered.best(question)
        return Finished(ranked, range(len(ranked)))
    from oneiros.finishing import finish  # noqa: PLC0415 - for profiles that leave something out

    return finish(question, projections, gathered, load)


def _explanations(
    compiled: CompiledProfile, ranked: _core.Ranked, places: list[int]
) -> Explanations:
    from oneiros.explaining import Explanations  # noqa: PLC0415 - for those who ask why

    return Explanations(compiled, ranked, places)


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
