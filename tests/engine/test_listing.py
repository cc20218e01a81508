"""Listings in any order, page by page, and counts by value: against a plain Python scan."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros.engine.listing import Page
from oneiros.model.fields import ENUMS
from oneiros.model.memory import Memory

NOW = 1_750_000_000.0
COUNT = 60
NAMES = (
    *("created_at", "event_at", "valid_until", "ttl", "importance", "priority", "pinned", "status"),
    *("kind", "topic", "project", "session", "id", "occurred_at", "access_count", "category"),
)


def record(n: int) -> dict[str, Any]:
    return {
        "id": f"m{n * 37 % COUNT}",
        "text": f"text {n}",
        "created_at": NOW - (n * 7 % 11) * 100,
        "event_at": None if n % 3 else NOW - n,
        "valid_until": (None, NOW - 5, NOW + 5)[n % 3],
        "ttl": None if n % 4 else float(n % 5) * 200,
        "importance": (n * 13 % 9) / 8,
        "priority": 1 + n * 5 % 5,
        "pinned": n % 6 == 0,
        "status": ENUMS["status"][n % 3],
        "category": ENUMS["category"][n * 2 % 3],
        "kind": ("note", "décision", "Fact")[n % 3],
        "topic": None if n % 5 == 0 else f"topic {n % 7}",
        "project": ("x", "y")[n % 2],
        "session": f"s{n % 4}",
        "tags": [f"tag {tag}" for tag in range(n % 4)],
        "metadata": {"url": f"u{n % 3}", "n": n % 2, "deep": {"a": 1}, "flag": n % 2 == 0},
        "access_count": n * 3 % 8,
    }


@pytest.fixture(scope="module")
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for start in range(0, COUNT, 20):
            engine.add_many([record(n) for n in range(start, start + 20)])
        engine.delete(f"m{4 * 37 % COUNT}")
        yield engine


@pytest.fixture(scope="module")
def memories(engine: oneiros.Engine) -> list[Memory]:
    """All live memories in order of insertion."""
    found = engine.get_many([f"m{n * 37 % COUNT}" for n in range(COUNT)])
    return [memory for memory in found if memory is not None]


def value(memory: Memory, name: str) -> Any:
    if name == "occurred_at":
        return memory.created_at if memory.event_at is None else memory.event_at
    found = getattr(memory, name)
    if name in ENUMS:
        return ENUMS[name].index(found)
    return found


def scanned(memories: list[Memory], order: str) -> list[str]:
    """Return the ids in an order, by a plain sort."""
    if order in ("oldest", "newest"):
        found = sorted(memories, key=lambda memory: memory.created_at)
        return [memory.id for memory in (found if order == "oldest" else found[::-1])]
    name = order.removeprefix("-")
    given = [memory for memory in memories if value(memory, name) is not None]
    missing = [memory for memory in memories if value(memory, name) is None]
    given.sort(key=lambda memory: value(memory, name), reverse=order.startswith("-"))
    return [memory.id for memory in given + missing]


def expired(memory: Memory) -> bool:
    end = math.inf if memory.valid_until is None else memory.valid_until
    life = math.inf if memory.ttl is None else memory.created_at + memory.ttl
    return min(end, life) < NOW


ORDERS = st.sampled_from(["oldest", "newest", *NAMES, *(f"-{name}" for name in NAMES)])
CONDITIONS: dict[str, tuple[Any, Callable[[Memory], bool]]] = {
    "all": (None, lambda _: True),
    "project": (oneiros.where(project="x"), lambda memory: memory.project == "x"),
    "tags": (oneiros.where(tags="tag 1"), lambda memory: "tag 1" in memory.tags),
}


@given(
    order=st.none() | ORDERS,
    name=st.sampled_from([*CONDITIONS]),
    limit=st.integers(0, 70),
    offset=st.integers(0, 70),
    cursor=st.none() | st.integers(0, COUNT - 1),
    include_expired=st.booleans(),
)
def test_a_page_is_a_slice_of_a_plain_sort(
    engine: oneiros.Engine,
    memories: list[Memory],
    order: str | None,
    name: str,
    limit: int,
    offset: int,
    cursor: int | None,
    *,
    include_expired: bool,
) -> None:
    where, matches = CONDITIONS[name]
    matching = [m for m in memories if matches(m) and (include_expired or not expired(m))]
    after = None if cursor is None else f"m{cursor}"
    if cursor == 4 * 37 % COUNT:
        return
    everything = [m.id for m in memories] if order is None else scanned(memories, order)
    ids = {memory.id for memory in matching}
    place = 0 if after is None else everything.index(after) + 1
    expected = [id for id in everything[place:] if id in ids][offset : offset + limit]
    page = engine.list(
        where,
        order=order,
        limit=limit,
        offset=offset,
        after=after,
        with_total=True,
        include_expired=include_expired,
    )
    assert [memory.id for memory in page] == expected
    assert page == [memory for id in expected for memory in memories if memory.id == id]
    assert page.total == len(matching)
    assert engine.count(where, include_expired=include_expired) == len(matching)


@given(order=ORDERS, size=st.integers(1, 20))
def test_pages_by_cursor_list_everything_once(
    engine: oneiros.Engine, memories: list[Memory], order: str, size: int
) -> None:
    found: list[str] = []
    after = None
    while page := engine.list(order=order, limit=size, after=after):
        found += [memory.id for memory in page]
        after = page[-1].id
    assert found == scanned(memories, order)


def test_a_page_is_a_list_without_a_total_unless_asked(engine: oneiros.Engine) -> None:
    page = engine.list(limit=2)
    assert isinstance(page, Page)
    assert page.total is None
    assert [*page] == page


def test_a_cursor_may_have_been_deleted() -> None:
    with oneiros.Engine(":memory:") as engine:
        for n in range(5):
            engine.add("text", id=str(n), importance=n / 10)
        engine.delete("2")
        assert [m.id for m in engine.list(order="-importance", after="2")] == ["1", "0"]
        assert [m.id for m in engine.list(after="2")] == ["3", "4"]
        engine.forget("2")
        with pytest.raises(oneiros.UnknownMemory, match="id: no memory '2'"):
            engine.list(order="newest", after="2")


def test_only_the_page_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    load = oneiros.engine.scope.Scope.load_live

    def counted(self: Any, ids: Any) -> Any:
        read.append(len(ids))
        return load(self, ids)

    with oneiros.Engine(":memory:") as engine:
        engine.add_many([{"text": str(n), "importance": n % 7 / 7} for n in range(500)])
        monkeypatch.setattr(oneiros.engine.scope.Scope, "load_live", counted)
        engine.list(order="-importance", limit=5, offset=100)
        engine.last(3)
        engine.values("kind")
        engine.list(oneiros.where(kind="note"), with_total=True, limit=4)
    assert read == [5, 3, 4]


@given(n=st.integers(0, 70), session=st.none() | st.sampled_from(["s0", "s3", "none"]))
def test_the_last_of_a_session_are_in_chronological_order(
    engine: oneiros.Engine, memories: list[Memory], n: int, session: str | None
) -> None:
    of_session = [m for m in memories if session in (None, m.session)]
    ordered = sorted(of_session, key=lambda memory: memory.created_at)
    assert engine.last(n, session=session) == (ordered[-n:] if n else [])


def test_messages_of_one_moment_keep_their_order() -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for n in range(6):
            engine.add(str(n), session="chat")
        assert [memory.text for memory in engine.last(3, session="chat")] == ["3", "4", "5"]
        assert [memory.text for memory in engine.list(order="newest", limit=2)] == ["5", "4"]
        assert [m.text for m in engine.scope(session="chat").last(2)] == ["4", "5"]


def counted(memories: list[Memory], field: str) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for memory in memories:
        if field == "tags":
            found.update(memory.tags)
        elif field.startswith("metadata."):
            given = memory.metadata.get(field.partition(".")[2])
            if not isinstance(given, dict | list):
                found[given] += 1
        elif getattr(memory, field) is not None:
            found[getattr(memory, field)] += 1
    return found


FIELDS = (
    *("kind", "project", "session", "topic", "tags", "status", "category", "canonical_layer"),
    *("priority", "pinned", "access_count", "tier", "metadata.url", "metadata.n", "metadata.flag"),
)


@given(
    field=st.sampled_from(FIELDS),
    name=st.sampled_from([*CONDITIONS]),
    include_expired=st.booleans(),
)
def test_values_are_counted_as_a_plain_scan_does(
    engine: oneiros.Engine,
    memories: list[Memory],
    field: str,
    name: str,
    *,
    include_expired: bool,
) -> None:
    where, matches = CONDITIONS[name]
    matching = [m for m in memories if matches(m) and (include_expired or not expired(m))]
    counts = engine.values(field, where, include_expired=include_expired)
    expected = counted(matching, field)
    assert counts == dict(expected)
    assert [*counts] == sorted(expected, key=lambda value: (-expected[value], str(value)))
    assert all(type(given) in (str, int, bool) for given in counts)


def test_values_without_memories_or_of_nested_metadata(engine: oneiros.Engine) -> None:
    assert engine.values("metadata.none") == {}
    assert engine.values("metadata.deep") == {}
    assert engine.values("kind", oneiros.where(project="none")) == {}


def test_a_scope_counts_and_lists_its_own(engine: oneiros.Engine, memories: list[Memory]) -> None:
    scope = engine.scope(project="x")
    inside = [memory for memory in memories if memory.project == "x"]
    assert scope.values("session") == dict(counted(inside, "session"))
    assert [m.id for m in scope.list(order="-importance")] == scanned(inside, "-importance")
    outside = next(memory for memory in memories if memory.project == "y")
    with pytest.raises(oneiros.UnknownMemory):
        scope.list(order="newest", after=outside.id)


def test_an_engine_and_a_scope_are_collections_of_their_memories(
    engine: oneiros.Engine, memories: list[Memory]
) -> None:
    scope = engine.scope(project="x")
    for part in (engine, scope):
        own = [memory for memory in memories if part is engine or memory.project == "x"]
        assert [memory.id for memory in part] == [memory.id for memory in own]
        assert {memory.id for memory in memories if memory.id in part} == {one.id for one in own}
        assert isinstance(part, Collection)
    assert "" not in engine
    for wrong in (7, None, b"m1"):
        with pytest.raises(TypeError, match="id: expected str, got "):
            assert wrong not in engine  # type: ignore[comparison-overlap]


def test_an_iteration_goes_on_over_what_was_there_when_it_began() -> None:
    with oneiros.Engine(":memory:") as engine:
        engine.add_many([{"id": f"m{n}", "text": f"text {n}"} for n in range(1_001)])
        found = iter(engine)
        assert next(found).id == "m0"
        engine.delete("m700")
        engine.forget("m701")
        engine.add("later", id="later")
        engine.update("m702", text="changed")
        rest = {memory.id: memory.text for memory in found}
        assert [*rest] == [f"m{n}" for n in range(1, 1_001) if n not in {700, 701}]
        assert rest["m702"] == "changed"
        assert "later" in engine
        assert "m700" not in engine
        assert "m701" not in engine
        begun = iter(engine)
        next(begun)
    with pytest.raises(oneiros.EngineClosed):
        list(begun)
    with pytest.raises(oneiros.EngineClosed):
        assert "later" in engine


def test_a_damaged_memory_is_left_out_of_an_iteration() -> None:
    with oneiros.Engine(":memory:") as engine:
        engine.add_many([{"id": f"m{n}", "text": f"text {n}"} for n in range(3)])
        with engine._scope.services.store.write() as transaction:
            transaction.run("UPDATE memory SET text = 'other' WHERE id = 'm1'")
        assert [memory.id for memory in engine] == ["m0", "m2"]


def test_listings_of_a_store_opened_again(tmp_path: Any) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path, clock=lambda: NOW) as engine:
        engine.add_many([record(n) for n in range(COUNT)])
        orders = {name: [m.id for m in engine.list(order=name)] for name in ("kind", "-topic")}
        values = {name: engine.values(name) for name in FIELDS}
    with oneiros.Engine(path, clock=lambda: NOW) as engine:
        assert {name: [m.id for m in engine.list(order=name)] for name in orders} == orders
        assert {name: engine.values(name) for name in FIELDS} == values


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (("list", {"order": "importanse"}), ValueError, "order: .*did you mean 'importance'"),
        (("list", {"order": "newst"}), ValueError, "order: .*got 'newst'; did you mean 'newest'"),
        (("list", {"order": "embedding"}), ValueError, "order: must be one of newest, oldest or"),
        (
            ("list", {"order": "-importanse"}),
            ValueError,
            "'-importanse'; did you mean '-importance'",
        ),
        (
            ("list", {"order": "-newest"}),
            ValueError,
            "order: must be .*, got '-newest'; the reverse of 'newest' is 'oldest'",
        ),
        (("list", {"order": 5}), TypeError, "order: expected str, got int"),
        (("list", {"offset": -1}), ValueError, "offset: must be in 0 to"),
        (("list", {"with_total": 1}), TypeError, "with_total: must be True or False, got 1"),
        (("list", {"include_expired": None}), TypeError, "include_expired: must be True or False"),
        (("last", {"n": -1}), ValueError, "n: must be in 0 to"),
        (("last", {"session": 5}), TypeError, "session: must be a str"),
        (("values", {"field": "kinds"}), ValueError, "field: .*got 'kinds'; did you mean 'kind'"),
        (("values", {"field": "text"}), ValueError, "field: must be a field with few values"),
        (("values", {"field": "metadata."}), ValueError, "field: must be"),
        (("values", {"field": 1}), TypeError, "field: expected str, got int"),
        (("count", {"include_expired": 0}), TypeError, "include_expired: must be True or False"),
    ],
)
def test_wrong_arguments_are_named(
    engine: oneiros.Engine, call: tuple[str, dict[str, Any]], error: type[Exception], message: str
) -> None:
    method, arguments = call
    with pytest.raises(error, match=message):
        getattr(engine, method)(**arguments)
