"""Results are read from one state of the store, verified, and shown as the store holds them."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import apsw
import numpy as np
import pytest

import oneiros
from oneiros import StoreCorrupt, UnknownMemory
from oneiros.model.memory import Memory
from oneiros.store import reading as store_reading
from oneiros.store.loading import MOST_AT_ONCE

NOW = 1_770_000_000.0
COUNT = 12
IDS = [f"m{number}" for number in range(COUNT)]


def record(number: int) -> dict[str, object]:
    return {
        "id": f"m{number}",
        "text": f"harbour of topic{number}",
        "project": "pq"[number % 2],
        "session": f"s{number}",
        "tags": ["boat", str(number)],
        "metadata": {"number": number, "deep": [{"ü": None}]},
        "embedding": (1.0, number / COUNT),
        "event_at": NOW - number,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mind.db"


@pytest.fixture
def mind(path: Path) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(path, clock=lambda: NOW) as engine:
        engine.add_many(map(record, range(COUNT)))
        yield engine


def asked(mind: oneiros.Engine, **options: object) -> oneiros.SearchResponse:
    return mind.search("harbour", k=50, reinforce=False, **options)  # type: ignore[arg-type]


def damage(path: Path, assignment: str, *ids: str, table: str = "memory") -> None:
    with closing(apsw.Connection(str(path))) as connection:
        for id in ids:
            sql = f"UPDATE {table} SET {assignment} WHERE sequence = (SELECT sequence FROM memory WHERE id = ?)"
            connection.execute(sql, (id,))


def statements_of(mind: oneiros.Engine, act: Callable[[], object]) -> list[str]:
    """The statements that readers run meanwhile, those of the core, too."""
    found: list[str] = []
    with mind._scope.services.store._readers.lend() as connection:  # the next that is lent, too
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: found.append(told["sql"]))
    act()
    connection.trace_v2(0, None)
    return found


# What a memory that was read is


def test_a_memory_that_was_read_is_the_one_that_was_added(mind: oneiros.Engine) -> None:
    for number, memory in enumerate(mind.get_many(IDS)):
        made = Memory.from_record(record(number), now=NOW)
        assert memory is not None
        assert memory == replace(made, stability=memory.stability)  # an add links what is alike
        for field in fields(Memory):
            name = field.name
            assert type(getattr(memory, name)) is type(getattr(made, name))


def test_a_memory_that_was_read_keeps_the_contract_of_the_class(mind: oneiros.Engine) -> None:
    memory = mind.get("m3")
    assert type(memory) is Memory
    for copied in (pickle.loads(pickle.dumps(memory)), copy.copy(memory), copy.deepcopy(memory)):
        assert copied == memory
        assert hash(copied) == hash(memory)
    assert replace(memory, title="t").title == "t"
    assert replace(memory, title="t") != memory
    assert Memory.from_record(memory.to_record(), now=NOW) == memory
    with pytest.raises(FrozenInstanceError):
        memory.text = "another"  # type: ignore[misc]
    assert repr(memory).startswith("<Memory 'm3'")


def test_no_two_readings_share_what_can_be_changed(mind: oneiros.Engine) -> None:
    first, second = mind.get_many(["m3", "m3"])
    assert first is not None
    assert second is not None
    first.tags.append("x")
    first.metadata["x"] = 1
    assert first.embedding is not None
    first.embedding[0] = 7.0
    for other in (second, mind.get("m3")):
        assert other.tags == ["boat", "3"]
        assert "x" not in other.metadata
        assert other.embedding is not None
        assert other.embedding[0] != 7.0


def test_many_come_in_the_order_of_their_ids(mind: oneiros.Engine) -> None:
    mind.delete("m5")
    mind.forget("m6")
    wanted = ["m9", "none", "m5", "m1", "m6", "m9", "a\0b"]
    found = mind.get_many(wanted)
    assert [memory and memory.id for memory in found] == ["m9", None, None, "m1", None, "m9", None]
    assert mind.get_many([]) == []


@pytest.mark.parametrize("count", [MOST_AT_ONCE, MOST_AT_ONCE + 1, 2 * MOST_AT_ONCE + 3])
def test_more_than_one_statement_takes_come_too(count: int) -> None:
    with oneiros.Engine(":memory:") as mind:
        ids = mind.add_many({"text": f"text {number}"} for number in range(count)).ids
        found = mind.get_many([*reversed(ids), "none"])
        assert [memory and memory.id for memory in found] == [*reversed(ids), None]
        assert mind.search("text", k=count, reinforce=False).texts.count(None) == 0


def test_what_another_process_added_again_is_found_under_its_new_number(
    mind: oneiros.Engine, path: Path
) -> None:
    response = asked(mind)
    with oneiros.Engine(path) as other:
        other.forget("m2")
        other.add("another text", id="m2")
        other.add("a new one", id="new")
    # The columns do not know of it yet.
    found = mind.get_many(["m1", "m2"])
    assert [memory and memory.text for memory in found] == ["harbour of topic1", "another text"]
    found = mind.get_many(["new", "m2"])
    assert [memory and memory.text for memory in found] == ["a new one", "another text"]
    assert dict(zip(response.ids, response.texts, strict=True))["m2"] == "another text"


def test_a_number_of_another_memory_brings_none_of_it(mind: oneiros.Engine) -> None:
    store = mind._scope.services.store
    for numbers in ([3, 2], [3, 99], [2, 2], [None, 3]):
        found = store.load_each(["m1", "m2"], numbers)
        assert [isinstance(one, Memory) and one.text for one in found] == [
            "harbour of topic1",
            "harbour of topic2",
        ]
        assert [one and one.id for one in store.own_rows(["m1", "m2"], numbers)] == ["m1", "m2"]  # type: ignore[union-attr]


# How it is read


def test_ten_memories_are_read_by_their_numbers_from_one_state(mind: oneiros.Engine) -> None:
    response = asked(mind)
    again = asked(mind)
    for act in (
        lambda: mind.get_many(IDS),
        lambda: [result.memory for result in response],
        lambda: again.texts,
    ):
        first, *rows, last = statements_of(mind, act)
        assert (first, last) == ("BEGIN", "COMMIT")
        assert len(rows) == COUNT
        assert all("WHERE memory.sequence = ?" in sql for sql in rows)
    for act in (
        lambda: [result.memory for result in response],
        lambda: (response.texts, [result.text for result in response]),
        lambda: (again.texts, again.ids, again.scores),
    ):
        assert statements_of(mind, act) == []


def test_texts_make_no_memories(mind: oneiros.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    response = asked(mind)

    def refused(*_: object) -> None:
        pytest.fail("a memory was made")

    monkeypatch.setattr(store_reading, "load_memories", refused)
    assert response.texts == [f"harbour of topic{id[1:]}" for id in response.ids]


# Texts, ids and scores of a response


def test_texts_ids_and_scores_stand_side_by_side(mind: oneiros.Engine) -> None:
    response = asked(mind)
    assert len(response.ids) == COUNT
    assert response.ids == [result.id for result in response]
    assert response.scores == [result.score for result in response]
    assert response.texts == [result.memory.text for result in response]
    assert response.texts == [result.text for result in response]
    nothing = mind.search("", k=5)
    assert (nothing.texts, nothing.ids, nothing.scores) == ([], [], [])


@pytest.mark.parametrize("first", ["texts", "memories"])
def test_what_was_forgotten_since_is_none_among_texts_and_raises_when_touched(
    mind: oneiros.Engine, first: str
) -> None:
    response = asked(mind)
    mind.forget("m4")
    if first == "memories":
        response.load()
    expected = [None if id == "m4" else f"harbour of topic{id[1:]}" for id in response.ids]
    assert response.texts == expected
    for result in response:
        if result.id == "m4":
            with pytest.raises(UnknownMemory, match="'m4' was forgotten after the search"):
                _ = result.text
            with pytest.raises(UnknownMemory, match="'m4' was forgotten after the search"):
                _ = result.memory
        else:
            assert result.text == result.memory.text


def test_what_was_deleted_since_still_shows(mind: oneiros.Engine) -> None:
    response = asked(mind)
    mind.delete("m4")
    assert response.texts == [f"harbour of topic{id[1:]}" for id in response.ids]
    assert next(one for one in response if one.id == "m4").memory.deleted_at == NOW


def test_texts_are_those_of_the_first_touch(mind: oneiros.Engine) -> None:
    response, other = asked(mind), asked(mind)
    mind.update("m1", text="before", embedding=(1.0, 0.0))
    assert "before" in response.texts
    mind.update("m1", text="after", embedding=(1.0, 0.0))
    assert "before" in response.texts
    other.load()
    mind.update("m1", text="later", embedding=(1.0, 0.0))
    assert "after" in other.texts


def test_a_scope_reads_only_its_own(mind: oneiros.Engine, path: Path) -> None:
    response = asked(mind.scope(project="p"))
    mind.update("m2", project="q")
    by_id = dict(zip(response.ids, response.texts, strict=True))
    assert by_id["m2"] is None
    assert by_id["m4"] == "harbour of topic4"
    with pytest.raises(UnknownMemory):
        _ = next(one for one in response if one.id == "m2").memory
    again = asked(mind.scope(project="p"))
    with oneiros.Engine(path) as other:
        other.update("m4", project="q")
    damage(path, "text = 'x'", "m4")  # it lay within when the columns were last brought up to date
    with pytest.raises(StoreCorrupt, match="memory 'm4'"):
        _ = again.texts


def test_texts_that_an_event_loop_reads_are_loaded_already(path: Path) -> None:
    async def texts() -> list[str | None]:
        async with oneiros.AsyncEngine(path) as mind:
            await mind.add("ant")
            response = await mind.search("ant")
        return response.texts  # the engine is closed by now

    assert asyncio.run(texts()) == ["ant"]


# Damage


@pytest.mark.parametrize(
    "assignment",
    [
        "text = replace(text, 'topic', 'topib')",
        "text = CAST(X'41FF' AS TEXT)",
        "importance = 0.75",
        "embedding = X'00'",
        "project = 'r'",
        "checksum = NULL",
    ],
)
def test_a_damaged_row_is_named_and_the_other_texts_are_read(
    mind: oneiros.Engine, path: Path, assignment: str
) -> None:
    response, again = asked(mind), asked(mind)
    damage(path, assignment, "m7")
    for _ in range(2):
        with pytest.raises(StoreCorrupt, match="memory 'm7'") as caught:
            _ = response.texts
        assert caught.value.memory_id == "m7"
    for result in response:
        if result.id == "m7":
            for touch in ("text", "memory"):
                with pytest.raises(StoreCorrupt, match="memory 'm7'"):
                    getattr(result, touch)
        else:
            assert result.text == f"harbour of topic{result.id[1:]}"
            assert result.memory.text == result.text
    again.load()
    with pytest.raises(StoreCorrupt, match="memory 'm7'"):
        _ = again.texts
    assert mind.stats()["damaged"] == 1
    assert "m7" not in asked(mind).ids


def test_what_uses_changed_is_verified_with_memories_and_not_read_for_texts(
    mind: oneiros.Engine, path: Path
) -> None:
    response = asked(mind)
    damage(path, "strength = 0.123", "m7", table="lifecycle")
    assert response.texts == [f"harbour of topic{id[1:]}" for id in response.ids]
    with pytest.raises(StoreCorrupt, match="memory 'm7': its lifecycle"):
        _ = next(one for one in response if one.id == "m7").memory


def test_several_damaged_ones_are_each_named(mind: oneiros.Engine, path: Path) -> None:
    damage(path, "text = CAST(X'41FF' AS TEXT)", "m2")
    damage(path, "importance = 0.75", "m3", "m4")
    found = mind._scope.services.store.load_each(
        ["m1", "m2", "m3", "none", "m4"], [2, 3, 4, None, 5]
    )
    assert isinstance(found[0], Memory)
    assert found[3] is None
    for id, one in zip(("m2", "m3", "m4"), (found[1], found[2], found[4]), strict=True):
        assert isinstance(one, StoreCorrupt)
        assert one.memory_id == id


def test_another_id_in_a_row_is_damage_and_no_missing_memory(
    mind: oneiros.Engine, path: Path
) -> None:
    mind.close()
    held = path.read_bytes()
    needle = b"m11harbour of topic11"  # id and text lie side by side in the table, not in its index
    assert held.count(needle) == 1
    path.write_bytes(held.replace(needle, b"m1Xharbour of topic11"))
    with oneiros.Engine(path) as engine:
        for numbers in ([2, 12], [None, None]):
            for found in (
                engine._scope.services.store.load_each(["m1", "m11"], numbers),
                engine._scope.services.store.own_rows(["m1", "m11"], numbers),
            ):
                assert not isinstance(found[0], StoreCorrupt)
                assert isinstance(found[1], StoreCorrupt)
                assert found[1].memory_id == "m11"


# What waits to be written


def test_memories_show_what_the_store_is_still_owed(mind: oneiros.Engine) -> None:
    response = mind.search("harbour", k=3, session="here", reinforce=True)
    for result in response:
        assert result.memory.access_count == 1
        assert result.memory.last_accessed_at == NOW
        assert "here" in result.memory.sessions
    twice = mind.get_many([response.ids[0], response.ids[0]])
    assert [memory and memory.access_count for memory in twice] == [1, 1]
    other = next(id for id in IDS if id not in response.ids)
    assert mind.get(other).access_count == 0
    before = mind.get_many(response.ids)
    mind.flush()
    after = mind.get_many(response.ids)
    assert [memory and memory.stability for memory in before] == pytest.approx(
        [memory and memory.stability for memory in after]
    )
    assert [memory and memory.sessions for memory in before] == [
        memory and memory.sessions for memory in after
    ]


def test_embeddings_come_bit_for_bit(mind: oneiros.Engine) -> None:
    for number, memory in enumerate(mind.get_many(IDS)):
        given = np.array([1.0, number / COUNT])
        expected = (given / np.sqrt(given @ given)).astype(np.float32)
        assert memory is not None
        assert memory.embedding is not None
        assert memory.embedding.dtype == np.float32
        np.testing.assert_array_equal(memory.embedding, expected)
