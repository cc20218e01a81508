"""A link that somebody makes, changes or takes away between a cycle's plan and its end stays so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import oneiros
from tests.dream.worlds import DAY, HOUR, NOW
from tests.engine.dream_stores import links, memories

LATER = NOW + DAY
Change = Callable[[oneiros.Engine], object]


def mind_with_a_stub_to_be(path: Path) -> oneiros.Engine:
    """Return an engine on a memory that C20 cuts, linked with another, and a third beside them."""
    mind = oneiros.Engine(path, profile="cognitive")
    mind.add(
        "a long story " * 50,
        id="cold",
        tier="cold",
        cold_since=NOW - 200 * DAY,
        now=NOW - 200 * DAY,
    )
    for id in ("other", "third"):
        mind.add(f"a story of {id}", id=id, now=NOW)
    mind.link("cold", "other", 0.3, now=NOW)
    return mind


RELINKED: dict[str, tuple[Change, set[str]]] = {
    "strengthened": (lambda mind: mind.link("cold", "other", 0.9, now=LATER), {"cold", "other"}),
    "unlinked": (lambda mind: mind.unlink("cold", "other"), {"cold", "other"}),
    "linked anew": (
        lambda mind: (mind.unlink("cold", "other"), mind.link("cold", "other", 0.3, now=LATER)),
        {"cold", "other"},
    ),
    # What the plan does not touch, as C20 does not the third, stays anyhow.
    "linked with another": (lambda mind: mind.link("cold", "third", 0.5, now=LATER), {"cold"}),
}


@pytest.mark.parametrize("by_another", [False, True])
@pytest.mark.parametrize("how", RELINKED)
def test_a_memory_that_was_linked_since_is_no_stub_and_keeps_its_links(
    tmp_path: Path, how: str, by_another: bool
) -> None:
    path = tmp_path / "mind.db"
    change, stay = RELINKED[how]
    with mind_with_a_stub_to_be(path) as mind, oneiros.Engine(path) as another:
        plan = mind.dream(LATER, dry_run=True)
        assert [(one.id, one.after["to"]) for one in plan.changes(["link"])] == [("cold", "other")]
        change(another if by_another else mind)
        before = memories(path)["cold"], links(path)
        report = plan.apply()
        assert (memories(path)["cold"], links(path)) == before
        assert set(report.changed_since) == stay
        assert not [one for one in report.named if one.id == "cold"]
        mind.dream(LATER)  # the next cycle finds it so, and cuts all
        assert (mind.get("cold").tier, links(path)) == ("stub", {})
        assert mind.check() == []


def test_a_link_that_went_with_a_forgotten_memory_holds_nothing(tmp_path: Path) -> None:
    with mind_with_a_stub_to_be(tmp_path / "mind.db") as mind:
        mind.link("cold", "third", 0.5, now=NOW)
        plan = mind.dream(LATER, dry_run=True)
        mind.forget("other")
        assert plan.apply().changed_since == ()
        assert mind.get("cold").tier == "stub"
        assert mind.links(now=LATER) == []


def test_a_pair_that_was_unlinked_since_is_replayed_by_the_next_cycle(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, profile="reverie") as mind:
        for id in ("one", "other", "third"):
            told = {"session": "s" if id != "third" else None, "strength": 0.5}
            mind.add(f"a story of {id}", id=id, now=NOW - 2 * HOUR, **told)
        mind.link("one", "other", 0.3, now=NOW)
        plan = mind.dream(NOW, dry_run=True)
        mind.unlink("one", "other")
        before = memories(path)
        assert set(plan.apply().changed_since) == {"one", "other"}
        assert links(path) == {}
        for id in ("one", "other"):
            assert memories(path)[id] == before[id]
        assert mind.get("third").strength < 0.5
        again = mind.dream(NOW, dry_run=True)
        assert [one.after["to"] for one in again.changes(["link"])] == ["other"]


def test_a_group_of_which_one_was_linked_since_is_not_summarised(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, profile="cognitive") as mind:
        told = {"category": "episodic", "embedding": (1.0, 0.0), "stability": 0.125}
        for number in range(5):
            mind.add(f"story {number}", id=f"m{number}", now=NOW - 900 * DAY, **told)
        mind.add("a fresh tale", id="fresh", now=NOW)
        plan = mind.dream(LATER, dry_run=True)
        assert len(plan.draft.added) == 1
        mind.link("m2", "fresh", 0.5, now=LATER)
        before = memories(path), links(path)
        assert set(plan.apply().changed_since) == {f"m{number}" for number in range(5)}
        assert (memories(path), links(path)) == before
