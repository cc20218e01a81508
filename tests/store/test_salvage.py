"""A damaged store gives up what can still be read, and the count is right."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from oneiros.errors import StoreCorrupt
from oneiros.model.memory import Memory
from oneiros.store import Store
from oneiros.store.salvage import salvage
from tests.folders import IN_MEMORY
from tests.store.samples import BLOB, FULL, memory, rows

PAGE = 4096


def texts(number: int) -> Memory:
    return memory(f"m{number}", text=f"text {number} " * 40)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A sound store of 100 memories, to be damaged."""
    path = tmp_path / "damaged.db"
    with Store(path) as store:
        with store.write() as transaction:
            transaction.insert(FULL, embedding_blob=BLOB)
            transaction.insert_many([texts(number) for number in range(99)])
            transaction.set_setting("embedder", "mini")
            transaction.set_setting("reembedding", "other")  # its vectors are not taken over
            transaction.keep_new_vectors([(1, b"new vector")])
        with store.write() as transaction:
            transaction.erase("m50")
    return path


@pytest.fixture
def in_memory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        yield Path(folder)


def test_a_sound_store_comes_over_whole(tmp_path: Path, damaged: Path) -> None:
    before = damaged.read_bytes()
    assert salvage(damaged, tmp_path / "new.db") == (99, 0, 0, 1, 0)
    assert damaged.read_bytes() == before
    with Store(damaged) as old, Store(tmp_path / "new.db") as new:
        ids = [row.id for row in rows(old)]
        assert [row.id for row in rows(new)] == ids
        assert new.load(ids) == old.load(ids)
        assert rows(new)[0].embedding == BLOB
        assert new.settings() == {"embedder": "mini"}


def test_every_page_but_the_first_may_be_lost(damaged: Path, in_memory: Path) -> None:
    whole = damaged.read_bytes()
    with Store(damaged) as store:
        wanted = {row.id: row.text for row in rows(store)}
    most_lost = 0
    for page in range(1, len(whole) // PAGE):
        path = in_memory / "page.db"
        path.write_bytes(whole[: page * PAGE] + b"\xff" * PAGE + whole[(page + 1) * PAGE :])
        before = path.read_bytes()
        target = in_memory / f"new{page}.db"
        found = salvage(path, target)
        assert path.read_bytes() == before
        with Store(target) as store:
            texts_now = {row.id: row.text for row in rows(store)}
            assert store.quick_check() == []
        assert texts_now.items() <= wanted.items()
        assert len(texts_now) == found.memories
        assert found.memories + found.unreadable >= len(wanted)
        most_lost = max(most_lost, len(wanted) - found.memories)
    assert 0 < most_lost < len(wanted) + 1


class Pages:
    """Where a store's rows lie, as SQLite tells it of the sound file."""

    def __init__(self, path: Path) -> None:
        connection = apsw.Connection(str(path))
        self._found: list[tuple[str, int, str, int]] = connection.execute(
            "SELECT name, pageno, pagetype, ncell FROM dbstat"
        ).fetchall()
        connection.close()

    def start(self, table: str) -> int:
        """Return where the first page of a table begins."""
        return min(number - 1 for name, number, _, _ in self._found if name == table) * PAGE

    def readable(self, table: str, size: int) -> tuple[int, int]:
        """Return of how many rows a file cut at a size holds the whole page, and any of it."""
        pages = [page[1:] for page in self._found if page[0] == table]
        if any(kind == "internal" and number * PAGE > size for number, kind, _ in pages):
            return 0, 0
        leaves = [(number * PAGE, cells) for number, kind, cells in pages if kind == "leaf"]
        whole = sum(cells for end, cells in leaves if end <= size)
        return whole, sum(cells for end, cells in leaves if end - PAGE < size)


def test_a_store_cut_short_gives_up_all_that_is_left(damaged: Path, in_memory: Path) -> None:
    whole, pages = damaged.read_bytes(), Pages(damaged)
    counts = []
    step = 1 if os.environ.get("ONEIROS_LONG") else 1501
    for size in range(PAGE, len(whole) + 1, step):
        path = in_memory / "cut.db"
        path.write_bytes(whole[:size])
        target = in_memory / "new.db"
        target.unlink(missing_ok=True)
        found = salvage(path, target)
        least, most = pages.readable("memory", size)
        assert least <= found.memories <= most, size
        lived, may_have_lived = pages.readable("lifecycle", size)
        assert found.begun_anew >= found.memories - may_have_lived, size
        assert found.begun_anew <= 99 - lived, size
        counts.append(found.memories)
    assert counts == sorted(counts)
    assert (counts[0], salvage(damaged, damaged.with_name("new.db")).memories) == (0, 99)


@pytest.mark.parametrize("kept", [0, PAGE // 2, PAGE - 64])
def test_settings_that_make_no_sense_cost_nothing_else(damaged: Path, kept: int) -> None:
    whole = bytearray(damaged.read_bytes())
    start = Pages(damaged).start("setting")
    whole[start + kept : start + PAGE] = bytes(PAGE - kept)
    damaged.write_bytes(whole)
    assert salvage(damaged, damaged.with_name("new.db")) == (99, 0, 0, 0, 0)


def test_a_value_out_of_range_costs_only_its_memory(tmp_path: Path, damaged: Path) -> None:
    connection = apsw.Connection(str(damaged))
    connection.execute("UPDATE memory SET category = 77 WHERE id = 'm3'")
    connection.execute("UPDATE memory SET tags = '{' WHERE id = 'm4'")
    connection.close()
    assert salvage(damaged, tmp_path / "new.db") == (97, 2, 0, 1, 0)


def test_a_text_that_is_not_utf8_costs_only_its_memory(tmp_path: Path, damaged: Path) -> None:
    connection = apsw.Connection(str(damaged))
    connection.execute("UPDATE memory SET text = CAST(X'41FF' AS TEXT) WHERE id = 'm3'")
    connection.close()
    assert salvage(damaged, tmp_path / "new.db") == (98, 1, 0, 1, 0)


def test_nothing_to_go_by_and_targets_that_exist_are_refused(tmp_path: Path, damaged: Path) -> None:
    (tmp_path / "there.db").write_text("mine")
    with pytest.raises(FileExistsError, match="target: must not exist"):
        salvage(damaged, tmp_path / "there.db")
    damaged.write_bytes(b"\0" * PAGE + damaged.read_bytes()[PAGE:])
    with pytest.raises(StoreCorrupt):
        salvage(damaged, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
