"""A memory is superseded while the store holds the memory that it names, in whatever order they came."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine
from oneiros.index.snapshot import FEWEST_ROWS
from tests.dream.worlds import DAY, NOW
from tests.engine.test_erasing_dreams import LATER, secretive, written

ABSENT = "memory 'a': superseded by 'b', which is not in this store; searches return it"
FORGOTTEN = "memory 'a': superseded by 'b', which was forgotten; searches return it"


def record(id: str, **fields: Any) -> dict[str, Any]:
    return {"text": f"ant {id}", "id": id, **fields}


def found(mind: Engine) -> set[str]:
    return set(mind.search("ant", reinforce=False).ids)


def of_update(mind: Engine) -> None:
    mind.add("ant a", id="a")
    mind.update("a", superseded_by="b")


NAMINGS: dict[str, Callable[[Engine], object]] = {
    "add": lambda mind: mind.add("ant a", id="a", superseded_by="b"),
    "a batch": lambda mind: mind.add_many([record("c"), record("a", superseded_by="b")]),
    "update": of_update,
    "add over it": lambda mind: (
        mind.add("ant a", id="a"),
        mind.add("ant a", id="a", superseded_by="b", on_conflict="update"),
    ),
}


@pytest.mark.parametrize("naming", NAMINGS)
def test_a_name_that_is_not_there_hides_nothing_and_is_reported(
    tmp_path: Path, naming: str
) -> None:
    with Engine(tmp_path / "mind.db") as mind, Engine(tmp_path / "mind.db") as other:
        NAMINGS[naming](mind)
        for one in (mind, other):
            assert "a" in found(one)
            assert one.check() == one.check(deep=True) == [ABSENT]
        assert mind.get("a").superseded_by == "b"
        mind.add("ant b", id="b")
        for one in (mind, other):
            assert "a" not in found(one)
            assert one.check(deep=True) == []
    with Engine(tmp_path / "mind.db") as again:
        assert "a" not in found(again)


def test_an_import_in_two_parts_ends_as_in_one(tmp_path: Path) -> None:
    with Engine(":memory:") as mind:
        for id in "abc":
            mind.add(f"ant {id}", id=id)
        mind.supersede("a", "b")
        mind.supersede("b", "c")
        mind.export(tmp_path / "all.jsonl")
    records = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    with Engine(":memory:") as target:
        for part in records:
            target.add_many([part])
        assert found(target) == {"c"}
        assert target.check(deep=True) == []


def test_a_snapshot_keeps_who_waits(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        mind.add_many([{"text": f"filler {number}"} for number in range(FEWEST_ROWS)])
        mind.add("ant a", id="a", superseded_by="b")
    assert Path(f"{path}-snapshot").is_file()
    with Engine(path) as mind:
        assert found(mind) == {"a"}
        mind.add("ant b", id="b")
        assert found(mind) == {"b"}


def test_a_memory_added_over_a_deleted_one_supersedes_nothing(tmp_path: Path) -> None:
    with Engine(tmp_path / "mind.db") as mind, Engine(tmp_path / "mind.db") as other:
        for id in "abc":
            mind.add(f"ant {id}", id=id)
        mind.supersede("a", "b", "moved")
        mind.supersede("b", "c")
        mind.delete("b")
        mind.add("ant of another hill", id="b", on_conflict="update")
        for one in (mind, other):
            assert found(one) == {"b", "c"}
            assert one.get("a").superseded_by == "c"  # the chain, as forget relinks it
        mind.delete("c")
        mind.add("ant of a third", id="c", on_conflict="update")
        for one in (mind, other):
            assert found(one) == {"a", "b", "c"}
            assert one.get("a").superseded_by is None
            assert one.get("a").metadata == {}
            assert one.check(deep=True) == []


def test_a_batch_that_replaces_a_deleted_memory_may_name_it() -> None:
    records = [record("a", superseded_by="b"), record("b")]
    for order in (records, records[::-1]):
        with Engine(":memory:") as mind:
            mind.add("ant a", id="a")
            mind.add("ant b", id="b")
            mind.delete("b")
            mind.add_many(order, on_conflict="update")
            assert found(mind) == {"b"}
            assert mind.get("a").superseded_by == "b"


def test_the_name_of_a_forgotten_memory_hides_nothing_until_it_is_given_again() -> None:
    with Engine(":memory:") as mind:
        mind.add("ant b", id="b")
        mind.forget("b")
        mind.add("ant a", id="a", superseded_by="b")
        assert found(mind) == {"a"}
        assert mind.check() == [FORGOTTEN]
        mind.add("ant b", id="b")
        assert found(mind) == {"b"}
        assert mind.check() == []


def test_an_undone_summary_leaves_what_it_superseded(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, profile="cognitive") as mind, Engine(path, profile="cognitive") as other:
        mind.add_many([secretive(number) for number in range(5)], now=NOW - 900.0 * DAY)
        report = mind.dream(LATER, summarise=written)
        (summary,) = (one.id for one in report.named if one.field == "memory")
        mind.add("ant a", id="a")
        mind.supersede("a", summary)
        assert found(other) == set()
        mind.undo_dream(report.id)
        assert mind.get("a").superseded_by is None
        for one in (mind, other):
            assert found(one) == {"a"}
            assert one.check(deep=True) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "replace", "name", "clear", "delete", "restore", "forget"]),
        st.sampled_from("abc"),
        st.sampled_from("abcd"),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_a_store_that_is_read_anew_hides_the_same(steps: list[tuple[str, str, str]]) -> None:
    """Following every write gives what reading all at once gives, and only who has a successor hides."""
    with Engine(":memory:") as mind:
        for step, id, name in steps:
            try:
                take(mind, step, id, name)
            except (oneiros.UnknownMemory, oneiros.DuplicateId):
                continue
            except ValueError:
                assert step == "name"  # it would close a circle
        before = found(mind)
        there = {memory.id: memory for memory in mind.list()}
        kept = {*there, *(m.id for m in mind.get_deleted(list("abcd")) if m is not None)}
        assert before == {id for id, memory in there.items() if memory.superseded_by not in kept}
        sync = mind._scope.services.sync
        mind._scope.services.read_model = sync.writer.run(sync.rebuild)
        assert found(mind) == before


def take(mind: Engine, step: str, id: str, name: str) -> None:
    if step == "add":
        mind.add(f"ant {id}", id=id, superseded_by=None if name == id else name)
    elif step == "replace":
        mind.add(f"ant {name}", id=id, on_conflict="update")
    elif step == "name":
        mind.update(id, superseded_by=None if name == id else name)
    elif step == "clear":
        mind.update(id, superseded_by=None)
    else:
        getattr(mind, step)(id)
