"""Figures of cycles side by side."""

from __future__ import annotations

import json
from typing import Any

import oneiros
from oneiros.clock import VirtualClock
from oneiros.dream.drift import Drift, drift_over
from oneiros.dream.report import DreamReport
from oneiros.engine import Engine

NOW = 1_750_000_000.0
DAY = 86_400.0


def report(id: str, now: float, undoes: str | None = None, **drift: Any) -> DreamReport:
    return DreamReport(
        id=id,
        now=now,
        profile="reverie",
        profile_hash="",
        is_dry_run=False,
        undoes=undoes,
        drift={} if undoes else {"top": [], **drift},
    )


FIRST: dict[str, Any] = {
    "live": 4,
    "stale_share": 0.25,
    "half_life_days": {"note": None, "bug": 12.0},
    "access_gini": 0.5,
    "churn": None,
}
SECOND = FIRST | {"live": 3, "half_life_days": {"note": 99.5, "bug": None}, "churn": 0.125}


def test_one_line_a_cycle_the_oldest_first_and_none_for_an_undoing() -> None:
    given = [
        report("c", NOW + DAY, undoes="b"),
        report("b", NOW, **SECOND),
        report("a", 0, **FIRST),
    ]
    found = drift_over(given)
    assert [(one.id, one.live, one.churn, one.is_undone) for one in found.cycles] == [
        ("a", 4, None, False),
        ("b", 3, 0.125, True),
    ]
    assert found.kinds() == ("note", "bug")
    first, second = str(found).splitlines()
    assert first.startswith("a 1970-01-01T00:00:00Z (reverie): 4 live, 25.0% stale, Gini 0.500, ")
    assert first.endswith("churn -, half-lives: bug 12 days")
    assert second.startswith("b 2025-06-15T15:06:40Z (reverie, undone): 3 live, 25.0% stale, ")
    assert second.endswith("churn 12.5%, half-lives: note 99.5 days")
    told = found.record()
    assert json.loads(json.dumps(told)) == told
    assert told["cycles"][0]["half_life_days"] == {"note": None, "bug": 12.0}


def test_without_cycles_nothing_drifts() -> None:
    assert drift_over([]) == Drift(cycles=())
    assert str(oneiros.drift_over([])) == "no dream cycle ran"


def test_the_drift_of_a_store_is_that_of_its_reports() -> None:
    clock = VirtualClock(NOW)
    with Engine(":memory:", clock=clock, profile="reverie") as mind:
        assert mind.drift() == Drift(cycles=())
        mind.add("stale", now=NOW - 400 * DAY)
        mind.add("kept", now=NOW - 200 * DAY, pinned=True)
        first = mind.dream()
        mind.undo_dream(first.id)
        clock.advance(DAY)
        second = mind.dream()
        found = mind.drift()
        assert found == drift_over(mind.dreams())
        assert [one.id for one in found.cycles] == [first.id, second.id]
        assert [one.is_undone for one in found.cycles] == [True, False]
        assert [one.stale_share for one in found.cycles] == [1.0, 1.0]  # what is left is pinned
        assert [one.half_life_days for one in found.cycles] == [{"note": 400.0}, {"note": 401.0}]
        assert mind.drift(1).cycles == found.cycles[1:]


def test_figures_show_themselves_on_one_line() -> None:
    found = drift_over([report("b", NOW + DAY, **SECOND), report("a", NOW, **FIRST)])
    first, last = str(found).splitlines()
    assert repr(found) == f"<Drift of 2 cycles, the last: {last}>"
    assert repr(found.cycles[0]) == f"<CycleDrift {first}>"
    assert repr(drift_over([])) == "<Drift of no cycle>"
