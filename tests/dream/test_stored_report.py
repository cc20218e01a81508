"""Reports as the store has them: come back as they were, and whatever else stands there is told."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros.dream.drift import drift_over
from oneiros.dream.history import noted_top, stored_report
from oneiros.dream.report import DreamReport
from oneiros.engine import Engine
from oneiros.store.cycles import StoredCycle
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import filled_mind

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["NaN", NOW, 0, 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def report() -> DreamReport:
    """A report in which every list holds something, and none much."""
    with filled_mind(":memory:", "reverie") as mind:
        plan = mind.dream(NOW, dry_run=True)
        gone = next(change.id for change in plan.changes() if change.field == "strength")
        mind.pin(gone, not mind.get(gone).pinned)
        plan.apply()
        (found,) = mind.dreams()
    assert all((found.changed_since, found.named, found.left_alone, found.drift, found.decay))
    return replace(found, named=found.named[:3], distributions=found.distributions[:2])


def cycle_of(text: str, report: DreamReport) -> StoredCycle:
    return StoredCycle(1, report.id, 1, report.now, report.undoes, text, None)


def test_a_sound_report_comes_back(report: DreamReport) -> None:
    assert stored_report(cycle_of(json.dumps(report.record()), report)) == report
    assert report.damage == ""


def test_reports_with_vectors_compare_also_as_records() -> None:
    faded = {"category": "episodic", "stability": 0.125, "importance": 0.0}
    with Engine(":memory:", profile="cognitive") as mind:
        mind.add("harbour", embedding=(1.0, 0.0), now=NOW, **faded)
        for days in (900.0, 910.0):
            mind.dream(NOW + days * DAY)
        report = mind.dream(NOW + 1_100.0 * DAY)
    assert "embedding" in {change.field for change in report.named}
    assert report == DreamReport.from_record(json.loads(json.dumps(report.record())))
    changes = [change for change in report.named if change.field == "embedding"]
    assert replace(changes[0], before=None) != changes[0]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_whatever_stands_there_is_told_or_can_be_shown(
    report: DreamReport, data: st.DataObject
) -> None:
    record: Any = json.loads(json.dumps(report.record()))
    altered = copy.deepcopy(record)
    part = altered
    while True:  # down to any place of it
        key = data.draw(
            st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part)))
        )
        inner = part[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        part = inner
    if data.draw(st.booleans()):
        part[key] = data.draw(JSON)
    else:
        del part[key]
    found = stored_report(cycle_of(json.dumps(altered), report))
    assert (found.id, found.now) == (report.id, report.now)
    if not found.damage:
        json.dumps(found.record(), allow_nan=False)
        assert DreamReport.from_record(found.record()) == found
    assert str(found)
    assert str(drift_over([found]))


@pytest.mark.parametrize("field", ["id", "field", "phase", "rule", "reason", "before", "after"])
def test_a_change_that_is_none_is_named(report: DreamReport, field: str) -> None:
    record: Any = json.loads(json.dumps(report.record()))
    broken = record["named"][-1]
    if field in ("before", "after"):  # may be anything, but not absent
        del broken[field]
    else:
        broken[field] = 7
    assert field in stored_report(cycle_of(json.dumps(record), report)).damage


@pytest.mark.parametrize("field", ["before", "after"])
def test_a_change_to_no_number_is_damage(report: DreamReport, field: str) -> None:
    record: Any = json.loads(json.dumps(report.record()))
    record["named"][0][field] = math.nan
    assert field in stored_report(cycle_of(json.dumps(record), report)).damage


@pytest.mark.parametrize("held", [("other", NOW, None), ("d", NOW + 1, None), ("d", NOW, "e")])
def test_the_report_of_another_cycle_is_damage(held: tuple[str, float, str | None]) -> None:
    report = DreamReport(id="d", now=NOW, profile="p", profile_hash="", is_dry_run=False)
    id, now, undoes = held
    cycle = StoredCycle(1, id, 1, now, undoes, json.dumps(report.record()), None)
    found = stored_report(cycle)
    assert (found.id, found.now, found.undoes) == held
    assert "not of this cycle" in found.damage


def test_the_memories_recalled_most_are_read_alone(report: DreamReport) -> None:
    drift = {**report.drift, "top": ["a", "b"]}
    cases: list[tuple[dict[str, Any], list[str] | None]] = [
        ({"drift": drift}, ["a", "b"]),
        ({"drift": drift, "named": "damaged"}, ["a", "b"]),
        ({"drift": {}}, None),
        ({"drift": {**drift, "top": "a"}}, None),
        ({"drift": {**drift, "top": [1]}}, None),
        ({"drift": 7}, None),
    ]
    for altered, top in cases:
        assert noted_top(cycle_of(json.dumps(report.record() | altered), report)) == top
    for text in ("", "[]", "7", "[" * 100_000):
        assert noted_top(cycle_of(text, report)) is None


def test_a_clock_that_is_none_is_told_as_the_first_second() -> None:
    for now in (math.nan, math.inf, 1e12):
        found = stored_report(StoredCycle(1, "d", 1, now, None, "{}", None))
        assert found.now == 0.0
        assert found.damage


@pytest.mark.parametrize("damage", [True, 3, ["x"], None])
def test_a_damage_that_is_no_text_is_named(report: DreamReport, damage: object) -> None:
    record = report.record() | {"damage": damage}
    found = stored_report(cycle_of(json.dumps(record), report))
    assert found.damage.startswith("damage: ")
    assert str(found)
