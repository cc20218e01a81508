"""Adding, changing, deleting, forgetting."""

from __future__ import annotations

import datetime as dt
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import Memory
from oneiros.clock import VirtualClock
from tests.engine.embedders import LetterCounts

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
NOW = 1_750_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mind.db"


def test_what_is_added_is_found_when_add_returns(mind: oneiros.Engine) -> None:
    id = mind.add("Ada drinks her coffee black", kind="fact", tags=["drink"])
    memory = mind.get(id)
    assert (memory.text, memory.kind, memory.tags) == (
        "Ada drinks her coffee black",
        "fact",
        ["drink"],
    )
    assert memory.created_at == memory.updated_at == NOW
    assert mind.search("coffee").ids == [id]


def test_now_rules_what_is_written(mind: oneiros.Engine) -> None:
    moment = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
    id = mind.add("ant", now=moment)
    assert mind.get(id).created_at == moment.timestamp()
    mind.update(id, text="bee", now=moment.timestamp() + 5)
    assert mind.get(id).updated_at == moment.timestamp() + 5
    mind.delete(id, now="2024-05-02T00:00:00Z")
    mind.restore(id)
    assert mind.get(id).deleted_at is None


def test_the_clock_is_the_engines(path: Path) -> None:
    clock = VirtualClock(NOW)
    with oneiros.Engine(path, clock=clock) as mind:
        first = mind.add("ant")
        clock.advance(60)
        second = mind.add("bee")
        assert mind.get(second).created_at - mind.get(first).created_at == 60
        assert mind.search("ant").now == NOW + 60


def test_an_update_counts_and_is_found_by_its_new_words(mind: oneiros.Engine) -> None:
    id = mind.add("ant", importance=0.2)
    mind.update(id, text="bee", importance=0.9)
    memory = mind.get(id)
    assert (memory.text, memory.importance, memory.revision_count) == ("bee", 0.9, 1)
    assert mind.search("ant").ids == []
    assert mind.search("bee").ids == [id]


def test_a_recalled_memory_is_staged_again_when_its_text_is_another(mind: oneiros.Engine) -> None:
    for id, accesses in {"kept": 0, "recalled": 1}.items():
        mind.add("ant", id=id, status="consolidated", access_count=accesses)
        mind.update(id, text="ant", importance=0.9)
        assert mind.get(id).status == "consolidated"  # the same text
        mind.update(id, title="Ant")
        assert mind.get(id).status == "consolidated"
        mind.update(id, text="bee")
    assert mind.get("kept").status == "consolidated"  # nobody recalled it
    assert mind.get("recalled").status == "staged"  # docs/systems/reverie.md R14


def test_reconsolidation_minds_what_else_is_written(mind: oneiros.Engine) -> None:
    for id in ("named", "hidden", "again", "found"):
        mind.add("ant", id=id, status="consolidated", access_count=1)
    mind.update("named", text="bee", status="consolidated")
    mind.update("hidden", status="archived")
    mind.update("hidden", text="bee")
    mind.add("bee", id="again", on_conflict="update")
    statuses = [mind.get(id).status for id in ("named", "hidden", "again")]
    assert statuses == ["consolidated", "archived", "staged"]
    mind.update("found", access_count=0)
    assert mind.search("ant").ids == ["found"]
    mind.update("found", text="bee")  # the access is counted behind
    assert mind.get("found").status == "staged"


def test_update_refuses_what_add_refuses_and_changes_nothing(mind: oneiros.Engine) -> None:
    id = mind.add("ant")
    for bad, error in (
        ({"id": "b"}, ValueError),
        ({"importance": 2}, ValueError),
        ({"txt": "b"}, ValueError),
    ):
        with pytest.raises(error, match=next(iter(bad))):
            mind.update(id, **bad)
    with pytest.raises(oneiros.UnknownMemory, match="'nobody'"):
        mind.update("nobody", text="b")
    assert mind.get(id).revision_count == 0


def test_a_repeated_text_counts_on_the_older_row(mind: oneiros.Engine) -> None:
    first = mind.add("the same words", topic="t")
    other = mind.add("the same words", topic="u")
    mind.add_many(
        [{"text": "the same words", "topic": "t"}, {"text": "the same words", "topic": "t"}]
    )
    assert mind.get(first).duplicate_count == 2
    assert mind.get(other).duplicate_count == 0
    assert len(mind) == 4


@pytest.mark.parametrize("embedder", [None, "hashing"])
def test_lists_of_a_record_may_be_iterators(embedder: str | None) -> None:
    def lists() -> dict[str, Any]:
        return {
            "tags": (word for word in "ab"),
            "labels": iter(["l"]),
            "derived_from": map(str, [1, 2]),
            "sessions": iter(["s"]),
        }

    with oneiros.Engine(":memory:", embedder=embedder) as mind:
        ids = [
            mind.add("new kind", kind="omen", **lists()),
            mind.add("first", id="known", **lists()),
            mind.add("second", id="known", on_conflict="update", **lists()),
            mind.add("third", id="known", on_conflict="replace", **lists()),
            *mind.add_many({"text": str(number), **lists()} for number in range(9)).ids,
            *mind.add_many([{"text": "bare"}, *({"text": "t", **lists()} for _ in range(8))]).ids[
                1:
            ],
            *mind.add_many([Memory(text="of a class", **lists())]).ids,
        ]
        for memory in map(mind.get, ids):
            assert (memory.tags, memory.labels) == (["a", "b"], ["l"])
            assert (memory.derived_from, memory.sessions) == (("1", "2"), {"s"})


def test_delete_hides_and_restore_brings_back(mind: oneiros.Engine) -> None:
    ids = mind.add_many([{"text": "ant one"}, {"text": "ant two"}]).ids
    assert mind.delete(ids[0]) == 1
    assert len(mind) == 1
    assert mind.search("ant").ids == [ids[1]]
    assert mind.get_many(ids)[0] is None
    with pytest.raises(oneiros.UnknownMemory):
        mind.get(ids[0])
    with pytest.raises(oneiros.UnknownMemory):
        mind.delete(ids[0])
    mind.restore(ids[0])
    mind.restore(ids[0])
    assert mind.search("ant one").ids == ids
    assert mind.check() == []


def test_delete_by_filter(mind: oneiros.Engine) -> None:
    mind.add_many([{"text": "ant", "project": name} for name in ("x", "y", "x")])
    assert mind.delete(where=oneiros.where(project="x")) == 2
    assert [memory.project for memory in mind.list()] == ["y"]
    for arguments in ({}, {"id": "a", "where": oneiros.where(project="y")}):
        with pytest.raises(ValueError, match="one of the two"):
            mind.delete(**arguments)


def test_forget_leaves_no_byte(path: Path) -> None:
    secret = "the vault code is 7391-canary"
    with oneiros.Engine(path) as mind:
        kept = mind.add("something else about the vault")
        gone = mind.add(secret, embedding=[1.0, 0.0], metadata={"note": "canary-too"})
        mind.update(gone, text=secret + " revised")
        assert not mind.verify_erased("7391-canary")
        mind.forget(gone)
        assert mind.verify_erased("7391-canary")
        assert mind.verify_erased("canary-too")
        assert mind.search("vault", embedding=[1.0, 0.0]).ids == [kept]
        with pytest.raises(oneiros.UnknownMemory):
            mind.restore(gone)
        assert mind.check() == []
        assert mind.add("a new one", id=gone) == gone
        assert [memory.id for memory in mind.list()] == [kept, gone]
    with oneiros.Engine(path) as again:
        assert [memory.id for memory in again.list()] == [kept, gone]


def test_an_embedder_gives_every_text_its_vector(path: Path) -> None:
    embedder = LetterCounts()
    with oneiros.Engine(path, embedder=embedder) as mind:
        a = mind.add("aaa")
        b = mind.add("bbb", title="b")
        given = mind.add("ccc", embedding=np.eye(8)[7])
        assert embedder.asked == ["aaa", "b bbb"]
        assert mind.search("zz aaaa").ids[0] == a
        mind.update(a, text="ddd")
        np.testing.assert_array_equal(mind.get(a).embedding, np.eye(8, dtype="f4")[3])
        mind.update(b, importance=0.9)
        assert embedder.asked.count("b bbb") == 1
        np.testing.assert_array_equal(mind.get(given).embedding, np.eye(8, dtype="f4")[7])


def test_a_vector_stays_until_another_is_given(mind: oneiros.Engine) -> None:
    id = mind.add("ant", embedding=[3.0, 4.0])
    np.testing.assert_allclose(mind.get(id).embedding, [0.6, 0.8])
    mind.update(id, text="ant", importance=0.75)
    assert mind.search("", embedding=[3.0, 4.0]).ids == [id]
    mind.update(id, text="bee", embedding=[4.0, 3.0])
    np.testing.assert_allclose(mind.get(id).embedding, [0.8, 0.6])
    mind.update(id, embedding=None)
    assert mind.get(id).embedding is None
    assert mind.search("", embedding=[3.0, 4.0]).ids == []


def test_another_embedder_on_open_is_refused_naming_both(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as mind:
        mind.add("abc")
    with pytest.raises(oneiros.EmbedderMismatch, match=r"'one'.*'two'"):
        oneiros.Engine(path, embedder=LetterCounts(name="two"))
    with pytest.warns(oneiros.MissingEmbedderWarning, match="'one'"):
        mind = oneiros.Engine(path)
    with mind:
        assert mind.reembed(LetterCounts("xyzabc", name="two")) == 1
        assert mind.stats()["embedder"] == "two"
        assert mind.stats()["embedding_dimension"] == 6
        assert mind.search("cba", k=1).ids == [mind.list()[0].id]
    with oneiros.Engine(path, embedder=LetterCounts("xyzabc", name="two")) as again:
        assert again.search("cba", k=1, reinforce=False).trace.stages[2].survivor_count == 1


def test_vectors_of_two_widths_are_refused_and_nothing_stays(mind: oneiros.Engine) -> None:
    with pytest.raises(ValueError, match="embedding: expected 2 values"):
        mind.add_many([{"text": "a", "embedding": [1, 0]}, {"text": "b", "embedding": [1, 0, 0]}])
    assert len(mind) == 0
    mind.add("a", embedding=[1, 0])
    with pytest.raises(ValueError, match="embedding: expected 2 values"):
        mind.search("a", embedding=[1, 0, 0])


def test_records_come_as_tables_too(mind: oneiros.Engine) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"id": ["a", "b"], "text": ["ant", "bee"], "importance": [0.25, None]})
    assert mind.add_many(table).ids == ["a", "b"]
    assert [memory.importance for memory in mind.list()] == [0.25, 0.5]
    for wrong in ("text", {"text": "one"}, 7):
        with pytest.raises(TypeError, match="records: expected an iterable"):
            mind.add_many(wrong)


def test_pages_follow_each_other(mind: oneiros.Engine) -> None:
    ids = mind.add_many(
        [{"text": f"t{n}", "kind": "fact" if n % 2 else "note"} for n in range(25)]
    ).ids
    seen: list[str] = []
    while page := mind.list(after=seen[-1] if seen else None, limit=7):
        seen += [memory.id for memory in page]
    assert seen == ids
    facts = mind.list(oneiros.where(kind="fact"), after=ids[10], limit=3)
    assert [memory.id for memory in facts] == [ids[11], ids[13], ids[15]]
    assert mind.count(oneiros.where(kind="fact")) == 12
    with pytest.raises(oneiros.UnknownMemory):
        mind.list(after="nobody")


def test_an_export_reads_back_as_the_same_memories(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with oneiros.Engine(path) as mind:
        mind.add(
            "ant", embedding=[0.6, 0.8], tags=["t"], metadata={"n": 1.5}, session="s", event_at=1.0
        )
        mind.add("bee\x00\u2028")
        mind.delete(mind.add("gone"))
        assert mind.export(out) == 2
        before = mind.list()
    assert out.stat().st_mode & 0o777 == 0o600
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n") if line]
    with oneiros.Engine(":memory:") as copy:
        copy.add_many(records)
        held = copy.list()
    learned = {one.id: one.learned_at for one in held}
    assert held == [replace(one, learned_at=learned[one.id]) for one in before]
    assert all(learned[one.id] >= one.learned_at for one in before)  # the copy learns of it now
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "target")
    with oneiros.Engine(path) as mind, pytest.raises(ValueError, match="symbolic link"):
        mind.export(link)


@pytest.mark.parametrize("count", [1, 9])
def test_an_import_does_not_count_repeats_again(
    mind: oneiros.Engine, tmp_path: Path, count: int
) -> None:
    texts = ["the same words", "other words", "the same words"] * count
    ids = [mind.add(text) for text in texts]
    counts = {id: mind.get(id).duplicate_count for id in ids}
    assert sum(counts.values()) == 3 * count - 2
    mind.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    with oneiros.Engine(":memory:") as copy:
        copy.add_many(map(json.loads, lines))
        assert {id: copy.get(id).duplicate_count for id in ids} == counts
        first = ids[0]
        copy.add_many([{"text": "the same words"}, {"text": "new", "duplicate_count": 7}])
        assert copy.get(first).duplicate_count == counts[first] + 1
        copy.add("the same words", duplicate_count=0)
        assert copy.get(first).duplicate_count == counts[first] + 1


@pytest.mark.parametrize("count", [1, 9])
def test_a_copy_by_memories_keeps_their_state(mind: oneiros.Engine, count: int) -> None:
    texts = ["the same words", "other words", "the same words"] * count
    mind.add_many([{"text": text} for text in texts])
    with oneiros.Engine(":memory:", profile="cognitive") as copy:
        copy.add_many(mind, links=False)
        pairs = list(zip(mind, copy, strict=True))
        assert pairs
        for one, other in pairs:
            assert replace(other, learned_at=one.learned_at) == one
        copy.add_many([Memory(text="the same words"), Memory(text="new")])
        counts = [memory.duplicate_count for memory in copy]
        assert counts[0] == next(iter(mind)).duplicate_count + 1
        assert copy.list(order="newest", limit=1)[0].stability == pytest.approx(0.25)


def test_a_memory_of_very_many_sessions_can_be_copied(mind: oneiros.Engine, tmp_path: Path) -> None:
    before = [f"{number:036d}" for number in range(28_300)]  # just below 1 MiB
    mind.add("green tea", id="tea", sessions=before)
    for number in range(100):
        mind.search("tea", session=f"session {number:027d}")
    mind.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    with oneiros.Engine(":memory:") as copy:
        copy.add_many(map(json.loads, lines))
        assert copy.get("tea").sessions == mind.get("tea").sessions
        assert copy.get("tea").session_spread == 28_400


def test_a_device_or_pipe_is_not_replaced(path: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with oneiros.Engine(path) as mind:
        for write in (mind.export, mind.backup):
            with pytest.raises(ValueError, match=r"path: .* file"):
                write(pipe)
    assert pipe.is_fifo()


def test_a_backup_is_a_store_of_its_own(path: Path, tmp_path: Path) -> None:
    with oneiros.Engine(path) as mind:
        id = mind.add("ant")
        mind.search("ant", session="s")
        mind.backup(tmp_path / "copy.db")
        mind.add("bee")
    with oneiros.Engine(tmp_path / "copy.db") as copy:
        assert [memory.id for memory in copy.list()] == [id]
        assert copy.get(id).access_count == 1


def test_a_closed_engine_says_so(path: Path) -> None:
    mind = oneiros.Engine(path)
    mind.add("ant")
    mind.close()
    mind.close()
    for call in (lambda: mind.add("b"), lambda: mind.search("b"), lambda: len(mind), mind.flush):
        with pytest.raises(oneiros.EngineClosed):
            call()


def test_index_options_are_kept_by_the_store(path: Path) -> None:
    with oneiros.Engine(path, analyzer="simple", k1=0.9, b=0.4, variant="bm25l") as mind:
        mind.add("the ants")
    with oneiros.Engine(path) as again:
        assert again.stats()["lexical"] | {"k1": 0.9, "b": 0.4} == again.stats()["lexical"]
        assert again.search("the").ids != []
        assert again.search("ant").ids == []
    for option, value in (("k1", -1.0), ("b", 1.5), ("variant", "bm26"), ("analyzer", "klingon")):
        with pytest.raises(ValueError, match=option if option in {"k1", "b"} else str(value)):
            oneiros.Engine(path, **{option: value})
    with oneiros.Engine(path) as again:
        assert again.stats()["lexical"]["variant"] == "bm25l"
