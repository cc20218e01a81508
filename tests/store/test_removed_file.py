"""A store whose file is removed, renamed or replaced while an engine has it open."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import oneiros
from oneiros import Engine, StoreFull, StoreIOError, StorePoisoned
from oneiros.store import Store

NOW = 1_750_000_000.0


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    with Engine(other) as engine:
        engine.add("of the other store")
    other.replace(path)


WRITES: dict[str, Callable[[Engine], object]] = {
    "add": lambda engine: engine.add("later"),
    "add_many": lambda engine: engine.add_many([{"text": "later"}, {"text": "later still"}]),
    "update": lambda engine: engine.update("a", title="later"),
    "forget": lambda engine: engine.forget("a"),
}


@pytest.mark.parametrize("change", [remove, rename, replace])
@pytest.mark.parametrize("write", WRITES)
def test_no_write_is_taken_that_would_be_lost(
    tmp_path: Path, change: Callable[[Path], None], write: str
) -> None:
    path = tmp_path / "a.db"
    engine = Engine(path)
    engine.add("coffee", id="a")
    change(path)
    with pytest.raises(StorePoisoned, match="the file was removed or replaced"):
        WRITES[write](engine)
    assert engine.search("coffee", reinforce=False).ids == ["a"]
    engine.close()


@pytest.mark.parametrize("change", [remove, rename, replace])
def test_no_read_is_of_the_file_that_took_the_place(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "a.db"
    with Store(path, clock=lambda: NOW) as store, Engine(path) as engine:
        engine.add("coffee", id="a")
        with store.read() as reading:
            change(path)
            # Another thread would read beside this one, which takes another connection.
            with (
                pytest.raises(StoreIOError, match="the file was removed or replaced"),
                store.read(),
            ):
                pytest.fail("another file was read")
            assert reading.count() == 1
        with store.read() as reading:
            assert reading.count() == 1


def test_reads_go_on_without_the_uses_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    engine = Engine(path, clock=lambda: NOW)
    engine.add("coffee", id="a")
    path.unlink()
    engine.search("coffee")
    engine.backup(tmp_path / "saved.db")
    engine.search("coffee")
    assert [revision.memory.text for revision in engine.history("a")] == ["coffee"]
    engine.search("coffee")
    assert engine.get("a", as_of=NOW).text == "coffee"
    with pytest.raises(StorePoisoned):
        engine.close()
    with Engine(tmp_path / "saved.db") as saved:
        assert saved.get("a").text == "coffee"


def test_a_store_on_a_full_disk_can_be_saved_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        msg = "no space"
        raise StoreFull(msg)

    engine = Engine(tmp_path / "a.db")
    engine.add("coffee", id="a")
    engine.search("coffee")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", refuse)
        engine.backup(tmp_path / "saved.db")
    engine.close()
    for name, uses in (("saved.db", 0), ("a.db", 1)):
        with Engine(tmp_path / name) as saved:
            assert saved.get("a").access_count == uses


def test_reads_need_no_lock_for_the_uses_that_wait(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Engine(path, busy_timeout_seconds=0) as engine:
        engine.add("coffee", id="a")
        with Store(path, clock=lambda: NOW) as other, other.write():
            engine.search("coffee")
            assert len(engine.history("a")) == 1
            engine.backup(tmp_path / "saved.db")
    with Engine(path) as again:
        assert again.get("a").access_count == 1


def test_the_log_of_the_store_that_took_the_place_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    engine = Engine(path)
    engine.add("coffee", id="a")
    for part in ("", "-wal", "-shm"):
        path.with_name(f"a.db{part}").unlink()
    other = Engine(path)
    other.add("tea", id="b")
    engine.close()  # SQLite removes the log by its name when it closes
    assert path.with_name("a.db-wal").stat().st_size > 0
    other.add("milk", id="c")
    other.close()
    with Engine(path) as again:
        assert [memory.id for memory in again.list()] == ["b", "c"]


def test_uses_that_cannot_be_written_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    engine = Engine(path)
    engine.add("coffee")
    path.unlink()
    engine.search("coffee")
    with pytest.raises(StorePoisoned):
        engine.flush()
    with pytest.raises(StorePoisoned):
        engine.close()


def test_another_folder_of_the_process_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Engine("a.db") as engine:
        (tmp_path / "folder").mkdir()
        os.chdir("folder")
        engine.add("coffee")
        engine.add_many([{"text": "tea"}, {"text": "milk"}])
    with oneiros.Engine(tmp_path / "a.db") as again:
        assert len(again) == 3


def test_links_to_the_file_are_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.db", tmp_path / "link.db"
    Engine(real).close()
    link.symlink_to(real)
    with Engine(link) as engine:
        engine.add("coffee")
    with Engine(real) as again:
        assert len(again) == 1
