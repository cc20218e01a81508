"""Each profile's whole recall against plain Python: results, scores, order, and what they leave.

A world of few memories is asked and written to in turn; after every question the store must be what
the oracle of tests/oracles/whole says. Where rounding alone decides, the oracle says so and the
example ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.clock import VirtualClock
from tests.engine.whole_world import NOW, Step, random_link, random_record, random_step
from tests.oracles.records import DAY, value
from tests.oracles.whole.answers import Answer, Recalling
from tests.oracles.whole.asking import Question
from tests.oracles.whole.doubt import Doubt
from tests.oracles.whole.judging import opinion
from tests.oracles.whole.omega_recall import Omega
from tests.oracles.whole.recalling import PIPELINES
from tests.oracles.whole.world import KINDS, World

LONG = int(os.environ.get("ONEIROS_LONG") or 0)
FEW = settings(max_examples=max(LONG, 2_000) if LONG else 12, deadline=None)
seeds = st.integers(0, 2**32 - 1)
WRITTEN = (
    "access_count", "stability", "session_spread", "core", "tier", "strength", "feedback", "pinned"
)  # fmt: skip

SAYS = oneiros.profiles.get("omega").understanding
assert SAYS is not None
EVERY: dict[str, Recalling] = {
    **PIPELINES,
    "omega": Omega(lists=SAYS, hides_kinds=True),
    "omega-bounded": Omega(lists=SAYS, is_bounded=True, hides_kinds=True),
}


class Beside:
    """An engine and the plain world beside it."""

    def __init__(self, mind: oneiros.Engine, clock: VirtualClock, pipeline: Recalling) -> None:
        self.mind, self.clock, self.pipeline = mind, clock, pipeline
        self.world: World = pipeline.world()

    def row(self, number: int) -> str:
        """Return one of the ids."""
        return list(self.world.records)[number % len(self.world.records)]

    def live(self, number: int) -> str | None:
        """Return one of the ids, None where that memory is deleted."""
        id = self.row(number)
        return None if self.world.records[id].get("is_deleted") else id

    def two(self, one: int, other: int) -> tuple[str, str] | None:
        """Return the ids of two different memories, None where one of them is deleted."""
        first, second = self.live(one), self.live(other)
        if first is None or second is None or first == second:
            return None
        return first, second

    def add(self, given: list[dict[str, Any]]) -> None:
        at = len(self.world.records)
        batch = [{"id": f"m{at + number}", **one} for number, one in enumerate(given)]
        self.mind.add_many([dict(one) for one in batch])
        self.world.add(batch, self.clock())

    def link(self, one: int, other: int, weight: float) -> None:
        if pair := self.two(one, other):
            self.mind.link(pair[0], pair[1], weight)
            self.world.link(pair[0], pair[1], weight, self.clock())

    def unlink(self, one: int, other: int) -> None:
        if pair := self.two(one, other):
            self.mind.unlink(*pair)
            self.world.unlink(*pair)

    def supersede(self, one: int, other: int) -> None:
        count = len(self.world.records)
        pair = self.two(*sorted((one % count, other % count)))  # so that none is a circle
        if pair and self.world.records[pair[0]].get("superseded_by") != pair[1]:
            self.mind.supersede(*pair)
            self.world.mark(pair[0], "superseded_by", pair[1])

    def judge(self, one: int, verdict: str, times: int) -> None:
        if id := self.live(one):
            for _ in range(times):
                self.mind.feedback(id, verdict)
                self.world.judge(id, verdict)

    def delete(self, one: int) -> None:
        if id := self.live(one):
            self.mind.delete(id)
            self.world.mark(id, "is_deleted", True)

    def restore(self, one: int) -> None:
        if self.live(one) is None:
            id = self.row(one)
            self.mind.restore(id)
            self.world.mark(id, "is_deleted", False)
            self.world.mark(id, "last_accessed_at", self.clock())
            if self.world.records[id].get("status") == "archived":  # docs/systems/reverie.md R19
                self.world.mark(id, "status", "consolidated")

    def pin(self, one: int) -> None:
        if id := self.live(one):
            self.mind.pin(id)
            self.world.mark(id, "pinned", True)

    def wait(self, days: float) -> None:
        self.clock.advance(days * DAY)

    def ask(self, question: Question) -> None:
        """Ask both, and compare all that they answer and keep."""
        asked = at(question, self.clock())
        want = self.pipeline.answer(self.world, asked)
        told = self.mind.search(
            asked.words,
            asked.k,
            reranker=by_letters if asked.is_judged and self.pipeline.judged else None,
            now=asked.now if asked.is_judged else None,
            **options(asked, READ.get(self.mind._scope.services.profile.name, set())),
        )
        check_answer(told, want)
        check_state(self.mind, self.world)

    def take(self, step: Step) -> None:
        name, what = step
        getattr(self, name)(*(what if isinstance(what, tuple) else (what,)))


def by_letters(query: str, texts: Sequence[str]) -> list[float]:
    """Judge texts, whatever is asked."""
    del query
    return [opinion(text) for text in texts]


def at(question: Question, now: float) -> Question:
    fields = {name: getattr(question, name) for name in question.__slots__}
    return Question(**{**fields, "now": now})


READ = {  # what else a profile reads of a search; it refuses the others
    "omega": {"hint", "context", "date_range", "soft_range"},  # O8, O16, O20, O4, O22
    "omega-bounded": {"hint", "context", "date_range"},
    "oneiros": {"date_range", "soft_range"},  # H10
}


def options(asked: Question, read: set[str]) -> dict[str, Any]:
    around = asked.around
    given = {
        "embedding": asked.vector,
        "session": asked.session,
        "where": oneiros.where(**dict(asked.wanted)) if asked.wanted else None,
        "hint": asked.hint,
        "context": None
        if around is None
        else oneiros.Context(
            file=around.file,
            tags=around.tags,
            project=around.project,
            situation=around.situation,
        ),
        "date_range": asked.date_range,
        "soft_range": asked.is_soft,
        "deep_recall": asked.deep_recall,
        "include_expired": asked.include_expired,
        "include_expired_in_deep_recall": (
            asked.include_expired_in_deep_recall and asked.deep_recall
        ),
        "valid_at": asked.valid_at,
        "status": list(asked.status) or None,
    }
    unread = {"hint", "context", "date_range", "soft_range"} - read
    return {name: value for name, value in given.items() if name not in unread}


def check_answer(told: oneiros.SearchResponse, want: Answer) -> None:
    assert told.ids == [one.id for one in want.results]
    assert [one.score for one in told] == pytest.approx(
        [one.score for one in want.results], rel=1e-6, abs=1e-7
    )
    if want.direct is not None and not want.abstains:
        assert tuple(told.direct_ids or told.ids) == want.direct
    duplicates = {one.id: one.of for one in told.trace.duplicates}
    assert duplicates.keys() == want.duplicates.keys()
    assert all(of in want.duplicates[id] for id, of in duplicates.items())
    for got, one in zip(told, want.results, strict=True):
        assert got.is_associative == bool(one.path), got.id
        assert got.path == one.path or len(got.path) == len(one.path)
        assert bool(got.bridge) == one.is_bridge, got.id
        assert got.via_deep_recall == one.via_deep_recall, got.id
        assert got.neighbour_of == one.brought_by, got.id
    assert told.abstained == want.abstains
    if want.misses is not None:
        assert [one.id for one in told.nearest_misses] == list(want.misses)


def check_state(mind: oneiros.Engine, world: World) -> None:
    ids = world.live()
    for memory in mind.get_many(ids):
        assert memory is not None
        record = world.records[memory.id]
        assert memory.last_accessed_at == record.get("last_accessed_at"), memory.id
        assert memory.sessions == record["sessions"], memory.id
        for field in WRITTEN:
            got, want = getattr(memory, field), value(record, field)
            slack = 1e-6 if isinstance(want, float) else 0.0
            assert got == want or abs(got - want) <= slack * want, (memory.id, field, got, want)
    held = {
        frozenset((one, link.id)): (link.weight, link.kind, link.created_at, link.co_retrieved_at)
        for one, link in mind.links(now=0.0)  # before any of them was last found: unfaded
    }
    names = list(world.records)
    plain = {
        frozenset(names[row] for row in rows): link for rows, link in world.graph.links.items()
    }
    assert {pair: told[0] for pair, told in held.items()} == pytest.approx(
        {pair: link.weight for pair, link in plain.items() if pair <= set(ids)}, rel=1e-6
    )
    for pair, (_, kind, created, last) in held.items():
        link = plain[pair]
        assert (kind, created) == (KINDS[link.kind], link.created)
        assert last == (None if math.isnan(link.last) else link.last)


@pytest.mark.parametrize("name", EVERY)
@FEW
# A memory that is archived does not stand between two of its session: H4
@example(seed=202335, size=7, linked=0, happens=[2964199])
@example(seed=69028, size=8, linked=0, happens=[119])  # the best relevance is a hot memory's: O32
@given(
    seed=seeds,
    size=st.integers(1, 16),
    linked=st.integers(0, 24),
    happens=st.lists(seeds, min_size=1, max_size=8),
)
def test_what_a_store_answers_and_keeps_is_what_the_pages_say(
    name: str, seed: int, size: int, linked: int, happens: list[int]
) -> None:
    clock = VirtualClock(NOW)
    with oneiros.Engine(":memory:", profile=name, analyzer="simple", clock=clock) as mind:
        both = Beside(mind, clock, EVERY[name])
        try:
            both.add([random_record(seed, number) for number in range(size)])
            for number in range(linked):
                both.link(*random_link(seed, number, size))
            for step in happens:
                both.take(random_step(step))
        except Doubt:
            return
