"""The recall path: query -> channels -> candidates -> score -> response, one call a stage."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from oneiros.projections.indexes import ABSENT
from oneiros.query.understood import PLAIN
from oneiros.ranking.channels import TemporalChannel, VectorChannel
from oneiros.ranking.deep_recall import LAPSED
from oneiros.ranking.factor import is_function
from oneiros.ranking.finishing import Surfacing
from oneiros.response import Duplicate, SearchResponse, SearchTrace, StageTrace, shelve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from oneiros import _core
    from oneiros.association.found import Found
    from oneiros.channels import ChannelAnswer
    from oneiros.explaining import Explanation, Explanations
    from oneiros.projections import Projections, Visible
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.projections.row_sets import BackAgain
    from oneiros.projections.stored_rows import StoredIdsByRow
    from oneiros.query.cluster import Centre
    from oneiros.query.understood import Understood
    from oneiros.ranking.compiled import CompiledProfile
    from oneiros.ranking.factors.thompson import Verdicts
    from oneiros.ranking.profile import Profile
    from oneiros.response import LoadMemories
    from oneiros.texts.sought import Sought

__all__ = [
    "Finished",
    "Gathered",
    "Question",
    "answer",
    "answer_many",
    "finished",
    "gather",
    "signals_for",
]

_STAGE_OF_CHANNEL = {
    "lexical": "bm25_search",
    "vector": "vector_search",
    "temporal": "temporal_search",
}


NO_TIME = "absent: the query names no time"


@dataclass(frozen=True, slots=True)
class Question:
    """One search, checked: what the channels and the plan need to know."""

    query: str
    spoken: str
    """What the query says in words."""
    syntax: str
    """How the query is read: "plain" or "query"."""
    vector: npt.NDArray[np.float32] | None
    """Unit length, shape (dimension,); None leaves the vector channel out."""
    absent: str
    """Why the vector channel is left out; empty when it is not."""
    k: int
    """How many results are asked for; channels are as deep as that needs."""
    now: float
    profile: Profile
    """As it ranks this question."""
    profile_hash: str
    """Of the profile as it was asked for, before the question weighed it."""
    understood: Understood
    is_explained: bool
    verdicts: Verdicts
    """What was said of memories, by kind; empty where the profile asks for none."""
    back_again: BackAgain | None
    """What deep recall brings back; None where it is none."""
    sought: Sought | None
    """The texts of candidates, to be looked into; None where the profile does not."""


class Gathered(NamedTuple):
    """The candidates of one search, to be ranked."""

    answers: Sequence[ChannelAnswer]
    """One a channel of the profile, in its order."""
    compiled: CompiledProfile
    candidates: _core.Candidates
    lifecycle: Lifecycle
    signals: dict[str, npt.NDArray[np.float64]]
    """What the question, verdicts, and functions of the user's own, say of the candidates."""
    brought: dict[int, int]
    """Rows that are candidates because they stand beside a hit in its session -> the hit's row."""
    centre: Centre | None = None
    """Of the best candidates, where the profile asks for it."""

    def signals_of(
        self, candidates: _core.Candidates, question: Question
    ) -> dict[str, npt.NDArray[np.float64]]:
        """Return what is said of other candidates of this very search."""
        told = signals_for(self.compiled, self.lifecycle, candidates, question)
        return told if self.centre is None else told | self.centre.signals(candidates.rows)

    def best(self, question: Question, k: int | None = None) -> _core.Ranked:
        """Return the best k, by default the question's, explained where that was asked."""
        return self.compiled.plan.rank(
            columns=self.lifecycle.columns,
            candidates=self.candidates,
            now_seconds=question.now,
            k=question.k if k is None else k,
            signals=self.signals,
            explain=question.is_explained,
        )

    def place_of(self, row: int, now: float) -> tuple[_core.Ranked, int | None] | None:
        """Return a row explained, and its place; None for the place if a rule lets it leave.

        None: it is no candidate.
        """
        return self.compiled.plan.place_of(
            columns=self.lifecycle.columns,
            candidates=self.candidates,
            now_seconds=now,
            row=row,
            signals=self.signals,
        )


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

    def trace(self, notes: Sequence[str], duplicates: tuple[Duplicate, ...]) -> SearchTrace:
        total_ms = (self._last - self._started) * 1e3
        return SearchTrace(tuple(self._stages), total_ms, tuple(notes), duplicates)


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
    answers = _ask(question, projections, visible, stages)
    return _respond(question, projections, visible, answers, load, stages)


def gather(question: Question, projections: Projections, visible: Visible) -> Gathered:
    """Find the candidates of one search, and go no further."""
    stages = _Stages()
    answers = _ask(question, projections, visible, stages)
    return _united(question, projections, visible, answers, stages)


def _ask(
    question: Question, projections: Projections, visible: Visible, stages: _Stages
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
    stages = [_Stages() for _ in questions]
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
    stages: _Stages,
) -> SearchResponse:
    gathered = _united(question, projections, visible, answers, stages)
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


def _united(
    question: Question,
    projections: Projections,
    visible: Visible,
    answers: Sequence[ChannelAnswer],
    stages: _Stages,
) -> Gathered:
    """Unite what the channels found, and what stands beside the best of it.

    Where raw scores are read, everyone is given all of them.
    """
    compiled = projections.compiled(question.profile)
    candidates = compiled.plan.candidates(hits=[heard.hits for heard in answers])
    filled = _fill(compiled, candidates, answers)
    hit_count = sum(heard.hits.size for heard in answers)
    note = f"{filled} raw scores beyond those found" if filled else ""
    found_count = len(candidates)
    stages.end("fusion", hit_count, found_count, note)
    brought: dict[int, int] = {}
    if (rule := compiled.neighbours) is not None and not projections.sessions.order.is_empty:
        plan, sessions = compiled.plan, projections.sessions
        permitted = projections.indexes.permitted(question.query, visible.bits, question.syntax)
        brought = sessions.bring(plan, candidates, rule, permitted)
        if brought:
            _fill(compiled, candidates, answers)
        sessions.lend(plan, candidates, rule)
        stages.end("session_neighbours", found_count, len(candidates))
    lifecycle = projections.lifecycle
    signals = signals_for(compiled, lifecycle, candidates, question)
    gathered = Gathered(answers, compiled, candidates, lifecycle, signals, brought)
    vectors = projections.indexes.vectors
    if vectors and len(candidates) and "cluster" in compiled.names:
        from oneiros.query.cluster import centre_of  # noqa: PLC0415 - few profiles ask

        centre = centre_of(gathered, question, vectors)
        if centre is not None:
            signals |= centre.signals(candidates.rows)
            gathered = gathered._replace(centre=centre)
    return gathered


def _fill(
    compiled: CompiledProfile, candidates: _core.Candidates, answers: Sequence[ChannelAnswer]
) -> int:
    """Give candidates the raw scores they lack, where they are read; returns how many."""
    filled = 0
    if compiled.fills_scores:
        for number, heard in enumerate(answers):
            if heard.score_rows is not None and (count := candidates.missing_count(channel=number)):
                missing = candidates.missing(channel=number)
                candidates.fill(channel=number, scores=heard.score_rows(missing))
                filled += count
    return filled


def signals_for(
    compiled: CompiledProfile,
    lifecycle: Lifecycle,
    candidates: _core.Candidates,
    question: Question,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return what verdicts, and functions of the user's own, say of the candidates."""
    factors, now = compiled.profile.factors, question.now
    told: dict[str, npt.NDArray[np.float64]] = {}
    if any(map(is_function, factors)):
        from oneiros.ranking.callable_factor import signals_of  # noqa: PLC0415 - few have one

        told = signals_of(
            factors,
            lambda name: lifecycle.column(name)[candidates.rows],
            compiled.kinds,
            now,
            len(candidates),
        )
    if question.back_again is not None:
        told[LAPSED] = question.back_again.is_lapsed(candidates.rows)
    if question.sought is not None:
        told |= question.sought.signals(factors, candidates.rows)
    if question.understood is not PLAIN:
        from oneiros.query.signals import query_signals  # noqa: PLC0415 - not for plain questions

        told |= query_signals(
            question.understood, compiled.profile, lifecycle, candidates, question.sought
        )
    if question.verdicts:
        from oneiros.ranking.factors.thompson import verdict_signals  # noqa: PLC0415

        codes = lifecycle.column("kind")[candidates.rows]
        told |= verdict_signals(factors, question.verdicts, lifecycle.kinds, codes, now)
    return told


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
