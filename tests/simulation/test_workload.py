"""A workload's world: the same for the same seed, in order, in the shares that it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from oneiros.simulation.script import NEVER_TRUE
from oneiros.simulation.workload import Workload
from oneiros.simulation.world import AFTERMATH_DAYS, Telling, World

SMALL = Workload(days=60.0, memories=400, seed=3)


@pytest.fixture(scope="module")
def year() -> World:
    return Workload().world()


def tellings(world: World) -> list[Telling]:
    return [telling for session in world.sessions for telling in session.tellings]


def test_the_same_seed_is_the_same_world() -> None:
    assert SMALL.world().sessions == SMALL.world().sessions
    assert SMALL.world().sessions != replace(SMALL, seed=4).world().sessions


def test_all_is_told_in_the_days_and_nothing_after_them(year: World) -> None:
    assert len(tellings(year)) == year.memory_count == 5_000
    assert all(one.at <= two.at for one, two in pairwise(year.sessions))
    for session in year.sessions:
        assert 0.0 <= session.at < year.days + AFTERMATH_DAYS
        assert bool(session.tellings) == (session.at < year.days)


def test_every_question_is_about_something_told_before(year: World) -> None:
    told: dict[int, float] = {}
    asked = 0
    for session in year.sessions:
        for question in session.asked:
            assert told[question.fact] <= question.at
            assert 0 <= question.phrase < len(year.facts[question.fact].phrases)
            asked += 1
        for telling in session.tellings:
            if telling.fact is not None:
                told.setdefault(telling.fact, session.ends)
    assert asked > 2_500


def test_memories_are_of_each_sort_as_often_as_it_says(year: World) -> None:
    workload, texts = Workload(), set()
    counts: Counter[str] = Counter()
    for telling in tellings(year):
        text = telling.record["text"]
        if telling.fact is None:
            counts["chatter"] += 1
        elif telling.version == NEVER_TRUE:
            counts["contradictions"] += 1
        elif text in texts:
            counts["repeats"] += 1
        elif telling.version > 0 and not text.startswith("Checked"):
            counts["revisions"] += 1
        texts.add(text)
    for sort in ("chatter", "contradictions", "repeats", "revisions"):
        assert counts[sort] / 5_000 == pytest.approx(getattr(workload, sort), rel=0.15)


def test_no_record_tells_what_will_be_asked(year: World) -> None:
    for place, telling in enumerate(tellings(year)):
        assert set(telling.record) == {"id", "text", "kind", "topic"}
        assert telling.record["id"] == f"m{place:07}"


def test_no_value_that_a_fact_had_comes_back(year: World) -> None:
    versions: dict[tuple[int, str], set[int]] = {}
    for telling in tellings(year):
        if telling.fact is not None:
            key = (telling.fact, telling.record["text"])
            versions.setdefault(key, set()).add(telling.version)
    assert {len(held) for held in versions.values()} == {1}


@pytest.mark.parametrize("marked", [0.0, 1.0])
def test_what_is_marked_as_superseded_is_untrue_and_stood_till_then(marked: float) -> None:
    world = replace(SMALL, marked=marked, revisions=0.2, contradictions=0.1).world()
    told: dict[str, Telling] = {}
    marks: Counter[str] = Counter()
    for telling in tellings(world):
        for old in telling.supersedes:
            assert told[old].fact == telling.fact
            assert told[old].version != telling.version != NEVER_TRUE
            marks[old] += 1
        told[telling.record["id"]] = telling
    assert set(marks.values()) == ({1} if marked else set())


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("days", 0.0, ValueError, "days: must be >= 1 and <= 36525, got 0.0"),
        ("days", float("nan"), ValueError, "days: must be >= 1"),
        ("days", "365", TypeError, "days: expected number, got '365'"),
        ("memories", 0, ValueError, "memories: must be >= 1"),
        ("memories", 2.0, TypeError, "memories: expected int, got 2.0"),
        ("seed", True, TypeError, "seed: expected int, got True"),
        ("seed", -1, ValueError, "seed: must be >= 0"),
        ("marked", 1.1, ValueError, "marked: must be >= 0 and <= 1, got 1.1"),
        ("zipf", -0.1, ValueError, "zipf: must be >= 0"),
        ("interest_days", 0.0, ValueError, "interest_days: must be > 0 and <= 36525, got 0.0"),
        ("interest_tail", 0, ValueError, "interest_tail: must be > 0 and <= 100, got 0"),
        ("return_days", float("inf"), ValueError, "return_days: must be > 0 and <= 36525, got inf"),
        ("fading", True, TypeError, "fading"),  # a setting that is no more
        ("chatter", 0.9, ValueError, "chatter: at most 1 with revisions, repeats and contradict"),
    ],
)
def test_a_number_out_of_its_range_is_named(
    name: str, value: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Workload(**{name: value})  # type: ignore[arg-type]
