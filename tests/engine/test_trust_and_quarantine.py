"""Memories of little trust and quarantined ones are hidden inside every channel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import profiles

NOW = 1_750_000_000.0
DAY = 86_400.0
TRUSTS = (0.0, 0.1, 0.3, 0.7, 1 / 3, 1.0)


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:") as engine:
        yield engine


def filled(path: str | Path = ":memory:") -> oneiros.Engine:
    engine = oneiros.Engine(path)
    rng = np.random.default_rng(7)
    engine.add_many(
        [
            {
                "id": f"m{n}",
                "text": f"harbour report {n} of May 2025",
                "embedding": rng.normal(size=4),
                "session": f"s{n % 5}",
                "created_at": NOW - n * DAY,
                "trust": TRUSTS[n % len(TRUSTS)],
            }
            for n in range(60)
        ],
        now=NOW,
    )
    for n in range(0, 50, 7):
        engine.link(f"m{n}", f"m{n + 1}", weight=1.0)
    return engine


# Trust


@pytest.mark.parametrize("profile", profiles.names())
@pytest.mark.parametrize("least", [0.0, 0.1, 0.3, 1 / 3, 0.5, 1.0])
def test_a_search_returns_none_of_less_trust(profile: str, least: float) -> None:
    trusted = {f"m{n}" for n in range(60) if TRUSTS[n % len(TRUSTS)] >= least}
    options: dict[str, Any] = {
        "embedding": [1.0, 0.5, 0.25, 0.1],
        "profile": profile,
        "now": NOW,
        "reinforce": False,
    }
    with filled() as engine:
        found = engine.search("harbour report", 60, least_trust=least, **options)
        where = oneiros.where(trust=(least, None))
        same = engine.search("harbour report", 60, where=where, **options)
        assert set(found.ids) <= trusted
        assert [(r.id, r.score) for r in found] == [(r.id, r.score) for r in same]
        options["embeddings"] = [options.pop("embedding")]
        (many,) = engine.search_many(["harbour report"], 60, least_trust=least, **options)
        assert many.ids == found.ids
        assert found.ids or profile in ("oneiros",)


def test_the_bound_is_applied_before_the_channels_end() -> None:
    with filled() as engine:
        few = engine.search("harbour report", 5, least_trust=1.0, reinforce=False, now=NOW)
        assert len(few) == 5  # not what the best five leave


def test_why_not_names_trust_and_bound(engine: oneiros.Engine) -> None:
    engine.add("harbour", id="a", trust=0.25)
    why = engine.why_not("harbour", "a", least_trust=0.5)
    assert why.verdict == "hidden: trust 0.25 below least_trust 0.5"
    assert [each.reason for each in why.hidden] == ["trust"]
    assert not why.is_returned
    assert engine.why_not("harbour", "a", least_trust=0.25).is_returned
    assert engine.why_not("harbour", "a").is_returned


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "much", True])
def test_the_bound_is_checked(engine: oneiros.Engine, value: Any) -> None:
    for search in (engine.search, engine.search_many):
        with pytest.raises((ValueError, TypeError), match="least_trust"):
            search(["x"] if search == engine.search_many else "x", least_trust=value)
    with pytest.raises((ValueError, TypeError), match="least_trust"):
        engine.why_not("x", "y", least_trust=value)


def test_trust_that_changes_is_seen_at_once(engine: oneiros.Engine) -> None:
    engine.add("harbour", id="a")
    for trust, found in ((0.2, []), (0.9, ["a"]), (0.5, ["a"]), (0.49, [])):
        engine.update("a", trust=trust)
        assert engine.search("harbour", least_trust=0.5, reinforce=False).ids == found
    assert engine.check(deep=True) == []


def test_a_cached_response_is_of_its_bound() -> None:
    profile = profiles.get("omega")
    assert profile.cache is not None
    with oneiros.Engine(":memory:", profile=profile) as engine:
        engine.add("harbour at night", id="a", trust=0.2, embedding=[1.0, 0.0])
        for least, found in ((None, ["a"]), (0.5, []), (0.1, ["a"]), (None, ["a"])):
            response = engine.search("harbour at night", least_trust=least, embedding=[1.0, 0.0])
            assert response.ids == found


# Quarantine


def quarantined(engine: oneiros.Engine) -> None:
    engine.add(
        "harbour report of May 2025",
        id="q",
        status="quarantined",
        embedding=[1.0, 0.0],
        created_at=NOW,
        session="s",
    )


@pytest.mark.parametrize("profile", profiles.names())
def test_a_quarantined_memory_is_found_only_where_asked_for(
    engine: oneiros.Engine, profile: str
) -> None:
    quarantined(engine)
    engine.add(
        "harbour note", id="a", embedding=[1.0, 0.1], session="s", created_at=NOW, importance=0.9
    )
    engine.link("a", "q", weight=1.0)
    options: dict[str, Any] = {"profile": profile, "embedding": [1.0, 0.0], "now": NOW}
    for more in ({}, {"include_expired": True}, {"deep_recall": True}, {"valid_at": NOW}):
        found = engine.search("harbour report of May 2025", reinforce=False, **options, **more)
        assert "q" not in found.ids
    for status in ("staged", ["staged", "consolidated", "archived"]):
        found = engine.search("harbour", status=status, reinforce=False, **options)
        assert "q" not in found.ids
    asked = engine.search("harbour report", status="quarantined", reinforce=False, **options)
    assert set(asked.ids) == {"q"}
    why = engine.why_not("harbour report", "q", **options)
    assert why.verdict == "hidden: quarantined"


def test_links_do_not_lead_through_it(engine: oneiros.Engine) -> None:
    for id, status in (("a", "staged"), ("q", "quarantined"), ("b", "staged")):
        text = {"a": "harbour", "q": "quay", "b": "pier"}[id]
        engine.add(text, id=id, status=status, embedding=[1.0, 0.0])
    engine.link("a", "q", weight=1.0)
    engine.link("q", "b", weight=1.0)
    for profile in profiles.names():
        found = engine.search("harbour", profile=profile, reinforce=False)
        assert "q" not in found.ids
    # Through a memory that is not quarantined, the links do lead on.
    engine.update("q", status="staged")
    linked = engine.search("harbour", profile="cognitive", reinforce=False).ids
    assert linked[0] == "a"


def test_listings_show_it_as_they_show_archived_ones(engine: oneiros.Engine) -> None:
    quarantined(engine)
    engine.add("x", id="z", status="archived")
    assert engine.get("q").status == "quarantined"
    assert {memory.id for memory in engine.list()} == {"q", "z"}
    assert engine.count() == 2
    assert [m.id for m in engine.list(oneiros.where(status="quarantined"))] == ["q"]
    assert engine.count(oneiros.where(status="quarantined")) == 1


def test_it_is_no_duplicate_and_has_none(engine: oneiros.Engine) -> None:
    quarantined(engine)
    text = "harbour report of May 2025"
    assert engine.similar(text, embedding=[1.0, 0.0]) == []
    engine.add(text, id="a", embedding=[1.0, 0.0])
    assert engine.get("q").duplicate_count == 0
    engine.add(text, id="q2", status="quarantined", embedding=[1.0, 0.0])
    assert engine.get("a").duplicate_count == 0
    engine.add_many([{"id": f"n{n}", "text": text, "embedding": [1.0, 0.0]} for n in range(80)])
    assert engine.get("q").duplicate_count == engine.get("q2").duplicate_count == 0
    assert engine.get("a").duplicate_count == 80
    assert {similar.id for similar in engine.similar("a", 100)}.isdisjoint({"q", "q2"})
    report = engine.add_many(
        [{"id": "q3", "text": text, "status": "quarantined"}, {"id": "other", "text": "pier"}]
    )
    assert report.near_duplicates == []


def test_an_ingested_memory_neither_links_with_it_nor_raises_it() -> None:
    with oneiros.Engine(":memory:", profile="cognitive") as engine:
        for id, status in (("q", "quarantined"), ("a", "staged")):
            engine.add("harbour", id=id, status=status, embedding=[1.0, 0.0], stability=0.5)
        before = engine.get("q").stability, engine.get("a").stability
        engine.add_many(
            [
                {"id": "b", "text": "quay", "embedding": [1.0, 0.05], "session": "s"},
                {
                    "id": "p",
                    "text": "pier",
                    "embedding": [1.0, 0.05],
                    "session": "s",
                    "status": "quarantined",
                },
            ]
        )
        assert engine.get("q").stability == before[0]
        assert engine.get("a").stability > before[1]
        assert engine.neighbours("b") == engine.neighbours("p") == []
        raised = engine.get("a").stability
        engine.add_many(
            [{"id": "r", "text": "x", "embedding": [1.0, 0.0], "status": "quarantined"}]
        )
        assert engine.get("a").stability == raised


def test_a_change_of_status_releases_it(engine: oneiros.Engine) -> None:
    quarantined(engine)
    engine.update("q", status="staged")
    assert engine.search("harbour report", reinforce=False).ids == ["q"]
    engine.update("q", status="quarantined")
    assert engine.search("harbour report", reinforce=False).ids == []
    engine.restore("q")  # not what it is for
    assert engine.get("q").status == "quarantined"
    assert engine.check(deep=True) == []


@pytest.mark.parametrize("profile", profiles.names())
def test_dreams_leave_it_as_it_is(profile: str) -> None:
    clock = NOW - 900 * DAY
    with oneiros.Engine(":memory:", profile=profile, clock=lambda: clock) as engine:
        for n in range(12):
            engine.add(
                "the same old words",
                id=f"q{n}",
                status="quarantined",
                embedding=[1.0, 0.0],
                importance=0.1,
                strength=0.01,
                tier=("hot", "cold")[n % 2],
                session="s",
                topic="t",
            )
            engine.add(f"other {n}", id=f"a{n}", embedding=[0.0, 1.0], session="s", topic="t")
        before = [engine.get(f"q{n}") for n in range(12)]
        for days in (0, 40, 800):
            report = engine.dream(now=NOW + days * DAY)
            assert not any(change.id.startswith("q") for change in report.named)
        assert [engine.get(f"q{n}") for n in range(12)] == before
        assert engine.neighbours("q0") == []
