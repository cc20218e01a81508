"""Who asks again and again lifts nothing: the bounds of docs/systems/house.md H7, under attack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

import oneiros
from oneiros.scoring.factors import Spread
from oneiros.scoring.profile import Profile
from oneiros.scoring.reinforcement import SpacedReinforcement
from tests.oracles import house
from tests.oracles.records import DAY

NOW = 1_750_000_000.0
HOUSE = oneiros.profiles.get("oneiros")
TARGET = "black coffee ada"
RELEVANT, WEAK, SPAM = ("r0", "r1", "r2"), "weak", "spam"
BAIT = ("spam offer", "spam offer coffee", "coffee offer")
FOR_THE_WEAK = ("coffee offer said",)
MOST = house.damp(2.0) / house.damp(0.5)
"""What H6 can make of a memory at most by accesses: two sessions' spread, and no age for all of it."""


def texts() -> dict[str, str]:
    relevant = {id: f"ada black coffee {id}" for id in RELEVANT}
    others = {f"o{n}": f"coffee and tea in cup {n}" for n in range(8)}
    return {**relevant, WEAK: "coffee ada said offer", SPAM: "spam offer", **others}


def vector(id: str) -> list[float]:
    """How near the target it is, how near the bait, and the rest."""
    target = {**dict.fromkeys(RELEVANT, 0.9), WEAK: 0.5, SPAM: 0.05}.get(id, 0.3)
    rest = np.sqrt(1 - target**2)
    return [target, 0.0, rest] if id.startswith("o") else [target, rest, 0.0]


class Attack:
    """A world under a profile, all of it old, and those who ask for spam in it."""

    def __init__(self, profile: Profile) -> None:
        self.now = NOW
        self.mind = oneiros.Engine(
            ":memory:", profile=profile, analyzer="simple", clock=lambda: self.now
        )
        self.mind.add_many(
            {"id": id, "text": text, "embedding": vector(id), "created_at": NOW - 900 * DAY}
            for id, text in texts().items()
        )
        self.before = self.target()

    def target(self) -> oneiros.SearchResponse:
        return self.mind.search(TARGET, k=5, embedding=[1.0, 0.0, 0.0], reinforce=False)

    def ask(
        self, sessions: Sequence[str | None], days: float, bait: Sequence[str] = BAIT, k: int = 10
    ) -> oneiros.SearchResponse:
        """Ask once each, over so many days that end now, and then for the target."""
        end = NOW + 100 * DAY
        for number, session in enumerate(sessions, start=1):
            self.now = end - days * DAY * (1 - number / len(sessions))
            for query in bait:
                self.mind.search(query, k=k, embedding=[0.0, 1.0, 0.0], session=session)
        return self.target()

    def scores(self, told: oneiros.SearchResponse) -> dict[str, float]:
        return {one.id: one.score for one in told}


@pytest.fixture
def attacks() -> Iterator[list[Attack]]:
    made: list[Attack] = []
    yield made
    for one in made:
        one.mind.close()


def unbounded(profile: Profile) -> Profile:
    rule = profile.reinforcement
    assert isinstance(rule, SpacedReinforcement)
    bare = replace(rule, link_rest_days=0.0, once_a_session=False, limit=1.0, core_stability=0.85)
    return profile.replace(reinforcement=bare)


@pytest.mark.parametrize("session", ["s", None])
def test_one_session_moves_nothing_by_asking_again(
    attacks: list[Attack], session: str | None
) -> None:
    often, once, bare = (Attack(one) for one in (HOUSE, HOUSE, unbounded(HOUSE)))
    attacks += [often, once, bare]
    again, asked = often.ask([session] * 30, 0.5), once.ask([session], 0.0)
    assert often.scores(again) == once.scores(asked)  # the same bits
    assert again.ids == asked.ids
    assert again.ids[:3] == often.before.ids[:3] == list(RELEVANT)
    assert often.mind.get(SPAM).access_count == 30 * len(BAIT)  # counted all the same
    # Without the bounds the spam comes in by its links to what it was found with.
    assert SPAM not in again.ids
    assert SPAM in bare.ask([session] * 30, 0.5).ids


@pytest.mark.parametrize("days", [0.5, 20.0])
def test_many_sessions_lift_nothing_above_what_is_relevant(
    attacks: list[Attack], days: float
) -> None:
    sessions = [f"s{n}" for n in range(60)]
    bounded, lone, bare = Attack(HOUSE), Attack(HOUSE), Attack(unbounded(HOUSE))
    uncapped = Attack(HOUSE.replace(factors=(Spread(),)))
    attacks += [bounded, lone, bare, uncapped]
    before = bounded.scores(bounded.before)
    # All are drawn into it; or the weak alone, while what is relevant grows old.
    for told in (bounded.ask(sessions, days), lone.ask(sessions, days, FOR_THE_WEAK, k=1)):
        assert told.ids[:3] == list(RELEVANT)
        for id, score in bounded.scores(told).items():
            assert score <= before.get(id, min(before.values())) * MOST * (1 + 1e-12)
    assert lone.mind.get(WEAK).session_spread == len(sessions)
    assert not bounded.mind.get(SPAM).core
    if days < 1:
        assert SPAM not in bounded.target().ids
    # Without the bounds links bring the spam, and it becomes core; without the cap sessions lift.
    assert SPAM in bare.ask(sessions, days).ids
    assert bare.mind.get(SPAM).core
    assert uncapped.ask(sessions, days, FOR_THE_WEAK, k=1).ids[0] == WEAK
