"""A damaged store gives up what can still be read, and the count is right."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from oneiros.errors import OneirosError, StoreCorrupt
from oneiros.memory import Memory
from oneiros.store import Store
from oneiros.store.salvage import salvage
from tests.store.samples import FULL, memory, rows

PAGE = 4096


def texts(number: int) -> Memory:
    return memory(f"m{number}", text=f"text {number} " * 40)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A sound store of 100 memories, to be damaged."""
    path = tmp_path / "damaged.db"
    with Store(path) as store:
        with store.write() as transaction:
            transaction.insert(FULL, embedding_blob=b"vector")
            transaction.insert_many([texts(number) for number in range(99)])
            transaction.set_setting("embedder", "mini")
        with store.write() as transaction:
            transaction.erase("m50")
    return path


def test_a_sound_store_comes_over_whole(tmp_path: Path, damaged: Path) -> None:
    before = damaged.read_bytes()
    assert salvage(damaged, tmp_path / "new.db") == (99, 0, 0, 1, 0)
    assert damaged.read_bytes() == before
    with Store(damaged) as old, Store(tmp_path / "new.db") as new:
        ids = [row.id for row in rows(old)]
        assert [row.id for row in rows(new)] == ids
        assert new.load(ids) == old.load(ids)
        assert rows(new)[0].embedding == b"vector"
        assert new.settings() == {"embedder": "mini"}


def test_every_page_but_the_first_may_be_lost(tmp_path: Path, damaged: Path) -> None:
    whole = damaged.read_bytes()
    with Store(damaged) as store:
        wanted = {row.id: row.text for row in rows(store)}
    most_lost = 0
    for page in range(1, len(whole) // PAGE):
        path = tmp_path / "page.db"
        path.write_bytes(whole[: page * PAGE] + b"\xff" * PAGE + whole[(page + 1) * PAGE :])
        before = path.read_bytes()
        target = tmp_path / f"new{page}.db"
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


def test_a_store_cut_short_gives_up_what_is_left(tmp_path: Path, damaged: Path) -> None:
    whole = damaged.read_bytes()
    counts = []
    step = 1 if os.environ.get("ONEIROS_LONG") else 3001
    for size in range(PAGE, len(whole) + 1, step):
        path = tmp_path / "cut.db"
        path.write_bytes(whole[:size])
        target = tmp_path / f"new{size}.db"
        try:
            counts.append(salvage(path, target).memories)
        except OneirosError:
            counts.append(0)
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[len(counts) * 5 // 6] > 30  # the first pages hold the roots of tables
    assert counts[-1] > 90


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
