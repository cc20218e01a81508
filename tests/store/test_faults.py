"""Every write, sync, truncation, deletion and creation of a file fails once; nothing is lost."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from oneiros.errors import OneirosError, StoreFull, StoreIOError, StorePoisoned
from oneiros.model.memory import Memory
from oneiros.store import Store
from tests.store.faulty_vfs import FAILURES, Plan, registered

NOW = 1_780_000_000.0
EARLY = 50
"""Operations that fail one by one in every run of the tests."""


def memory(name: str) -> Memory:
    return Memory.from_record({"id": name, "text": f"the text of {name} " * 40}, now=NOW)


class Run:
    """A workload that keeps count of what was acknowledged."""

    def __init__(self, path: Path, vfs: str) -> None:
        self.kept: dict[str, float] = {}
        self.open: dict[str, float | None] = {}
        """Ids whose last write failed, with what it would have left (None: gone)."""
        self.store = Store(path, vfs=vfs)

    def add(self, *names: str) -> None:
        self.open |= dict.fromkeys(names, 0.5)
        with self.store.write() as transaction:
            transaction.insert_many([memory(name) for name in names])
        self._done(names)

    def update(self, name: str, importance: float) -> None:
        self.open[name] = importance
        with self.store.write() as transaction:
            transaction.update(name, {"importance": importance})
        self._done([name])

    def erase(self, name: str) -> None:
        self.open[name] = None
        with self.store.write() as transaction:
            transaction.erase(name)
        self._done([name])

    def _done(self, names: tuple[str, ...] | list[str]) -> None:
        for name in names:
            value = self.open.pop(name)
            if value is None:
                del self.kept[name]
            else:
                self.kept[name] = value

    def go(self) -> None:
        self.add("a")
        self.add("b", "c", "d")
        self.update("b", 0.9)
        self.store.checkpoint()
        self.add("e")
        self.erase("c")
        self.store.checkpoint()
        self.add(*(f"f{i}" for i in range(40)))
        self.update("f3", 0.1)
        self.store.close()


def operations(tmp_path: Path) -> int:
    plan = Plan()
    with registered(plan) as vfs:
        Run(tmp_path / "count.db", vfs).go()
    return plan.count


def verify(path: Path, run: Run | None) -> None:
    """Reopen without faults: what was acknowledged is there, what was not is whole or absent."""
    kept = {} if run is None else run.kept
    doubtful = {} if run is None else run.open
    with Store(path) as store:
        assert store.quick_check() == []
        found = {m.id: m.importance for part in store.changes(0) for m in part}
        with store.write() as transaction:  # and writing goes on
            transaction.insert(memory("after"))
        assert store.count() == len(found) + 1
    wanted = {name: value for name, value in kept.items() if name not in doubtful}
    assert {name: found[name] for name in wanted if name in found} == wanted
    assert set(found) - set(wanted) <= set(doubtful)
    before = {name: kept.get(name) for name in doubtful}
    now = {name: found.get(name) for name in doubtful}
    assert now in (before, doubtful), "a write was left half done"


def fail_at(path: Path, failure: str, at: int, *, is_lasting: bool) -> list[str]:
    """Run into the fault, then verify; return what failed."""
    plan = Plan(failure=failure, at=at, is_lasting=is_lasting)
    run = None
    with registered(plan) as vfs:
        try:
            run = Run(path, vfs)
            run.go()
        except OneirosError:
            assert plan.failed, "an error without a fault"
        if run is not None:
            with suppress(OneirosError):  # raised already, or raised first here: both are typed
                run.store.close()
    verify(path, run)
    return plan.failed


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("is_lasting", [True, False], ids=["lasting", "once"])
def test_every_early_fault_is_typed_and_loses_nothing(
    tmp_path: Path, failure: str, is_lasting: bool
) -> None:
    kinds = set()
    for at in range(1, EARLY + 1):
        failed = fail_at(tmp_path / f"{at}.db", failure, at, is_lasting=is_lasting)
        assert failed
        kinds.add(failed[0].split()[0])
    assert kinds == {"open", "write", "sync", "delete"}


@pytest.mark.parametrize("failure", FAILURES)
def test_later_faults_are_typed_and_lose_nothing(tmp_path: Path, failure: str) -> None:
    count = operations(tmp_path)
    step = 1 if os.environ.get("ONEIROS_LONG") else 7
    for at in range(EARLY + 1, count + 1, step):
        assert fail_at(tmp_path / f"{at}.db", failure, at, is_lasting=True)


def test_without_a_fault_nothing_fails(tmp_path: Path) -> None:
    assert fail_at(tmp_path / "sound.db", "EIO", 10**6, is_lasting=True) == []


def test_a_failed_sync_poisons_the_writer_but_not_the_readers(tmp_path: Path) -> None:
    plan = Plan(kinds=("sync",))
    with registered(plan) as vfs, Store(tmp_path / "mind.db", vfs=vfs) as store:
        with store.write() as transaction:
            transaction.insert(memory("a"))
        plan.at = plan.count + 1
        with (
            pytest.raises(StorePoisoned, match="open the store again"),
            store.write() as transaction,
        ):
            transaction.insert(memory("b"))
        plan.at = 0
        with pytest.raises(StorePoisoned), store.write():
            pytest.fail("a poisoned store let a write begin")
        with pytest.raises(StorePoisoned):
            store.checkpoint()
        assert [m.id for part in store.changes(0) for m in part] == ["a"]
        assert store.revision() == 1
    with Store(tmp_path / "mind.db") as store, store.write() as transaction:
        transaction.insert(memory("c"))
        assert transaction.load(["a"])[0] == memory("a")


def swallow_a_failure(store: Store) -> None:
    with store.write() as transaction:
        with pytest.raises(StoreFull):
            transaction.insert_many([memory(f"m{i}") for i in range(500)])
        with pytest.raises(StoreIOError, match="has failed"):
            transaction.insert(memory("later"))


def test_a_swallowed_failure_still_takes_the_write_back(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        limit_pages(store, 40)
        with pytest.raises(StoreFull):
            swallow_a_failure(store)
        assert store.count() == 0


def test_a_full_disk_takes_the_write_back_and_the_next_one_works(tmp_path: Path) -> None:
    with Store(tmp_path / "mind.db") as store:
        with store.write() as transaction:
            transaction.insert(memory("a"))
        limit_pages(store, 40)
        with pytest.raises(StoreFull, match="full"), store.write() as transaction:
            transaction.insert_many([memory(f"m{i}") for i in range(500)])
        assert [m.id for part in store.changes(0) for m in part] == ["a"]
        limit_pages(store, 10_000)
        with store.write() as transaction:
            transaction.insert_many([memory(f"m{i}") for i in range(500)])
        assert store.count() == 501
        assert store.quick_check() == []


def limit_pages(store: Store, pages: int) -> None:
    store._writer.connection.execute(
        f"PRAGMA max_page_count = {pages}"
    )  # as if the disk ended there
