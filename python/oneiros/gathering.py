"""The candidates of one search: what its channels found, put together, with all that ranks them."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from oneiros.numpy_on_use import np
from oneiros.query.understood import PLAIN
from oneiros.ranking.deep_recall import LAPSED, DeepRecall
from oneiros.ranking.factor import is_function
from oneiros.response import Duplicate, SearchTrace, StageTrace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from oneiros import _core
    from oneiros.channels import ChannelAnswer, RankedList
    from oneiros.projections import Projections, Visible
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.projections.visible import BackAgain
    from oneiros.query.cluster import Centre
    from oneiros.query.expander import Expanded
    from oneiros.query.understood import Understood
    from oneiros.ranking.compiled import CompiledProfile
    from oneiros.ranking.factor import Factor
    from oneiros.ranking.factors.thompson import Verdicts
    from oneiros.ranking.fusion import ReciprocalRankFusion
    from oneiros.ranking.profile import Profile
    from oneiros.rerank import Reranker
    from oneiros.texts.sought import Sought

__all__ = ["Gathered", "Question", "Stages", "fill_scores", "signals_for", "united"]


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
    reranker: Reranker | None = None
    """Who judges the first results again; None: nobody."""
    until: float | None = None
    """By ``time.monotonic``, when it is waited for no longer; None: as its place in the profile says."""
    expanded: Expanded | None = None
    """What an expander made of it; None where none was asked."""
    ranks: ReciprocalRankFusion | None = None
    """How ranks are fused where there are variants: the profile adds what this makes of them."""
    decided: str = ""
    """Why only what the words found is looked at; empty where all is."""

    @property
    def added(self) -> tuple[Factor, ...]:
        """The factors that this search applies after those of the profile."""
        if self.back_again is None:
            return ()
        return (DeepRecall(self.profile.deep_recall_penalty),)


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
        if self.centre is None or "cluster" not in self.compiled.names:
            return told
        return told | self.centre.signals(candidates.rows)

    def best(
        self, question: Question, k: int | None = None, *, explain: bool | None = None
    ) -> _core.Ranked:
        """Return the best k, by default the question's, explained where that was asked."""
        return self.compiled.plan.rank(
            columns=self.lifecycle.columns,
            candidates=self.candidates,
            now_seconds=question.now,
            k=question.k if k is None else k,
            signals=self.signals,
            explain=question.is_explained if explain is None else explain,
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


class Stages:
    """Collects the trace; a stage's time is what passed since the last one ended."""

    def __init__(self) -> None:
        self._started = self._last = perf_counter()
        self._stages: list[StageTrace] = []
        self.prefix = ""
        """Of the names of stages that run a second time."""

    def end(
        self,
        name: str,
        candidates: int,
        survivors: int,
        note: str = "",
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        now = perf_counter()
        duration_ms = (now - self._last) * 1e3
        self._stages.append(
            StageTrace(self.prefix + name, candidates, survivors, duration_ms, *tokens, note=note)
        )
        self._last = now

    def before(
        self, name: str, survivors: int, duration_ms: float, note: str, tokens: tuple[int, int]
    ) -> None:
        """Tell of a stage of the question itself, which ran before the first."""
        self._stages.append(StageTrace(name, 1, survivors, duration_ms, *tokens, note=note))
        self._started -= duration_ms / 1e3

    def trace(self, notes: Sequence[str], duplicates: tuple[Duplicate, ...]) -> SearchTrace:
        total_ms = (self._last - self._started) * 1e3
        return SearchTrace(tuple(self._stages), total_ms, tuple(notes), duplicates)


def united(
    question: Question,
    projections: Projections,
    visible: Visible,
    answers: Sequence[ChannelAnswer],
    stages: Stages,
) -> Gathered:
    """Unite what the channels found, and what stands beside the best of it.

    Where raw scores are read, everyone is given all of them.
    """
    compiled = projections.compiled(question.profile, question.added)
    hits: list[RankedList | _core.Hits] = [heard.hits for heard in answers]
    if question.ranks is not None:
        from oneiros.varying import shares_of  # noqa: PLC0415 - few questions are expanded

        hits = [*shares_of(answers, question.ranks)]
    candidates = compiled.plan.candidates(hits=hits)
    seeds: Mapping[int, float] = {}
    if question.profile.hot_set is not None:
        from oneiros.texts.hot_set import seeded  # noqa: PLC0415 - few profiles have one

        seeds = seeded(question.profile.hot_set, question, projections, visible, candidates, stages)
    filled = fill_scores(compiled, candidates, answers)
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
            fill_scores(compiled, candidates, answers)
        sessions.lend(plan, candidates, rule)
        stages.end("session_neighbours", found_count, len(candidates))
    lifecycle = projections.lifecycle
    signals = signals_for(compiled, lifecycle, candidates, question)
    if seeds:
        rows = candidates.rows.tolist()
        signals["hot_seed"] = np.array([seeds.get(row, -np.inf) for row in rows])
        signals["hot_best"] = np.array([max(seeds.values())])
    gathered = Gathered(answers, compiled, candidates, lifecycle, signals, brought)
    vectors = projections.indexes.vectors
    if vectors and len(candidates) and "cluster" in compiled.names:
        from oneiros.query.cluster import centre_of  # noqa: PLC0415 - few profiles ask

        centre = centre_of(gathered, question, projections, vectors)
        if centre is not None:
            signals |= centre.signals(candidates.rows)
            gathered = gathered._replace(centre=centre)
    return gathered


def fill_scores(
    compiled: CompiledProfile, candidates: _core.Candidates, answers: Sequence[ChannelAnswer]
) -> int:
    """Give candidates the raw scores they lack, where they are read; returns how many."""
    filled = 0
    if compiled.fills_scores:
        for number, heard in enumerate(answers):
            if heard.fill is not None:
                filled += heard.fill(candidates, number)
            elif heard.score_rows is not None and (missing := candidates.missing(number)).size:
                candidates.fill(channel=number, scores=heard.score_rows(missing))
                filled += missing.size
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
        told |= question.sought.signals(compiled.profile, candidates.rows)
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
