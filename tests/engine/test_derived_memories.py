"""Memories that a cycle makes of several have their provenance; undoing takes it back."""

from __future__ import annotations

import pytest

import oneiros

NOW = 1_750_000_000.0
DAY = 86_400.0
LONG_AGO = NOW - 900 * DAY


def summarised(engine: oneiros.Engine, trusts: tuple[float, ...], **fields: object) -> list[str]:
    ids = []
    for n, trust in enumerate(trusts):
        ids.append(
            engine.add(
                f"harbour words {n}",
                id=f"{fields.get('user', 'm')}{n}",
                embedding=[1.0, n / 100],
                trust=trust,
                importance=0.1,
                now=LONG_AGO,
                **fields,
            )
        )
    return ids


def test_a_summary_has_its_sources_and_the_least_of_their_trusts() -> None:
    with oneiros.Engine(":memory:", profile="cognitive") as engine:
        ids = summarised(
            engine,
            (1.0, 0.7, 0.3, 1.0, 0.5),
            user="ada",
            agent="writer",
            namespace="acme/eu",
            source="tool",
            labels=["red", "new"],
        )
        before = [engine.get(id) for id in ids]
        report = engine.dream(now=NOW)
        (summary,) = (memory for memory in engine.list() if memory.id not in ids)
        assert summary.derived_from == tuple(ids)
        assert summary.trust == 0.3
        assert (summary.user, summary.agent, summary.namespace) == ("ada", "writer", "acme/eu")
        assert (summary.source, summary.labels) == ("tool", ["red", "new"])
        assert all(engine.get(id).superseded_by == summary.id for id in ids)
        assert engine.search("harbour", least_trust=0.4, reinforce=False, now=NOW).ids == []
        engine.undo_dream(report.id)
        assert [engine.get(id) for id in ids] == before
        assert engine.get_many([summary.id]) == [None]
        assert engine.check(deep=True) == []


@pytest.mark.parametrize(
    ("field", "one", "other"),
    [
        ("project", "p", "q"),
        ("user", "ada", "bob"),
        ("user", "ada", None),
        ("agent", "writer", "reader"),
        ("namespace", "acme", "acme/eu"),
        ("namespace", "acme", None),
    ],
)
def test_no_summary_is_of_two_scopes(field: str, one: str, other: str | None) -> None:
    with oneiros.Engine(":memory:", profile="cognitive") as engine:
        for n in range(8):  # four and four, and a group has five
            engine.add(
                f"harbour {n}",
                embedding=[1.0, n / 100],
                importance=0.1,
                now=LONG_AGO,
                **{field: (one, other)[n % 2]},
            )
        engine.dream(now=NOW)
        assert len(engine.list()) == 8
        engine.add("harbour 8", embedding=[1.0, 0.05], importance=0.1, now=LONG_AGO, **{field: one})
        engine.dream(now=NOW + DAY)
        (summary,) = (memory for memory in engine.list(limit=20) if memory.derived_from)
        assert getattr(summary, field) == one
        assert {getattr(engine.get(id), field) for id in summary.derived_from} == {one}


def test_the_memory_that_repeats_are_merged_into_has_at_most_their_trust() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as engine:
        for n, trust in enumerate((0.7, 0.4, 1.0)):
            engine.add("the same words", id=f"m{n}", trust=trust, now=NOW - (9 - n) * DAY)
        engine.add("the same words", id="bob", user="bob", trust=0.1, now=NOW - 9 * DAY)
        report = engine.dream(now=NOW)
        assert [memory.id for memory in engine.list()] == ["m2", "bob"]
        assert engine.get("m2").trust == 0.4
        assert engine.search("the same words", least_trust=0.5, reinforce=False, now=NOW).ids == []
        assert ("trust", "R13") in {(change.field, change.rule) for change in report.named}
        engine.undo_dream(report.id)
        assert [engine.get(f"m{n}").trust for n in range(3)] == [0.7, 0.4, 1.0]
        assert engine.check(deep=True) == []
        assert len(engine.list()) == 4


@pytest.mark.parametrize("field", ["project", "user", "agent", "namespace"])
def test_repeats_of_two_scopes_are_not_merged(field: str) -> None:
    with oneiros.Engine(":memory:", profile="reverie") as engine:
        for value in ("a", "b", None):
            engine.add("the same words", now=NOW - 9 * DAY, **{field: value})
        engine.dream(now=NOW)
        assert len(engine.list()) == 3


@pytest.mark.parametrize(
    ("verdict", "trust"), [("duplicate", 0.25), ("update", 1.0), ("contradiction", 1.0)]
)
def test_a_duplicate_that_is_retired_lowers_the_trust_of_the_other(
    verdict: str, trust: float
) -> None:
    with oneiros.Engine(":memory:", profile="cognitive") as engine:
        engine.add("tea at four", id="old", embedding=[1.0, 0.0], trust=0.25, now=NOW - DAY)
        engine.add("tea at 4", id="new", embedding=[1.0, 0.0], now=NOW)
        engine.add("tea at 4!", id="bob", user="bob", embedding=[1.0, 0.0], trust=0.1, now=NOW)
        report = engine.dream(now=NOW, judge=lambda *_: verdict)
        assert engine.get("old").superseded_by == "new"
        assert (engine.get("new").trust, engine.get("old").trust) == (trust, 0.25)
        assert engine.get("bob").superseded_by is None
        engine.undo_dream(report.id)
        assert engine.get("new").trust == 1.0
        assert engine.get("old").superseded_by is None
        assert engine.check(deep=True) == []


def test_a_trust_that_changed_since_stays_as_it_is() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as engine:
        for n, trust in enumerate((0.4, 1.0)):
            engine.add("the same words", id=f"m{n}", trust=trust, now=NOW - (9 - n) * DAY)
        report = engine.dream(now=NOW)
        engine.update("m1", trust=0.9)
        engine.undo_dream(report.id)
        assert engine.get("m1").trust == 0.9
