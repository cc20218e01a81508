"""Facts that change, before a judge in a cycle: docs/systems/house.md H16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from bench.facts.world import made
from oneiros.conflicts.model import CONSTANT, WEIGHTS
from oneiros.scoring.phases.house import ChangedFacts
from tests.oracles import conflicts as oracle

DAY = 86_400.0
NOW = 1.8e9
BAKER = "I work at Globex as a baker"
LEFT = "I left Globex and started at Initech as a baker now"
AGAIN = "I left Initech, I started as a baker at Umbrella now"
VERDICTS = ("update", "contradiction", "duplicate", "distinct")


def engine_of(*told: dict[str, Any], **options: Any) -> oneiros.Engine:
    engine = oneiros.Engine(":memory:", clock=lambda: NOW, **options)
    for number, fields in enumerate(told):
        engine.add(**{"id": f"m{number}", **fields})
    return engine


def said(text: str, days_ago: float, **fields: Any) -> dict[str, Any]:
    return {"text": text, "created_at": NOW - days_ago * DAY, **fields}


class Judge:
    """Answers what it is told to, and notes what it was asked."""

    def __init__(self, answer: str | Callable[[str, str], str] = "distinct") -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def __call__(self, older: str, newer: str) -> str:
        self.asked.append((older, newer))
        return self.answer if isinstance(self.answer, str) else self.answer(older, newer)


def only(**given: Any) -> oneiros.Profile:
    return oneiros.profiles.get("oneiros").replace(phases=(ChangedFacts(**given),))


def candidates(records: dict[str, dict[str, Any]], least: float) -> dict[tuple[str, str], float]:
    """Return the pairs of the page, where all are among the nearest of each other."""
    pairs = {}
    for older, one in records.items():
        for newer, other in records.items():
            if one["created_at"] < other["created_at"] and one.get("user") == other.get("user"):
                found = oracle.confidence(one["text"], other["text"], WEIGHTS, CONSTANT)
                if found >= least:
                    pairs[older, newer] = found
    return pairs


def world_of(seed: int, size: int) -> dict[str, dict[str, Any]]:
    lines = made("develop", seed).lines[:size]
    return {
        line.id: {"text": line.text, "created_at": NOW - (size - number) * DAY}
        for number, line in enumerate(lines)
    }


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 40), st.integers(2, 18), st.randoms(use_true_random=False))
def test_what_a_judge_says_is_done_as_the_page_says(seed: int, size: int, chance: Any) -> None:
    records = world_of(seed, size)
    pairs = candidates(records, 0.1)
    texts = {id: record["text"] for id, record in records.items()}
    id_of = {text: id for id, text in texts.items()}
    words = {pair: chance.choice(VERDICTS) for pair in pairs}
    judge = Judge(lambda older, newer: words[id_of[older], id_of[newer]])
    superseded: dict[str, str] = {}
    repeats = dict.fromkeys(records, 0)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        # Texts that are alike word by word are not told apart by this test.
        if len(id_of) < len(records):
            return
        engine.add_many({"id": id, **record} for id, record in records.items())
        engine.dream(profile=only(nearest=1_000), judge=judge)
        asked = [(id_of[older], id_of[newer]) for older, newer in judge.asked]
        # Of pairs without a word or vector in common none is near, whatever its confidence.
        assert set(asked) <= pairs.keys()
        confidences = [pairs[pair] for pair in asked]
        assert confidences == pytest.approx(sorted(confidences, reverse=True), abs=1e-12)
        for older, newer in asked:
            assert not {older, newer} & superseded.keys()
            if words[older, newer] != "distinct":
                superseded[older] = newer
                repeats[newer] += words[older, newer] == "duplicate"
        for id in records:
            memory = engine.get(id)
            assert memory is not None
            assert memory.superseded_by == superseded.get(id)
            assert memory.duplicate_count == repeats[id]
            assert memory.tier == "hot"
        distinct = {pair for pair in asked if words[pair] == "distinct"}
        links = {frozenset((one, link.id)): link for one, link in engine.links()}
        assert links.keys() == {frozenset(pair) for pair in distinct}
        assert all((link.kind, link.weight) == ("distinct", 0.01) for link in links.values())


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 40), st.integers(2, 60), st.sampled_from([0.1, 0.4, 0.8]))
def test_pairs_are_those_of_conflicts(seed: int, size: int, least: float) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add_many({"id": id, **record} for id, record in world_of(seed, size).items())
        listed = engine.conflicts(limit=10_000, least_confidence=least)
        judge = Judge()
        report = engine.dream(profile=only(least_confidence=least), judge=judge)
        texts = {
            id: memory.text
            for id in {p.older for p in listed} | {p.newer for p in listed}
            if (memory := engine.get(id))
        }
        assert judge.asked == [(texts[pair.older], texts[pair.newer]) for pair in listed]
        (phase,) = report.phases
        count = len(listed)
        assert phase.figures == {"pairs": count, "judged": count, "retired": 0, "distinct": count}
        # All of them are settled.
        assert engine.conflicts(limit=10_000, least_confidence=least) == []
        again = engine.dream(profile=only(least_confidence=least), judge=Judge("update"))
        assert again.phases[0].figures["pairs"] == 0


def test_beside_the_default_phases_a_judge_is_asked_and_searches_follow() -> None:
    with engine_of(said(BAKER, 200), said(LEFT, 100), said("Rye bread", 50)) as engine:
        judge = Judge("update")
        default = oneiros.profiles.get("oneiros")
        profile = default.replace(phases=(*default.phases, ChangedFacts()))
        report = engine.dream(profile=profile, judge=judge)
        assert judge.asked == [(BAKER, LEFT)]
        memory = engine.get("m0")
        assert memory is not None
        assert memory.superseded_by == "m1"
        assert "m0" not in engine.search("Do I work as a baker?").ids
        assert "settling: 1" in str(report)
        engine.undo_dream(report.id)
        memory = engine.get("m0")
        assert memory is not None
        assert memory.superseded_by is None


def test_without_a_judge_nothing_is_asked_or_changed() -> None:
    with engine_of(said(BAKER, 200), said(LEFT, 100)) as engine:
        report = engine.dream(profile=only())
        assert report.change_count == 0
        assert len(engine.conflicts(least_confidence=0.1)) == 1


def test_distinct_ones_are_raised_no_more_and_keep_their_link() -> None:
    with engine_of(said(BAKER, 200), said(LEFT, 100)) as engine:
        question = "Do I work as a baker at Globex?"
        assert engine.search(question, reinforce=False).ids == ["m1", "m0"]
        engine.link("m0", "m1", 0.4)
        engine.dream(profile=only(), judge=Judge())
        assert engine.search(question, reinforce=False).ids == ["m0", "m1"]
        ((_, link),) = list(engine.links())
        assert (link.kind, link.weight) == ("distinct", 0.4)
        again = Judge()
        engine.update("m1", text=LEFT + " too")
        engine.dream(profile=only(), judge=again)
        assert again.asked == []


def test_a_duplicate_has_the_lesser_trust() -> None:
    with engine_of(said(BAKER, 200, trust=0.5), said(LEFT, 100, trust=0.9)) as engine:
        engine.dream(profile=only(), judge=Judge("duplicate"))
        newer = engine.get("m1")
        assert newer is not None
        assert (newer.duplicate_count, newer.trust) == (1, pytest.approx(0.5))


def test_a_memory_that_was_replaced_is_not_asked_about() -> None:
    with engine_of(said(BAKER, 300), said(LEFT, 200), said(AGAIN, 100)) as engine:
        judge = Judge("update")
        engine.dream(profile=only(), judge=judge)
        older = [one for one, _ in judge.asked]
        assert len(older) == len(set(older))
        assert judge.asked
        current = [memory.id for memory in engine.list() if memory.superseded_by is None]
        assert current[-1] == "m2" or current == ["m2"]


@pytest.mark.parametrize(
    "other",
    [
        {"user": "x"},
        {"project": "x"},
        {"agent": "x"},
        {"namespace": "x"},
        {"status": "archived"},
        {"status": "quarantined"},
        {"created_at": NOW - 200 * DAY},
        {"text": "What do I do at Globex, am I a baker?"},
        {"text": "Ravens like shiny stones"},
    ],
    ids=str,
)
def test_what_is_not_offered(other: dict[str, Any]) -> None:
    with engine_of(said(BAKER, 200), {**said(LEFT, 100), **other}) as engine:
        judge = Judge()
        engine.dream(profile=only(), judge=judge)
        assert judge.asked == []


def test_only_what_is_new_since_the_last_cycle_is_compared() -> None:
    clock = [NOW - 150 * DAY]
    with oneiros.Engine(":memory:", clock=lambda: clock[0]) as engine:
        engine.add(BAKER, id="old", created_at=NOW - 200 * DAY)
        engine.dream(profile=only(), judge=(first := Judge()))
        clock[0] = NOW - 100 * DAY
        engine.add(LEFT, id="new")
        clock[0] = NOW - 50 * DAY
        engine.dream(profile=only(), judge=(second := Judge()))
        clock[0] = NOW
        engine.dream(profile=only(), judge=(third := Judge()))
        assert (first.asked, second.asked, third.asked) == ([], [(BAKER, LEFT)], [])


def test_history_that_is_imported_after_a_cycle_is_compared() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.dream(NOW - DAY, profile=only(), judge=Judge())
        engine.add_many([said(BAKER, 200), said(LEFT, 100)])
        engine.dream(profile=only(), judge=(judge := Judge()))
        assert judge.asked == [(BAKER, LEFT)]


def test_limits_of_a_cycle() -> None:
    told = [said(text, 300 - 100 * n) for n, text in enumerate((BAKER, LEFT, AGAIN))]
    with engine_of(*told) as engine:
        listed = engine.conflicts(least_confidence=0.1)
        assert len(listed) > 1
        judge = Judge()
        engine.dream(profile=only(most_pairs=1), judge=judge, dry_run=True)
        best = engine.get(listed[0].older), engine.get(listed[0].newer)
        assert judge.asked == [tuple(memory.text for memory in best if memory)]
        engine.dream(profile=only(most_asked=0), judge=(none := Judge()), dry_run=True)
        assert none.asked == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"least_confidence": 0.0}, "least_confidence"),
        ({"least_confidence": 1.1}, "least_confidence"),
        ({"nearest": 0}, "nearest"),
        ({"most_asked": -1}, "most_asked"),
        ({"most_pairs": 10**9 + 1}, "most_pairs"),
    ],
)
def test_wrong_values(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChangedFacts(**given)


def test_a_judge_that_fails_changes_nothing() -> None:
    def broken(older: str, newer: str) -> str:
        raise RuntimeError(older + newer)

    with engine_of(said(BAKER, 200), said(LEFT, 100)) as engine:
        with pytest.raises(ValueError, match="judge: must be one of"):
            engine.dream(profile=only(), judge=Judge("perhaps"))
        with pytest.raises(RuntimeError) as raised:
            engine.dream(profile=only(), judge=broken)
        assert raised.value.__notes__ == ["raised by judge, which the dream cycle asked"]
        assert all(memory.superseded_by is None for memory in engine.list())


@pytest.mark.parametrize("name", ["oneiros", "reverie"])
def test_profiles_without_the_phase_refuse_a_judge(name: str) -> None:
    refused = pytest.raises(ValueError, match=r"calls it; .*ChangedFacts\(\)")
    with engine_of(said(BAKER, 200)) as engine, refused:
        engine.dream(profile=name, judge=Judge())
