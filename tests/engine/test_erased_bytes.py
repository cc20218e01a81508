"""No byte of a forgotten memory is left in any file of its store, whatever happened to it before."""

from __future__ import annotations

import itertools
import os
import random
import re
import subprocess
import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine, where
from oneiros.index import snapshot
from tests.dream.worlds import DAY, NOW

LONG = bool(os.environ.get("ONEIROS_LONG"))
LONGEST = 80  # bytes of a word of marks, more than any has
FADED = {"category": "episodic", "stability": 0.125, "importance": 0.0}


def marks(number: int) -> dict[str, str]:
    """Words that only one memory has, one for each place where it may have words."""
    places = ("begin", "middle", "end", "title", "tag", "note", "key", "label", "origin", "owner")
    return {place: f"{place.capitalize()}{number}\u00c9zyx" for place in places}


def folded(word: str) -> str:
    """The word without capitals and diacritics, as an index of words may have it."""
    decomposed = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def record(number: int, filler: int = 40, **fields: object) -> dict[str, object]:
    """A memory with the marks of a number; ``filler`` sets the length of its text."""
    mark = marks(number)
    between = "a story told at length " * filler
    return {
        "id": f"m{number}zyx",
        "text": f"{mark['begin']} {between} {mark['middle']} {between} {mark['end']}",
        "title": mark["title"],
        "tags": [mark["tag"], "told"],
        "metadata": {mark["key"]: {"note": mark["note"]}, "shared": number % 2},
        "labels": [mark["label"], "all"],
        "source_ref": f"https://example.org/{mark['origin']}",
        "user": mark["owner"],
        "session": f"Session{number}\u00c9zyx",
        "embedding": (1.0, number / 1000),
        "created_at": NOW - 900.0 * DAY,
        **FADED,
        **fields,
    }


def words(number: int) -> set[str]:
    found = {f"m{number}zyx", *marks(number).values(), f"Session{number}\u00c9zyx"}
    return found | set(map(folded, found))


def files_of(path: Path) -> dict[str, bytes]:
    """Every file in the store's folder: store, log, its index, snapshot, locks, unfinished ones."""
    found = {file.name: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    assert path.name in found
    return found


def ends_of_words(content: bytes) -> bytes:
    """Return what stands before each end of a word of marks, in UTF-8 or UTF-16, and the end."""
    ends = re.finditer(rb"zyx|z\0y\0x\0", content)
    return b"\n\n".join(content[max(0, end.start() - LONGEST) : end.end()] for end in ends)


def left(path: Path, numbers: Sequence[int]) -> set[tuple[str, str]]:
    """Return (file, word) for each word of memories that a file holds, in UTF-8 or UTF-16."""
    found = set()
    sought = set().union(*map(words, numbers))
    assert all(word.endswith("zyx") and 2 * len(word) < LONGEST for word in sought)
    for name, content in files_of(path).items():
        ends = ends_of_words(content)
        for word in sought:
            if any(word.encode(code) in ends for code in ("utf-8", "utf-16-le")):
                found.add((name, word))
            escaped = word.encode("ascii", "backslashreplace")
            if escaped in ends:
                found.add((name, escaped.decode()))
    return found


def first_and_last(texts: Sequence[str]) -> str:
    return " ".join(f"{text.split()[0]} {text.split()[-1]}" for text in texts)


@pytest.fixture(autouse=True)
def _small_snapshots(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write a snapshot of a store of any size; no warning that vectors come without an embedder."""
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oneiros.MissingEmbedderWarning)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder / "mind.db"


def test_the_words_are_found_before_and_not_after_forgetting_a_user(path: Path) -> None:
    with Engine(path) as engine:
        engine.add_many([record(n) for n in range(12)], now=NOW)
    assert (path.parent / "mind.db-snapshot").exists()
    with Engine(path) as engine, Engine(path) as other:
        other.search("story", reinforce=False, now=NOW)
        engine.search("story", now=NOW)
        engine.flush()
        assert {name for name, _ in left(path, [3])} == {
            "mind.db",
            "mind.db-wal",
            "mind.db-snapshot",
        }
        found = {word for _, word in left(path, [3])}
        mark = marks(3)
        assert found >= {*mark.values(), *(folded(mark[at]) for at in ("begin", "title", "tag"))}
        receipt = engine.forget(where=where(user=marks(3)["owner"]))
        assert receipt.ids == ("m3zyx",)
        assert left(path, [3]) == set()
        assert engine.verify_erased(receipt)
        assert other.verify_erased(receipt)
        assert other.search("story", reinforce=False, k=20, now=NOW).ids != []
        assert left(path, [3]) == set()
    assert left(path, [3]) == set()
    with Engine(path) as engine:
        assert engine.count() == 11
        assert engine.check(deep=True) == []
    assert left(path, [3]) == set()
    assert {word for _, word in left(path, [4])} >= set(marks(4).values())


def test_a_summary_of_the_forgotten_leaves_no_words_either(path: Path) -> None:
    shared = {"user": "ada", "session": "s"}
    with Engine(path, profile="cognitive") as engine:
        engine.add_many([record(n, **shared) for n in range(5)], now=NOW - 900.0 * DAY)
        engine.add_many([record(n, user="bob", session="s") for n in range(5, 10)], now=NOW)
        report = engine.dream(NOW, summarise=first_and_last)
        (summary,) = (m for m in engine.list(limit=20) if m.derived_from)
        assert marks(2)["begin"] in summary.text
        assert report.id
    with Engine(path, profile="cognitive") as engine, Engine(path) as other:
        other.search("story", reinforce=False)
        receipt = engine.forget(where=where(user="ada"))
        assert receipt.ids == (*(f"m{n}zyx" for n in range(5)), summary.id)
        assert left(path, range(5)) == set()
        assert other.count() == 5
        assert engine.check(deep=True) == other.check(deep=True) == []
        assert left(path, range(5)) == set()
    assert left(path, range(5)) == set()


def test_texts_over_many_pages_that_were_moved_about_leave_nothing(path: Path) -> None:
    with Engine(path, durability="normal") as engine:
        sizes = [1, 3, 30, 120, 400]
        engine.add_many([record(n, sizes[n % 5]) for n in range(150)], now=NOW)
        numbers = dict(zip(range(150), range(150), strict=True))
        for step in range(300):  # the rows grow and shrink, so that pages are split and joined
            n = (step * 37) % 150
            numbers[n] = 1_000 + step
            fields = record(1_000 + step, sizes[(step * 7) % 5])
            fields.pop("id"), fields.pop("created_at")
            engine.update(f"m{n}zyx", **fields)
        for n in range(0, 150, 3):
            engine.forget(f"m{n}zyx")
        assert left(path, [numbers[n] for n in range(0, 150, 3)]) == set()
        receipt = engine.forget_many([f"m{n}zyx" for n in range(1, 150, 3)])
        assert len(receipt) == 50
        gone = [n for n in range(150) if n % 3 != 2]
        assert left(path, [numbers[n] for n in gone]) == set()
        assert left(path, gone) == set()  # their former texts, too
    assert left(path, [*gone, *(numbers[n] for n in gone)]) == set()


def mixed(number: int, choice: random.Random) -> dict[str, object]:
    """Fields with one word alone, in rows of very different lengths."""
    word = f"mixed{number}zyx"
    filler = "x " * choice.choice((1, 20, 200, 900, 4_000))
    return {
        "text": f"{word} {filler}{word}",
        "title": word,
        "metadata": {word: [word] * choice.randrange(40)},
    }


@pytest.mark.parametrize("seed", range(40) if LONG else [3])
def test_rows_that_sqlite_moved_between_pages_leave_nothing(path: Path, seed: int) -> None:
    """Two engines write in turns: each has pages in memory that the other one cleaned in the file."""
    choice = random.Random(seed)
    numbers, texts = itertools.count(), dict[str, list[str]]()
    gone: list[str] = []
    with Engine(path, durability="normal") as one, Engine(path, durability="normal") as two:
        for _ in range(45 if LONG else 10):  # without the zeros, the seventh step finds a word
            engine = choice.choice((one, two))
            fresh = [next(numbers) for _ in range(choice.randrange(1, 40))]
            engine.add_many([{"id": f"m{n}zyx", **mixed(n, choice)} for n in fresh], links=False)
            texts |= {f"m{n}zyx": [f"mixed{n}zyx"] for n in fresh}
            for id in choice.sample(sorted(texts), min(len(texts), choice.randrange(20))):
                n = next(numbers)
                choice.choice((one, two)).update(id, **mixed(n, choice))
                texts[id].append(f"mixed{n}zyx")
            for id in choice.sample(sorted(texts), min(len(texts), 3)):
                choice.choice((one, two)).forget(id)
                gone += texts.pop(id)
            ids = choice.sample(sorted(texts), min(len(texts), choice.randrange(25)))
            choice.choice((one, two)).forget_many(ids)
            gone += [word for id in ids for word in texts.pop(id)]
            content = b"".join(files_of(path).values())
            assert [word for word in gone if word.encode() in content] == []
        assert one.check(deep=True) == two.check(deep=True) == []
        assert sorted(texts) == sorted(memory.id for memory in two.list(limit=2_000))


KILLED = """
import os, sys
import oneiros
from oneiros.index import snapshot
from oneiros.store import Store
snapshot.FEWEST_ROWS = 1
engine = oneiros.Engine(sys.argv[1])
Store.checkpoint = lambda self, **options: os._exit(9)
if sys.argv[2] == "before the snapshot goes":
    snapshot.SnapshotFile.remove = lambda self: os._exit(9)
engine.forget("m3zyx")
"""


@pytest.mark.parametrize("point", ["before the snapshot goes", "before the log is emptied"])
@pytest.mark.parametrize("is_shared", [False, True])
def test_after_a_kill_the_next_opening_empties_the_log(
    path: Path, point: str, is_shared: bool
) -> None:
    with Engine(path) as engine:
        engine.add_many([record(n) for n in range(12)], now=NOW)
    other = Engine(path) if is_shared else None
    killed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path), point], check=False, timeout=60
    )
    assert killed.returncode == 9
    assert left(path, [3]) != set()
    if other is not None:
        assert other.count() == 11
    with Engine(path) as engine:
        assert left(path, [3]) == set()
        assert engine.count() == 11
        receipt = engine.forget("m4zyx")
        assert engine.verify_erased(receipt)
    if other is not None:
        other.close()
    assert left(path, [3, 4]) == set()


WRITES_A_SNAPSHOT = """
import os, sys
import oneiros
from oneiros.index import snapshot
snapshot.FEWEST_ROWS = 1
save = snapshot._core.save_store_snapshot
def slow(**arguments):
    if sys.argv[3] == "before":
        save(**arguments)
    print("writes", flush=True)
    sys.stdin.readline()
    if sys.argv[3] == "after":
        save(**arguments)
    print("has written", flush=True)
    sys.stdin.readline()
snapshot._core.save_store_snapshot = slow
engine = oneiros.Engine(sys.argv[1])
if sys.argv[2] == "open":
    sync = engine._scope.services.sync
    sync.writer.run(sync._save)
engine.close()
"""


@pytest.mark.parametrize("made", ["before", "after"])
@pytest.mark.parametrize("at", ["open", "close"])
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_snapshot_that_is_being_written_while_another_process_forgets_is_gone_at_once(
    path: Path, at: str, made: str, is_killed: bool
) -> None:
    """``made``: the file is made before the other process has forgotten, or after."""
    with Engine(path) as engine:
        engine.add_many([record(n) for n in range(12)], now=NOW)
    path.with_name(f"{path.name}-snapshot").unlink()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITES_A_SNAPSHOT, str(path), at, made],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    with Engine(path) as engine:
        assert writer.stdout.readline() == "writes\n"
        assert len(engine.forget("m3zyx")) == 1
        assert left(path, [3]) == set()
        writer.stdin.write("\n")
        writer.stdin.flush()
        if made == "before":
            assert writer.stdout.readline() == "has written\n"
        if is_killed:
            writer.kill()
        writer.communicate("\n", timeout=60)
        assert left(path, [3]) == set()
    assert sorted(file.name for file in path.parent.iterdir() if "snapshot." in file.name) == []


KILLED_AT_A_CALL = """
import functools, os, sys
import oneiros
from oneiros.index import snapshot
from oneiros.store import Store
from tests.store.faulty_vfs import Plan, registered
snapshot.FEWEST_ROWS = 1
class Kill(Plan):
    def step(self, kind, path):
        self.count += 1
        if self.count == self.at:
            os._exit(9)
plan = Kill()
with registered(plan) as name:
    opened = Store.__init__
    Store.__init__ = functools.partialmethod(opened, vfs=name)
    engine = oneiros.Engine(sys.argv[1])
    plan.count, plan.at = 0, int(sys.argv[2])
    engine.forget("m3zyx")
    os._exit(0)
"""


def test_a_kill_at_any_write_of_forgetting_leaves_all_or_nothing(path: Path) -> None:
    killed = 0
    for at in itertools.count(1, 1 if LONG else 4):
        folder = path.parent / f"at{at}"
        folder.mkdir()
        own = folder / "mind.db"
        with Engine(own) as engine:
            engine.add_many([record(n) for n in range(12)], now=NOW)
        code = subprocess.run(
            [sys.executable, "-c", KILLED_AT_A_CALL, str(own), str(at)], check=False, timeout=60
        ).returncode
        if code == 0:
            break
        assert code == 9
        with Engine(own) as engine:
            if engine.count() == 11:  # it was committed, so the opening emptied the log
                killed += 1
                assert left(own, [3]) == set(), at
            else:
                assert engine.get("m3zyx").title == marks(3)["title"]
            assert engine.check(deep=True) == []
    assert killed >= 3


def test_a_receipt_is_not_confirmed_while_the_log_may_hold_the_text(path: Path) -> None:
    with Engine(path, busy_timeout_seconds=0.05) as engine, Engine(path) as other:
        engine.add_many([record(n) for n in range(12)], now=NOW)
        with other._scope.services.store.read() as reading:
            assert reading.count() == 12
            with pytest.raises(oneiros.StoreBusy):
                engine.forget("m3zyx")
            assert engine.count() == 11
            assert left(path, [3]) != set()
            receipt = oneiros.Erasure(("m3zyx",), (), NOW, {})
            assert not engine.verify_erased(receipt)
            with Engine(path) as third:  # readers still use the log
                assert third.count() == 11
                assert not third.verify_erased(receipt)
        with Engine(path) as third:
            assert third.verify_erased(receipt)
        assert engine.verify_erased(receipt)
        assert left(path, [3]) == set()


class Life:
    """A store that lives a random life, and the marks of what it forgot."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.numbers = itertools.count()
        self.now = NOW
        self.engine = self.opened()
        self.other: Engine | None = None
        self.texts: dict[str, list[int]] = {}  # id -> the marks that it has or had
        self.forgotten: list[int] = []

    def opened(self) -> Engine:
        return Engine(self.path, profile="cognitive", clock=lambda: self.now, durability="normal")

    def id(self, which: int) -> str | None:
        ids = list(self.texts)
        return ids[which % len(ids)] if ids else None

    def add(self, how_many: int) -> None:
        for _ in range(how_many % 6 + 1):
            number = next(self.numbers)
            shared = {"user": ("ada", "bob")[number % 2], "session": "s", "tags": []}
            fields = record(number, (1, 30, 200)[how_many % 3], **shared)
            self.engine.add_many([fields], now=self.now - 900 * DAY)
            self.texts[f"m{number}zyx"] = [number]

    def search(self, which: int) -> None:
        session = ("s", "other")[which % 2]
        self.engine.search("story", k=3, session=session, deep_recall=bool(which % 3))

    def dream(self, _: int) -> None:
        self.now += 200 * DAY
        self.engine.dream(summarise=first_and_last)

    def undo(self, _: int) -> None:
        reports = self.engine.dreams()
        if reports and reports[0].undoes is None:
            self.engine.undo_dream(reports[0].id)

    def update(self, which: int) -> None:
        id = self.id(which)
        if id is not None and self.engine.get_many([id]) != [None]:
            number = next(self.numbers)
            fields = record(number, (1, 30, 200)[which % 3])
            for name in ("id", "created_at", "user", "session"):
                del fields[name]
            self.engine.update(id, **fields)
            self.texts[id].append(number)

    def supersede(self, which: int) -> None:
        old, new = self.id(which), self.id(which * 7 + 1)
        found = self.engine.get_many([str(old), str(new)])
        # The history of a memory keeps the names of its former successors (docs/guide/erasing.md).
        if old != new and found[1] is not None and found[0] and not found[0].superseded_by:
            try:
                self.engine.supersede(str(old), str(new))
            except ValueError:
                return  # a circle

    def link(self, which: int) -> None:
        one, two = self.id(which), self.id(which * 5 + 1)
        if one != two and None not in self.engine.get_many([str(one), str(two)]):
            self.engine.link(str(one), str(two))

    def delete(self, which: int) -> None:
        id = self.id(which)
        if id is not None and self.engine.get_many([id]) != [None]:
            self.engine.delete(id)

    def reopen(self, which: int) -> None:
        self.engine.close()
        self.engine = self.opened()
        if self.other is not None:
            self.other.close()
            self.other = None
        elif which % 2:
            self.other = self.opened()

    def forget(self, which: int) -> None:
        id = self.id(which)
        if id is None:
            return
        if which % 3 == 0:
            receipt = self.engine.forget(id)
        elif which % 3 == 1:
            receipt = self.engine.forget_many(list(self.texts)[: which % 4 + 1])
        else:
            receipt = self.engine.forget(where=where(user="ada"))
        for gone in (*receipt.ids, *receipt.derived):
            self.forgotten += self.texts.pop(gone, [])
        assert self.engine.verify_erased(receipt)
        assert left(self.path, self.forgotten) == set()

    def close(self) -> None:
        assert self.engine.check(deep=True) == []
        if self.other is not None:
            self.other.count()
            self.other.close()
        self.engine.close()
        assert left(self.path, self.forgotten) == set()


STEPS = (
    *("add", "add", "search", "dream", "undo", "update", "supersede"),
    *("link", "delete", "reopen", "forget"),
)


@settings(
    max_examples=200 if LONG else 15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 1_000)), max_size=25),
    last=st.integers(0, 1_000),
)
def test_whatever_happened_what_is_forgotten_is_in_no_file(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int]],
    last: int,
) -> None:
    life = Life(tmp_path_factory.mktemp("life") / "mind.db")
    try:
        life.add(5)
        for name, which in steps:
            getattr(life, name)(which)
        life.forget(last)
    finally:
        life.close()
