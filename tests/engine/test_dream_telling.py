"""What a cycle of an engine tells of the whole store."""

from __future__ import annotations

from oneiros.clock import VirtualClock
from oneiros.engine import Engine

DAY = 86_400.0
NOW = 1_750_000_000.0


def test_a_report_tells_distributions_and_drift_and_keeps_them() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW)) as mind:
        for name, age in (("old", 400), ("new", 2), ("newer", 1)):
            mind.add(f"about the {name} thing", id=name, created_at=NOW - age * DAY)
        first = mind.dream(profile="reverie")
        assert first.drift["churn"] is None
        told = {one.name: one for one in first.distributions}
        assert sum(told["age_days"].before) == first.live_before == 3
        assert sum(told["age_days"].after) == first.live_after == first.drift["live"]
        mind.undo_dream(first.id)
        mind.search("new thing", k=1)
        second = mind.dream(NOW + DAY, profile="reverie")
        assert second.drift["churn"] == 1.0
        assert len(second.drift["top"]) == 1
        assert mind.dreams(1) == [second]


def test_a_plan_tells_what_its_cycle_will() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW)) as mind:
        mind.add("stale", created_at=NOW - 400 * DAY)
        plan = mind.dream(profile="reverie", dry_run=True)
        assert plan.report.distributions
        done = plan.apply()
        assert (done.distributions, done.drift) == (plan.report.distributions, plan.report.drift)
