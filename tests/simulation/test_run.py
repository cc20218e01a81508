"""Lives run on an engine: measured rightly in a world made by hand, the same for the same seed."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from oneiros import profiles
from oneiros.simulation.figures import Course
from oneiros.simulation.run import HashedGrams, simulate, step_count
from oneiros.simulation.script import Fact, Phrase
from oneiros.simulation.workload import Workload
from oneiros.simulation.world import FactQuery, Session, Telling, World

SMALL = Workload(days=120.0, memories=150, seed=5)
FACTS = (
    Fact("ports", (Phrase("what is the port of the lunar harbour?"),)),
    Fact("choirs", (Phrase("when does the violet choir sing?"),)),
)


def told(
    at: float, id: str, text: str, fact: int | None, version: int = 0, *supersedes: str
) -> Session:
    record = {"id": id, "text": text}
    return Session(id, at, (), at, (Telling(record, fact, version, supersedes),))


def world(*supersedes: str) -> World:
    """Two facts in two months; the first one's value changes on day 40."""
    final = (FactQuery(70.0, 0, 0), FactQuery(70.1, 1, 0))
    return World(
        60.0,
        (
            told(1.0, "old", "the port of the lunar harbour is 80", 0),
            told(2.0, "choir", "the violet choir sings on friday", 1),
            told(3.0, "cake", "somebody brought cake", None),
            told(40.0, "new", "the port of the lunar harbour is 81", 0, 1, *supersedes),
            Session("last", 70.0, final, 70.2, ()),
        ),
        FACTS,
        4,
    )


def without_times(course: Course) -> list[dict[str, Any]]:
    timed = ("p50_ms", "p99_ms")
    return [
        {name: value for name, value in asdict(one).items() if name not in timed}
        for one in course.checkpoints
    ]


def test_an_outdated_value_is_counted_once_another_was_told() -> None:
    first, last = simulate(world(), "ciar", dream_every_days=None).checkpoints
    assert (first.day, first.memories, first.active, first.questions) == (30.0, 3, 3, 2)
    assert (first.found, first.stale_at_rank_1, first.stale_in_top_k) == (1.0, 0.0, 0.0)
    assert (last.day, last.memories, last.active, last.questions) == (60.0, 4, 4, 2)
    assert (last.found, last.stale_in_top_k) == (1.0, 0.5)  # one of two facts has a value that was
    assert (last.archived, last.deleted, last.added, last.removed) == (0, 0, 0, 0.0)


def test_what_is_marked_as_superseded_is_not_brought() -> None:
    last = simulate(world("old"), "oneiros", dream_every_days=None).last
    assert (last.found, last.stale_at_rank_1, last.stale_in_top_k) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("every", [None, 10.0])
def test_the_same_world_gives_the_same_figures(every: float | None) -> None:
    one, other = (simulate(SMALL.world(), "oneiros", dream_every_days=every) for _ in range(2))
    assert without_times(one) == without_times(other)
    assert one.dreams == other.dreams == (12 if every else 0)
    third = simulate(replace(SMALL, seed=6).world(), "oneiros", dream_every_days=every)
    assert without_times(third) != without_times(one)


@pytest.mark.parametrize("name", ["oneiros", "cognitive", "omega"])
def test_every_memory_told_is_somewhere(name: str) -> None:
    course = simulate(SMALL.world(), name, dream_every_days=5.0)
    assert [one.day for one in course.checkpoints] == pytest.approx([30.0, 60.0, 90.0, 120.0])
    for one in course.checkpoints:
        made = one.active + one.archived + one.deleted - one.memories  # those not archived
        assert 0 <= made <= one.added
        assert one.stale_in_top_k >= one.stale_at_rank_1
    assert course.last.memories == 150
    # Away is what was told, and not what dreams made of it.
    by_rule = sum(sum(one.taken.values()) for one in course.forgotten)
    assert course.last.archived + course.last.deleted == by_rule


def test_dreams_take_away_and_nothing_else_does() -> None:
    awake = simulate(SMALL.world(), "oneiros", dream_every_days=None)
    dreaming = simulate(SMALL.world(), "oneiros", dream_every_days=2.0)
    assert awake.last.removed == 0.0 < dreaming.last.removed
    assert (awake.is_dreaming, awake.dreams) == (False, 0)
    assert (dreaming.is_dreaming, dreaming.dreams) == (True, 60)


def test_measuring_leaves_no_trace() -> None:
    whole = simulate(world(), "reverie", dream_every_days=7.0)
    short = replace(world(), days=30.0)
    early = simulate(short, "reverie", dream_every_days=7.0)
    assert without_times(early) == without_times(whole)[:1]


def test_it_advances_as_often_as_it_says() -> None:
    steps: list[int] = []
    simulate(world(), "ciar", dream_every_days=10.0, advance=steps.append)
    assert steps == [1] * step_count(world(), 10.0) == [1] * (4 + 6 + 2)


def test_a_profile_may_be_of_ones_own() -> None:
    own = profiles.get("ciar").replace(name="mine")
    assert simulate(world(), own, dream_every_days=None).profile == "mine"


@pytest.mark.parametrize(
    ("every", "error"), [(0.0, ValueError), (float("nan"), ValueError), ("1", TypeError)]
)
def test_the_time_between_dreams_is_judged(every: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="dream_every_days: "):
        simulate(world(), dream_every_days=every)


def test_texts_that_share_words_have_near_vectors() -> None:
    port, same, near, far = HashedGrams()(
        ["the port is 80", "The port is 80!", "the port is 81", "violet choirs"]
    )
    np.testing.assert_array_equal(port, same)
    lengths = [np.linalg.norm(one) for one in (port, near, far)]
    assert port @ near / lengths[0] / lengths[1] > 0.7
    assert abs(port @ far / lengths[0] / lengths[2]) < 0.3
