"""What one engine writes is checked against what others wrote; nothing crosses a scope."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import oneiros
from oneiros.model.memory import Memory
from oneiros.store import transaction
from oneiros.write import reinforce
from tests.engine.embedders import LetterCounts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mind.db"


def test_vectors_of_two_widths_never_meet(path: Path) -> None:
    with oneiros.Engine(path) as one, oneiros.Engine(path) as two:
        one.add("ant", embedding=[1.0] * 4)
        with pytest.raises(ValueError, match="embedding: expected 4 values"):
            two.add("bee", embedding=[1.0] * 8)
        with pytest.raises(ValueError, match="embedding: expected 4 values"):
            two.update(one.list()[0].id, embedding=[1.0] * 8)
        assert len(two) == 1
    with oneiros.Engine(path) as again:
        assert again.stats()["vectors"] == 1


def test_a_follower_drops_what_was_erased_so_long_ago_that_it_is_not_listed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "MOST_KEPT", 2)
    with oneiros.Engine(path) as one, oneiros.Engine(path) as two:
        one.add_many([{"id": f"m{n}", "text": f"ant {n}"} for n in range(9)])
        assert len(two) == 9
        since = two.changes().revision
        for n in range(6):
            one.forget(f"m{n}")
        one.add("ant again", id="m2")
        feed = two.changes(since)
        assert (feed.lists_erased, len(feed.erased_among([f"m{n}" for n in range(9)]))) == (
            False,
            2,
        )
        assert sorted(two.search("ant", k=20).ids) == ["m2", "m6", "m7", "m8"]
        assert two.check(deep=True) == []


def test_an_engine_whose_embedder_was_replaced_is_told_so(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as one:
        one.add("abc")
        with oneiros.Engine(path, embedder=LetterCounts(name="one")) as two:
            one.reembed(LetterCounts("xyzabc", name="two"))
            with pytest.raises(oneiros.EmbedderMismatch, match="two"):
                two.add("silent")
            with pytest.raises(oneiros.EmbedderMismatch, match="two"):
                two.search("silent")
            assert one.search("cba", reinforce=False).results
        assert len(one) == 1


def test_a_batch_with_one_made_vector_records_its_embedder(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as mind:
        mind.add_many([{"text": "g", "embedding": np.eye(8)[0]}, {"text": "abc"}])
    with pytest.raises(oneiros.EmbedderMismatch):
        oneiros.Engine(path, embedder=LetterCounts(name="two"))


def test_an_emptied_store_can_change_its_embedder(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as mind:
        mind.forget(mind.add("abc"))
        mind.reembed(LetterCounts("xy", name="two"))
        mind.add("xxy")
    with oneiros.Engine(path, embedder=LetterCounts("xy", name="two")) as again:
        assert again.stats()["embedding_dimension"] == 2


def test_delete_by_filter_goes_by_what_is_there_now(path: Path) -> None:
    with oneiros.Engine(path) as one, oneiros.Engine(path, auto_refresh=False) as two:
        kept, gone = one.add_many(
            [{"text": "a", "project": "x"}, {"text": "b", "project": "x"}]
        ).ids
        two.refresh()
        one.update(kept, project="y")
        assert two.delete(where=oneiros.where(project="x")) == 1
        assert [memory.id for memory in one.list()] == [kept]
        one.restore(gone)
        one.delete(gone)
        assert two.delete(where=oneiros.where(project="x")) == 0


def test_exports_and_backups_never_overwrite_the_store(path: Path) -> None:
    with oneiros.Engine(path) as mind:
        mind.add("ant")
        for write in (mind.export, mind.backup):
            for end in ("", "-wal", "-shm"):
                with pytest.raises(ValueError, match="another file than the store's own"):
                    write(f"{path}{end}")
        assert mind.check() == []


LET_GO = """
import sys, oneiros
def main():
    scope = oneiros.Engine(sys.argv[1]).scope(project="p")
    scope.add("alpha", id="a")
    scope.search("alpha", session="s")
main()
"""


def test_a_clean_exit_loses_nothing_though_the_engine_was_let_go(path: Path) -> None:
    subprocess.run([sys.executable, "-c", LET_GO, str(path)], check=True, timeout=60)
    with oneiros.Engine(path) as mind:
        assert mind.get("a").access_count == 1


def test_a_repeated_text_counts_within_a_scope_only(mind: oneiros.Engine) -> None:
    one, two = mind.scope(project="p1"), mind.scope(project="p2")
    first = one.add("the secret sentence")
    two.add("the secret sentence")
    assert one.get(first).duplicate_count == 0
    one.add("the secret sentence")
    assert one.get(first).duplicate_count == 1


def test_the_trace_of_a_scope_counts_its_own(mind: oneiros.Engine) -> None:
    mind.add_many([{"text": "ant", "project": "p1" if n == 0 else "p2"} for n in range(6)])
    first = mind.scope(project="p1").search("ant").trace.stages[0]
    assert (first.candidate_count, first.survivor_count) == (1, 1)


def test_a_result_shows_nothing_that_left_the_scope(mind: oneiros.Engine) -> None:
    id = mind.add("ant", project="p")
    response = mind.scope(project="p").search("ant")
    mind.update(id, project="q", text="moved secret")
    with pytest.raises(oneiros.UnknownMemory):
        _ = response.results[0].memory


def test_a_truth_value_is_no_number_to_a_filter(mind: oneiros.Engine) -> None:
    id = mind.add("m", metadata={"a": 1})
    mind.update(id, metadata={"a": True})
    assert mind.count(oneiros.where(metadata={"a": True})) == 1
    assert mind.count(oneiros.where(metadata={"a": 1})) == 0


def test_a_scope_takes_what_the_engine_takes(mind: oneiros.Engine) -> None:
    scope = mind.scope(project="p")
    report = scope.add_many(
        [{"text": "a", "project": "other"}, {"text": "b"}, 5, Memory(text="x")], on_error="collect"
    )
    assert report.skipped == [0, 2]
    assert [memory.project for memory in scope.list()] == ["p", "p"]


def test_a_memory_by_the_same_id_inherits_nothing(path: Path) -> None:
    with oneiros.Engine(path) as one, oneiros.Engine(path) as two:
        one.add("old", id="a")
        one.search("old", session="S-old")
        two.forget("a")
        two.add("new", id="a")
        one.flush()
        memory = two.get("a")
        assert (memory.access_count, memory.sessions) == (0, frozenset())


def test_updates_keep_the_record_whole(mind: oneiros.Engine) -> None:
    id = mind.add("x", importance=0.9, access_count=3)
    mind.update(id, sessions=["a", "b", "c"])
    assert mind.get(id).session_spread == 3
    with pytest.raises(ValueError, match="session_spread: must be at least"):
        mind.update(id, session_spread=1)
    mind.add_many([Memory(id=id, text="x2")], on_conflict="update")
    memory = mind.get(id)
    assert (memory.text, memory.importance, memory.access_count) == ("x2", 0.9, 3)
    assert memory.revision_count == 2


def test_paging_in_a_scope_goes_on_past_a_deleted_row(mind: oneiros.Engine) -> None:
    scope = mind.scope(project="p")
    a, b = scope.add_many([{"text": "a"}, {"text": "b"}]).ids
    outside = mind.add("c")
    scope.delete(a)
    assert [memory.id for memory in scope.list(after=a)] == [b]
    with pytest.raises(oneiros.UnknownMemory):
        scope.list(after=outside)


@pytest.mark.parametrize("path_or_memory", [":memory:", "file"])
def test_an_interrupted_update_is_caught_up_without_refresh(
    path_or_memory: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = path_or_memory if path_or_memory == ":memory:" else path
    with oneiros.Engine(where, auto_refresh=False) as mind:

        def cut_off(*_: object) -> None:
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(mind._scope.services.read_model.lifecycle, "apply", cut_off)
        with pytest.raises(KeyboardInterrupt):
            mind.add("ant")
        assert len(mind.search("ant")) == len(mind) == 1


def test_an_interrupt_after_the_commit_of_events_counts_them_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with oneiros.Engine(path) as mind:
        id = mind.add("ant")
        monkeypatch.setattr(reinforce, "FLUSH_SECONDS", 3_600.0)  # writes by hand only
        mind.search("ant")
        whole = mind._scope.services.store.write

        @contextmanager
        def cut_off() -> Iterator[object]:
            with whole() as transaction:
                yield transaction
            monkeypatch.setattr(mind._scope.services.store, "write", whole)
            raise KeyboardInterrupt

        monkeypatch.setattr(mind._scope.services.store, "write", cut_off)
        with pytest.raises(KeyboardInterrupt):
            mind.flush()
        mind.flush()
        mind.refresh()
        assert mind.get(id).access_count == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_closes_and_exits_at_once(path: Path) -> None:
    code = (
        "import os, sys, oneiros\n"
        "m = oneiros.Engine(sys.argv[1]); m.add('ant')\n"
        "for n in range(8):\n"
        "    m.search('ant')\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        m.close()\n"
        "        sys.exit(0)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "m.close()\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(path)]
    subprocess.run(command, check=True, timeout=60)
    with oneiros.Engine(path) as mind:
        assert mind.list()[0].access_count == 8
