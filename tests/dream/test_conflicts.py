"""New memories and those most like them, before a judge: docs/systems/cognitive.md C22."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.dream.phases.cognitive import VERDICTS
from oneiros.scoring.phases.cognitive import Conflicts, Cooling
from oneiros.scoring.safety_limits import SafetyRails
from tests.dream.fading import MEMORIES, after_changes, drafted
from tests.dream.worlds import DAY, NOW, Fields, World, after
from tests.oracles import maintenance

ALL = Conflicts(nearest=1_000)
U32_MAX = 2**32 - 1


def told(text: str, days_ago: float, **given: Any) -> Fields:
    return {"text": text, "created_at": NOW - days_ago * DAY, "embedding": (1.0, 0.0)} | given


def offered(memories: list[Fields], phase: Conflicts = ALL, **given: Any) -> list[tuple[str, str]]:
    asked = []

    def judge(older: str, newer: str) -> str:
        asked.append((older, newer))
        return "distinct"

    draft = drafted(memories, phase, judge=judge, **given)
    assert [draft.columns, draft.contents] == [[], []]
    return asked


@given(
    st.lists(MEMORIES, max_size=10),
    st.none() | st.sampled_from([-25.0, 0.5, 25.0, 500.0]),
    st.randoms(),
)
def test_what_a_judge_says_is_done_as_the_page_says(
    memories: list[Fields], days: float | None, chance: Any
) -> None:
    named = [memory | {"text": str(row)} for row, memory in enumerate(memories)]
    world = World(named)
    previous = None if days is None else NOW - days * DAY
    words = {
        pair: chance.choice(VERDICTS)
        for pair in maintenance.conflicts(world.memories, previous, NOW)
    }
    asked = []

    def judge(older: str, newer: str) -> str:
        asked.append((int(older), int(newer)))
        return str(words[asked[-1]])

    draft = drafted(world, ALL, previous=previous, judge=judge)
    wanted = [dict(memory) for memory in world.memories]
    for (older, newer), word in words.items():
        if {wanted[older]["superseded_by"], wanted[newer]["superseded_by"]} != {None}:
            assert (older, newer) not in asked
            continue
        is_retired, duplicates = maintenance.verdict(word)
        wanted[newer]["duplicate_count"] += duplicates
        if duplicates:
            wanted[newer]["trust"] = min(wanted[newer]["trust"], wanted[older]["trust"])
        if is_retired:
            wanted[older]["superseded_by"] = world.memories[newer]["id"]
            if wanted[older]["tier"] == "hot":
                wanted[older] |= {"tier": "cold", "cold_since": NOW}
    assert after(world, draft).memories == wanted
    assert asked == [pair for pair in words if pair in asked]  # in this order, each once
    assert draft.figures["judge"]["pairs"] == len(words)


@given(st.lists(MEMORIES, max_size=10))
def test_nothing_is_retired_by_likeness_alone(memories: list[Fields]) -> None:
    draft = drafted(memories, Conflicts())
    assert [draft.columns, draft.contents, list(draft.links), draft.added] == [[], [], [], []]


def test_without_a_judge_pairs_are_counted() -> None:
    draft = drafted([told("a", 1), told("b", 2), told("c", 3)], ALL)
    assert draft.figures["judge"] == {"pairs": 3, "judged": 0, "retired": 0}


def test_the_older_text_comes_first() -> None:
    assert offered([told("new", 1), told("old", 2)]) == [("old", "new")]
    assert offered([told("old", 2, updated_at=NOW), told("new", 1)]) == [("new", "old")]
    assert offered([told("first", 1), told("second", 1)]) == [("first", "second")]
    later = told("later", 1, updated_at=NOW)
    assert offered([later, told("old", 2, updated_at=NOW)]) == [("old", "later")]


@pytest.mark.parametrize(
    "other",
    [
        {"project": "x"},
        {"superseded_by": "m9"},
        {"status": "archived"},
        {"tier": "stub"},
        {"deleted_at": NOW},
        {"valid_until": NOW - 1.0},
        {"ttl": DAY / 2},
        {"valid_from": NOW + 1.0},
        {"embedding": None},
        {"embedding": (0.85, (1 - 0.85**2) ** 0.5)},
    ],
    ids=str,
)
def test_what_is_not_offered(other: Fields) -> None:
    assert offered([told("a", 2), told("b", 1) | other]) == []


def test_only_what_came_or_changed_since_the_last_cycle_is_compared() -> None:
    memories = [
        told("a", 9),
        told("b", 8),
        told("c", 9, embedding=(0, 1)),
        told("d", 9, embedding=(0, 1)),
    ]
    memories[3]["updated_at"] = NOW - DAY
    assert offered(memories, previous=NOW - DAY) == [("c", "d")]
    assert offered(memories, previous=NOW - DAY + 1) == []
    assert len(offered(memories)) == 2


def test_what_was_written_since_though_dated_before_is_compared() -> None:
    memories = [told("a", 9), told("b", 0, updated_at=NOW - 8 * DAY)]
    assert offered(memories, previous=NOW - DAY) == [("a", "b")]


def test_what_was_learned_of_since_though_dated_and_updated_before_is_compared() -> None:
    memories = [told("a", 9), told("b", 8, learned_at=NOW)]
    assert offered(memories, previous=NOW - DAY) == [("a", "b")]


def test_a_cycle_whose_clock_lies_ahead_hides_nothing_that_is_new() -> None:
    memories = [told("a", 9), told("b", 8)]
    assert offered(memories, previous=NOW + DAY) == [("a", "b")]


@pytest.mark.parametrize(
    ("middle", "asked"),
    [
        ((0.95, 0.0975**0.5), [("a", "c"), ("b", "c")]),  # a is gone before a and b are asked about
        ((1.0, 0.0), [("a", "b"), ("b", "c")]),
    ],
)
def test_what_a_judge_retired_is_not_offered_again(
    middle: tuple[float, float], asked: list[tuple[str, str]]
) -> None:
    memories = [told("a", 9), told("b", 8, embedding=middle), told("c", 7)]
    given = []

    def judge(older: str, newer: str) -> str:
        given.append((older, newer))
        return "update"

    drafted(memories, ALL, judge=judge)
    assert given == asked


def test_nothing_is_settled_by_what_was_itself_retired() -> None:
    memories = [told("a", 9, embedding=(0.9, 0.19**0.5)), told("b", 8), told("c", 7)]
    given = []

    def judge(older: str, newer: str) -> str:
        given.append((older, newer))
        return "update" if older == "b" else "distinct"

    draft = drafted(memories, ALL, judge=judge)
    assert given == [("b", "c"), ("a", "c")]  # and not a with b, which c has replaced
    assert [change.row for change in draft.contents] == [1]


def test_the_likest_go_first_as_far_as_a_cycle_goes() -> None:
    memories = [told("a", 9), told("b", 8, embedding=(0.9, 0.19**0.5)), told("c", 7)]
    pairs = [("a", "c"), ("a", "b"), ("b", "c")]
    assert offered(memories) == pairs
    assert offered(memories, Conflicts(most_pairs=2)) == pairs[:2]
    assert offered(memories, Conflicts(nearest=1)) == pairs[:2]  # b's nearest is the first of two
    assert offered(memories, Conflicts(most_asked=1)) == [("a", "c"), ("b", "c")]  # c's
    assert offered(memories, Conflicts(most_asked=0)) == []


def test_what_is_retired_is_cold_before_the_next_cycle() -> None:
    world = World([told("a", 1), told("b", 2)])
    draft = drafted(world, Cooling(), ALL, judge=lambda *_: "update")
    assert after_changes(draft) == {(1, "tier"): "cold", (1, "cold_since"): NOW}
    left = after(world, draft)
    assert left.memories[1]["superseded_by"] == "m0"
    again = drafted(left, Cooling(), ALL, judge=lambda *_: "update")
    assert [again.columns, again.contents] == [[], []]


def test_a_duplicate_is_counted_as_far_as_numbers_go() -> None:
    memories = [told("a", 1, duplicate_count=U32_MAX - 1), told("b", 2), told("c", 3)]
    draft = drafted(memories, ALL, judge=lambda *_: "duplicate")
    assert after_changes(draft)[0, "duplicate_count"] == U32_MAX
    assert {change.row: change.after for change in draft.contents} == {1: 0, 2: 0}


def test_a_verdict_waits_where_the_budget_is_spent() -> None:
    rails = SafetyRails(most_changed=0.5)
    memories = [told("a", 1), told("b", 2), told("c", 3), told("d", 4)]
    draft = drafted(memories, ALL, judge=lambda *_: "contradiction", rails=rails)
    assert [change.row for change in draft.contents] == [1, 2]
    assert {held.reason for held in draft.held} == {"change budget"}
    assert draft.figures["judge"]["retired"] == 2


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (
            "same",
            ValueError,
            "judge: must be one of contradiction, update, duplicate, distinct, got 'same'",
        ),
        ("they are " * 10_000, ValueError, "distinct, got 'they are"),
        (True, TypeError, "judge: expected str, got bool"),
    ],
    ids=["another word", "a long story", "no word"],
)
def test_an_odd_verdict_is_an_error(answer: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        drafted([told("a", 1), told("b", 2)], ALL, judge=lambda *_: answer)
    assert len(str(caught.value)) < 150


def test_what_a_judge_raises_says_who_raised_it() -> None:
    def judge(_older: str, _newer: str) -> str:
        raise TimeoutError

    with pytest.raises(TimeoutError) as caught:
        drafted([told("a", 1), told("b", 2)], ALL, judge=judge)
    assert caught.value.__notes__ == ["raised by judge, which the dream cycle asked"]


def test_numbers_are_checked() -> None:
    with pytest.raises(ValueError, match="nearest: must be in 1 to 1000, got 0"):
        Conflicts(nearest=0)
    with pytest.raises(ValueError, match="above_cosine: must be >= 0 and <= 1, got 85"):
        Conflicts(above_cosine=85)
