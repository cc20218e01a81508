"""Uses in the core: applied whole, kept until the store has them, repeated on what is read anew."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core

DAY = 86_400.0
NOW = 1.7e9
TAU = 90.0


def rule(**changes: Any) -> _core.UseRule:
    """A rule that strengthens by .1 after a rest of a week, links by .2, and does nothing else."""
    numbers = {"gain": 0.1, "span_days": 7.0, "most": 2.0, "limit": 10.0, "is_additive": True}
    given = {
        "found": _core.ReinforcementRule(**numbers),
        "linked": _core.ReinforcementRule(**{**numbers, "gain": 0.01}),
        "link_gain": 0.2,
        "link_rest_days": 0.0,
        "link_tau_days": TAU,
        "most_linked": 32,
        "is_once_a_session": False,
        "warms": False,
        "core_accesses": None,
        "core_stability": 0.0,
        "core_sessions": 1,
    }
    return _core.UseRule(**{**given, **changes})


class Held:
    """Ten memories, made long ago."""

    def __init__(self) -> None:
        self.columns = _core.Columns()
        self.columns.append(count=10)
        self.columns.write(
            rows=list(range(10)),
            values={"created_at": [NOW - 700 * DAY] * 10, "stability": [1.0] * 10},
        )
        self.sessions = _core.SessionSets()
        self.graph = _core.AssociationGraph()
        self.core = _core.Reinforcer(columns=self.columns, sessions=self.sessions)
        self.core.use_links(graph=self.graph)

    def use(self, rows: list[int], **changes: Any) -> bool | None:
        given = {
            "direct": rows,
            "linked": [],
            "now_seconds": NOW,
            "session": None,
            "rule": rule(),
            "most_waiting": 1_000,
        }
        return self.core.apply(rows=rows, **{**given, **changes})

    def column(self, name: str) -> list[Any]:
        return self.columns.values_at(name=name, rows=list(range(10)))

    def links(self) -> dict[tuple[int, int], float]:
        a, b, weight, *_ = self.graph.links()
        return {(int(x), int(y)): float(w) for x, y, w in zip(a, b, weight, strict=True)}


def test_a_use_is_in_the_columns_and_links_when_it_returns() -> None:
    held = Held()
    assert held.use([3, 1], linked=[1], direct=[3, 5]) is True  # the first that waits
    assert held.column("access_count") == [0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
    assert held.column("last_accessed_at")[3] == NOW
    assert held.column("stability")[:4] == pytest.approx([1.0, 1.02, 1.0, 1.2])
    assert held.links() == {(3, 5): pytest.approx(0.2)}
    held.core.notice()
    assert held.use([3]) is False
    assert held.core.waiting_count == 3
    assert sorted(held.core.waiting_rows()) == [1, 3]
    assert held.core.waiting_of(rows=[5, 3, 7]) == [3]


def test_the_writer_is_asked_for_until_it_takes_notice_and_again_at_many() -> None:
    held = Held()
    assert held.use([0], most_waiting=6) is True
    assert held.use([0, 1], most_waiting=6) is True  # the first caller may have been interrupted
    assert held.core.notice() == 3
    assert held.use([2, 3], most_waiting=6) is False
    assert held.use([4], most_waiting=6) is True
    assert held.use([4], most_waiting=6) is True
    held.core.forget_written(use_count=5)
    assert held.core.notice() == 0
    assert held.use([4], most_waiting=6) is True


def test_a_use_of_nothing_does_not_wait() -> None:
    held = Held()
    assert held.use([]) is False
    held.use([1, 2])
    held.core.notice()
    held.core.forget(row=1)
    held.core.forget(row=2)
    assert held.core.waiting_count == 0
    assert held.use([1, 2]) is False  # both are gone
    assert held.core.owed()[0] == 0
    assert held.use([3]) is True  # the first that waits again


def test_a_use_that_strengthened_links_alone_waits() -> None:
    held = Held()
    held.use([3], direct=[3, 1, 2])
    held.core.forget(row=3)
    assert held.core.waiting_count == 1
    assert held.core.mentioned_rows() == [1, 2]
    event_count, rows, _, _, a, b = held.core.owed()
    assert (event_count, rows, a, b) == (1, [], [1], [2])


def test_a_closed_one_refuses_and_changes_nothing() -> None:
    held = Held()
    held.core.close()
    assert held.use([1]) is None
    assert held.column("access_count") == [0] * 10
    assert held.core.waiting_count == 0
    held.core.apply_closed(
        rows=[1], direct=[], linked=[], now_seconds=NOW, session=None, rule=rule()
    )
    assert held.column("access_count")[1] == 1
    held.core.open()
    assert held.use([1]) is True


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": [10]}, "rows"),
        ({"direct": [1, 11]}, "rows"),
        ({"now_seconds": math.nan}, "now_seconds"),
        ({"now_seconds": math.inf}, "now_seconds"),
    ],
)
def test_what_makes_no_sense_is_refused_whole(changes: dict[str, Any], message: str) -> None:
    held = Held()
    rows = changes.pop("rows", [1, 2])
    with pytest.raises(ValueError, match=message):
        held.use([1, *rows], session="s", **changes)
    assert held.column("access_count") == [0] * 10
    assert (held.core.waiting_count, len(held.sessions), held.links()) == (0, 0, {})
    assert held.core.used(rows=[], others=[1]) == {1: (0, ANY, 1.0, False, 0, 1, None)}


def test_what_uses_made_of_rows() -> None:
    held = Held()
    held.sessions.set(row=2, sessions=["s"])
    held.use([2, 4], session="t")
    two = (1, NOW, pytest.approx(1.2), False, 0, 2)
    assert held.core.used(rows=[4, 0, 2], others=[1]) == {
        4: (1, NOW, pytest.approx(1.2), False, 0, 1, ["t"]),
        2: (*two, ANY),
        1: (0, ANY, 1.0, False, 0, 1, None),
    }
    assert sorted(held.core.used(rows=[2], others=[])[2][-1]) == ["s", "t"]
    held.core.begin_change()
    assert held.core.used(rows=[2], others=[]) is None
    held.core.end_change()
    held.core.forget_written(use_count=1)
    assert held.core.used(rows=[2], others=[]) == {}
    with pytest.raises(ValueError, match="rows: there are only 10"):
        held.core.used(rows=[], others=[10])


def test_a_session_counts_once_where_the_rule_says_so() -> None:
    held = Held()
    once = rule(is_once_a_session=True)
    held.use([1, 2], session="s", rule=once)
    held.use([1, 2, 3], session="s", rule=once, now_seconds=NOW + 14 * DAY)
    assert held.column("access_count")[1:4] == [2, 2, 1]
    stabilities = held.column("stability")
    assert stabilities[1] == stabilities[2] == pytest.approx(1.2)
    assert stabilities[3] == pytest.approx(1.2)
    assert set(held.links()) == {(1, 2), (1, 3), (2, 3)}
    assert held.links()[1, 2] == pytest.approx(0.2)  # of when it was made: it gained nothing
    assert held.column("session_spread")[1] == 1
    assert held.sessions.at(row=1) == ["s"]


def test_what_is_found_often_is_core_and_what_was_cold_is_hot() -> None:
    held = Held()
    held.columns.write(rows=[1, 2], values={"tier": [1, 2]})
    promoting = rule(warms=True, core_accesses=2, core_stability=1.25, core_sessions=2)
    held.use([1, 2], session="a", rule=promoting)
    assert held.column("tier")[1:3] == [0, 2]
    assert held.column("core")[1] == 0
    held.use([1], session="b", rule=promoting, now_seconds=NOW + 14 * DAY)
    assert held.column("core")[1] == 1
    event_count, rows, may_stand, sessions, a, b = held.core.owed()
    assert (event_count, rows, may_stand) == (2, [1, 2], [True, True])
    assert sessions == [(1, "a"), (1, "b"), (2, "a")]
    assert (a, b) == ([1], [2])


def test_what_is_read_anew_is_strengthened_by_what_waits() -> None:
    held = Held()
    held.use([1, 2])
    held.use([2, 3])
    before = (held.column("access_count"), held.column("stability"))
    held.columns.write(rows=[1, 2, 4], values={"access_count": [0] * 3, "stability": [1.0] * 3})
    held.core.repeat(rows=[1, 2, 4])
    assert (held.column("access_count"), held.column("last_accessed_at")[2]) == (before[0], NOW)
    held.core.forget_written(use_count=1)  # the store holds the first now
    assert held.core.waiting_count == 2
    held.columns.write(rows=[1, 2], values={"access_count": [1, 1]})
    held.core.repeat(rows=[1, 2])
    assert held.column("access_count")[1:4] == [1, 2, 1]


def test_a_session_is_owed_until_the_store_has_it() -> None:
    held = Held()
    held.use([1, 2], session="s")
    assert held.core.owed()[3] == [(1, "s"), (2, "s")]
    held.core.forget_written(use_count=1)
    held.use([1, 3], session="s")
    assert held.core.owed()[3] == [(3, "s")]
    held.sessions.set(row=1, sessions=["t"])  # as another process left it
    held.core.repeat(rows=[1])
    held.core.repeat(rows=[1])
    assert held.core.owed()[3] == [(1, "s"), (3, "s")]
    held.core.forget(row=3)
    assert held.core.owed()[3] == [(1, "s")]
    other = Held()
    held.core.close()
    other.core.take_over(former=held.core, rows=[1, 2], to_rows=[5, 6])
    assert other.core.owed()[3] == [(5, "s")]


def test_links_that_are_read_anew_gain_what_waits() -> None:
    held = Held()
    held.use([1, 2, 3])
    held.use([1, 2], now_seconds=NOW)
    before = held.links()
    graph = _core.AssociationGraph()
    held.core.use_links(graph=graph)
    held.core.repeat_all_links()
    held.graph = graph
    assert held.links() == before
    graph.remove(a=[1], b=[2])
    held.core.repeat_links(a=[2, 8], b=[1, 9])
    assert held.links() == before
    held.core.use_links(graph=None)
    held.use([1, 2])
    assert held.links() == before


def test_a_memory_that_is_gone_leaves_every_use_now_and_later() -> None:
    held = Held()
    held.use([1, 2])
    held.core.forget(row=1)
    assert held.core.waiting_count == 1
    held.use([1, 2])
    assert held.column("access_count")[1:3] == [1, 2]
    _, rows, _, _, a, _ = held.core.owed()
    assert (rows, a) == ([2], [])


def test_what_waits_moves_to_other_rows() -> None:
    former = Held()
    former.use([1, 2, 3], direct=[1, 2, 5], linked=[3], session="s")
    former.core.close()
    held = Held()
    assert former.core.mentioned_rows() == [1, 2, 3, 5]
    held.core.take_over(former=former.core, rows=[1, 3, 5], to_rows=[7, 6, 0])  # 2 is gone
    assert held.column("access_count") == [0, 0, 0, 0, 0, 0, 1, 1, 0, 0]
    assert held.column("stability")[6:8] == pytest.approx([1.02, 1.2])
    assert set(held.links()) == {(0, 7)}
    assert held.sessions.at(row=7) == ["s"]
    assert former.use([1]) is None


def test_a_store_that_takes_no_more_writes_is_owed_nothing() -> None:
    held = Held()
    held.use([1])
    held.core.stop_keeping()
    assert held.use([1]) is False
    assert held.column("access_count")[1] == 2
    assert held.core.waiting_count == 0
    assert held.core.owed()[:2] == (0, [])


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 9), max_size=6, unique=True), st.sampled_from("ab")),
        max_size=8,
    ),
    st.integers(0, 8),
)
def test_what_is_owed_is_what_was_used_and_not_written(
    uses: list[tuple[list[int], str]], written: int
) -> None:
    uses = [use for use in uses if use[0]]
    held = Held()
    for rows, session in uses:
        held.use(rows, session=session)
    held.core.forget_written(use_count=written)
    left = uses[written:]
    event_count, rows, may_stand, sessions, a, b = held.core.owed()
    assert event_count == len(left)
    assert rows == sorted({row for own, _ in left for row in own})
    assert may_stand == [False] * len(rows)
    stored = {(row, session) for own, session in uses[:written] for row in own}
    assert sessions == sorted({(row, session) for own, session in left for row in own} - stored)
    pairs = {tuple(sorted(pair)) for own, _ in left for pair in combinations(own, 2)}
    assert list(zip(a, b, strict=True)) == sorted(pairs)
    assert held.core.waiting_count == sum(len(own) for own, _ in left)
    assert sorted(held.core.waiting_rows()) == rows
    counts = [sum(row in own for own, _ in uses) for row in range(10)]
    assert held.column("access_count") == counts
