"""Conflicts are listed and settled: docs/systems/house.md H12, docs/guide/changing_facts.md."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from bench.facts.world import made
from oneiros.conflicts import finding
from oneiros.conflicts.model import CONSTANT, WEIGHTS
from oneiros.errors import EngineReadOnly, UnknownMemory
from oneiros.scoring.phases.house import ChangedFacts
from tests.oracles import conflicts as oracle

NOW = 1.8e9
DAY = 86_400.0
OLD = "I work at Globex as a baker"
NEW = "I left Globex and started at Initech as a baker now"
QUESTION = "Do I work as a baker at Globex?"
USERS = ("ada", "bo", None)


def filled(path: str | Path = ":memory:") -> oneiros.Engine:
    engine = oneiros.Engine(path, clock=lambda: NOW)
    engine.add(OLD, id="old", created_at=NOW - 200 * DAY)
    engine.add(NEW, id="new", created_at=NOW - 100 * DAY)
    engine.add("Rye bread is sold out", id="other", created_at=NOW - 50 * DAY)
    return engine


def pairs(engine: oneiros.Engine, **options: float) -> list[tuple[str, str]]:
    return [(each.older, each.newer) for each in engine.conflicts(**options)]  # type: ignore[arg-type]


def test_the_conflicts_of_a_scope_do_not_depend_on_the_rest_of_the_store() -> None:
    """More memories share its words than are compared: the words' weights choose among them."""
    words = [*("baker", "Globex", "violin", "Berlin", "tea"), *(f"word{n}" for n in range(8))]
    chance = random.Random(3)
    own = [
        {
            "id": f"m{n}",
            "text": f"I have {' and '.join(chance.sample(words, 3))} now",
            "created_at": NOW - n * DAY,
            "project": "own",
        }
        for n in range(120)
    ]
    strangers = [
        {"text": f"{chance.choice(words[:3])} {n}", "project": "other"} for n in range(300)
    ]
    options: dict[str, Any] = {"limit": 10_000, "least_confidence": 1e-9}
    with oneiros.Engine(":memory:") as shared, oneiros.Engine(":memory:") as alone:
        shared.add_many(strangers)
        for engine in (shared, alone):
            engine.add_many(own)
        found, wanted = (each.scope(project="own").conflicts(**options) for each in (shared, alone))
        assert len(wanted) > 100
        assert found == wanted
        assert [each for each in shared.conflicts(**options) if each.newer[0] == "m"] != wanted


def test_every_pair_is_one_of_the_page() -> None:
    """In a small store every memory is among the nearest, so that a plain scan finds the same."""
    lines = [line for line in made("develop", 4).lines if line.fact is not None]
    engine = oneiros.Engine(":memory:", clock=lambda: NOW)
    engine.add_many(
        {"id": line.id, "text": line.text, "created_at": line.created_at} for line in lines
    )
    wanted = {
        (older.id, newer.id): sure
        for newer in lines
        for older in lines
        if older.created_at < newer.created_at
        and (sure := oracle.confidence(older.text, newer.text, WEIGHTS, CONSTANT)) >= 0.3
    }
    found = engine.conflicts(limit=1_000, least_confidence=0.3)
    assert len(found) > 5
    for each in found:
        assert wanted[each.older, each.newer] == pytest.approx(each.confidence)
        assert each.reason
    assert [each.confidence for each in found] == sorted(
        (each.confidence for each in found), reverse=True
    )
    # What shares no word with another is not compared with it without vectors.
    missed = wanted.keys() - {(each.older, each.newer) for each in found}
    assert len(missed) < len(found)
    assert engine.conflicts(limit=2, least_confidence=0.3) == found[:2]
    start = sorted(line.created_at for line in lines)[-10]
    newest = {line.id for line in lines if line.created_at >= start}
    assert engine.conflicts(limit=1_000, least_confidence=0.3, since=start) == [
        each for each in found if each.newer in newest
    ]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(USERS), st.booleans()), min_size=2, max_size=8))
def test_a_strangers_memories_never_conflict(owners: list[tuple[str | None, bool]]) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for place, (user, is_new) in enumerate(owners):
            engine.add(
                NEW if is_new else OLD, user=user, id=str(place), created_at=NOW - 99 + place
            )
        wanted = {
            (str(one), str(other))
            for other, (user, is_new) in enumerate(owners)
            for one, (owner, was_new) in enumerate(owners[:other])
            if owner == user and is_new and not was_new
        }
        assert wanted <= set(pairs(engine, least_confidence=0.1))
        for older, newer in pairs(engine, least_confidence=0.01):
            assert owners[int(older)][0] == owners[int(newer)][0]
        for user in ("ada", "bo"):
            for older, newer in pairs(engine.scope(user=user), least_confidence=0.01):  # type: ignore[arg-type]
                assert owners[int(older)][0] == owners[int(newer)][0] == user


def test_only_parts_with_a_pair_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    compared = finding.conflicting

    def noted(read_model: Any, rows: Any, part: Any, *args: Any, **options: Any) -> Any:
        searched.append(len(part))
        return compared(read_model, rows, part, *args, **options)

    monkeypatch.setattr(finding, "conflicting", noted)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for place, user in enumerate(("ada", "bo", "ada", "cy", "bo", "ada")):
            engine.add(OLD if place < 3 else NEW, user=user, created_at=NOW - 99 + place)
        assert len(pairs(engine)) == 3
        assert sorted(searched) == [2, 3]  # of "bo" and of "ada"; "cy" has one memory
        searched.clear()
        assert len(pairs(engine, since=NOW - 94)) == 2
        assert searched == [3]


@pytest.mark.parametrize("verdict", ["update", "contradiction"])
def test_accepting_supersedes_the_older(verdict: str) -> None:
    engine = filled()
    assert pairs(engine) == [("old", "new")]
    engine.resolve_conflict("old", "new", verdict)
    older = engine.get("old")
    assert older is not None
    assert older.superseded_by == "new"
    assert older.metadata == {"superseded_at": NOW, "superseded_reason": verdict}
    assert "old" not in engine.search(QUESTION).ids
    assert engine.conflicts(least_confidence=0.01) == []


@pytest.mark.parametrize(
    "validity", [{"valid_until": NOW - 1}, {"ttl": 60.0}, {"valid_from": NOW + 1}], ids=str
)
def test_what_is_not_valid_now_conflicts_with_nothing(validity: dict[str, float]) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add("My rent is 900 euros a month", id="old", created_at=NOW - 9 * 86_400)
        new = {"id": "new", "text": "My rent went up to 950 euros now", "created_at": NOW - 86_400}
        engine.add_many([new | validity])
        assert engine.conflicts() == []
        engine.update("new", valid_from=None, valid_until=None, ttl=None)
        assert [(pair.older, pair.newer) for pair in engine.conflicts()] == [("old", "new")]


def test_rejecting_holds(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with filled(path) as engine:
        assert engine.search(QUESTION, reinforce=False).ids[0] == "new"
        engine.resolve_conflict("old", "new", "distinct")
        assert engine.conflicts(least_confidence=0.01) == []
        assert engine.search(QUESTION, reinforce=False).ids[0] == "old"
    with oneiros.Engine(path, clock=lambda: NOW) as engine:
        assert engine.conflicts(least_confidence=0.01) == []
        assert engine.search(QUESTION, reinforce=False).ids[0] == "old"
        (link,) = engine.neighbours("old")
        assert (link.id, link.kind) == ("new", "distinct")
        for day in range(10):  # being found together changes nothing of it
            engine.search(QUESTION, now=NOW + day * DAY, session=str(day))
        engine.flush()
        assert engine.neighbours("old")[0].kind == "distinct"
        assert engine.unlink("old", "new")
        assert pairs(engine) == [("old", "new")]
        assert engine.search(QUESTION, reinforce=False).ids[0] == "new"


def test_a_verdict_leaves_the_weight_of_a_link() -> None:
    engine = filled()
    engine.link("old", "new", 0.7)
    engine.resolve_conflict("old", "new", "distinct")
    (link,) = engine.neighbours("old")
    assert (link.weight, link.kind) == (0.7, "distinct")


def test_a_verdict_that_both_hold_ends_a_supersession() -> None:
    events: list[oneiros.Event] = []
    with filled() as engine:
        engine.supersede("old", "other")
        engine.resolve_conflict("old", "new", "update")
        engine.observe(events.append)
        engine.resolve_conflict("old", "new", "distinct")
        assert (engine.get("old").superseded_by, engine.get("old").metadata) == (None, {})
        assert set(engine.search(QUESTION, reinforce=False).ids) >= {"old", "new"}
        assert pairs(engine) == []
        changed = [(event.kind, tuple(event.ids)) for event in events if event.kind != "search"]
        assert changed == [("link", ("old", "new")), ("update", ("old",))]
        engine.supersede("old", "other")
        engine.resolve_conflict("old", "new", "distinct")
        assert engine.get("old").superseded_by == "other"  # no verdict on these two


@pytest.mark.parametrize("by", ["hand", "cycle"])
def test_a_verdict_leaves_the_fading_of_a_link(by: str) -> None:
    settling = oneiros.profiles.get("oneiros").replace(phases=(ChangedFacts(),))
    engine = filled()
    engine.link("old", "new", 0.7)
    engine.search(QUESTION)
    engine.flush()
    later = NOW + 400 * DAY
    (before,) = engine.neighbours("old", now=later)
    assert before.weight < 0.05
    if by == "hand":
        engine.resolve_conflict("old", "new", "distinct", now=later)
    else:
        engine.dream(later, profile=settling, judge=lambda *_: "distinct")
    assert engine.neighbours("old", now=later) == [replace(before, kind="distinct")]


@pytest.mark.parametrize("gone", ["old", "new"])
def test_an_erased_memory_leaves_no_verdict(tmp_path: Path, gone: str) -> None:
    path = tmp_path / "store.db"
    with filled(path) as engine:
        engine.search(QUESTION)
        engine.resolve_conflict("old", "new", "distinct")
        engine.forget(gone)
        text = OLD if gone == "old" else NEW
        assert engine.verify_erased(text)
        assert engine.links() == []
        engine.add(text, id=gone, created_at=NOW - (200 if gone == "old" else 100) * DAY)
        assert pairs(engine) == [("old", "new")]  # the verdict was of another memory
        assert engine.search(QUESTION, reinforce=False).ids[0] == "new"


def test_undoing_a_supersession_proposes_it_again() -> None:
    engine = filled()
    engine.resolve_conflict("old", "new", "update")
    engine.update("old", superseded_by=None)
    assert pairs(engine) == [("old", "new")]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("old", "new", "maybe"), ValueError, "verdict: .*update.*contradiction.*distinct"),
        (("old", "old", "update"), ValueError, "newer: must be another memory than older"),
        (("nobody", "new", "update"), UnknownMemory, "nobody"),
        (("old", "nobody", "distinct"), UnknownMemory, "nobody"),
        ((1, "new", "update"), TypeError, "older"),
        (("old", None, "update"), TypeError, "newer"),
        (("old", "new", 3), (TypeError, ValueError), "verdict"),
    ],
)
def test_wrong_settlements_change_nothing(
    arguments: tuple[str, str, str], error: type[Exception], words: str
) -> None:
    engine = filled()
    with pytest.raises(error, match=words):
        engine.resolve_conflict(*arguments)
    assert engine.links() == []
    assert pairs(engine) == [("old", "new")]


def test_a_scope_settles_only_its_own() -> None:
    engine = filled()
    scope = engine.scope(user="ada")
    assert scope.conflicts() == []
    for verdict in ("update", "distinct"):
        with pytest.raises(UnknownMemory):
            scope.resolve_conflict("old", "new", verdict)
    assert pairs(engine) == [("old", "new")]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"limit": -1}, ValueError, "limit"),
        ({"limit": 1.5}, TypeError, "limit"),
        ({"least_confidence": 0.0}, ValueError, "least_confidence"),
        ({"least_confidence": 1.1}, ValueError, "least_confidence"),
        ({"least_confidence": "high"}, TypeError, "least_confidence"),
        ({"since": "yesterday"}, (TypeError, ValueError), "since"),
        ({"where": "user = ada"}, TypeError, "where"),
    ],
)
def test_wrong_arguments_are_named(
    options: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        filled().conflicts(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["lorem ipsum " * 6_000, "x" * 70_000, " ".join(f"word{number}" for number in range(1_100))],
    ids=["bytes", "one word", "terms"],
)
def test_a_text_that_is_too_long_for_a_query_hides_no_conflict(text: str) -> None:
    engine = filled()
    engine.add(text, id="long", created_at=NOW - 10 * DAY)
    engine.add(f"{text} again", id="longer", created_at=NOW - 5 * DAY)
    assert pairs(engine) == [("old", "new")]


def test_an_empty_store_and_a_limit_of_0_give_none() -> None:
    assert oneiros.Engine(":memory:").conflicts() == []
    assert filled().conflicts(limit=0) == []


def test_a_read_only_engine_lists_and_does_not_settle(tmp_path: Path) -> None:
    filled(tmp_path / "store.db").close()
    with oneiros.Engine(tmp_path / "store.db", read_only=True, clock=lambda: NOW) as engine:
        assert pairs(engine) == [("old", "new")]
        with pytest.raises(EngineReadOnly, match="resolve_conflict"):
            engine.resolve_conflict("old", "new", "distinct")


def test_an_async_engine_lists_and_settles() -> None:
    async def run() -> list[str]:
        async with oneiros.AsyncEngine(":memory:") as engine:
            await engine.add(OLD, id="old", created_at=1.0)
            await engine.add(NEW, id="new", created_at=2.0)
            found = await engine.conflicts()
            await engine.resolve_conflict("old", "new", "update")
            return [each.newer for each in found] + (await engine.search(QUESTION)).ids

    assert asyncio.run(run()) == ["new", "new"]
