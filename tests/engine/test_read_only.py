"""A read-only engine reads whatever lies there, follows others, and leaves every byte as it is."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

import oneiros
from oneiros.engine.memories import Memories
from oneiros.store import Store, read_only
from tests.store.test_older_files import MEMORIES, narrow_file

NOW = 1_750_000_000.0

# Another process looks at the files: opening and closing them here would drop SQLite's locks.
LOOK = """
import hashlib, json, os, sys
found = {}
for name in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], name)
    stat = os.stat(path)
    with open(path, "rb") as file:
        digest = hashlib.blake2b(file.read()).hexdigest()
    found[name] = [stat.st_ino, stat.st_mode, stat.st_size, stat.st_mtime_ns, digest]
print(json.dumps(found))
"""

KILLED = """
import os, sys, oneiros
engine = oneiros.Engine(sys.argv[1])
for n in range(40):
    engine.add(f"late tea number {n}", id=f"late{n}")
engine.delete("m1")
os.kill(os.getpid(), 9)
"""

# Adds on demand, one line of input each, and answers when it is done.
WRITER = """
import sys, oneiros
engine = oneiros.Engine(sys.argv[1])
print("open", flush=True)
for line in sys.stdin:
    word, id = line.split()
    if word == "add":
        engine.add(f"fresh word {id}", id=id)
    elif word == "forget":
        engine.forget(id)
    print("done", flush=True)
engine.close()
"""


def look(folder: Path) -> dict[str, Any]:
    """Return inode, mode, size, time and digest of every file."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(folder)], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Writer:
    """A process that has the store open for writing."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer("open")

    def _answer(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == word

    def write(self, word: str, id: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word} {id}\n")
        self._process.stdin.flush()
        self._answer("done")

    def close(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


def filled(path: Path, count: int = 30) -> None:
    with oneiros.Engine(path) as engine:
        engine.add_many(
            {"id": f"m{n}", "text": f"tea number {n}", "user": "ada" if n % 2 else None}
            for n in range(count)
        )
        engine.link("m2", "m3")


def killed(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder / "store?mode=rw#50%25.db"


def read_everything(engine: oneiros.Engine) -> dict[str, Any]:
    """Return what a user can read of a store."""
    scope = engine.scope(user="ada")
    searches = [
        [(result.id, result.score) for result in source.search(query, reinforce=False, now=NOW)]
        for source in (engine, scope)
        for query in ("tea", "late tea 7", "number 12")
    ]
    return {
        "searches": searches,
        "list": [memory.to_record() for memory in engine.list(limit=10_000)],
        "deleted": engine.get_deleted(["m1", "m2"]),
        "count": (engine.count(), scope.count()),
        "links": engine.links(now=NOW),
        "values": engine.values("user"),
        "changes": engine.changes().entries,
        "why_not": engine.why_not("late", "m5", now=NOW).verdict,
        "similar": engine.similar("m2"),
        "dreams": len(engine.dreams()),
        "plan": len(engine.dream(now=NOW + 400 * 86_400.0, dry_run=True)),
        "check": engine.check(deep=True),
    }


def kept_open(path: Path) -> Iterator[None]:
    writer = Writer(path)
    writer.write("add", "w1")
    yield
    writer.close()


def left(path: Path) -> Iterator[None]:
    killed(path)
    yield


def closed(path: Path) -> Iterator[None]:
    assert [file.name for file in path.parent.iterdir() if "-wal" in file.name] == []
    yield


@pytest.mark.parametrize("count", [30, 2_500], ids=["small", "with snapshot"])
@pytest.mark.parametrize("state", [closed, left, kept_open])
def test_everything_is_read_and_no_byte_is_written(
    path: Path, tmp_path: Path, state: Callable[[Path], Iterator[None]], count: int
) -> None:
    filled(path, count)
    assert (count >= 2_000) == Path(f"{path}-snapshot").exists()
    steps = state(path)
    next(steps)
    before = look(path.parent)
    copy = tmp_path / "copy"
    with oneiros.Engine(path, read_only=True) as engine:
        found = read_everything(engine)
        engine.export(tmp_path / "out.jsonl")
        engine.backup(tmp_path / "backup.db")
        assert engine.verify_erased("never stored")
        assert not engine.verify_erased("tea number 2")
        assert engine.interrupted_dream() is None
        assert engine.dream(dry_run=True).impact(["tea"]).mean_overlap == 1.0
        engine.flush()
        engine.refresh()
        engine.end_session()
        assert engine.search("tea").results  # no reinforcement either
    assert look(path.parent) == before
    shutil.copytree(path.parent, copy)
    next(steps, None)
    with oneiros.Engine(copy / path.name) as other:
        assert read_everything(other) == found
    with oneiros.Engine(tmp_path / "backup.db") as other:
        assert [memory.to_record() for memory in other.list(limit=10_000)] == found["list"]
    assert (state is left) == (found["deleted"][0] is not None)


WRITING: dict[str, tuple[Any, ...]] = {
    "add": ("text",),
    "add_many": ([{"text": "text"}],),
    "update": ("m1",),
    "touch": ("m1",),
    "sweep_expired": (),
    "feedback": ("m1", "helpful"),
    "delete": ("m1",),
    "restore": ("m1",),
    "forget": ("m1",),
    "forget_many": (["m1"],),
    "supersede": ("m1", "m2"),
    "resolve_conflict": ("m1", "m2", "update"),
    "pin": ("m1",),
    "link": ("m1", "m2"),
    "link_many": ([("m1", "m2")],),
    "unlink": ("m2", "m3"),
    "promote": (),
    "embed_missing": (),
    "reembed": (len,),
    "purge": (),
    "dream": (),
    "undo_dream": ("id",),
    "keep_dreaming": (),
}
KEYWORDS: dict[str, dict[str, Any]] = {"touch": {"ttl": 5}}
READING = {
    *("search", "search_many", "statistics", "why_not", "similar", "near_duplicates"),
    *("get", "get_many", "get_deleted", "count", "list", "last", "values", "changes"),
    *("links", "neighbours", "rescore", "export", "backup", "scope", "stats", "check"),
    *("verify_erased", "purgeable", "dreams", "drift", "interrupted_dream", "observe"),
    *("flush", "refresh", "end_session", "close", "history", "conflicts"),
}


def test_every_public_method_reads_or_is_refused() -> None:
    methods = {
        name
        for name, _ in inspect.getmembers(oneiros.Engine, inspect.isfunction)
        if not name.startswith("_")
    }
    assert methods == {*WRITING, *READING}


@pytest.mark.parametrize("name", WRITING)
def test_a_writing_method_is_refused_by_name(path: Path, name: str) -> None:
    filled(path)
    before = look(path.parent)
    with oneiros.Engine(path, read_only=True) as engine:
        targets = [engine]
        if hasattr(Memories, name):
            targets.append(engine.scope(user="ada"))  # type: ignore[arg-type]
        for target in targets:
            with pytest.raises(oneiros.EngineReadOnly) as caught:
                getattr(target, name)(*WRITING[name], **KEYWORDS.get(name, {}))
            said = str(caught.value)
            assert said.startswith(f"{name}: ")
            assert "read_only=True" in said
            assert repr(str(path)) in said
        assert isinstance(caught.value, oneiros.OneirosError)
        if name == "dream":
            with pytest.raises(oneiros.EngineReadOnly, match="apply: this engine"):
                engine.dream(dry_run=True).apply()
        if name == "promote":
            assert engine.promote(threshold=0.01, dry_run=True).considered == 30
    assert look(path.parent) == before


def test_searches_never_reinforce(path: Path) -> None:
    filled(path)
    with oneiros.Engine(path, read_only=True, profile="cognitive") as engine:
        response = engine.search("tea")
        engine.search_many(["tea", "number"])
        assert "reinforcement" not in [stage.name for stage in response.trace.stages]
        assert {memory.access_count for memory in engine.list()} == {0}
        for call in (engine.search, engine.scope(user="ada").search):
            with pytest.raises(oneiros.EngineReadOnly, match=r"search\(reinforce=True\): "):
                call("tea", reinforce=True)
        with pytest.raises(oneiros.EngineReadOnly, match=r"search_many\(reinforce=True\): "):
            engine.search_many(["tea"], reinforce=True)
        assert engine.search("tea", reinforce=False).ids


def test_it_says_so(path: Path) -> None:
    filled(path)
    with oneiros.Engine(path, read_only=True) as engine:
        assert repr(engine) == f"<Engine {str(path)!r}, 30 memories, read-only>"
        scope = engine.scope(user="ada")
        assert repr(scope) == f"<Scope user='ada' of {str(path)!r}, 15 memories, read-only>"
        assert engine.stats()["read_only"] is True
    assert repr(engine) == f"<Engine {str(path)!r}, closed>"
    with oneiros.Engine(path) as writing:
        assert "read_only" not in writing.stats()


def test_options_of_the_store_apply_and_others_are_not_recorded(path: Path) -> None:
    with oneiros.Engine(path, analyzer="german", k1=1.7) as engine:
        engine.add("Die Häuser am Fluss", id="a")
    before = look(path.parent)
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.stats()["lexical"]["analyzer"] == "german"
        assert engine.search("Haus").ids == ["a"]
    with oneiros.Engine(path, read_only=True, analyzer="simple", b=0.1) as engine:
        assert engine.stats()["lexical"]["analyzer"] == "simple"
        assert engine.search("Haus").ids == []
        assert engine.search("häuser").ids == ["a"]
    assert look(path.parent) == before


def test_vectors_are_searched(path: Path) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[float(text.count("a")), float(text.count("b"))] for text in texts]

    with oneiros.Engine(path, embedder=embed) as engine:
        engine.add("aaa", id="a")
        engine.add("bbb", id="b")
    with oneiros.Engine(path, read_only=True, embedder=embed) as engine:
        assert engine.search("a a b").ids == ["a", "b"]
        assert engine.stats()["vectors"] == 2
    with (
        pytest.warns(oneiros.MissingEmbedderWarning),
        oneiros.Engine(path, read_only=True) as engine,
    ):
        assert engine.search("aaa").ids == ["a"]


# -- what cannot be read ------------------------------------------------------------------------------


def refused(path: Path, error: type[Exception], *words: str) -> None:
    """Check that the file is refused in these words, and that nothing in its folder changes."""
    before = look(path.parent) if path.parent.exists() else None
    with pytest.raises(error) as caught:
        oneiros.Engine(path, read_only=True)
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value, oneiros.OneirosError)
    assert (look(path.parent) if path.parent.exists() else None) == before


def test_a_missing_file_is_not_made(path: Path) -> None:
    refused(path, oneiros.StoreIOError, str(path), "there is no such file")
    refused(path.parent / "none" / "s.db", oneiros.StoreIOError, "there is no such file")


def test_an_empty_file_gets_no_tables(path: Path) -> None:
    path.touch()
    refused(path, oneiros.StoreCorrupt, str(path), "the file is empty")


def test_other_files_are_refused(path: Path) -> None:
    path.write_bytes(b"no database " * 1_000)
    refused(path, oneiros.StoreCorrupt, "is no store")
    path.unlink()
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE other (x)")
    refused(path, oneiros.StoreCorrupt, "not a store of Oneiros")


def test_an_older_version_is_not_migrated(path: Path) -> None:
    narrow_file(path)
    refused(
        path,
        oneiros.StoreVersionError,
        "schema version 8",
        "does not migrate",
        "open it once without read_only=True",
    )
    Store(path).close()  # migrates it
    with Store(path, read_only=True) as store:
        assert store.count() == len(MEMORIES)


def test_a_newer_version_is_refused(path: Path) -> None:
    filled(path)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA user_version = 99")
    refused(path, oneiros.StoreVersionError, "schema version 99", "newer Oneiros")


def test_a_log_without_its_index_is_named(path: Path) -> None:
    filled(path)
    killed(path)
    Path(f"{path}-shm").unlink()
    began = time.monotonic()
    refused(
        path,
        oneiros.StoreIOError,
        f"{path}-wal holds commits that are not in the file yet",
        f"{path}-shm is missing",
        "open the store once without read_only=True",
    )
    assert time.monotonic() - began < 10
    oneiros.Engine(path).close()
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.search("late tea 7").ids[0] == "late7"


@pytest.mark.parametrize("is_followed", [True, False])
def test_a_file_that_takes_the_place_is_not_taken_for_the_first(
    path: Path, is_followed: bool
) -> None:
    other = path.with_name("other.db")
    for file, text in ((path, "tea"), (other, "coffee")):
        with oneiros.Engine(file) as engine:
            engine.add_many({"id": f"m{n}", "text": f"{text} {n}"} for n in range(9))
    with oneiros.Engine(path, read_only=True, auto_refresh=is_followed) as reader:
        response = reader.search("tea 5")
        other.replace(path)
        for read in (
            lambda: reader.get("m5"),
            lambda: response.results[0].text,
            lambda: reader.search("tea 7").results[0].text,
            reader.refresh,
        ):
            with pytest.raises(oneiros.StoreIOError, match="the file was removed or replaced"):
                read()
    with oneiros.Engine(path, read_only=True) as reader:
        assert reader.get("m5").text == "coffee 5"


def test_an_empty_log_is_no_log(path: Path) -> None:
    filled(path)
    Path(f"{path}-wal").touch()
    before = look(path.parent)
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.count() == 30
    assert look(path.parent) == before


def test_an_empty_log_with_an_index_is_read(path: Path) -> None:
    filled(path)
    Path(f"{path}-wal").touch(0o600)  # as SQLite makes it
    Path(f"{path}-shm").write_bytes(bytes(32_768))
    before = look(path.parent)
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.count() == 30
    assert look(path.parent) == before


def test_an_interrupted_journal_is_named(path: Path) -> None:
    filled(path)
    Path(f"{path}-journal").write_bytes(b"x" * 512)
    refused(path, oneiros.StoreIOError, f"{path}-journal", "rolled back")


def test_a_file_that_may_not_be_read_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path)
    monkeypatch.setattr(read_only.os, "access", lambda *_: False)
    refused(path, oneiros.StoreIOError, "the file cannot be read: Permission denied")


def test_arguments_are_checked(path: Path) -> None:
    with pytest.raises(ValueError, match="read_only: must be False for a store in memory"):
        oneiros.Engine(":memory:", read_only=True)
    with pytest.raises(TypeError, match="read_only"):
        oneiros.Engine(path, read_only=1)  # type: ignore[arg-type]
    assert not list(path.parent.iterdir())


# -- a medium that cannot be written ------------------------------------------------------------------

# Root ignores permissions, so the child gives its rights up, after it has loaded all modules.
UNPRIVILEGED = """
import json, os, sys, numpy, oneiros
warm, path = sys.argv[1:]
def read(path):
    with oneiros.Engine(path, read_only=True) as engine:
        found = [engine.count(), engine.search("late tea 7").ids[:1], engine.get("m2").text]
        try:
            engine.add("x")
        except oneiros.EngineReadOnly:
            return found + [engine.interrupted_dream(), len(engine.changes())]
read(warm)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    open(os.path.join(os.path.dirname(path), "new"), "w")
except PermissionError:
    pass
else:
    sys.exit("the folder can be written")
try:
    print(json.dumps(read(path)))
except oneiros.OneirosError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""


@pytest.mark.parametrize("state", ["closed", "left", "kept open", "without index"])
def test_a_folder_that_cannot_be_written(tmp_path: Path, state: str) -> None:
    warm = tmp_path / "warm.db"
    filled(warm)
    public = Path("/tmp") / f"oneiros-read-only-{os.getpid()}-{time.time_ns()}"
    public.mkdir(mode=0o755)
    try:
        path = public / "store.db"
        filled(path)
        writer = None
        if state in ("left", "without index"):
            killed(path)
        if state == "without index":
            Path(f"{path}-shm").unlink()
        if state == "kept open":
            writer = Writer(path)
            writer.write("add", "w1")
        for file in public.iterdir():
            file.chmod(0o444)
        public.chmod(0o555)
        before = look(public)
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, str(warm), str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert look(public) == before
        if state == "without index":
            assert found[0] == "StoreIOError"
            assert "-shm is missing" in found[1]
        elif state == "left":
            assert found == [69, ["late7"], "tea number 2", None, 70]
        elif state == "kept open":
            assert found == [31, ["m7"], "tea number 2", None, 31]
        else:
            assert found == [30, ["m7"], "tea number 2", None, 30]
        public.chmod(0o755)
        for file in public.iterdir():
            file.chmod(0o644)
        if writer is not None:
            writer.close()
    finally:
        public.chmod(0o755)
        shutil.rmtree(public)


# -- others that write --------------------------------------------------------------------------------


def test_it_follows_a_process_that_comes_and_goes(path: Path) -> None:
    filled(path)
    with oneiros.Engine(path, read_only=True) as engine:
        since = engine.changes().revision
        for turn in range(3):
            writer = Writer(path)
            for number in range(3):
                id = f"t{turn}n{number}"
                writer.write("add", id)
                assert engine.search(f"fresh {id}").ids[0] == id
                feed = engine.changes(since)
                assert [(change.id, change.kind) for change in feed] == [(id, "changed")]
                since = feed.revision
            writer.write("forget", f"t{turn}n1")
            assert engine.count() == 30 + 2 * (turn + 1)
            assert [change.kind for change in engine.changes(since)] == ["erased"]
            writer.close()
            since = engine.changes(since).revision
            assert engine.get_many([f"t{turn}n1", "m1"])[0] is None
            assert engine.check(deep=True) == []
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.count() == 36


def test_without_refresh_it_stays_until_asked(path: Path) -> None:
    filled(path)
    with oneiros.Engine(path, read_only=True, auto_refresh=False) as engine:
        writer = Writer(path)
        writer.write("add", "fresh")
        assert engine.search("fresh").ids == []
        engine.refresh()
        assert engine.search("fresh").ids == ["fresh"]
        writer.close()


def test_a_file_that_is_changed_during_a_read_is_not_taken_for_one_state(path: Path) -> None:
    filled(path)
    with Store(path, read_only=True) as store:

        def read_slowly() -> None:
            with store.read() as reading:
                assert reading.count() == 30
                writer = Writer(path)
                writer.write("add", "fresh")
                writer.close()  # which moves the log into the file

        with pytest.raises(oneiros.StoreBusy, match="another process changed the file while"):
            read_slowly()
        assert store.count() == 31
        assert store.load(["fresh"])[0] is not None


def test_opening_reads_again_if_the_file_was_changed_meanwhile(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    plain = read_only.ReadOnlyReaders._require_unchanged
    failures = iter([True])

    def once(self: Any, connection: Any, error: Any) -> None:
        if _is_reading_all():
            for _ in failures:
                msg = "another process changed the file while it was read"
                raise oneiros.StoreBusy(msg)
        plain(self, connection, error)

    monkeypatch.setattr(read_only.ReadOnlyReaders, "_require_unchanged", once)
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.search("number 7").ids[0] == "m7"
        assert engine.check(deep=True) == []
    assert next(failures, None) is None


def _is_reading_all() -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_read_all":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def test_an_engine_that_writes_in_the_same_process(path: Path) -> None:
    filled(path)
    with oneiros.Engine(path, read_only=True) as reading:
        with oneiros.Engine(path) as writing:
            writing.add("fresh words", id="fresh")
            assert reading.search("fresh").ids == ["fresh"]
            writing.forget("fresh")
            assert reading.search("fresh").ids == []
            writing.dream(now=NOW + 400 * 86_400.0)
            assert len(reading.dreams()) == 1
        assert reading.count() == 30
        assert reading.check(deep=True) == []
    with oneiros.Engine(path) as writing:
        assert writing.check(deep=True) == []


def test_an_engine_that_writes_comes_after_one_that_reads_a_log(path: Path) -> None:
    """SQLite shares the log's index within a process, here opened for reading only."""
    filled(path)
    killed(path)
    with oneiros.Engine(path, read_only=True) as reading:
        with (
            oneiros.Engine(path) as writing,
            pytest.raises(oneiros.StoreIOError, match="a read-only engine of this process"),
        ):
            writing.add("x")
        assert reading.count() == 69
    with oneiros.Engine(path) as writing:
        writing.add("x")
        assert writing.check(deep=True) == []
        assert writing.count() == 70


def test_opening_goes_on_while_processes_come_and_go(path: Path) -> None:
    filled(path)
    done = threading.Event()

    def come_and_go() -> None:
        for number in range(4):
            writer = Writer(path)
            writer.write("add", f"w{number}")
            writer.close()
        done.set()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    opened = 0
    while not done.is_set():
        with oneiros.Engine(path, read_only=True) as engine:
            assert engine.count() >= 30
            assert engine.search("number 7").ids[0] == "m7"
        opened += 1
    thread.join()
    assert opened > 4
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.count() == 34
    with oneiros.Engine(path) as engine:
        assert engine.check(deep=True) == []


def test_a_snapshot_with_erased_memories_is_neither_used_nor_removed(
    path: Path, tmp_path: Path
) -> None:
    filled(path, 2_500)
    snapshot, kept = Path(f"{path}-snapshot"), tmp_path / "kept"
    shutil.copy2(snapshot, kept)
    writer = Writer(path)
    writer.write("forget", "m7")
    shutil.copy2(kept, snapshot)
    with oneiros.Engine(path, read_only=True) as engine:
        assert engine.count() == 2_499
        assert engine.get_many(["m7"]) == [None]
        assert engine.check(deep=True) == []
    assert snapshot.exists()
    writer.close()


def test_many_threads_read_while_a_process_writes(path: Path) -> None:
    filled(path)
    stop = threading.Event()
    failures: list[BaseException] = []
    with oneiros.Engine(path, read_only=True) as engine:

        def work() -> None:
            seen = 0
            try:
                while not stop.is_set():
                    found = engine.count()
                    assert found >= seen  # a prefix of the commits, never less than before
                    seen = found
                    assert engine.search("tea", k=3).ids
                    assert len(engine.changes()) >= seen
                    assert engine.get("m3").text == "tea number 3"
            except oneiros.StoreBusy:
                pass  # a checkpoint came between
            except BaseException as error:  # noqa: BLE001 - shown below
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        writer = Writer(path)
        for number in range(60):
            writer.write("add", f"w{number}")
        writer.close()
        stop.set()
        for thread in threads:
            thread.join(60)
        assert failures == []
        assert engine.count() == 90


def test_async_engines_and_observers_read_only(path: Path) -> None:
    filled(path)
    events: list[oneiros.Event] = []

    async def main() -> None:
        async with oneiros.AsyncEngine(path, read_only=True, observers=[events.append]) as engine:
            assert (await engine.search("number 7")).ids[0] == "m7"
            with pytest.raises(oneiros.EngineReadOnly, match="add: "):
                await engine.add("x")

    asyncio.run(main())
    assert [event.kind for event in events] == ["search"]


def test_an_interrupted_cycle_is_reported_and_stays_recorded(path: Path) -> None:
    filled(path)
    lock = Path(f"{path}-dream")
    lock.write_text(json.dumps(["01ABC", NOW]))
    before = look(path.parent)
    with oneiros.Engine(path, read_only=True) as engine:
        found = engine.interrupted_dream()
        assert found is not None
        assert found.id == "01ABC"
    assert look(path.parent) == before


def test_a_fork_leaves_it_to_the_parent(path: Path) -> None:
    filled(path)
    with oneiros.Engine(path, read_only=True) as engine:
        child = os.fork()
        if child == 0:
            try:
                engine.search("tea")
            except oneiros.EngineClosed:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert engine.search("tea").ids
