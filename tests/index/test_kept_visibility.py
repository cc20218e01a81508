"""What a search may return is kept until rows change, and is never another than without keeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.filters import Where, where
from oneiros.index import Limits
from oneiros.index.row_sets import RowSets
from oneiros.scoring.selection import Selection

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")

NOW = 1_750_000_000.0
DAY = 86_400.0
TIMES = (NOW, NOW + 3 * DAY, NOW + 30 * DAY)
IDS = [f"m{n}" for n in range(6)]
FILTERS: list[Where | None] = [
    None,
    where(project="a"),
    where(kind=["fact", "note"]) | where(tags=["red"]),
    where(importance=(0.4, None)),
    where(access_count=(1, None)),
]
SELECTIONS = [
    Selection(),
    Selection(hide_superseded=True, hide_cold=True, hide_expired=True),
    Selection(hidden_kinds=("fact",)),
]
limits = st.builds(
    Limits,
    selection=st.sampled_from(SELECTIONS),
    where=st.sampled_from(FILTERS),
    status=st.sampled_from([None, ("archived",), ("staged", "consolidated")]),
    now=st.just(NOW),
    valid_at=st.sampled_from([None, NOW + 2 * DAY]),
    includes_expired=st.booleans(),
    is_deep=st.booleans(),
)
changes = st.tuples(
    st.sampled_from(
        ["add", "update", "delete", "restore", "forget", "search", "supersede", "cold", "archive"]
    ),
    st.sampled_from(IDS),
    st.integers(0, 3),
)


def change(mind: oneiros.Engine, what: str, id: str, number: int) -> None:
    fields: dict[str, Any] = {
        "project": ("a", "b", None, "c")[number],
        "kind": ("fact", "note", "note", "lesson")[number],
        "importance": number / 3,
        "tags": ["red"] if number % 2 else [],
        "ttl": (None, DAY, None, 20 * DAY)[number],
        "valid_from": (None, None, NOW + DAY, None)[number],
    }
    calls: dict[str, Callable[[], object]] = {
        "add": lambda: mind.add("ada likes coffee", id=id, on_conflict="update", **fields),
        "update": lambda: mind.update(id, **fields),
        "delete": lambda: mind.delete(id),
        "restore": lambda: mind.restore(id),
        "forget": lambda: mind.forget(id),
        "search": lambda: mind.search("coffee", number),
        "supersede": lambda: mind.supersede(id, IDS[number]),
        "cold": lambda: mind.update(id, tier="cold"),
        "archive": lambda: mind.update(id, status="archived"),
    }
    try:
        calls[what]()
    except (oneiros.UnknownMemory, ValueError):
        return


def visible(rows: RowSets, asked: Limits, bounds: Where | None) -> tuple[Any, int, int]:
    found = rows.visible(asked, bounds)
    return None if found.bits is None else list(found.bits), found.row_count, found.bounds_count


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=st.lists(changes, min_size=4, max_size=12),
    asked=st.lists(limits, min_size=3, max_size=6),
    bounds=st.sampled_from([None, where(project="a")]),
)
def test_what_is_kept_is_what_would_be_found(
    steps: list[tuple[str, str, int]], asked: list[Limits], bounds: Where | None
) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as mind:
        rows = mind._scope.services.read_model.row_sets
        for what, id, number in steps:
            change(mind, what, id, number)
            mind.count()  # what searches left is applied
            for each in [one._replace(now=now) for one in asked for now in TIMES]:
                told = visible(rows, each, bounds), visible(rows, each, bounds)
                kept, rows._kept = rows._kept, {}
                assert told == (visible(rows, each, bounds),) * 2
                rows._kept = kept


def test_the_same_search_takes_the_same_bits() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as mind:
        mind.add_many([{"text": "ada", "project": project} for project in "aab"])
        rows, asked = (
            mind._scope.services.read_model.row_sets,
            Limits(SELECTIONS[0], where(project="a"), None, NOW),
        )
        first = rows.visible(asked, None)
        assert (
            rows.visible(Limits(SELECTIONS[0], where(project="a"), None, NOW + DAY), None) is first
        )
        assert first.bits is not None
        assert first.bits[0] & 0b111 == 0b011
        mind.add("bob", project="a")
        assert len(mind) == 4  # the read model has it, too
        assert rows.visible(asked, None).row_count == 3
