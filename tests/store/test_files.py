"""Copies, and what is left of a forgotten memory."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import pytest

import oneiros
from oneiros.errors import StoreFull
from oneiros.model.memory import Memory
from oneiros.store import Store
from oneiros.store import files as store_files
from tests.store.samples import add

NOW = 1_780_000_000.0
SECRET = "the canary sings at midnight in Zürich"


def memory(id: str, text: str = "x", **fields: object) -> Memory:
    return Memory.from_record({"id": id, "text": text, **fields}, now=NOW)


def erase(store: Store, id: str) -> None:
    with store.write() as transaction:
        assert transaction.erase(id)


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


LONG = "".join(f"{SECRET} {number}; " for number in range(2000))


@pytest.mark.parametrize("text", [SECRET, LONG], ids=["short", "over many pages"])
@pytest.mark.parametrize("others", [0, 300])
def test_nothing_is_left_of_a_forgotten_text(tmp_path: Path, text: str, others: int) -> None:
    path = tmp_path / "mind.db"
    needle = text.encode()
    with Store(path) as store:
        add(store, *(memory(f"a{i}", "plain words " * 30) for i in range(others)))
        add(store, memory("secret", text, title=SECRET, tags=[SECRET], metadata={"k": SECRET}))
        add(store, *(memory(f"b{i}", "plain words " * 30) for i in range(others)))
        with store.write() as transaction:
            transaction.update("secret", {"text": text + " and more"})
        store.checkpoint()
        assert not store.verify_erased(needle)
        erase(store, "secret")
        assert not store.verify_erased(needle), "the log still holds it"
        store.checkpoint()
        assert store.verify_erased(needle)
        assert SECRET.encode() not in bytes_of(tmp_path)
        assert store.quick_check() == []
        assert store.count() == 2 * others


def test_nothing_is_left_of_a_text_that_was_changed(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        add(store, memory("a", LONG))
        store.checkpoint()
        with store.write() as transaction:
            transaction.update("a", {"text": "short"})
        store.checkpoint()
        assert store.verify_erased(LONG.encode())
        assert SECRET.encode() not in bytes_of(tmp_path)


def test_a_text_that_is_there_is_found_wherever_sqlite_put_it(tmp_path: Path) -> None:
    texts = [f"{number:06d}" * size for number, size in enumerate([3, 90, 650, 700, 900, 5000])]
    with Store(tmp_path / "mind.db") as store:
        for number, text in enumerate(texts):
            add(store, memory(f"m{number}", text, metadata={"fill": "f" * 500 * number}))
        for where in ("log", "file"):
            for text in texts:
                assert not store.verify_erased(text.encode()), (where, text[:12])
                assert not store.verify_erased(text[7:-7].encode() if len(text) > 60 else b"00")
            assert store.verify_erased(b"this was never here")
            store.checkpoint()
    with Store(":memory:") as store:
        add(store, memory("a", SECRET))
        assert not store.verify_erased(SECRET.encode())
        erase(store, "a")
        assert store.verify_erased(SECRET.encode())
        with pytest.raises(ValueError, match="needle: must be at least one byte"):
            store.verify_erased(b"")


@pytest.mark.parametrize("source", ["mind.db", ":memory:"])
def test_a_backup_is_a_store_of_its_own(tmp_path: Path, source: str) -> None:
    path = source if source == ":memory:" else tmp_path / source
    copy = tmp_path / "copy.db"
    copy.write_text("an older copy")
    with Store(path) as store:
        add(store, *(memory(f"m{i}", "text " * 100) for i in range(200)))
        store.backup(copy)
        add(store, memory("later"))
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {file.name for file in tmp_path.iterdir()} <= {"mind.db", "copy.db"}
    with Store(copy) as store:
        assert (store.count(), store.revision()) == (200, 1)
        assert store.load(["m7"]) == [memory("m7", "text " * 100)]
        add(store, memory("own"))


def test_a_backup_follows_no_link_and_spares_the_store(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    link = tmp_path / "link"
    link.symlink_to(victim)
    with Store(tmp_path / "mind.db") as store:
        add(store, memory("a"))
        with pytest.raises(ValueError, match="path: must not be a symbolic link"):
            store.backup(link)
        with pytest.raises(ValueError, match="path: must be another file than the store's own"):
            store.backup(tmp_path / "mind.db")
        with pytest.raises(FileNotFoundError):
            store.backup(tmp_path / "nowhere" / "copy.db")
        (tmp_path / "used.db-wal").write_bytes(b"another database's log")
        with pytest.raises(ValueError, match=r"path: must not be a database in use, .*used.db-wal"):
            store.backup(tmp_path / "used.db")
    assert victim.read_text() == "precious"
    assert not list(tmp_path.glob(".*")), "a temporary file was left"


@pytest.mark.parametrize("name", ["copy.db", "out.jsonl"])
def test_drafts_of_killed_processes_go_with_the_next_copy(tmp_path: Path, name: str) -> None:
    def draft(number: int, *, of: str = name, age: float = 3_600.0) -> Path:
        path = tmp_path / f".{of}.{number:012x}.part"
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
        return path

    abandoned = [draft(1), draft(2)]
    journal = tmp_path / f"{abandoned[0].name}-journal"
    journal.write_bytes(b"")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.utime(victim, (0.0, 0.0))
    link = tmp_path / f".{name}.{9:012x}.part"
    link.symlink_to(victim)
    folder = tmp_path / f".{name}.{8:012x}.part"
    folder.mkdir()
    os.utime(folder, (0.0, 0.0))
    kept = [draft(3), draft(4, age=1.0), draft(5, of="other.db"), victim, link, folder]
    code = "import fcntl, time; fcntl.flock(0, fcntl.LOCK_EX); print(flush=True); time.sleep(60)"
    with kept[0].open() as file, oneiros.Engine(":memory:") as mind:
        holder = subprocess.Popen([sys.executable, "-c", code], stdin=file, stdout=subprocess.PIPE)
        try:
            assert holder.stdout is not None
            holder.stdout.readline()  # it writes this one
            mind.add("ant")
            (mind.backup if name.endswith(".db") else mind.export)(tmp_path / name)
        finally:
            holder.kill()
            holder.communicate()
    assert not any(path.exists() for path in (*abandoned, journal))
    assert all(os.path.lexists(path) for path in kept)
    assert victim.read_text() == "precious"


def test_a_backup_on_a_full_disk_names_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:  # noqa: ARG001
        msg = "not an error"
        raise apsw.FullError(msg)

    monkeypatch.setattr(store_files, "_copy_pages", full)
    with Store(tmp_path / "mind.db") as store:
        add(store, memory("a"))
        with pytest.raises(StoreFull) as caught:
            store.backup(tmp_path / "copy.db")
        assert str(caught.value) == f"{tmp_path / 'copy.db'}: the disk is full"
        assert not [path for path in tmp_path.iterdir() if "copy" in path.name]
        add(store, memory("b"))


def test_a_copy_in_a_folder_that_is_missing_names_the_file_that_was_asked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "missing" / "copy.db"
    with Store(tmp_path / "mind.db") as store, pytest.raises(FileNotFoundError) as caught:
        store.backup(path)
    assert caught.value.filename == str(path)


def test_a_backup_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    is_over = threading.Event()
    with Store(tmp_path / "mind.db") as store:
        add(store, *(memory(f"m{i}", "text " * 300) for i in range(1000)))

        def write_on() -> None:
            number = 0
            while not is_over.is_set():
                with store.write() as transaction:  # always two at once
                    transaction.insert_many([memory(f"x{number}"), memory(f"y{number}")])
                number += 1

        thread = threading.Thread(target=write_on)
        thread.start()
        try:
            for number in range(5):
                store.backup(tmp_path / f"copy{number}.db")
        finally:
            is_over.set()
            thread.join()
    for number in range(5):
        with Store(tmp_path / f"copy{number}.db") as copy:
            assert copy.quick_check() == []
            assert copy.count() % 2 == 0
            assert copy.count() == 1000 + 2 * (copy.revision() - 1)
