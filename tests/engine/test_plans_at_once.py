"""A plan that several apply at once is applied by one: docs/systems/reverie.md R18, R19."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.dream.plan import DreamPlan
from oneiros.dream.report import DreamReport
from oneiros.store.cycles import CycleWriting
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import columns, filled_mind, links, memories

LATER = NOW + DAY


def planned_beside(mind: oneiros.Engine, other: oneiros.Engine) -> DreamPlan:
    """Return a plan of one engine made and to be applied after commits of another that it follows."""
    other.update("m1", importance=0.125, now=LATER)
    plan = mind.dream(LATER, dry_run=True)
    other.update("m2", importance=0.125, now=LATER)
    other.forget("m3")
    return plan


def applied(plan: DreamPlan) -> DreamReport | Exception:
    try:
        return plan.apply()
    except (oneiros.DreamBusy, ValueError) as error:
        return error


def test_of_many_who_apply_a_plan_at_once_one_does(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with filled_mind(path) as mind, oneiros.Engine(path) as other:
        plan = planned_beside(mind, other)
        before = memories(path), links(path)
        ready = threading.Barrier(4)

        def at_once(_: int) -> DreamReport | Exception:
            ready.wait(30)
            return applied(plan)

        with ThreadPoolExecutor(4) as pool:
            told = list(pool.map(at_once, range(4)))
        (report,) = (one for one in told if isinstance(one, DreamReport))
        for error in told:
            if isinstance(error, ValueError):
                assert str(error) == f"plan: must be applied once, {plan.id} was already"
        assert [one.id for one in mind.dreams()] == [one.id for one in other.dreams()] == [plan.id]
        assert "m2" in report.changed_since
        other.refresh()
        assert columns(mind) == columns(other)
        assert mind.check() == other.check() == []
        other.undo_dream(plan.id, now=LATER)
        assert (memories(path), links(path)) == before


def test_who_comes_while_a_plan_is_applied_is_told_so_and_who_comes_later_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mind.db"
    own = CycleWriting.add_dream_cycle
    is_writing, goes_on = threading.Event(), threading.Event()

    def slowly(*given: Any) -> None:
        is_writing.set()
        assert goes_on.wait(30)
        own(*given)

    with filled_mind(path) as mind, oneiros.Engine(path) as other, ThreadPoolExecutor(1) as pool:
        plan = planned_beside(mind, other)
        monkeypatch.setattr(CycleWriting, "add_dream_cycle", slowly)
        first = pool.submit(plan.apply)
        assert is_writing.wait(30)
        with pytest.raises(oneiros.DreamBusy):
            plan.apply()
        goes_on.set()
        assert first.result().id == plan.id
        with pytest.raises(ValueError, match="applied once"):
            plan.apply()
        assert mind.check() == []
