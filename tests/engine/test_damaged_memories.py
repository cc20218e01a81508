"""A memory whose row is damaged is named and left out; all others are found and read as before."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import oneiros
from oneiros import StoreCorrupt
from oneiros.index import snapshot
from tests.engine.embedders import LetterCounts

NOW = 1_770_000_000.0
DAY = 86_400.0
WORD = "harbour"
DAMAGE = {
    "text": "text = replace(text, 'topic1', 'topib1')",
    "a byte that is not UTF-8": "text = CAST(X'41FF' AS TEXT)",
    "a number": "importance = 0.75",
    "metadata": "metadata = '{}'",
    "the checksum": "checksum = 7",
}


@pytest.fixture(params=["alone", "snapshot"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of twenty memories, closed, with a snapshot beside it or without."""
    if request.param == "snapshot":
        monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        mind.add_many(
            [
                {
                    "text": f"{WORD} of topic{number}",
                    "id": f"m{number}",
                    "project": "pq"[number % 2],
                    "metadata": {"number": number},
                    "embedding": (1.0, number / 20),
                }
                for number in range(20)
            ]
        )
        mind.link("m1", "m2")
    assert (tmp_path / "mind.db-snapshot").exists() == (request.param == "snapshot")
    return path


def damage(path: Path, assignment: str, id: str = "m1") -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(f"UPDATE memory SET {assignment} WHERE id = ?", (id,))


def found(mind: oneiros.Engine, **given: object) -> set[str]:
    return set(mind.search(WORD, k=50, reinforce=False, **given).ids)  # type: ignore[arg-type]


OTHERS = {f"m{number}" for number in range(20)} - {"m1"}


@pytest.mark.parametrize("kind", DAMAGE)
def test_it_is_named_and_the_others_are_read(path: Path, kind: str) -> None:
    damage(path, DAMAGE[kind])
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        response = mind.search(WORD, k=50, reinforce=False)
        for result in response.results:
            if result.id == "m1":  # of the snapshot, which does not know of it
                with pytest.raises(StoreCorrupt, match="memory 'm1'"):
                    _ = result.memory
            else:
                assert result.memory.text == f"{WORD} of topic{result.id[1:]}"
        assert set(response.ids) >= OTHERS
        for _ in range(2):
            with pytest.raises(StoreCorrupt, match="memory 'm1'") as caught:
                mind.get("m1")
        assert caught.value.memory_id == "m1"
        assert mind.get("m2").text == f"{WORD} of topic2"
        assert found(mind) == OTHERS  # known by now, it is left out
        assert len(mind) == 19
        assert mind.stats()["damaged"] == 1
        assert {memory.id for memory in mind.list()} == OTHERS
        assert [one for one in mind.check() if "memory 'm1'" in one] == mind.check()
        assert any("memory 'm1'" in one for one in mind.check(deep=True))


def test_a_response_has_all_but_its_memory(path: Path) -> None:
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        response = mind.search(WORD, k=50, reinforce=False)
        damage(path, DAMAGE["text"])
        memories = {one["id"]: one["memory"] for one in response.to_dict()["results"]}
        assert memories.pop("m1") is None
        assert {memory["id"] for memory in memories.values()} == OTHERS
        texts = {row["id"]: row["text"] for row in response.to_arrow().to_pylist()}
        assert texts["m1"] is None
        assert all(texts[id] for id in OTHERS)


def test_what_reads_many_leaves_it_out(path: Path, tmp_path: Path) -> None:
    damage(path, DAMAGE["text"])
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        for _ in range(2):  # also where it is known already
            with pytest.warns(
                oneiros.DamagedMemoriesWarning, match=r"^1 memory is .*: 'm1'$"
            ) as of:
                assert mind.export(tmp_path / "out.jsonl") == 19
            assert [one.filename for one in of] == [__file__]
        lines = (tmp_path / "out.jsonl").read_text().splitlines()
        assert {json.loads(line)["id"] for line in lines} == OTHERS
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            mind.get_many(["m0", "m1"])
        pages = []
        while page := mind.list(after=pages[-1].id if pages else None, limit=3):
            pages += page
        assert {memory.id for memory in pages} == OTHERS
        assert mind.similar("m2")  # type: ignore[truthy-bool]


def test_an_export_of_a_scope_names_what_is_damaged_within(tmp_path: Path, path: Path) -> None:
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        damage(path, DAMAGE["text"])
        assert mind.scope(project="p").export(tmp_path / "out.jsonl") == 10  # m1 lies in q
        with pytest.warns(oneiros.DamagedMemoriesWarning, match="'m1'"):
            assert mind.scope(project="q").export(tmp_path / "out.jsonl") == 9


def test_an_id_that_is_not_utf8_is_named_by_its_number(path: Path) -> None:
    damage(path, "id = CAST(X'6DFF' AS TEXT)")
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        assert any("memory number 2 in the store" in one for one in mind.check(deep=True))


@pytest.mark.parametrize("kind", DAMAGE)
def test_all_others_are_embedded_again(path: Path, kind: str) -> None:
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        damage(path, DAMAGE[kind])
        assert mind.reembed(LetterCounts()) == 19
        stats = mind.stats()
        assert (stats["damaged"], stats["vectors"], stats["without_vector"]) == (1, 19, 0)
        assert mind.embed_missing() == 0
        assert all(mind.get(id).embedding is not None for id in OTHERS)


def test_reranking_passes_it_over(path: Path) -> None:
    damage(path, DAMAGE["text"])

    judged: list[str] = []

    def reranker(_: str, texts: list[str]) -> list[float]:
        judged.extend(texts)
        return [float(len(text)) for text in texts]

    with oneiros.Engine(path, clock=lambda: NOW, reranker=reranker) as mind:
        assert found(mind, profile="cognitive") - {"m1"}
        assert judged
        assert not any("topib" in text for text in judged)


@pytest.mark.parametrize(
    "write",
    [
        lambda mind: mind.update("m1", importance=0.25),
        lambda mind: mind.delete("m1"),
        lambda mind: mind.supersede("m1", "m2"),
        lambda mind: mind.pin("m1"),
        lambda mind: mind.feedback("m1", "helpful"),
        lambda mind: mind.link("m1", "m3"),
    ],
)
def test_a_change_of_it_is_refused_and_leaves_it_as_it_is(
    path: Path, write: Callable[[oneiros.Engine], object]
) -> None:
    damage(path, DAMAGE["text"])
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            write(mind)
        mind.update("m2", importance=0.25)
        assert mind.get("m2").importance == 0.25
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            mind.get("m1")


def test_forgotten_it_can_be_added_again(path: Path) -> None:
    damage(path, DAMAGE["a byte that is not UTF-8"])
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        with pytest.raises(oneiros.OneirosError):
            mind.add("another", id="m1", on_conflict="update")
        mind.forget("m1")
        assert mind.stats()["damaged"] == 0
        assert mind.check(deep=True) == []
        mind.add(f"{WORD} anew", id="m1")
        assert found(mind) == {*OTHERS, "m1"}
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        assert mind.get("m1").text == f"{WORD} anew"
        assert mind.check(deep=True) == []


@pytest.mark.parametrize("assignment", [DAMAGE["text"], "derived_from = '{[not JSON'"])
def test_a_filter_erases_it_or_says_that_it_did_not(path: Path, assignment: str) -> None:
    damage(path, assignment)
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            mind.get("m1")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            receipt = mind.forget(where=oneiros.where(id=["m1", "m2"]))
        if not caught:  # a snapshot knows it from before
            assert (receipt.ids, list(receipt.digests)) == (("m1", "m2"), ["m2"])
        else:
            assert receipt.ids == ("m2",)
            assert "damaged in the store and not forgotten" in str(caught[0].message)
            assert "'m1'" in str(caught[0].message)
            receipt = mind.forget_many(["m1", "m3"])
            assert (receipt.ids, list(receipt.digests)) == (("m1", "m3"), ["m3"])
        assert mind.verify_erased(receipt)
        assert mind.check(deep=True) == []


def test_reinforcement_and_cycles_go_on(path: Path) -> None:
    damage(path, DAMAGE["text"])
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        mind.search(WORD, k=50, session="s")
        mind.flush()
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            mind.get("m1")
        report = mind.dream(NOW + DAY)
        mind.undo_dream(report.id)
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            mind.get("m1")
        assert mind.get("m3").access_count == 1


def test_it_is_not_purged(path: Path) -> None:
    damage(path, "deleted_at = 5.0")
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        mind.delete("m2", now=NOW - 40 * DAY)
        assert mind.purge() == 1
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            mind.get("m1")
        with pytest.raises(oneiros.UnknownMemory):
            mind.restore("m2")


def test_a_scope_tells_nothing_of_what_lies_beyond(path: Path) -> None:
    damage(path, DAMAGE["text"])
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        scope = mind.scope(project="p")
        with pytest.raises(oneiros.UnknownMemory, match="no memory 'm1'"):
            scope.get("m1")
        with pytest.raises(StoreCorrupt, match="memory 'm1'"):
            mind.scope(project="q").forget("m1")
        mind.forget("m1")


@pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
def test_another_process_that_follows_leaves_it_out(path: Path) -> None:
    with oneiros.Engine(path, clock=lambda: NOW) as mind, oneiros.Engine(path) as other:
        mind.update("m1", title="changed")
        for table in ("memory", "lifecycle"):
            with closing(apsw.Connection(str(path))) as connection:
                connection.execute(f"UPDATE {table} SET checksum = 7 WHERE sequence = 2")
        mind.update("m2", title="changed, too")
        assert found(other) == OTHERS
        assert other.get("m2").title == "changed, too"
        assert other.stats()["damaged"] == 1


def test_damaged_states_that_another_wrote_are_left_out(path: Path) -> None:
    with oneiros.Engine(path, clock=lambda: NOW) as mind, oneiros.Engine(path) as other:
        assert found(other) == {*OTHERS, "m1"}
        mind.search(WORD, k=50, session="s")
        mind.flush()
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("UPDATE lifecycle SET stability = 9.5 WHERE sequence = 2")
        other.refresh()
        assert found(other) == OTHERS
        assert other.get("m2").access_count == 1


def test_a_row_that_an_index_alone_knows_of_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind:
        mind.add_many([{"text": f"{WORD} {number}", "id": f"m{number}"} for number in range(3)])
    with closing(apsw.Connection(str(path))) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory'").get
        size = connection.execute("PRAGMA page_size").get
    held = bytearray(path.read_bytes())
    count = (page - 1) * size + 3
    assert held[count : count + 2] == b"\0\x03"
    held[count + 1] = 2  # so many rows are on the page
    path.write_bytes(held)
    with oneiros.Engine(path) as mind:
        assert found(mind) == {"m0", "m1"}
        assert mind.stats()["damaged"] == 1
        assert any(
            "memory 'm2': its row is not in the store's table" in one for one in mind.check()
        )


def test_what_is_damaged_is_told_at_every_opening(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    path.with_name("mind.db-snapshot").unlink(missing_ok=True)
    damage(path, DAMAGE["text"])
    for _ in range(3):
        with oneiros.Engine(path, clock=lambda: NOW) as mind:
            assert mind.stats()["damaged"] == 1
            assert found(mind) == OTHERS


def test_a_damaged_number_keeps_no_cycle_from_being_undone(path: Path) -> None:
    with oneiros.Engine(path, clock=lambda: NOW, profile="reverie") as mind:
        strength = mind.get("m3").strength
        with closing(apsw.Connection(str(path))) as connection:
            connection.execute("UPDATE lifecycle SET strength = 0.123456789 WHERE sequence = 2")
        report = mind.dream(NOW + DAY)
        assert mind.get("m3").strength != strength
        mind.undo_dream(report.id)
        assert mind.get("m3").strength == strength


def test_a_cycle_that_meets_a_damaged_memory_is_not_applied_and_the_next_is(path: Path) -> None:
    with oneiros.Engine(path, clock=lambda: NOW, profile="cognitive") as mind:
        faded = {"category": "episodic", "stability": 0.125, "importance": 0.0}
        mind.add_many(
            [
                {"text": f"an old tale {n}", "id": f"old{n}", "embedding": (1.0, 0.0), **faded}
                for n in range(6)
            ],
            now=NOW - 900 * DAY,
        )
        damage(path, "text = 'another tale'", "old2")
        with pytest.raises(StoreCorrupt, match="memory 'old2'"):
            mind.dream(NOW, summarise=" and ".join)
        assert mind.dreams() == []
        report = mind.dream(NOW, summarise=" and ".join)
        assert report.change_count > 0
        assert not any("another" in memory.text for memory in mind.list())
