"""The whole of a search by profile: candidates, scores, restraint, links, and what it leaves.

The stages in the order of docs/systems/cognitive.md; OMEGA's own stand in ``omega``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from oneiros.conflicts import model as conflicts_model
from tests.oracles import conflicts, expansion, finishing
from tests.oracles.associations import bridges
from tests.oracles.expansion import Result
from tests.oracles.house import TYPOS
from tests.oracles.profiles import MODELS, Model
from tests.oracles.records import time_of
from tests.oracles.remembering import HOUSE, Rule
from tests.oracles.whole.answers import MISSES, Answer, Found
from tests.oracles.whole.asking import Question, is_superseded, is_visible
from tests.oracles.whole.doubt import none_near, ordered, reaches
from tests.oracles.whole.finding import HOUSE_TITLE, TITLE
from tests.oracles.whole.judging import reordered
from tests.oracles.whole.learning import Learning, counts_only, reverie_rule, spaced
from tests.oracles.whole.scoring import Lending, Search, is_back
from tests.oracles.whole.world import World

__all__ = ["PIPELINES", "Pipeline"]

LEAST_LINK = 0.3  # C9, C10
CONFLICTING = 30  # H12
APART = ("project", "user", "agent", "namespace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The stages of a profile and their numbers."""

    model: Model
    learns: Learning
    k1: float = 1.2
    b: float = 0.75
    half_length: float = 0.0
    title: tuple[float, float] = TITLE
    typos: float = 0.0
    hides_cold: bool = False
    has_time: bool = False
    damps_outside: bool = False
    lending: Lending | None = None
    quota: float | None = None
    """C14's share of places, where links are followed."""
    judged: int = 20
    """How many a reranker judges before links are followed (C8), if there is one."""
    is_cognitive: bool = False
    """C3, C17, C18: what an engine of this profile does on add."""

    def world(self) -> World:
        """Return an empty store."""
        return World(starts_stable=not self.is_cognitive, links_on_ingest=self.is_cognitive)

    def answer(self, world: World, question: Question) -> Answer:
        """Search, and let the world learn from what is returned."""
        answer = self.recall(world, question)
        returned = [(one.id, bool(one.path)) for one in answer.results]
        self.learns(world, question, answer.direct or (), returned)
        return answer

    def recall(self, world: World, question: Question) -> Answer:
        """Search."""
        search = Search(
            world,
            question,
            self.model,
            self.k1,
            self.b,
            self.half_length,
            self.title,
            self.typos,
            hides_cold=self.hides_cold,
            has_time=self.has_time,
            damps_outside=self.damps_outside,
        )
        relevance = search.relevance(self.lending)
        scores = search.scores(relevance)
        ranked = ordered(scores, world.place)
        if self.model.abstains == "weak_best" and question.k and is_weak(search, list(relevance)):
            return Answer(results=(), direct=(), misses=tuple(ranked[:MISSES]), abstains=True)
        if self.model.puts_newer_first:
            scores = {**scores, **newer_first(search, ranked[:CONFLICTING], scores)}
            ranked = sorted(ranked, key=lambda id: (-scores[id], world.place[id]))
        if question.is_judged and self.judged:
            ranked = reordered(ranked, world.records, self.judged)
        direct = ranked[: question.k]
        results = [Found(id=id, score=scores[id]) for id in direct]
        if self.quota is not None:
            results = self._linked(search, results)
        shown = tuple(
            replace(
                one,
                via_deep_recall=is_back(world.records[one.id], question, self.model.expiring),
                brought_by=search.brought_by.get(one.id),
            )
            for one in results
        )
        return Answer(results=shown, direct=tuple(direct))

    def _linked(self, search: Search, direct: list[Found]) -> list[Found]:
        """C9, C10, C14."""
        world, question = search.world, search.question
        ids, place = list(world.records), world.place
        weights = world.weights(question.now, LEAST_LINK)
        expiring = self.model.expiring
        allowed = [is_visible(one, question, expiring) for one in world.records.values()]

        def own_scores(rows: list[int]) -> dict[int, float]:
            scored = search.scores(search.as_candidates([ids[row] for row in rows]))
            return {place[id]: score for id, score in scored.items()}

        found = [Result(place[one.id], one.score) for one in direct]
        linked = expansion.associated(found, own_scores, weights, allowed)
        none_near(one.score for one in [*found, *linked])
        ends = [one.row for one in found[:3]]
        between = bridges(weights, ends, least_link=LEAST_LINK, allowed=allowed)
        on_bridges = {bridge.row for bridge in between}
        if question.is_judged and self.judged:
            together = in_order(found, linked)[: question.k]
        else:
            together = expansion.merged(found, linked, question.k, self.quota or 0.0)
        return [
            Found(
                id=ids[one.row],
                score=one.score,
                path=tuple(ids[row] for row in one.path),
                is_bridge=one.row in on_bridges,
            )
            for one in together
        ]


def newer_first(
    search: Search, ranked: Sequence[str], scores: Mapping[str, float]
) -> dict[str, float]:
    """Return the scores of the first results, the newer of two that conflict above the older. H12."""
    records, now = search.world.records, search.question.now
    newest_first = sorted(ranked, key=lambda id: -records[id]["created_at"])
    raised = {id: scores[id] for id in ranked}
    for older in reversed(newest_first):
        sure = {
            newer: conflicts.confidence(
                records[older]["text"],
                records[newer]["text"],
                conflicts_model.WEIGHTS,
                conflicts_model.CONSTANT,
            )
            for newer in newest_first
            if records[older]["created_at"] < records[newer]["created_at"] <= now
            and all(records[older].get(name) == records[newer].get(name) for name in APART)
            and not is_superseded(records[newer])
            and scores[newer] > 0
            and records[newer].get("trust", 1.0) >= records[older].get("trust", 1.0)
            and not conflicts.is_asked_for(
                search.question.words, records[older]["text"], records[newer]["text"]
            )
            and not (is_in_time(search, older) and not is_in_time(search, newer))
        }
        best = max(sure, key=lambda id: sure[id], default=None)
        if best is not None and reaches(sure[best], 0.15):
            none_near(confidence for confidence in sure.values() if confidence > 0.15)
            raised[best] = max(raised[best], math.nextafter(raised[older], math.inf))
    return raised


def is_in_time(search: Search, id: str) -> bool:
    """Whether a memory lies in the time that the question names."""
    asked = search.question
    if asked.date_range is None:
        return False
    start, end = asked.date_range
    return start <= time_of(search.world.records[id], asked.now, "event_at", "created_at") <= end


def in_order(direct: list[Result], linked: list[Result]) -> list[Result]:
    """C8: the judged keep their order; what links bring stands before the first it beats."""
    waiting = sorted(linked, key=lambda one: (-one.score, one.row))
    together = []
    for other in direct:
        beats = [one for one in waiting if (one.score, -one.row) > (other.score, -other.row)]
        together += [*beats, other]
        waiting = [one for one in waiting if one not in beats]
    return together + waiting


def is_weak(search: Search, candidates: list[str]) -> bool:
    """H7: no candidate near enough, and too few of the question's words in all of them."""
    near = [search.near[id] for id in candidates if id in search.near]
    none_near([0.25, *near])
    held = []
    for id in candidates:
        record = search.world.records[id]
        held += [record["text"], record.get("title", ""), *record.get("tags", ())]
    return finishing.is_weak(search.question.words, near, held)


def _cognitive(name: str, rule: Rule) -> Pipeline:
    # C7 is asked of what may be found at all, with the question's own switches.
    model = replace(MODELS[name], keeps=lambda *_: True)
    return Pipeline(
        model=model, learns=spaced(rule), hides_cold=True, quota=0.0, judged=10, is_cognitive=True
    )


PIPELINES = {
    "reverie": Pipeline(model=MODELS["reverie"], learns=reverie_rule),
    "reverie-capped": Pipeline(model=MODELS["reverie-capped"], learns=reverie_rule),
    "cognitive": _cognitive("cognitive", Rule()),
    "cognitive-0.5": _cognitive("cognitive-0.5", Rule(associative=0.05, sessions=2)),
    "mnemosyne": Pipeline(model=MODELS["mnemosyne"], learns=counts_only),
    "mnemosyne-3": Pipeline(model=MODELS["mnemosyne-3"], learns=counts_only),
    "ciar": Pipeline(model=MODELS["ciar"], learns=counts_only),
    "ciar-shipped": Pipeline(model=MODELS["ciar-shipped"], learns=counts_only),
    "oneiros": Pipeline(
        model=MODELS["oneiros"],
        learns=spaced(HOUSE),
        k1=1.2,
        b=1.0,
        half_length=65.0,
        title=HOUSE_TITLE,
        typos=TYPOS,
        has_time=True,
        damps_outside=True,
        lending=Lending(),
        quota=0.2,
        judged=0,
    ),
}
