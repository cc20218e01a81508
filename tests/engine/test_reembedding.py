"""Another embedder's vectors replace all others: in batches, resumed, at once for every search."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest

import oneiros
from oneiros.index.indexes import Indexes
from tests.engine.embedders import LetterCounts, Meddling

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")

COUNT = 600  # three batches
NEW = "hgfedcba"  # of the same width, and another direction for each letter
A, H = np.eye(8, dtype="f4")[[0, 7]]
DONE = {"embedder": "new", "done": 256}


def old() -> LetterCounts:
    return LetterCounts(name="old")


def new(**options: object) -> Meddling:
    return Meddling("new", letters=NEW, **options)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, embedder=old(), durability="normal") as engine:
        engine.add_many([{"text": f"a {n}", "id": f"m{n}"} for n in range(COUNT)])
    return path


def found(engine: oneiros.Engine, vector: np.ndarray | None, query: str = "") -> int:
    """How many of 50 results lie in the direction of a vector, or of a query's."""
    response = engine.search(query, k=50, embedding=vector, reinforce=False, explain=True)
    scores = [one.explanation.channels for one in response.results]
    return sum(any(c.name == "vector" and (c.score or 0) > 0.5 for c in one) for one in scores)


def goes_by(engine: oneiros.Engine) -> str:
    """Whose vectors searches and the store go by: all of them, or it is a mixture."""
    stored = {
        tuple(np.flatnonzero(memory.embedding).tolist())
        for memory in engine.get_many([f"m{n}" for n in range(COUNT)])
        if memory is not None and memory.embedding is not None
    }
    hits = found(engine, A), found(engine, H)
    stats = engine.stats()
    told = (*hits, tuple(stored), stats["vectors"], stats["embedder"])
    names = {(50, 0, ((0,),), COUNT, "old"): "old", (0, 50, ((7,),), COUNT, "new"): "new"}
    return names.get(told, f"a mixture: {told}")


def fail() -> None:
    msg = "out of order"
    raise RuntimeError(msg)


def interrupt() -> None:
    raise KeyboardInterrupt


# Whole


def test_all_vectors_are_replaced_at_once_for_everyone(path: Path) -> None:
    with oneiros.Engine(path, embedder=old()) as engine, oneiros.Engine(path) as other:
        seen: list[str] = []
        embedder = new(always=lambda: seen.extend((goes_by(engine), goes_by(other))))
        assert engine.reembed(embedder) == COUNT
        assert seen == ["old"] * 6
        assert [len(call) for call in embedder.calls] == [256, 256, 88]
        assert (goes_by(engine), goes_by(other)) == ("new", "new")
        stats = engine.stats()
        assert (stats["reembedding"], stats["without_vector"]) == (None, 0)
        assert engine.search("a", reinforce=False).results  # embedded by the new one
        assert engine.check() == []
    with oneiros.Engine(path, embedder=new()) as again:
        assert goes_by(again) == "new"


@pytest.mark.parametrize("letters", [NEW, "xyzha"], ids=["as wide", "less wide"])
def test_searches_never_see_a_part_of_the_new_vectors(
    path: Path, monkeypatch: pytest.MonkeyPatch, letters: str
) -> None:
    with oneiros.Engine(path, embedder=old()) as engine:
        seen = [found(engine, None, "a")]  # the first one reads links and texts
        end = Indexes.end_replacement

        def ending(indexes: Indexes) -> None:
            with ThreadPoolExecutor(1) as others:
                seen.append(others.submit(found, engine, A).result())
                seen.append(others.submit(found, engine, None, "a").result())  # by the old one
            end(indexes)

        monkeypatch.setattr(Indexes, "end_replacement", ending)
        engine.reembed(LetterCounts(letters, name="new"))
        assert seen == [50, 50, 50]


def test_what_an_interrupt_left_of_following_is_done_by_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with oneiros.Engine(path, embedder=old()) as engine:
        add = Indexes._apply_vectors

        def adding(indexes: Indexes, *given: object) -> None:
            add(indexes, *given)  # type: ignore[arg-type]
            interrupt()

        monkeypatch.setattr(Indexes, "_apply_vectors", adding)
        with pytest.raises(KeyboardInterrupt):
            engine.reembed(new())
        monkeypatch.undo()
        assert found(engine, H) == 50  # the search followed first
        assert goes_by(engine) == "new"
        assert engine.add("h", id="h")
        assert engine.get("h").embedding is not None


# In parts


@pytest.mark.parametrize("stop", [fail, interrupt], ids=["error", "interrupt"])
def test_what_was_cut_off_is_gone_on_with(path: Path, stop: Callable[[], None]) -> None:
    with oneiros.Engine(path, embedder=old()) as engine:
        with pytest.raises((RuntimeError, KeyboardInterrupt)):
            engine.reembed(new(at={1: stop}))
        assert (goes_by(engine), engine.stats()["reembedding"]) == ("old", DONE)
        engine.update("m0", importance=0.75)  # no other text: its new vector stays
        engine.update("m1", text="b")
        engine.update("m2", title="c")
        engine.forget("m3")
        engine.delete("m4")
        engine.add("a", id="added")
    with oneiros.Engine(path) as again:
        assert again.stats()["reembedding"] == {"embedder": "new", "done": 253}
        assert found(again, A) == 50
        embedder = new()
        assert again.reembed(embedder) == COUNT
        asked = [text for call in embedder.calls for text in call]
        assert asked == ["b", "c a 2", *(f"a {n}" for n in range(256, COUNT)), "a"]
        assert [np.flatnonzero(again.get(id).embedding).tolist() for id in ("m1", "added")] == [
            [6],
            [7],
        ]
        again.restore("m4")
        assert again.stats()["without_vector"] == 0
        assert again.check() == []


def test_a_new_vector_that_is_damaged_before_the_switch_is_made_again(path: Path) -> None:
    with oneiros.Engine(path, embedder=old()) as engine, pytest.raises(RuntimeError):
        engine.reembed(new(at={1: fail}))
    flip_new_vector(path, "m7")
    with oneiros.Engine(path) as engine:
        assert [one for one in engine.check(deep=True) if "its new vector is damaged" in one]
        embedder = new(at={1: lambda: flip_new_vector(path, "m300")})  # between batch and switch
        assert engine.reembed(embedder) == COUNT
        asked = [text for call in embedder.calls for text in call]
        assert (asked.count("a 7"), asked.count("a 300"), len(asked)) == (1, 2, 346)
        assert goes_by(engine) == "new"
        assert engine.check(deep=True) == []


def flip_new_vector(path: Path, id: str) -> None:
    """Change one byte of a component of a memory's new vector."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.set_busy_timeout(5_000)
        ((blob,),) = connection.execute("SELECT new_embedding FROM memory WHERE id = ?", (id,))
        assert isinstance(blob, bytes)
        damaged = blob[:-6] + bytes([blob[-6] ^ 1]) + blob[-5:]
        connection.execute("UPDATE memory SET new_embedding = ? WHERE id = ?", (damaged, id))


DIES = """
import os, sys, oneiros
from tests.engine.embedders import Meddling
with oneiros.Engine(sys.argv[1], embedder=None) as engine:
    dying = Meddling("new", letters="hgfedcba", at={2: lambda: os._exit(9)})
    engine.reembed(dying)
"""


def test_what_a_crash_cut_off_is_gone_on_with(path: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DIES, str(path)], timeout=120, check=False
    )
    assert died.returncode == 9
    with oneiros.Engine(path, embedder=old()) as engine:
        assert goes_by(engine) == "old"
        embedder = new()
        assert engine.reembed(embedder) == COUNT
        assert [len(call) for call in embedder.calls] == [88]
        assert goes_by(engine) == "new"


def test_an_unfinished_one_may_be_begun_again_or_given_up(path: Path) -> None:
    with oneiros.Engine(path) as engine:
        for _ in range(2):
            with pytest.raises(RuntimeError):
                engine.reembed(new(at={1: fail}), resume=False)
            assert engine.stats()["reembedding"] == DONE
        third = Meddling("third", letters="xya")
        assert engine.reembed(third) == COUNT
        assert [len(call) for call in third.calls] == [256, 256, 88]
        assert engine.stats()["reembedding"] is None
        with pytest.raises(TypeError, match="resume"):
            engine.reembed(third, resume=1)  # type: ignore[arg-type]
    with pytest.raises(oneiros.EmbedderMismatch):
        oneiros.Engine(path, embedder=new())


def test_opening_says_that_one_is_unfinished(path: Path) -> None:
    with oneiros.Engine(path) as engine, pytest.raises(RuntimeError):
        engine.reembed(new(at={1: fail}))
    with pytest.raises(oneiros.EmbedderMismatch, match=r"'old'.*'new'.*unfinished.*until"):
        oneiros.Engine(path, embedder=new())
    with oneiros.Engine(path) as engine:
        engine.reembed(new())
    with pytest.raises(oneiros.EmbedderMismatch) as refused:
        oneiros.Engine(path, embedder=old())
    assert "unfinished" not in str(refused.value)


def test_new_vectors_of_two_widths_are_refused(path: Path) -> None:
    with oneiros.Engine(path) as engine:
        with pytest.raises(RuntimeError):
            engine.reembed(new(at={1: fail}))
        with pytest.raises(ValueError, match="embedder: expected vectors of 8 components, got 3"):
            engine.reembed(LetterCounts("xya", name="new"))
        assert goes_by(engine) == "old"
        assert engine.reembed(LetterCounts("xya", name="new"), resume=False) == COUNT
        assert engine.stats()["embedding_dimension"] == 3


# Beside others


def test_what_is_written_meanwhile_gets_a_vector_of_the_new_one(path: Path) -> None:
    with oneiros.Engine(path, embedder=old()) as other, oneiros.Engine(path) as engine:
        embedder = new(
            at={
                1: lambda: (other.add("b", id="early"), other.update("m0", text="b")),
                2: lambda: (other.add("c", id="late"), other.forget("m1"), other.delete("m2")),
            }
        )
        assert engine.reembed(embedder) == COUNT + 1
        directions = {id: np.argmax(engine.get(id).embedding) for id in ("early", "late", "m0")}
        assert directions == {"early": 6, "late": 5, "m0": 6}
        other.restore("m2")
        assert np.argmax(engine.get("m2").embedding) == 7
        with pytest.raises(oneiros.EmbedderMismatch):
            other.add("d")
        with pytest.raises(oneiros.EmbedderMismatch):
            other.embed_missing()
        assert engine.check() == other.check() == []


def test_another_one_ends_the_first(path: Path) -> None:
    third = Meddling("third", letters="xya")
    with oneiros.Engine(path) as other, oneiros.Engine(path) as engine:
        with pytest.raises(oneiros.EmbedderMismatch, match="'third'"):
            engine.reembed(new(at={1: lambda: other.reembed(third)}))
        assert engine.stats()["embedder"] == "third"
        assert engine.check() == []


def test_the_same_twice_at_once_is_once(path: Path) -> None:
    with oneiros.Engine(path) as other, oneiros.Engine(path) as engine:
        engine.reembed(new(at={1: lambda: other.reembed(new())}))
        assert goes_by(engine) == goes_by(other) == "new"
        assert engine.search("h", reinforce=False).results


def test_an_engine_whose_embedder_was_replaced_while_it_ran_uses_the_new_one(path: Path) -> None:
    slow = Meddling("old")
    with oneiros.Engine(path, embedder=slow) as engine:
        slow.do_next(lambda: engine.reembed(new()))
        engine.update("m0", text="b")
        slow.do_next(fail)
        engine.add("b", id="added")
        for id in ("m0", "added"):
            assert np.argmax(engine.get(id).embedding) == 6


def test_stubs_stay_without_a_vector_and_blank_texts_too(path: Path) -> None:
    with oneiros.Engine(path, embedder=old()) as engine:
        engine.update("m0", tier="stub", embedding=None)
        engine.add("", id="blank")
        embedder = new()
        engine.reembed(embedder)
        assert "a 0" not in embedder.asked
        assert "" not in embedder.asked
        assert (engine.get("m0").embedding, engine.get("blank").embedding) == (None, None)
        assert engine.stats()["without_vector"] == 0


def test_an_undone_cycle_brings_back_no_vector_of_the_old_one(tmp_path: Path) -> None:
    day, now = 86_400.0, 1_750_000_000.0
    with oneiros.Engine(tmp_path / "mind.db", profile="cognitive", embedder=old()) as engine:
        cold = {"tier": "cold", "cold_since": now - 400 * day}
        engine.add("a" * 300, id="cold", **cold, now=now - 900 * day)
        engine.add("a", id="other", now=now)
        report = engine.dream(now)
        assert engine.get("cold").tier == "stub"
        engine.reembed(new())
        undone = engine.undo_dream(report.id, now=now)
        assert [(one.id, one.field) for one in undone.not_restored] == [("cold", "embedding")]
        memory = engine.get("cold")
        assert (memory.text, memory.embedding) == ("a" * 300, None)
        assert (engine.stats()["without_vector"], engine.embed_missing()) == (1, 1)
        assert np.argmax(engine.get("cold").embedding) == 7


def test_the_vectors_of_an_async_engine_are_replaced_too(path: Path) -> None:
    async def run() -> int:
        async with oneiros.AsyncEngine(path) as engine:
            return await engine.reembed(new(), resume=False)

    assert asyncio.run(run()) == COUNT
