"""The lexical index's file beside the store: used where it holds, else made again, never wrong."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros import _core
from oneiros.index import snapshot
from oneiros.index.snapshot_parts import PartWriter
from oneiros.store import reading
from oneiros.store.salvage import salvage

WORDS = [f"word{number}" for number in range(60)]
QUERIES = ["word1", "word2 word3", "word7 word7 word40", "title9", "fresh", "nothing"]


@pytest.fixture(autouse=True)
def _few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of 80 texts, some deleted, closed, its snapshot beside it."""
    chosen = random.Random(5)
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind:
        mind.add_many(
            {"id": f"m{i}", "text": " ".join(chosen.choices(WORDS, k=9)), "title": f"title{i % 11}"}
            for i in range(80)
        )
        for i in range(0, 80, 9):
            mind.delete(f"m{i}")
    assert beside(path).is_file()
    return path


def beside(path: Path) -> Path:
    return path.with_name(path.name + "-snapshot")


def answers(mind: oneiros.Engine) -> list[list[tuple[str, float]]]:
    return [
        [
            (result.memory.id, result.score)
            for result in mind.search(query, k=30, now=2e9, reinforce=False).results
        ]
        for query in QUERIES
    ]


def read_rows(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the memories that are read from the store from here on."""
    seen: list[str] = []
    stored = reading.stored

    def watched(*given):  # type: ignore[no-untyped-def]
        found = stored(*given)
        seen.extend(memory.id for memory in found)
        return found

    monkeypatch.setattr(reading, "stored", watched)
    return seen


def rebuilt(path: Path) -> list[list[tuple[str, float]]]:
    """What a store without a snapshot answers."""
    copy = path.with_name("rebuilt.db")
    shutil.copy(path, copy)
    log = path.with_name(path.name + "-wal")
    if log.exists():  # a process was killed
        shutil.copy(log, copy.with_name(copy.name + "-wal"))
    with oneiros.Engine(copy) as mind:
        found = answers(mind)
    for left in copy.parent.glob("rebuilt.db*"):
        left.unlink()
    return found


def is_mapped(mind: oneiros.Engine) -> bool:
    return mind._scope.services.read_model.row_sets.attributes.stored is not None


def test_a_store_opens_with_what_its_snapshot_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = rebuilt(path)
    rows = read_rows(monkeypatch)
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
        assert rows == []
        assert answers(mind) == want
        assert mind.check() == []
    assert beside(path).stat().st_mode & 0o777 == 0o600


def test_only_what_changed_since_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_SHARE_CHANGED", 1)  # not yet worth writing again
    before = beside(path).read_bytes()
    with oneiros.Engine(path) as mind:
        mind.add("fresh word1", id="new")
        mind.update("m4", text="fresh word2")
        mind.delete("m5")
        mind.restore("m9")
        want = answers(mind)
    assert beside(path).read_bytes() == before
    rows = read_rows(monkeypatch)
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
        assert sorted(rows) == ["m4", "m5", "m9", "new"]
        assert answers(mind) == want
        assert mind.check() == []
    assert rebuilt(path) == want


def test_a_store_that_goes_on_writes_its_snapshot_again(path: Path) -> None:
    for round_number in range(4):
        with oneiros.Engine(path) as mind:
            assert is_mapped(mind)
            mind.add_many({"text": f"fresh word{i} round{round_number}"} for i in range(20))
            want = answers(mind)
        assert rebuilt(path) == want


@pytest.mark.parametrize(
    "damage",
    ["missing", "empty", "cut", "flipped", "directory", "unreadable", "other store", "older store"],
)
def test_a_snapshot_that_does_not_hold_is_not_used(path: Path, tmp_path: Path, damage: str) -> None:
    file = beside(path)
    if damage == "missing":
        file.unlink()
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-1])
    elif damage == "flipped":
        bytes_ = bytearray(file.read_bytes())
        bytes_[100] ^= 1
        file.write_bytes(bytes_)
    elif damage == "directory":
        file.unlink()
        file.mkdir()
    elif damage == "unreadable":
        file.unlink()
        file.symlink_to(file)
    elif damage == "other store":
        other = tmp_path / "other.db"
        with oneiros.Engine(other) as mind:
            mind.add_many({"text": "quite other words"} for _ in range(90))
        shutil.copy(beside(other), file)
    else:
        older = tmp_path / "older.db"
        shutil.copy(path, older)
        with oneiros.Engine(path) as mind:
            mind.add_many({"text": "words of a time to come"} for _ in range(90))
        shutil.move(older, path)
    want = rebuilt(path)
    with oneiros.Engine(path) as mind:
        assert not is_mapped(mind)
        assert answers(mind) == want
        assert mind.check() == []


def test_another_analyzer_or_bm25_takes_no_snapshot(path: Path) -> None:
    with oneiros.Engine(path, analyzer="simple") as mind:
        assert not is_mapped(mind)
    with oneiros.Engine(path, k1=0.5) as mind:
        assert not is_mapped(mind)
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)


def test_no_snapshot_outlives_what_was_forgotten(path: Path) -> None:
    with oneiros.Engine(path) as mind:
        mind.add("the password is xyzzy", id="secret")
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
        mind.forget("secret")
        assert not beside(path).exists()
    assert not beside(path).exists()
    with oneiros.Engine(path) as mind:
        assert not is_mapped(mind)
    assert b"xyzzy" not in beside(path).read_bytes()


@pytest.mark.parametrize(
    "head",
    [
        {},
        [],
        7,
        "has_vectors",
        {"has_vectors": False},
        {"has_vectors": False, "has_graph": False},
        {"has_vectors": False, "has_graph": False, "places": 5},
        {"has_vectors": False, "has_graph": False, "places": [["topic"]]},
        {"has_vectors": True, "has_graph": True, "places": []},
    ],
)
def test_a_head_that_makes_no_sense_is_not_gone_by(
    path: Path, monkeypatch: pytest.MonkeyPatch, head: object
) -> None:
    want = rebuilt(path)
    put = PartWriter.put_json

    def forged(self: PartWriter, value: object) -> None:
        is_head = isinstance(value, dict) and "has_vectors" in value
        put(self, head if is_head else value)

    with monkeypatch.context() as patched:
        patched.setattr(PartWriter, "put_json", forged)
        beside(path).unlink()
        with oneiros.Engine(path):
            pass
        assert beside(path).is_file()
    with oneiros.Engine(path) as mind:
        assert answers(mind) == want
        assert mind.check() == []


def test_a_full_disk_leaves_the_store_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with oneiros.Engine(path) as mind:
        mind.add_many({"text": f"fresh word{i}"} for i in range(40))
        want = answers(mind)
        monkeypatch.setattr(_core, "save_store_snapshot", full)
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)  # the former one
        assert answers(mind) == want


@pytest.mark.parametrize("trouble", ["full disk", "read-only folder"])
def test_a_snapshot_that_the_system_refuses_costs_nothing_else(path: Path, trouble: str) -> None:
    before = beside(path).read_bytes()
    assert len(before) > 100_000
    program = f"""
    import ctypes, os, resource, struct, oneiros
    from oneiros.index import snapshot
    snapshot.FEWEST_ROWS = 1
    with oneiros.Engine(":memory:") as mind:
        mind.add("all that is imported later is imported")
        mind.search("imported")
    path = {str(path)!r}
    if {trouble!r} == "read-only folder" and os.geteuid() == 0:
        # Root may write anywhere, unless it gives that right up: for this thread and those to come.
        version = struct.pack("Ii", 0x20080522, 0)
        assert ctypes.CDLL(None).capset(version, bytes(24)) == 0
    mind = oneiros.Engine(path)
    mind.add_many({{"text": f"fresh word{{i}}"}} for i in range(40))
    mind.flush()
    if {trouble!r} == "full disk":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    else:
        os.chmod(os.path.dirname(path), 0o500)
    mind.close()
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            check=True,
            capture_output=True,
            text=True,
        )
    finally:
        path.parent.chmod(0o700)
    assert "-snapshot: not written" in done.stderr
    assert beside(path).read_bytes() == before
    want = rebuilt(path)
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)  # the former one, brought up to the store
        assert len(mind) == 80 - 9 + 40
        assert answers(mind) == want
        assert mind.check() == []
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
    assert sorted(path.parent.iterdir()) == [path, beside(path)]


@pytest.mark.parametrize("step", ["before", "written", "in place"])
def test_killed_while_writing_the_snapshot(path: Path, step: str) -> None:
    """Before the file is written, before it is in place, and before the store knows of it."""
    program = f"""
    import os, signal, oneiros
    from oneiros import _core
    from oneiros.index import snapshot
    snapshot.FEWEST_ROWS = 1
    save = _core.save_store_snapshot
    def killed(**given):
        if {step!r} == "written":
            save(**given)
        os.kill(os.getpid(), signal.SIGKILL)
    if {step!r} == "in place":
        _core.file_stamp = killed
    else:
        _core.save_store_snapshot = killed
    mind = oneiros.Engine({str(path)!r})
    mind.add_many({{"text": f"fresh word{{i}}"}} for i in range(40))
    mind.close()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert done.returncode == -signal.SIGKILL
    want = rebuilt(path)
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind) == (step != "in place")
        assert answers(mind) == want
        assert mind.check() == []
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
    assert sorted(path.parent.iterdir()) == [path, beside(path)]


STATEMENT_BYTES = 56  # SectionKind::kStatementBytes, which is checked on first use


def sections(file: bytes) -> list[tuple[int, int, int]]:
    """The kind, place and length of each section, as cpp/snapshot lays it out."""
    count, table = struct.unpack_from("<12xI8xQ", file)
    entries = struct.iter_unpack("<IIQQII", file[table : table + 32 * count])
    return [(kind, offset, size) for kind, _, offset, size, _, _ in entries]


def test_damaged_in_any_section_it_is_not_used(path: Path) -> None:
    want = rebuilt(path)
    sound = beside(path).read_bytes()
    places = sections(sound)
    assert len(places) > 50  # columns, ids, parts, the lexical index
    for kind, offset, size in places:
        if size == 0 or kind == STATEMENT_BYTES:
            continue
        damaged = bytearray(sound)
        damaged[offset + size // 2] ^= 16
        beside(path).write_bytes(damaged)
        copy = path.with_name("copy.db")
        shutil.copy(path, copy)
        shutil.copy(beside(path), beside(copy))
        with oneiros.Engine(copy) as mind:
            assert not is_mapped(mind)
            assert answers(mind) == want
        for left in copy.parent.glob("copy.db*"):
            left.unlink()


def test_two_that_close_at_once_leave_one_file_and_no_warning(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = oneiros.Engine(path), oneiros.Engine(path)
    first.add_many({"text": f"fresh word{n}"} for n in range(40))
    second.refresh()
    save = _core.save_store_snapshot
    left = [second.close]

    def saved(**parts: Any) -> None:
        save(**parts)
        if left:  # the other closes as a whole before this one's file is in place
            left.pop()()

    monkeypatch.setattr(_core, "save_store_snapshot", saved)
    first.close()
    assert not left
    assert "not written" not in caplog.text
    assert [file.name for file in path.parent.iterdir() if "snapshot" in file.name] == [
        beside(path).name
    ]
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
        assert mind.check() == []


@pytest.mark.parametrize("reads_first", [True, False])
def test_damaged_statements_are_read_from_the_store(
    tmp_path: Path, reads_first: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """H12. The newer of two conflicting memories stays first."""
    path = tmp_path / "facts.db"
    with oneiros.Engine(path) as engine:
        engine.add("I work at Globex as a baker", id="old", created_at=1e9)
        engine.add(
            "I left Globex and started at Initech as a baker now", id="new", created_at=1.1e9
        )
        engine.add("The bakery at the corner sells rye bread", id="gone", created_at=1.2e9)
        engine.delete("gone")

    def scores(engine: oneiros.Engine, profile: oneiros.Profile | None = None) -> dict[str, float]:
        query = "Do I work as a baker at Globex?"
        found = engine.search(query, now=1.3e9, reinforce=False, profile=profile)
        return dict(zip(found.ids, found.scores, strict=True))

    plain = oneiros.profiles.get("oneiros").replace(newer_first=None)
    with oneiros.Engine(path) as engine:
        assert is_mapped(engine)
        want = scores(engine)
        assert list(want) == ["new", "old"]
        assert list(scores(engine, plain)) == ["old", "new"]
    file = bytearray(beside(path).read_bytes())
    (place,) = [offset for kind, offset, _ in sections(file) if kind == STATEMENT_BYTES]
    file[place + 40] ^= 1
    beside(path).write_bytes(file)
    newest = "I no longer work at Initech as a baker, Umbrella hired me"
    with caplog.at_level("INFO"), oneiros.Engine(path) as engine:
        assert is_mapped(engine)
        if reads_first:
            assert scores(engine) == want
        engine.add(newest, id="newest", created_at=1.25e9)
        changed = scores(engine)
        assert next(iter(changed)) == "newest"
        assert engine.check() == []
    assert "statements are read from the store" in caplog.text
    beside(path).unlink()
    with oneiros.Engine(path) as engine:
        assert scores(engine) == changed


def test_another_version_s_snapshot_is_not_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "_FORMAT", -1)
        with oneiros.Engine(path) as mind:
            assert not is_mapped(mind)
            mind.add("fresh word1")
    with oneiros.Engine(path) as mind:
        assert not is_mapped(mind)
        assert mind.check() == []


def test_what_another_process_wrote_since_is_there(path: Path) -> None:
    program = f"""
    import oneiros
    from oneiros.index import snapshot
    snapshot.FEWEST_ROWS = 1
    with oneiros.Engine({str(path)!r}) as mind:
        mind.add_many({{"text": f"fresh word{{i}}"}} for i in range(40))
        mind.delete("m3")
    """
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
        subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)
        want = answers(mind)  # its own file was replaced under it
        assert want == rebuilt(path)
        mind.add("word1 of ours", id="ours")
        want = answers(mind)
    with oneiros.Engine(path) as mind:
        assert is_mapped(mind)
        assert answers(mind) == want == rebuilt(path)


def test_a_child_of_a_fork_leaves_the_snapshot_to_its_parent(path: Path) -> None:
    with oneiros.Engine(path) as mind:
        want = answers(mind)
        child = os.fork()
        if child == 0:
            mind.close()
            with oneiros.Engine(path) as own:
                os._exit(0 if is_mapped(own) and answers(own) == want else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        mind.add("word1 of ours")
        assert answers(mind) == rebuilt(path)


def test_a_store_that_was_salvaged_takes_no_snapshot(path: Path, tmp_path: Path) -> None:
    saved = tmp_path / "salvaged.db"
    with oneiros.Engine(path) as mind:
        want = answers(mind)
    salvage(path, saved)
    shutil.copy(beside(path), beside(saved))
    with oneiros.Engine(saved) as mind:
        assert not is_mapped(mind)
        assert answers(mind) == want
