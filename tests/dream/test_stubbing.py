"""What has been cold for long is cut to a stub: docs/systems/cognitive.md C20."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.dream.phases.cognitive import beginning
from oneiros.scoring.phases.cognitive import Stubbing
from oneiros.scoring.safety_limits import SafetyRails
from tests.dream.fading import MEMORIES, drafted, fading, rows_of
from tests.dream.worlds import DAY, NOW, World, after
from tests.oracles import maintenance
from tests.oracles.associations import PlainGraph, PlainLink

CUT = Stubbing(characters=3)


@given(
    st.lists(MEMORIES, max_size=8),
    st.sets(st.frozensets(st.integers(0, 7), min_size=2, max_size=2)),
)
def test_what_is_cut_is_what_the_page_says(
    memories: list[dict[str, Any]], pairs: set[frozenset[int]]
) -> None:
    links = {pair: PlainLink(0.5, 0, NOW, NOW) for pair in pairs if max(pair) < len(memories)}
    world = World(memories, PlainGraph(links))
    draft = drafted(world, CUT)
    cut = maintenance.stubs(world.memories, NOW)
    assert rows_of(draft, "tier") == cut
    left = after(world, draft)
    for row, memory in enumerate(world.memories):
        wanted = dict(memory)
        if row in cut:
            wanted |= {"tier": "stub", "text": memory["text"][:3], "embedding": None}
        assert left.memories[row] == wanted
    assert left.links.links == {pair: one for pair, one in links.items() if not pair & set(cut)}
    assert len(draft.links) == len(links) - len(left.links.links)  # each once
    again = drafted(left, CUT)
    assert [again.columns, again.contents, list(again.links)] == [[], [], []]


def test_the_vector_that_goes_is_told() -> None:
    draft = drafted([fading(text="ab", tier="cold", cold_since=0.0, embedding=(0, 2))], CUT)
    (change,) = draft.contents
    assert (change.rule, change.field, change.row, change.after) == ("C20", "embedding", 0, None)
    assert isinstance(change.before, np.ndarray)
    np.testing.assert_array_equal(change.before, np.array([0, 1], np.float32))


def test_the_link_of_two_stubs_goes_once() -> None:
    links = {frozenset(pair): PlainLink(0.5, 0, NOW, NOW) for pair in ((0, 1), (1, 2))}
    long_cold = fading(tier="cold", cold_since=0.0)
    draft = drafted(World([long_cold, long_cold, {}], PlainGraph(links)), CUT)
    assert [(link.one, link.other, link.weight) for link in draft.links] == [(0, 1, 0), (1, 2, 0)]


def test_the_rails_hold_and_the_longest_cold_go_first() -> None:
    days = (200, 400, 300, 500)
    memories = [fading(text="abcdef", tier="cold", cold_since=NOW - some * DAY) for some in days]
    memories[3]["pinned"] = True
    rails = SafetyRails(most_pruned=0.5, most_changed=0.0)
    draft = drafted(memories, CUT, rails=rails)
    assert rows_of(draft, "tier") == [1, 2]
    assert [change.row for change in draft.contents] == [1, 2]
    assert {(held.reason, held.rows) for held in draft.held} == {
        ("protected", 1),
        ("prune budget", 1),
    }


@pytest.mark.parametrize(
    ("text", "length", "kept"),
    [
        ("abcdef", 3, "abc"),
        ("ab", 3, "ab"),
        ("abe\u0301", 4, "abe\u0301"),
        ("abe\u0301f", 3, "ab"),
        ("abe\u0301\u0323f", 4, "ab"),
        ("ab\U0001f469\u200d\U0001f4bb", 3, "ab"),
        ("ab\U0001f469\u200d\U0001f4bb", 4, "ab"),
        ("\U0001f600\U0001f600", 1, "\U0001f600"),
        ("a" + 99 * "\u0301", 40, "a" + 39 * "\u0301"),
        ("abc", 0, ""),
    ],
)
def test_no_character_is_cut_from_its_marks(text: str, length: int, kept: str) -> None:
    assert beginning(text, length) == kept


@given(st.text(), st.integers(0, 50))
def test_a_beginning_is_one(text: str, length: int) -> None:
    kept = beginning(text, length)
    assert text.startswith(kept)
    assert max(min(length, len(text)) - 32, 0) <= len(kept) <= length


def test_numbers_are_checked() -> None:
    with pytest.raises(TypeError, match=r"characters: expected an integer, got float 1\.5"):
        Stubbing(characters=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="days: must be >= 0 and <= 1e"):
        Stubbing(days=-1)
