"""Whole stores scored: the same bits as their export, of one moment, and no access."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import CallableFactor, profiles
from oneiros.rescoring.rescore import rescore
from oneiros.scoring import row_scores
from oneiros.scoring.factors import Strength
from tests.rescoring.forms import DAY, NOW, records, tables

PROFILES = profiles.names()


def opened(path: Any = ":memory:", **options: Any) -> oneiros.Engine:
    return oneiros.Engine(path, analyzer="simple", clock=lambda: NOW, **options)


def exported(mind: Any, folder: Path) -> list[dict[str, Any]]:
    path = folder / "out.jsonl"
    mind.export(path)
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("profile", PROFILES)
@given(columns=tables(nulls=True, max_rows=8), deleted=st.sets(st.integers(0, 7)))
@settings(max_examples=10, deadline=None)
def test_scores_are_those_of_the_export(
    tmp_path_factory: pytest.TempPathFactory, profile: str, columns: Any, deleted: set[int]
) -> None:
    with opened() as mind:
        mind.add_many([{"text": "", **row} for row in records(columns)])
        for row in deleted:
            if row < len(columns["id"]):
                mind.delete(f"m{row}")
        found = mind.rescore(profile)
        rows = exported(mind, tmp_path_factory.mktemp("export"))
        want = rescore(rows, profile, NOW, invalid="nan")
        assert list(found.ids) == [row["id"] for row in want]
        assert found.scores.dtype == np.float64
        np.testing.assert_array_equal(found.scores, np.array([row["score"] for row in want]))
        assert (found.profile, found.now) == (profile, NOW)
        assert found.profile_hash == profiles.get(profile).hash


@pytest.fixture
def mind() -> Any:
    with opened() as mind:
        for row in range(20):
            mind.add(
                f"memory {row}",
                id=f"m{row}",
                project="even" if row % 2 == 0 else "odd",
                strength=row / 20,
                created_at=NOW - row * DAY,
            )
        yield mind


def test_a_filter_a_scope_and_deleted_ones(mind: Any) -> None:
    everything = dict(mind.rescore("reverie"))
    assert len(everything) == 20
    one = mind.rescore("reverie", where=oneiros.where(strength=(0.5, 0.5)))
    assert dict(one) == {"m10": everything["m10"]}
    even = mind.scope(project="even").rescore("reverie")
    assert dict(even) == {id: score for id, score in everything.items() if int(id[1:]) % 2 == 0}
    mind.delete("m4")
    mind.forget("m6")
    left = dict(mind.rescore("reverie"))
    assert left == {id: score for id, score in everything.items() if id not in ("m4", "m6")}
    assert len(mind.rescore("reverie", where=oneiros.where(project="nobody"))) == 0


def test_looking_is_no_use(mind: Any, tmp_path: Path) -> None:
    before = exported(mind, tmp_path)
    mind.rescore()
    mind.promote("ciar", 0.1, dry_run=True)
    mind.flush()
    assert exported(mind, tmp_path) == before


def test_future_times_are_counted_and_are_age_0(mind: Any) -> None:
    assert mind.rescore("reverie").future_count == 0
    past = mind.rescore("ciar", now=NOW - 10 * DAY)
    assert past.future_count == 10  # made up to nine days later
    mind.delete("m0")
    assert mind.rescore("ciar", now=NOW - 10 * DAY).future_count == 9
    young = mind.rescore("ciar", now=NOW - 10 * DAY, where=oneiros.where(strength=(0.05, 0.05)))
    assert young.future_count == 1
    assert young.scores.tolist() == [0.5]  # certainty 1, impact 0.5, age 0


def test_blocks_and_threads_change_nothing(mind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    want = mind.rescore("reverie").scores.tobytes()
    monkeypatch.setattr(row_scores, "BLOCK", 3)
    for threads in (1, 2, 8):
        assert mind.rescore("reverie", threads=threads).scores.tobytes() == want


def test_the_engines_own_profile_is_the_default(mind: Any) -> None:
    own = profiles.get("reverie").replace(name="own", factors=(Strength(),))
    with opened(profile=own) as other:
        other.add("x", id="a", strength=0.25)
        assert list(other.rescore()) == [("a", 0.25)]
    assert list(mind.rescore(own, where=oneiros.where(strength=(0.5, 0.5)))) == [("m10", 0.5)]


def test_an_empty_store() -> None:
    with opened() as mind:
        assert len(mind.rescore()) == 0
        assert list(mind.rescore("ciar")) == []
        assert mind.promote("ciar").promoted == ()


def test_results_leave_as_tables(mind: Any) -> None:
    found = mind.rescore("ciar")
    table = found.to_arrow()
    assert table.schema == pa.schema({"id": pa.string(), "score": pa.float64()})
    assert dict(zip(*(column.to_pylist() for column in table.columns), strict=True)) == dict(found)
    frame = found.to_pandas()
    assert frame["id"].tolist() == list(found.ids)
    assert repr(found) == "<Rescored by 'ciar': 20 memories>"


def test_what_is_written_meanwhile_is_seen_whole_or_not_at_all(tmp_path: Path) -> None:
    """Two columns always written together are never seen apart."""
    own = profiles.get("ciar").replace(name="own", factors=profiles.get("ciar").factors[:1])
    with opened(tmp_path / "a.db", durability="normal") as mind:
        ids = [f"m{row}" for row in range(50)]
        mind.add_many([{"id": id, "text": "", "certainty": 0.5, "impact": 0.5} for id in ids])
        stop = threading.Event()
        odd: list[Any] = []

        def write() -> None:
            flip = False
            while not stop.is_set():
                certainty, impact = (1.0, 0.25) if flip else (0.5, 0.5)
                rows = [
                    {"id": id, "text": "", "certainty": certainty, "impact": impact} for id in ids
                ]
                mind.add_many(rows, on_conflict="update")
                flip = not flip

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(200):
                odd += [score for _, score in mind.rescore(own) if score != 0.25]
        finally:
            stop.set()
            writer.join()
    assert odd == []


# -- promotion -------------------------------------------------------------------------------------


@pytest.fixture
def facts() -> Any:
    """The source's three scenarios, and one of each other state. docs/systems/ciar.md."""
    with opened() as mind:
        rows = [
            ("fresh", 0.95, 0.90, 1, 0, "staged"),
            ("vague", 0.50, 0.60, 20, 0, "staged"),
            ("rule", 0.90, 0.95, 10, 5, "staged"),
            ("known", 1.00, 1.00, 0, 0, "consolidated"),
            ("old", 1.00, 1.00, 0, 0, "archived"),
            ("gone", 1.00, 1.00, 0, 0, "staged"),
        ]
        for id, certainty, impact, days, count, status in rows:
            mind.add(
                "",
                id=id,
                certainty=certainty,
                impact=impact,
                created_at=NOW - days * DAY,
                access_count=count,
                status=status,
                project="x" if id == "rule" else "y",
            )
        mind.delete("gone")
        yield mind


def test_staged_memories_of_a_high_score_are_consolidated(facts: Any) -> None:
    report = facts.promote("ciar")
    assert report.ids == ["fresh", "rule"]
    assert report.considered == 3
    assert report.threshold == 0.6
    assert not report.is_dry_run
    fresh, rule = report.promoted
    assert fresh.score == pytest.approx(0.8355, abs=1e-4)
    assert rule.score == pytest.approx(1.0180, abs=1e-4)
    assert rule.factors == pytest.approx(
        {"significance": 0.855, "decay": 0.79374, "reinforcement": 1.5}, rel=1e-4
    )
    states = {memory.id: memory.status for memory in facts.list()}
    assert states == {
        "fresh": "consolidated",
        "vague": "staged",
        "rule": "consolidated",
        "known": "consolidated",
        "old": "archived",
    }
    assert facts.promote("ciar").promoted == ()
    text = str(report).splitlines()
    assert text[0] == "2 of 3 staged promoted (ciar >= 0.6)"
    assert text[2] == "rule: 1.018 (significance 0.855, decay 0.794, reinforcement 1.500)"


def test_a_dry_run_tells_the_same_and_changes_no_byte(facts: Any, tmp_path: Path) -> None:
    before, revision = exported(facts, tmp_path), facts.stats()["revision"]
    report = facts.promote("ciar", dry_run=True)
    assert report.is_dry_run
    assert "would be promoted" in str(report)
    assert exported(facts, tmp_path) == before
    assert facts.stats()["revision"] == revision
    assert facts.promote("ciar").promoted == report.promoted


def test_promotion_is_one_transaction_and_touches_the_status_alone(
    facts: Any, tmp_path: Path
) -> None:
    before, revision = exported(facts, tmp_path), facts.stats()["revision"]
    facts.promote("ciar")
    assert facts.stats()["revision"] == revision + 1
    for old, new in zip(before, exported(facts, tmp_path), strict=True):
        assert {**old, "status": ""} == {**new, "status": ""}


def test_threshold_preset_filter_and_scope(facts: Any) -> None:
    assert facts.promote("ciar", 1.0, dry_run=True).ids == ["rule"]
    assert facts.promote("ciar", 0.1, dry_run=True).ids == ["fresh", "vague", "rule"]
    monitoring = profiles.get("ciar", preset="real_time_monitoring")
    assert facts.promote(monitoring, dry_run=True).threshold == 0.8
    assert facts.promote(monitoring, dry_run=True).ids == []
    in_y = oneiros.where(project="y")
    assert facts.promote("ciar", where=in_y, dry_run=True).ids == ["fresh"]
    assert facts.scope(project="x").promote("ciar").ids == ["rule"]
    assert facts.get("fresh").status == "staged"
    for threshold in (0.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="threshold: must be"):
            facts.promote("ciar", threshold)
    with pytest.raises(ValueError, match="threshold: profile 'reverie' has none"):
        facts.promote("reverie")
    assert facts.promote("reverie", 0.9, dry_run=True).considered == 2


def test_what_a_search_strengthened_counts_and_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile="reverie") as mind:
        mind.add("tea", id="a", certainty=1.0, impact=0.55)
        assert mind.promote().ids == []
        mind.search("tea")
        report = mind.promote()  # 0.55 x 1.1 >= 0.6
        assert report.ids == ["a"]
    with opened(tmp_path / "a.db") as mind:
        assert (mind.get("a").status, mind.get("a").access_count) == ("consolidated", 1)


def test_what_another_process_wrote_is_judged_too(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as one, opened(tmp_path / "a.db") as other:
        one.add("tea", id="a", certainty=1.0, impact=0.9)
        assert dict(other.rescore("ciar")) == {"a": pytest.approx(0.9)}
        one.update("a", impact=0.1)
        assert other.promote().ids == []


@pytest.mark.parametrize("call", ["rescore", "promote dry", "promote"])
def test_a_function_holds_nothing_that_others_wait_for(facts: Any, call: str) -> None:
    left = ["fresh"]

    def meddle(certainty: np.ndarray[Any, Any]) -> Any:
        facts.pin("rule")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(facts.forget_many, left).result(timeout=30)
            left.clear()
            pool.submit(facts.search, "fact").result(timeout=30)
        return np.ones(len(certainty))

    ciar = profiles.get("ciar")
    function = CallableFactor(meddle, "meddle", ("certainty",))
    profile = ciar.replace(name="meddling", factors=(*ciar.factors, function))
    if call == "rescore":
        found = facts.rescore(profile)
        assert list(found.ids) == ["fresh", "vague", "rule", "known", "old"]
        assert len(found.scores) == 5
    else:
        report = facts.promote(profile, 0.5, dry_run="dry" in call)
        assert report.ids == (["fresh", "rule"] if "dry" in call else ["rule"])
        assert (facts.get("rule").status == "consolidated") == (call == "promote")
    assert facts.get("rule").pinned
    assert "fresh" not in facts
    assert facts.check() == []
