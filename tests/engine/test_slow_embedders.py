"""While an embedder runs others write, and what they changed is embedded again: nothing is mixed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import oneiros
from tests.engine.embedders import LetterCounts, Meddling

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, embedder=LetterCounts()) as engine:
        engine.add("aaa", id="a")
        engine.add("ccc", id="c", title="c")
    return path


def vector(text: str) -> np.ndarray:
    """The unit vector of a text."""
    counts = LetterCounts()([text])[0]
    return counts / np.linalg.norm(counts)


def has_vector_of(engine: oneiros.Engine, id: str, text: str) -> bool:
    held = engine.get(id).embedding
    return held is not None and np.allclose(held, vector(text), rtol=1e-6)


WRITES: dict[str, Callable[[oneiros.Engine], object]] = {
    "add": lambda engine: engine.add("bbb"),
    "add_many": lambda engine: engine.add_many([{"text": "bbb"}, {"text": "ddd"}]),
    "add again": lambda engine: engine.add("bbb", id="a", on_conflict="update"),
    "update": lambda engine: engine.update("a", text="bbb"),
    "scope": lambda engine: engine.scope(project="x").add("bbb"),
    "embed_missing": lambda engine: engine.embed_missing(),
    "reembed": lambda engine: engine.reembed(engine._scope.services.sync.vectors.embedder),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_nobody_waits_while_the_embedder_runs(
    path: Path, write: Callable[[oneiros.Engine], object]
) -> None:
    with oneiros.Engine(path, busy_timeout_seconds=0.0) as other:
        other.add("eee")  # lacks a vector
        numbers = count()
        embedder = Meddling(
            always=lambda: other.add("ggg", embedding=[1.0] * 8, id=f"g{next(numbers)}")
        )
        with oneiros.Engine(path, embedder=embedder) as engine:
            write(engine)
            assert len(embedder.calls) >= 1
            assert engine.get("g0").text == "ggg"
            assert engine.check() == []


def test_nor_does_another_thread_of_the_engine(path: Path) -> None:
    embedder = Meddling()
    with oneiros.Engine(path, embedder=embedder, busy_timeout_seconds=0.2) as engine:
        embedder.do_next(lambda: in_a_thread(lambda: engine.pin("c")))
        engine.update("a", text="bbb")
        assert engine.get("c").pinned
        assert has_vector_of(engine, "a", "bbb")


def in_a_thread(work: Callable[[], object]) -> None:
    """Do work in another thread, and wait for it."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result(timeout=30)


def test_an_update_that_another_overtook_embeds_what_is_there_now(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as other:
        embedder = Meddling(at={0: lambda: other.update("a", title="d")})
        with oneiros.Engine(path, embedder=embedder) as engine:
            engine.update("a", text="bbb")
            assert embedder.calls == [["bbb"], ["d bbb"]]
            assert has_vector_of(engine, "a", "d bbb")


def test_so_does_a_record_that_updates(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as other:
        embedder = Meddling(at={0: lambda: other.update("c", title="d")})
        with oneiros.Engine(path, embedder=embedder) as engine:
            records = [{"text": "bbb", "id": "c"}, {"text": "eee", "id": "new"}]
            report = engine.add_many(records, on_conflict="update", on_error="collect")
            assert (report.updated, report.failures) == (["c"], [])
            assert embedder.calls == [["c bbb", "eee"], ["d bbb"]]
            assert has_vector_of(engine, "c", "d bbb")
            assert has_vector_of(engine, "new", "eee")


def test_a_record_whose_id_came_meanwhile_is_refused_once(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as other:
        embedder = Meddling(at={0: lambda: other.add("ddd", id="new")})
        with oneiros.Engine(path, embedder=embedder) as engine:
            report = engine.add_many(
                [{"text": "bbb", "id": "new"}, {"text": "eee", "id": "b"}], on_error="collect"
            )
            assert (report.ids, report.skipped) == (["b"], [0])
            assert engine.get("new").text == "ddd"


def test_an_update_of_what_is_gone_meanwhile_is_refused(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as other:
        embedder = Meddling(at={0: lambda: other.forget("a")})
        with (
            oneiros.Engine(path, embedder=embedder) as engine,
            pytest.raises(oneiros.UnknownMemory),
        ):
            engine.update("a", text="bbb")


def test_an_update_that_is_always_overtaken_gives_up_and_changes_nothing(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as other:
        numbers = count()
        embedder = Meddling(always=lambda: other.update("a", title="d" * (next(numbers) + 1)))
        with oneiros.Engine(path, embedder=embedder) as engine:
            with pytest.raises(oneiros.StoreBusy, match="changed the texts 8 times"):
                engine.update("a", text="bbb")
            assert engine.get("a").text == "aaa"
            assert len(embedder.calls) < 12
            assert engine.check() == []


def test_a_failing_embedder_changes_nothing(path: Path) -> None:
    def fail() -> None:
        msg = "out of order"
        raise RuntimeError(msg)

    with oneiros.Engine(path, embedder=Meddling(always=fail)) as engine:
        revision = engine.stats()["revision"]
        for write in ("add", "add_many", "add again", "update"):
            with pytest.raises(RuntimeError, match="out of order"):
                WRITES[write](engine)
        assert (engine.stats()["revision"], len(engine)) == (revision, 2)
        assert has_vector_of(engine, "a", "aaa")


def test_a_cycle_embeds_its_summaries_before_it_locks(tmp_path: Path) -> None:
    day, now = 86_400.0, 1_750_000_000.0
    embedder = Meddling()
    path = tmp_path / "other.db"
    with oneiros.Engine(path, profile="cognitive", embedder=embedder) as engine:
        told = {"category": "episodic", "stability": 0.125, "importance": 0.0}
        old = now - 900 * day
        engine.add_many([{"text": "aaa", **told} for _ in range(5)], links=False, now=old)
        with oneiros.Engine(path, busy_timeout_seconds=0.0) as other:
            embedder.do_next(lambda: other.add("ggg", id="g"))
            report = engine.dream(now, summarise=lambda _: "bbb")
        assert embedder.calls[1:] == [["bbb"]]
        (summary,) = [memory.id for memory in engine.list() if memory.text == "bbb"]
        assert summary.startswith(report.id)
        assert has_vector_of(engine, summary, "bbb")
        assert engine.get("g").text == "ggg"
