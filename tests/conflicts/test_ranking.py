"""Searches put the newer of two conflicting results first: docs/systems/house.md H12."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import oneiros
from bench.facts.__main__ import asked, engine_of
from bench.facts.world import made
from oneiros.conflicts.model import CONSTANT, WEIGHTS
from tests.oracles import conflicts as oracle

DAY = 86_400.0
NOW = 1.8e9
OLD = "I work at Globex as a baker"
NEW = "I left Globex and started at Initech as a baker now"
QUESTION = "Do I work as a baker at Globex?"


def engine_with(path: str = ":memory:", **fields: dict[str, object]) -> oneiros.Engine:
    engine = oneiros.Engine(path, clock=lambda: NOW)
    given: dict[str, dict[str, object]] = {
        "old": {"text": OLD, "created_at": NOW - 200 * DAY},
        "new": {"text": NEW, "created_at": NOW - 100 * DAY},
    }
    for id, own in given.items():
        engine.add(**{"id": id, **own, **fields.get(id, {})})  # type: ignore[arg-type]
    engine.add("The bakery at the corner sells rye bread", id="other", created_at=NOW - 50 * DAY)
    return engine


def without(engine: oneiros.Engine, question: str = QUESTION) -> list[str]:
    profile = oneiros.profiles.get("oneiros").replace(newer_first=None)
    return engine.search(question, profile=profile, reinforce=False).ids


def test_the_newer_value_leads() -> None:
    engine = engine_with()
    assert without(engine)[:2] == ["old", "new"]
    response = engine.search(QUESTION, explain=True, reinforce=False)
    assert response.ids[:2] == ["new", "old"]
    new, old = response.results[:2]
    assert new.score > old.score
    assert new.score == pytest.approx(old.score, rel=1e-12)  # just above, no higher
    factor = next(f for f in new.explanation.factors if f.name == "newer_first")
    assert factor.value > 1.0
    assert new.explanation.evaluate() == new.score
    assert "newer_first" not in {f.name for f in old.explanation.factors}
    (stage,) = [s for s in response.trace.stages if s.name == "newer_first"]
    assert "1 raised above an older value" in stage.note


@pytest.mark.parametrize(("worth", "first"), [(1e200, "old"), (1e-160, "new")])
def test_scores_at_the_ends_of_what_a_float_holds_end_the_search(worth: float, first: str) -> None:
    """The square is infinite, which no factor exceeds, or of some ten bits, where factors of a last bit more change nothing."""

    def worth_of_old(created_at: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.where(created_at < NOW - 150 * DAY, worth, min(worth, 1.0))

    profile = oneiros.profiles.get("oneiros")
    factors = [
        oneiros.CallableFactor(worth_of_old, name=name, columns=("created_at",))
        for name in ("once", "twice")
    ]
    extreme = profile.replace(name="extreme", factors=(*profile.factors, *factors))
    engine = engine_with()
    response = engine.search(QUESTION, profile=extreme, explain=True, reinforce=False)
    assert response.ids[0] == first
    best, second = response.results[:2]
    assert best.score > second.score
    assert best.explanation.evaluate() == best.score


def test_the_newest_of_a_chain_of_changes_leads() -> None:
    engine = engine_with()
    engine.add(
        "I no longer work at Initech as a baker, Umbrella hired me",
        id="newest",
        created_at=NOW - DAY,
    )
    ids = engine.search("Do I work at Globex or Initech as a baker?", reinforce=False).ids
    assert ids[0] == "newest"


def test_items_of_a_list_and_what_the_query_names_stay() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for n in range(20):
            engine.add(f"late tea number {n}", id=f"m{n}", created_at=NOW - 100 + n)
        engine.add("Backups of the mail server start at 03:00", id="early", created_at=NOW - 99)
        engine.add("Backups of the mail server moved to 05:00 now", id="late", created_at=NOW - 9)
        assert engine.search("late tea 7", reinforce=False).ids[0] == "m7"
        assert engine.search("Which backups start at 03:00?", reinforce=False).ids[0] == "early"
        assert engine.search("When do backups start?", reinforce=False).ids[0] == "late"
        assert not [
            each for each in engine.conflicts(least_confidence=0.01) if each.newer != "late"
        ]


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "Ada's birthday is on March 3rd",
            "Ada moved from Berlin to Oslo in May 2024",
            "When is Ada's birthday?",
        ),
        (
            "We have version 12.4 of Nginx in production",
            "We have version 15.3 of GitLab in production",
            "Which version of Nginx do we run?",
        ),
        (
            "Ada's dose of lisinopril is 20 mg",
            "Ada's dose of sertraline is 25 mg",
            "What is Ada's dose of lisinopril?",
        ),
    ],
)
def test_a_newer_fact_about_something_else_stays_below(
    older: str, newer: str, question: str
) -> None:
    with oneiros.Engine(":memory:", embedder="hashing", clock=lambda: NOW) as engine:
        engine.add(older, id="older", created_at=NOW - 9 * DAY)
        engine.add(newer, id="newer", created_at=NOW - 8 * DAY)
        assert engine.search(question, reinforce=False).ids == ["older", "newer"]


def test_the_newer_does_not_lead_where_the_question_names_the_time_of_the_older() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for day in range(6):
            engine.add(
                f"The load of the server is {20 + day} percent",
                id=f"day {day}",
                created_at=NOW - day * DAY,
            )
        best = engine.search("What is the load of the server?", reinforce=False).ids[0]
        asked = "What was the load of the server {}?"
        found = [
            engine.search(asked.format(when), reinforce=False).ids[0]
            for when in ("yesterday", "three days ago", "today")
        ]
    assert (best, found) == ("day 0", ["day 1", "day 3", "day 0"])


def test_facts_that_are_stated_again_lead_and_are_listed() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        values = ("12", "34", "56")
        for age, value in zip((30, 20, 10), values, strict=True):
            text = f"User's parking space is number {value}"
            engine.add(text, id=value, created_at=NOW - age * DAY)
        found = engine.search("which parking space does the user have?", reinforce=False)
        assert found.ids[0] == "56"
        pairs = {(each.older, each.newer) for each in engine.conflicts()}
        assert pairs == {("12", "34"), ("12", "56"), ("34", "56")}
        assert engine.search("who has parking space 34?", reinforce=False).ids[0] == "34"


def test_a_newer_text_that_announces_the_change_need_not_have_the_words() -> None:
    with oneiros.Engine(":memory:", embedder="hashing", clock=lambda: NOW) as engine:
        engine.add("Biscuit's vet is Dr Weiss", id="older", created_at=NOW - 9 * DAY)
        engine.add("Biscuit is a patient of Dr Lund now", id="newer", created_at=NOW - 8 * DAY)
        assert engine.search("Who is Biscuit's vet?", reinforce=False).ids == ["newer", "older"]


@pytest.mark.parametrize("field", ["project", "user", "agent", "namespace"])
def test_a_stranger_changes_nothing(field: str) -> None:
    engine = engine_with(old={field: "ada"}, new={field: "bo"})
    assert engine.search(QUESTION, reinforce=False).ids == without(engine)
    assert engine.conflicts(least_confidence=0.01) == []


def test_at_a_time_before_the_change_the_older_leads() -> None:
    engine = engine_with()
    response = engine.search(QUESTION, now=NOW - 150 * DAY, reinforce=False)
    assert response.ids.index("old") < response.ids.index("new")


def test_nothing_leads_a_memory_of_the_same_time() -> None:
    engine = engine_with(new={"created_at": NOW - 200 * DAY})
    assert engine.search(QUESTION, reinforce=False).ids == without(engine)


def test_a_filter_that_hides_the_newer_leaves_the_older() -> None:
    engine = engine_with(new={"tags": ["hidden"]})
    ids = engine.search(QUESTION, where=~oneiros.where(tags="hidden"), reinforce=False).ids
    assert ids[0] == "old"


def test_what_is_trusted_less_leads_nothing() -> None:
    engine = engine_with(new={"trust": 0.9})
    assert engine.search(QUESTION, reinforce=False).ids == without(engine)
    trusted_as_much = engine_with(old={"trust": 0.9}, new={"trust": 0.9})
    assert trusted_as_much.search(QUESTION, reinforce=False).ids[0] == "new"


def test_a_changed_text_is_read_again() -> None:
    engine = engine_with()
    assert engine.search(QUESTION, reinforce=False).ids[0] == "new"
    engine.update("new", text="Does Globex need a baker for work?")
    assert engine.search(QUESTION, reinforce=False).ids == without(engine)
    assert engine.search(QUESTION, reinforce=False).ids[0] == "old"


def test_another_process_finds_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    with engine_with(path) as engine:
        ids = engine.search(QUESTION, reinforce=False).ids
    with oneiros.Engine(path, clock=lambda: NOW, read_only=True) as engine:
        assert engine.search(QUESTION, reinforce=False).ids == ids == ["new", "old", *ids[2:]]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_results_are_those_of_the_page(seed: int) -> None:
    world = made("develop", seed)
    text_of = {line.id: line.text for line in world.lines}
    created = {line.id: line.created_at for line in world.lines}
    off, on = (engine_of(world, None, is_on=is_on) for is_on in (False, True))
    confidence = functools.cache(  # questions find the same pairs
        lambda older, newer: oracle.confidence(older, newer, WEIGHTS, CONSTANT)
    )
    changed = 0
    for question in world.questions:
        before = off.search(question.text, 30, reinforce=False)
        scores = dict(zip(before.ids, before.scores, strict=True))
        newest_first = sorted(before.ids, key=lambda id: -created[id])
        for place, older in reversed(list(enumerate(newest_first))):
            newer = [id for id in newest_first[:place] if created[id] > created[older]]
            sure = {
                id: confidence(text_of[older], text_of[id])
                for id in newer
                if not oracle.is_asked_for(question.text, text_of[older], text_of[id])
            }
            surest = sorted(sure.values())[-2:]
            if len(surest) == 2 and surest[1] - surest[0] < 1e-9 and surest[1] >= 0.15:
                break  # rounding decides which of the two leads
            best = max(sure, key=lambda id: sure[id], default=None)
            if best is not None and sure[best] >= 0.15:
                scores[best] = max(scores[best], math.nextafter(scores[older], math.inf))
        else:
            after = on.search(question.text, 30, reinforce=False)
            assert dict(zip(after.ids, after.scores, strict=True)) == pytest.approx(
                scores, rel=1e-9
            )
            assert list(after.scores) == sorted(after.scores, reverse=True)
            changed += after.ids != before.ids
    assert changed > 3


def test_outdated_values_lead_less_often() -> None:
    """The short form of ``python -m bench.facts``: two conversations of each half."""
    share = {}
    for is_on in (False, True):
        found = [
            each
            for half in ("develop", "held out")
            for seed in (30, 31)
            for each in asked(
                engine_of(made(half, seed), None, is_on=is_on), made(half, seed), None
            )
        ]
        share[is_on] = sum(each.old for each in found) / len(found)
    assert share[False] > 0.6
    assert share[True] < 0.5


def test_facts_that_stay_are_found_nearly_as_often() -> None:
    share = {}
    for is_on in (False, True):
        found = [
            each.first
            for half in ("develop", "held out")
            for seed in (30, 31)
            for world in [made(half, seed, changes=False)]
            for each in asked(engine_of(world, None, is_on=is_on), world, None)
        ]
        share[is_on] = sum(found) / len(found)
    assert share[True] > share[False] - 0.08
