"""Dream cycles for asyncio: a plan does what the engine's does, and the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.dream.plan import DreamPlan
from oneiros.engine.async_engine import AsyncDreamPlan
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import filled_mind, memories

LATER = NOW + DAY


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of which a cycle changes much."""
    with filled_mind(tmp_path / "mind.db"):
        return tmp_path / "mind.db"


def test_it_has_what_the_plan_has_with_its_arguments() -> None:
    assert inspect.signature(oneiros.AsyncEngine.dream).parameters == (
        inspect.signature(oneiros.Engine.dream).parameters
    )
    for name, member in inspect.getmembers(DreamPlan):
        if name.startswith("_") or name in ("name", "net"):  # for who applies it
            continue
        mine = getattr(AsyncDreamPlan, name)
        if callable(member):
            parameters = inspect.signature(member).parameters
            assert inspect.signature(mine).parameters == parameters, name
            assert inspect.iscoroutinefunction(mine) == (name in ("apply", "impact", "html"))


def test_it_tells_and_does_what_the_plan_does(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with oneiros.Engine(path, profile="reverie") as mind:
        mind.backup(copy)
        plan = mind.dream(LATER, dry_run=True)
        told = (len(plan), plan.named(9), list(plan.changes()), plan.now, plan.revision)
        impact = str(plan.impact(["a story"], 3))
        report = plan.apply()

    async def dreamt() -> tuple[oneiros.dream.report.DreamReport, AsyncDreamPlan]:
        async with oneiros.AsyncEngine(copy, profile="reverie") as mind:
            plan = await mind.dream(LATER, dry_run=True)
            assert (plan.id, str(plan)) == (plan.report.id, str(plan.report))
            assert plan.to_frame().equals(plan.report.to_frame())
            own = (len(plan), plan.named(9), list(plan.changes()), plan.now, plan.revision)
            assert own == told
            assert plan.draft.now == LATER
            assert str(await plan.impact(["a story"], 3)) == impact
            with pytest.raises(ValueError, match="k: must be"):
                await plan.impact(["a story"], k=0)
            applied = await plan.apply()
            with pytest.raises(ValueError, match="applied once"):
                await plan.apply()
            return applied, plan

    applied, plan = asyncio.run(dreamt())
    assert applied.change_count == report.change_count
    assert memories(copy) == memories(path)
    with pytest.raises(oneiros.EngineClosed):
        asyncio.run(plan.apply())


def test_a_cycle_that_is_no_dry_run_is_applied(path: Path) -> None:
    async def dreamt() -> oneiros.dream.report.DreamReport:
        async with oneiros.AsyncEngine(path, profile="reverie") as mind:
            with pytest.raises(TypeError, match="dry_run"):
                await mind.dream(LATER, dry_run="yes")  # type: ignore[call-overload]
            return await mind.dream(LATER, profile="cognitive", summarise=" and ".join)

    report = asyncio.run(dreamt())
    assert not report.is_dry_run
    with oneiros.Engine(path) as mind:
        assert [one.id for one in mind.dreams()] == [report.id]


@pytest.mark.parametrize(
    ("name", "given"), [("apply", {}), ("impact", {"queries": ["a story"]}), ("html", {})]
)
def test_the_loop_goes_on_while_a_plan_is_at_work(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, Any]
) -> None:
    gate, own = threading.Event(), getattr(DreamPlan, name)

    def held(plan: DreamPlan, *args: Any, **kwargs: Any) -> Any:
        assert gate.wait(30)  # in the loop nobody could open it
        return own(plan, *args, **kwargs)

    async def beats(count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    async def worked() -> Any:
        async with oneiros.AsyncEngine(path, profile="reverie") as mind:
            plan = await mind.dream(LATER, dry_run=True)
            monkeypatch.setattr(DreamPlan, name, held)
            at_work = asyncio.create_task(getattr(plan, name)(**given))
            await beats(3)
            assert await mind.count() == 60  # another call comes and goes
            assert not at_work.done()
            gate.set()
            return await at_work

    assert asyncio.run(worked())
