"""A damaged index of the store touches no other memory, hides none in silence, and is rebuilt by check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import oneiros
from oneiros import StoreCorrupt

COUNT = 120
IDS = [f"m{number:03}" for number in range(COUNT)]
UNCHANGED = [(93, "m092", "memory topic92 here", None), (94, "m093", "memory topic93 here", None)]
LINK_INDEXES = ("link_by_revision", "link_by_second")
REBUILT = (
    "index sqlite_autoindex_memory_1: it does not lead to memory 'm092' and it has 1 entries of no "
    "row; rebuilt from its table"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a store whose index of ids names the memory m092 m093, by one bit."""
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind:
        mind.add_many([{"text": f"memory topic{id[2:].lstrip('0')} here", "id": id} for id in IDS])
        mind.link("m001", "m092")
    flip(path, b"m092\x5d", at=3)
    return path


def flip(path: Path, needle: bytes, *, at: int) -> None:
    """Flip the last bit of one byte of the file's first place of a needle."""
    held = bytearray(path.read_bytes())
    place = held.find(needle)
    assert place > 0
    held[place + at] ^= 1
    path.write_bytes(held)


def stored(path: Path) -> list[tuple[object, ...]]:
    """Return what the two rows hold, read without the index."""
    connection = apsw.Connection(str(path))
    try:
        sql = "SELECT sequence, id, text, deleted_at FROM memory NOT INDEXED WHERE sequence IN (93, 94)"
        return list(connection.execute(sql))
    finally:
        connection.close()


WRITES: dict[str, Callable[[oneiros.Engine, str], object]] = {
    "update": lambda mind, id: mind.update(id, text="another text"),
    "update a field": lambda mind, id: mind.update(id, importance=0.9),
    "add": lambda mind, id: mind.add("another text", id=id, on_conflict="update"),
    "delete": lambda mind, id: mind.delete(id),
    "forget": lambda mind, id: mind.forget(id),
    "feedback": lambda mind, id: mind.feedback(id, "outdated"),
    "pin": lambda mind, id: mind.pin(id),
    "supersede": lambda mind, id: mind.supersede(id, "m001"),
    "supersede by it": lambda mind, id: mind.supersede("m001", id),
    "link": lambda mind, id: mind.link(id, "m005"),
    "unlink": lambda mind, id: mind.unlink(id, "m001"),
}


@pytest.mark.parametrize("id", ["m092", "m093"])
@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_refused_and_touches_no_other_memory(path: Path, write: str, id: str) -> None:
    with oneiros.Engine(path) as mind:
        with pytest.raises(
            StoreCorrupt, match=f"memory '{id}': an index of the store is"
        ) as caught:
            WRITES[write](mind, id)
        assert caught.value.memory_id == id
        mind.add("the writer goes on", id="later")
        assert len(mind) == COUNT + 1  # and nothing is hidden
    assert stored(path) == UNCHANGED


def test_every_memory_is_read_as_it_is(path: Path, tmp_path: Path) -> None:
    with oneiros.Engine(path) as mind:
        for number in (92, 93):
            assert mind.get(f"m{number:03}").text == f"memory topic{number} here"
            (first, *_) = mind.search(f"topic{number}", k=1)
            assert first.memory.text == f"memory topic{number} here"
        assert [memory.id for memory in mind.list(limit=500)] == IDS
        assert mind.export(tmp_path / "all.jsonl") == COUNT
        assert [(id, link.id) for id, link in mind.links()] == [("m001", "m092")]


def test_use_is_written_to_the_memories_that_were_used(path: Path) -> None:
    with oneiros.Engine(path, profile="reverie") as mind:
        assert set(mind.search("topic92 topic93").ids) == {"m092", "m093"}
        mind.flush()
        for id in ("m092", "m093"):
            assert mind.get(id).access_count == 1


def test_check_rebuilds_it(path: Path) -> None:
    with oneiros.Engine(path) as mind:
        assert mind.check() == [REBUILT]
        assert mind.check(deep=True) == []
        mind.forget("m093")
        assert mind.get("m092").text == "memory topic92 here"
        mind.delete("m092")
        assert len(mind) == COUNT - 2
    assert [(row[0], row[3] is None) for row in stored(path)] == [(93, False)]


def test_a_deep_check_rebuilds_it_too(path: Path) -> None:
    with oneiros.Engine(path) as mind:
        assert mind.check(deep=True) == [REBUILT]
        assert mind.check(deep=True) == []


def test_an_index_is_kept_where_the_row_is_damaged(path: Path) -> None:
    """Its id is then the only one that is right."""
    flip(path, b"m092m", at=2)  # in the table, id and text follow each other
    with oneiros.Engine(path) as mind:
        problems = mind.check()
        assert any("not rebuilt, since rows of its table are damaged" in one for one in problems)
        assert any(one.startswith("memory 'm082': its row in the store") for one in problems)
        with pytest.raises(StoreCorrupt):
            mind.forget("m093")
    assert len(stored(path)) == 2


def test_other_indexes_are_rebuilt_by_check(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind:
        mind.add_many([{"text": f"memory topic{id} here", "id": id} for id in IDS])
        mind.link_many([("m001", id) for id in IDS[2:]])
        mind.supersede("m003", "m004")
    names = whole_indexes(path)
    assert {"memory_by_revision", "memory_by_text", *LINK_INDEXES} <= set(names)
    for name in names:
        misplace(path, name)
    with oneiros.Engine(path) as mind:
        assert len(mind.links()) == COUNT - 2  # read from the table
        found = [one.partition(":")[0] for one in mind.check()]
        assert sorted(found) == sorted(f"index {name}" for name in names)
        assert mind.check(deep=True) == []


def test_an_index_whose_name_changed_its_case_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind:
        mind.add("memory")
    held = path.read_bytes()
    assert held.count(b"sqlite_autoindex_dream_cycle_1") == 1
    path.write_bytes(
        held.replace(b"sqlite_autoindex_dream_cycle_1", b"sqlite_aUtoindex_dream_cycle_1")
    )
    with oneiros.Engine(path) as mind:
        assert mind.check(deep=True) == []
        assert mind.count() == 1


def test_a_delete_that_meets_a_damaged_index_is_refused_and_writing_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind:
        mind.add_many([{"text": f"memory topic{id} here", "id": id} for id in IDS])
    misplace(path, "memory_by_text")
    with oneiros.Engine(path) as mind:
        with pytest.raises(StoreCorrupt, match="an index of the store is damaged; check"):
            mind.forget("m004")
        mind.add("goes on")
        assert any("rebuilt from its table" in one for one in mind.check())
        for id in list(mind.list(limit=200)):
            mind.forget(id.id)
        assert mind.check(deep=True) == []


def whole_indexes(path: Path) -> list[str]:
    """Return the indexes of memories and links that hold every row."""
    connection = apsw.Connection(str(path))
    try:
        sql = """
SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOT LIKE '%WHERE%'
AND tbl_name IN ('memory', 'lifecycle', 'link')"""
        return [str(row[0]) for row in connection.execute(sql)]
    finally:
        connection.close()


def misplace(path: Path, index: str) -> None:
    """Take the entry of the fifth row out of an index, and put one of no row into it."""
    connection = apsw.Connection(str(path))
    try:
        sql = "SELECT tbl_name, rootpage, sql FROM sqlite_schema WHERE name = ?"
        ((table, _, made_by),) = connection.execute(sql, (index,))
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute("PRAGMA writable_schema = ON")
        part = {"link": "second <> 5"}.get(table, "sequence <> 5")
        connection.execute(
            "UPDATE sqlite_schema SET sql = sql || ' WHERE ' || ? WHERE name = ?", (part, index)
        )
        connection.close()
        connection = apsw.Connection(str(path))
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute(f"REINDEX {index}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (made_by, index))
    finally:
        connection.close()


def test_a_cycle_touches_no_other_memory(path: Path) -> None:
    now = 4_000_000_000.0  # all are stale
    with oneiros.Engine(path) as mind:
        before = {memory.id: memory.text for memory in mind.list(limit=500)}
        report = mind.dream(now=now)
        assert report.taken_away > 0
        kept = {memory.id: memory.text for memory in mind.list(limit=500)}
        assert kept.items() <= before.items()
        assert len(kept) == COUNT - report.removed.get("deleted", 0)
        mind.undo_dream(report.id)
        assert {memory.id: memory.text for memory in mind.list(limit=500)} == before
