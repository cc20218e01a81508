"""What a plan would change for who asks, seen before it is applied and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.dream.impact import compared
from oneiros.dream.plan import DreamPlan
from oneiros.dream.report import DreamReport
from tests.dream.dreaming import dreamt
from tests.dream.worlds import DAY, NOW, World

REPORT: dict[str, Any] = {
    "id": "d", "now": NOW, "profile": "reverie", "profile_hash": "", "is_dry_run": True,
}  # fmt: skip
START = 1.7e9


def aged(path: str | Path, **options: object) -> tuple[oneiros.Engine, VirtualClock]:
    """A store in which two bugs grow stale beside a preference, which never does."""
    clock = VirtualClock(START)
    mind = oneiros.Engine(path, profile="reverie", clock=clock, **options)  # type: ignore[arg-type]
    mind.add("the login page crashed on empty passwords", id="bug", kind="bug")
    mind.add("the login page crashed on Sundays", id="other bug", kind="bug")
    mind.add("Ada wants the login page in blue", id="wish", kind="preference")
    clock.advance(70 * DAY)
    return mind, clock


@pytest.mark.parametrize("name", [":memory:", "agent.db"])
def test_lost_answers_are_told_with_their_rule(name: str, tmp_path: Path) -> None:
    mind, _ = aged(name if name == ":memory:" else tmp_path / name)
    with mind:
        plan = mind.dream(dry_run=True)
        impact = plan.impact(["login page", "blue", "nothing of this"], k=2)
        login, blue, nothing = impact.queries
        assert set(login.before) <= {"bug", "other bug", "wish"}
        assert login.after == ("wish",)
        assert {one.rule for one in login.lost} == {"R13"}
        assert {one.id for one in login.lost} <= {"bug", "other bug"}
        assert login.overlap == len({*login.before} & {"wish"}) / 2
        assert (blue.before, blue.after, blue.overlap, blue.shifts) == (
            ("wish",),
            ("wish",),
            1.0,
            (),
        )
        assert (nothing.before, nothing.overlap) == ((), 1.0)
        assert impact.lost_by_rule() == {"R13": len(login.lost)}
        assert "R13" in str(impact)
        assert len(mind) == 3  # nothing was applied


def test_what_it_told_is_what_comes() -> None:
    mind, _ = aged(":memory:")
    with mind:
        plan = mind.dream(dry_run=True)
        questions = ["login page", "crashed", "Sundays"]
        impact = plan.impact(questions)
        before = [tuple(mind.search(one, reinforce=False).ids) for one in questions]
        plan.apply()
        after = [tuple(mind.search(one, reinforce=False).ids) for one in questions]
        assert [one.before for one in impact.queries] == before
        assert [one.after for one in impact.queries] == after


def test_who_moves_up_is_displaced_by_nobody() -> None:
    """The rank of what stays changes, because what stood before it goes."""
    mind, _ = aged(":memory:")
    with mind:
        one = mind.dream(dry_run=True).impact(["login crashed"], k=3).queries[0]
        shift = {shift.id: shift for shift in one.shifts}["wish"]
        assert (shift.before, shift.after) == (3, 1)
        assert not [lost for lost in one.lost if lost.id == "wish"]


class _Read(list[str]):
    """Ids that count how many of them are read."""

    count = 0

    def __getitem__(self, place: Any) -> Any:
        self.count += 1
        return super().__getitem__(place)


def test_only_what_the_answers_name_is_looked_at() -> None:
    world = World([{"created_at": NOW - 400 * DAY, "kind": "bug"} for _ in range(2000)])
    draft = dreamt(world)
    plan = DreamPlan(draft, DreamReport(**REPORT), 1, applier=None)  # type: ignore[arg-type]
    world.ids = ids = _Read(world.ids)
    found = compared(plan, ["what"], [["m5", "m1999", "m7"]], [["m7", "nobody"]], k=3)
    assert [(one.id, one.before, one.after, one.rule) for one in found.queries[0].shifts] == [
        ("m5", 1, None, "R13"),
        ("m1999", 2, None, "R13"),
        ("m7", 3, 1, "R13"),
        ("nobody", None, 2, None),
    ]
    assert ids.count < 10


@pytest.mark.parametrize("k", [0, -1, 1.5, "3"])
def test_k_is_refused(k: object) -> None:
    mind, _ = aged(":memory:")
    with mind, pytest.raises((ValueError, TypeError), match="k"):
        mind.dream(dry_run=True).impact(["login"], k)  # type: ignore[arg-type]


def test_queries_are_texts() -> None:
    mind, _ = aged(":memory:")
    with mind, pytest.raises(TypeError, match="queries"):
        mind.dream(dry_run=True).impact([3])  # type: ignore[list-item]
