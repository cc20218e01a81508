"""Memories that fade and are alike get one summary: docs/systems/cognitive.md C21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.dream.draft import Draft
from oneiros.errors import TextEncodingError
from oneiros.scoring.phases.cognitive import Summarising
from oneiros.scoring.safety_limits import SafetyRails
from tests.dream.fading import MEMORIES, drafted, fading
from tests.dream.worlds import DAY, NOW, Fields, World, after
from tests.oracles import maintenance
from tests.oracles.maintenance import Grouping

ALIKE = (1.0, 0.0)
NUMBERS = st.tuples(st.integers(2, 6), st.sampled_from([4, 10_000]))
EXPIRING = st.sampled_from([(), ("decision",), ("plan", "transient_state")])


def group(count: int, **given: Any) -> list[Fields]:
    return [fading(text=f"text {one}", embedding=ALIKE, **given) for one in range(count)]


def groups(draft: Draft) -> list[list[int]]:
    return [added.sources.tolist() for added in draft.added]


@given(st.lists(MEMORIES, max_size=24), NUMBERS, EXPIRING)
def test_summaries_are_what_the_page_says(
    memories: list[Fields], numbers: tuple[int, int], expiring: tuple[str, ...]
) -> None:
    group_size, most_compared = numbers
    asked = {"group_size": group_size, "most_compared": most_compared}
    world = World(memories)
    draft = drafted(world, Summarising(**asked), expiring_kinds=expiring)
    by = Grouping(**asked, expiring=expiring)
    told = maintenance.groups(world.memories, NOW, by)
    assert groups(draft) == told
    left = after(world, draft)
    for place, rows in enumerate(told, start=len(memories)):
        wanted = maintenance.summary([world.memories[row] for row in rows])
        made = left.memories[place]
        for name in ("stability", "consolidation_quality"):
            assert made[name] == pytest.approx(wanted.pop(name))
        assert {name: made[name] for name in wanted} == wanted
        assert set(left.links.neighbours(place)) == set(rows)
        for row in rows:
            was, becomes = world.memories[row], left.memories[row]
            wanted = was | {"tier": "cold", "cold_since": NOW, "superseded_by": made["id"]}
            assert becomes == wanted
    if most_compared > len(memories):
        assert not drafted(left, Summarising(**asked), expiring_kinds=expiring).added


@pytest.mark.parametrize(("count", "sizes"), [(4, []), (5, [5]), (9, [5]), (13, [5, 5])])
def test_groups_are_of_exactly_five(count: int, sizes: list[int]) -> None:
    memories = group(count)
    draft = drafted(memories, Summarising())
    assert [len(rows) for rows in groups(draft)] == sizes
    left = after(World(memories), draft).memories[:count]
    stay = [row for row, memory in enumerate(left) if memory["superseded_by"] is None]
    assert stay == list(range(sum(sizes), count))
    assert all(left[row]["tier"] == "hot" for row in stay)


def test_a_second_cycle_joins_what_stayed_with_what_came() -> None:
    left = after(world := World(group(13)), drafted(world, Summarising())).memories
    draft = drafted([*left, *group(2)], Summarising())
    assert groups(draft) == [[10, 11, 12, 15, 16]]


@pytest.mark.parametrize(
    ("size", "quality"), [(2, 1.0), (5, 1.0), (6, 1.3), (11, 2.8), (12, 3.0), (40, 3.0)]
)
def test_quality_grows_with_the_size_that_a_profile_sets(size: int, quality: float) -> None:
    (added,) = drafted(group(size), Summarising(group_size=size)).added
    assert added.record["consolidation_quality"] == pytest.approx(quality)


@pytest.mark.parametrize(
    "other",
    [
        {"project": "x"},
        {"category": "semantic", "importance": 0.0, "stability": 0.01},
        {"core": True, "stability": 0.0, "importance": 0.0},
        {"pinned": True},
        {"importance_tag": "explicit"},
        {"superseded_by": "m0"},
        {"deleted_at": NOW},
        {"status": "archived"},
        {"tier": "cold"},
        {"tier": "stub"},
        {"embedding": None},
        {"embedding": (0.69999, (1 - 0.69999**2) ** 0.5)},
        {"last_accessed_at": NOW - 144.8 * DAY},  # R 0.2001
        {"consolidation_quality": 1.0},
        {"valid_from": NOW - DAY},
        {"valid_until": NOW + DAY},
        {"ttl": 1e9},
    ],
    ids=str,
)
def test_what_belongs_to_no_group(other: Fields) -> None:
    fifth = fading(embedding=ALIKE) | other
    assert not drafted([*group(4), fifth], Summarising()).added
    assert groups(drafted([*group(5), fifth], Summarising())) == [[0, 1, 2, 3, 4]]


def test_at_the_least_cosine_a_memory_belongs_to_it() -> None:
    fifth = fading(embedding=(0.7, 0.51**0.5), last_accessed_at=NOW - 145 * DAY)
    assert groups(drafted([*group(4), fifth], Summarising())) == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("bound", ["valid_until", "ttl"])
def test_what_does_not_expire_is_summarised_whatever_its_bounds_say(bound: str) -> None:
    expiring = ("plan", "transient_state")
    for kind, joins in (("fact", True), ("plan", False)):
        fifth = fading(embedding=ALIKE, kind=kind, **{bound: 1.0})
        draft = drafted([*group(4), fifth], Summarising(), expiring_kinds=expiring)
        assert groups(draft) == ([[0, 1, 2, 3, 4]] if joins else [])


def turned(*degrees: float) -> list[Fields]:
    """Memories whose vectors point there."""
    angles = np.radians(degrees)
    return [fading(embedding=(np.cos(angle), np.sin(angle))) for angle in angles]


def test_the_first_that_are_near_enough_are_taken_in_order_of_insertion() -> None:
    memories = turned(0, 40, 10, 30, 44, 50, 20, 0)  # 45.6 degrees: a cosine of 0.70
    assert groups(drafted(memories, Summarising())) == [[0, 1, 2, 3, 4]]
    assert groups(drafted(memories, Summarising(group_size=4))) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_what_finds_too_few_may_join_a_later_group() -> None:
    memories = turned(0, 80, 90, 40, 85, 44)  # the first is near the fourth and sixth alone
    assert groups(drafted(memories, Summarising())) == [[1, 2, 3, 4, 5]]
    assert groups(drafted(memories, Summarising(group_size=4))) == [[1, 2, 3, 4]]
    memories = turned(0, 80, 40, 44)
    assert groups(drafted(memories, Summarising(group_size=4))) == [[0, 1, 2, 3]]


def test_the_least_retained_are_compared_and_of_equal_ones_the_earlier() -> None:
    fresher = group(5, last_accessed_at=NOW - 150 * DAY)
    draft = drafted([*fresher, *group(10)], Summarising(most_compared=5))
    assert groups(draft) == [[5, 6, 7, 8, 9]]
    assert draft.figures["summarise"] == {"compared": 5, "groups": 1}


def test_rows_without_a_vector_take_no_place_among_those_compared() -> None:
    blank = [fading() for _ in range(7)]
    assert groups(drafted([*blank, *group(5)], Summarising(most_compared=5))) == [[7, 8, 9, 10, 11]]
    assert not drafted(blank, Summarising()).added  # no vector anywhere


def test_without_a_writer_the_member_nearest_the_centre_speaks() -> None:
    angles = [0, 10, 20, 30, 40]
    memories = [
        fading(text=str(angle), embedding=(np.cos(np.radians(angle)), np.sin(np.radians(angle))))
        for angle in angles
    ]
    world = World(memories)
    (added,) = drafted(world, Summarising()).added
    assert added.record["text"] == "20"
    np.testing.assert_array_equal(added.record["embedding"], world.vectors(np.array([2]))[0])


def test_a_writer_is_given_the_texts_and_its_vector_is_the_centroid_or_for_the_engine() -> None:
    memories = [*group(4), fading(text="last", embedding=(0.8, 0.6))]
    asked: list[list[str]] = []

    def write(texts: list[str]) -> str:
        asked.append(texts)
        return "all of it"

    (added,) = drafted(memories, Summarising(), summarise=write).added
    assert asked == [["text 0", "text 1", "text 2", "text 3", "last"]]
    assert added.record["text"] == "all of it"
    centroid = np.array([4.8, 0.6]) / np.hypot(4.8, 0.6)
    assert added.record["embedding"] == pytest.approx(centroid, abs=1e-6)
    (added,) = drafted(memories, Summarising(), summarise=write, embeds=True).added
    assert "embedding" not in added.record


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (None, TypeError, "summarise: expected str, got NoneType"),
        ("a" * (16 * 2**20 + 1), ValueError, "summarise: must be 0 to 16777216 bytes of UTF-8"),
        (" \n", ValueError, r"summarise: must write a text, got ' \\n'"),
        ("\ud800", TextEncodingError, "summarise"),
    ],
)
def test_an_odd_answer_is_an_error(answer: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        drafted(group(5), Summarising(), summarise=lambda _texts: answer)


def test_what_a_writer_raises_says_who_raised_it() -> None:
    def write(_texts: list[str]) -> str:
        raise ConnectionError

    with pytest.raises(ConnectionError) as caught:
        drafted(group(5), Summarising(), summarise=write)
    assert caught.value.__notes__ == ["raised by summarise, which the dream cycle asked"]


def test_a_group_is_summarised_whole_or_not_and_no_writer_is_asked_in_vain() -> None:
    asked: list[list[str]] = []

    def write(texts: list[str]) -> str:
        asked.append(texts)
        return "all"

    memories = [*group(5), *group(5, project="x")]
    rails = SafetyRails(most_changed=0.9)
    draft = drafted(memories, Summarising(), summarise=write, rails=rails)
    assert groups(draft) == [[0, 1, 2, 3, 4]]
    assert len(asked) == 1
    assert {change.row for change in draft.contents} == {0, 1, 2, 3, 4}
    assert [(held.reason, held.rows) for held in draft.held] == [("change budget", 5)]


DAYS = st.sampled_from([200.0, 400.0, 1_000.0, 3_000.0])
TIMES = ("created_at", "updated_at", "last_accessed_at")


@given(
    st.lists(st.tuples(DAYS, DAYS, DAYS), min_size=2, max_size=12),
    st.sampled_from([name for name in profiles.names() if profiles.get(name).factors]),
    st.sampled_from([0.25, 1.0]),
)
def test_a_summary_never_outranks_its_sources_by_its_own_newness(
    times: list[tuple[float, float, float]], profile: str, strength: float
) -> None:
    held = {"strength": strength, "certainty": 0.25, "depth": 1, "embedding": ALIKE, "priority": 2}
    aged = [
        {name: NOW - days * DAY for name, days in zip(TIMES, told, strict=True)} for told in times
    ]
    world = World([fading(**held) | told for told in aged])
    by = Summarising(group_size=len(times))
    *sources, made = after(world, drafted(world, by)).memories
    for name in TIMES:
        assert made[name] == max(told[name] for told in aged)
    # As old as the newest of its sources, it is worth no more than they would be.
    known = ("strength", "certainty", "impact", "depth", "priority", "stability", "importance")
    rows = [
        {name: memory[name] for name in (*known, "access_count", "kind", "category")}
        | {name: made[name] for name in TIMES}
        for memory in (*sources, made)
    ]
    scores = np.prod(list(oneiros.factors(rows, profile, now=NOW).values()), axis=0)
    assert scores[-1] <= scores[:-1].max() * (1 + 1e-6)


def test_a_summary_holds_the_numbers_that_were_given() -> None:
    (added,) = drafted(group(5, importance=0.3, certainty=0.7, stability=0.1), Summarising()).added
    told = [added.record[name] for name in ("importance", "certainty", "stability")]
    assert told == [0.3, 0.7, 0.1]  # and not what a float32 makes of them


def test_numbers_are_checked() -> None:
    with pytest.raises(ValueError, match="group_size: must be in 2 to 1000, got 1"):
        Summarising(group_size=1)
    with pytest.raises(ValueError, match="link: must be > 0 and <= 1, got 0"):
        Summarising(link=0)
