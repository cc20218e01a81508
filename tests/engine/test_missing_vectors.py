"""Memories without a vector: how they come about, that they are reported, and how they get one."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

import oneiros
from oneiros.store.reading import Reading
from tests.engine.embedders import LetterCounts, Meddling

quiet = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
A, B = np.eye(8, dtype="f4")[:2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mind.db"


def by_vector(engine: oneiros.Engine, vector: np.ndarray) -> list[str]:
    """The ids that a search by meaning alone finds with a cosine above 0."""
    found = engine.search("", k=100, embedding=vector, reinforce=False, explain=True)
    return [
        one.memory.id
        for one in found.results
        if any(c.name == "vector" and c.score and c.score > 0 for c in one.explanation.channels)
    ]


# The name


@quiet
def test_the_engine_names_the_embedder_of_the_vectors(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as engine:
        assert engine.embedder_name is None  # there is no vector yet
        engine.add("aaa")
        assert engine.embedder_name == "one" == engine.stats()["embedder"]
        with oneiros.Engine(path) as other:  # without an embedder of its own
            assert other.embedder_name == "one"
            engine.reembed(LetterCounts(name="two"))
            other.refresh()
            assert other.embedder_name == "two"
    with oneiros.Engine(":memory:") as engine:
        engine.add("aaa", embedding=A)
        assert engine.embedder_name is None  # a passed vector has no name


# The warning


def test_an_engine_without_the_embedder_of_the_store_warns(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as engine:
        engine.add("aaa")
    with pytest.warns(oneiros.MissingEmbedderWarning, match=r"'one'.*embed_missing") as caught:
        oneiros.Engine(path).close()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(oneiros.MissingEmbedderWarning):
            oneiros.Engine(path)
        oneiros.Engine(path, embedder=LetterCounts(name="one")).close()  # nothing was left open


def test_the_warning_of_an_async_engine_points_at_where_it_was_made(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as engine:
        engine.add("aaa")
    line = 0

    async def opened() -> None:
        nonlocal line
        made = oneiros.AsyncEngine(path)
        line = made_at()
        await asyncio.create_task(made.count())
        await made.close()

    with pytest.warns(oneiros.MissingEmbedderWarning) as caught:
        asyncio.run(opened())
    assert [(one.filename, one.lineno) for one in caught] == [(__file__, line - 1)]


def made_at() -> int:
    """Return the caller's line."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def changed(engine: oneiros.Engine) -> None:
    engine.update("a", text="another")


def added_over(engine: oneiros.Engine) -> None:
    engine.add("another", id="a", on_conflict="update")


@pytest.mark.parametrize("change", [changed, added_over])
def test_a_vector_of_the_users_own_is_dropped_with_one_warning(
    path: Path, change: Callable[[oneiros.Engine], None]
) -> None:
    with oneiros.Engine(path) as engine:
        engine.add_many([{"text": "aaa", "id": id, "embedding": A} for id in "abc"])
        engine.update("b", title="new", embedding=B)  # no vector is dropped
        engine.update("c", importance=0.7)
        with pytest.warns(oneiros.MissingEmbedderWarning, match="was dropped") as caught:
            change(engine)
        assert [one.filename for one in caught] == [__file__]
        assert engine.get("a").embedding is None
        engine.update("b", text="without another warning")
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as engine:
        engine.update("c", text="this one has an embedder")


def test_an_async_engine_warns_of_a_dropped_vector_where_it_was_called(path: Path) -> None:
    async def lose() -> None:
        async with oneiros.AsyncEngine(path) as engine:
            await engine.add("aaa", id="a", embedding=A)
            await engine.update("a", text="another")

    with pytest.warns(oneiros.MissingEmbedderWarning, match="was dropped") as caught:
        asyncio.run(lose())
    assert [one.filename for one in caught] == [__file__]


def test_a_store_without_an_embedder_warns_nobody(path: Path) -> None:
    with oneiros.Engine(path) as engine:
        engine.add("aaa", embedding=A)
    oneiros.Engine(path).close()  # a warning would be an error here


# Changed texts


@quiet
@pytest.mark.parametrize(
    "change",
    [
        lambda engine: engine.update("a", text="bbb"),
        lambda engine: engine.update("a", title="bbb"),
        lambda engine: engine.add("bbb", id="a", on_conflict="update"),
        lambda engine: engine.scope(project="x").update("a", text="bbb"),
    ],
    ids=["text", "title", "add", "scope"],
)
def test_the_vector_of_a_changed_text_is_dropped_without_an_embedder(
    path: Path, change: Callable[[oneiros.Engine], object]
) -> None:
    embedder = LetterCounts()
    with oneiros.Engine(path, embedder=embedder) as other:
        other.add("aaa", id="a", project="x")
        with oneiros.Engine(path) as engine:
            assert by_vector(engine, A) == ["a"]
            change(engine)
            assert (engine.get("a").embedding, by_vector(engine, A)) == (None, [])
            assert by_vector(other, A) == []
    with oneiros.Engine(path) as again:
        assert (again.get("a").embedding, by_vector(again, A)) == (None, [])


@quiet
def test_what_is_not_embedded_may_change_and_the_vector_stays(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as engine:
        engine.add("aaa", id="a")
    with oneiros.Engine(path) as engine:
        engine.update("a", importance=0.75, tags=["t"], text="aaa")
        engine.add("aaa", id="a", priority=4, on_conflict="update")
        assert by_vector(engine, A) == ["a"]
        engine.update("a", text="bbb", embedding=B)
        assert by_vector(engine, B) == ["a"]


def test_a_text_that_comes_again_keeps_the_vector_that_was_given() -> None:
    embedder = LetterCounts()
    with oneiros.Engine(":memory:", embedder=embedder) as engine:
        engine.add("aaa", id="a", embedding=B)
        engine.add("aaa", id="a", priority=4, on_conflict="update")
        assert (embedder.asked, by_vector(engine, B)) == ([], ["a"])
        engine.add("aab", id="a", on_conflict="update")
        np.testing.assert_allclose(engine.get("a").embedding[:2] ** 2, [0.8, 0.2], rtol=1e-6)


def test_a_changed_text_without_direction_loses_its_vector() -> None:
    with oneiros.Engine(":memory:", embedder=LetterCounts()) as engine:
        engine.add("aaa", id="a")
        engine.add("aaa", id="b")
        engine.update("a", text="zzz")
        engine.add("zzz", id="b", on_conflict="update")
        assert by_vector(engine, A) == []


# How many lack one


@quiet
def test_stats_count_what_lacks_a_vector(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as engine:
        engine.add("aaa")
        assert engine.stats()["without_vector"] == 0
    with oneiros.Engine(path) as engine:
        engine.add_many(
            [{"text": "bbb"}, {"text": "", "title": "b"}, {"text": "c", "embedding": A}]
        )
        engine.add_many([{"text": ""}, {"text": " \n\u2003"}])  # nothing can be embedded of these
        engine.delete(engine.add("ddd"))
        engine.add("eee", tier="stub")  # docs/systems/cognitive.md C20: no embedding
        assert engine.stats()["without_vector"] == 2
        engine.restore(engine.get_deleted(engine.purgeable(0.0, now=1e10))[0].id)
        assert engine.stats()["without_vector"] == 3


@quiet
def test_stats_read_only_the_memories_without_a_vector(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as engine:
        engine.add_many([{"text": "aaa"}] * 20)
    read: list[int] = []

    def count(self: Reading, among: Iterable[int]) -> int:
        read.append(len(list(among)))
        return whole(self, among)

    whole = Reading.count_without_vector
    monkeypatch.setattr(Reading, "count_without_vector", count)
    with oneiros.Engine(path) as engine:
        assert (engine.stats()["without_vector"], read.pop()) == (0, 0)
        engine.add_many([{"text": "bbb"}, {"text": " "}])
        assert (engine.stats()["without_vector"], read.pop()) == (1, 2)


# Made afterwards


@quiet
def test_missing_vectors_are_made_and_no_others(path: Path) -> None:
    with oneiros.Engine(path, embedder=LetterCounts()) as engine:
        engine.add("aaa", id="a")
        engine.add("ccc", id="hand", embedding=B)
    with oneiros.Engine(path) as engine:
        engine.add_many([{"text": "bbb", "id": "b", "title": "b"}, {"text": "", "id": "blank"}])
    embedder = LetterCounts()
    with oneiros.Engine(path, embedder=embedder) as engine:
        before = engine.get("b")
        assert engine.embed_missing() == 1
        assert embedder.asked == ["b bbb"]
        assert set(by_vector(engine, B)) == {"b", "hand"}
        after = engine.get("b")
        assert (after.revision_count, after.updated_at) == (
            before.revision_count,
            before.updated_at,
        )
        assert (engine.embed_missing(), engine.stats()["without_vector"]) == (0, 0)
        assert embedder.asked == ["b bbb"]
    with oneiros.Engine(path, embedder=embedder) as again:
        assert set(by_vector(again, B)) == {"b", "hand"}


def test_the_first_vectors_of_a_store_record_their_embedder(path: Path) -> None:
    with oneiros.Engine(path) as engine:
        engine.add("aaa")
    with oneiros.Engine(path, embedder=LetterCounts(name="one")) as engine:
        assert engine.embed_missing() == 1
        stats = engine.stats()
        assert (stats["embedder"], stats["embedding_dimension"]) == ("one", 8)
    with pytest.raises(oneiros.EmbedderMismatch):
        oneiros.Engine(path, embedder=LetterCounts(name="two"))


def test_each_batch_stays_when_a_later_one_fails(path: Path) -> None:
    with oneiros.Engine(path) as engine:
        engine.add_many([{"text": f"aaa {n}"} for n in range(600)])
    with oneiros.Engine(path, embedder=Meddling(at={2: fail})) as engine:
        with pytest.raises(RuntimeError, match="out of order"):
            engine.embed_missing()
        assert engine.stats()["without_vector"] == 600 - 2 * 256
    with oneiros.Engine(path, embedder=Meddling()) as engine:
        assert (engine.embed_missing(), engine.stats()["vectors"]) == (600 - 2 * 256, 600)


def fail() -> None:
    msg = "out of order"
    raise RuntimeError(msg)


def test_a_text_without_direction_is_embedded_once_and_again_when_it_changes(path: Path) -> None:
    with oneiros.Engine(path) as engine:
        engine.add("zzz", id="z")
    embedder = LetterCounts()
    with oneiros.Engine(path, embedder=embedder) as engine:
        assert (engine.embed_missing(), engine.embed_missing()) == (0, 0)
        assert (embedder.asked, engine.stats()["without_vector"]) == (["zzz"], 0)
    with oneiros.Engine(path) as engine:
        engine.update("z", text="aaa")
        assert engine.stats()["without_vector"] == 1
    with oneiros.Engine(path, embedder=embedder) as engine:
        assert (engine.embed_missing(), by_vector(engine, A)) == (1, ["z"])


def test_a_text_that_changes_while_it_is_embedded_is_embedded_again(path: Path) -> None:
    with oneiros.Engine(path) as other:
        other.add_many(
            [{"text": "aaa", "id": "a"}, {"text": "aab", "id": "b"}, {"text": "x", "id": "c"}]
        )
        embedder = Meddling(
            at={0: lambda: (other.update("a", text="bbb"), other.forget("b"), other.delete("c"))}
        )
        with oneiros.Engine(path, embedder=embedder, busy_timeout_seconds=0.2) as engine:
            assert engine.embed_missing() == 1
            assert embedder.calls == [["aaa", "aab", "x"], ["bbb"]]
            assert (by_vector(engine, A), by_vector(engine, B)) == ([], ["a"])


def test_embedding_what_is_missing_needs_the_right_embedder(path: Path) -> None:
    with oneiros.Engine(path) as engine:
        engine.add("aaa", embedding=[1.0, 2.0])
        engine.add("bbb")
        with pytest.raises(ValueError, match="embed_missing: the engine has no embedder"):
            engine.embed_missing()
        with pytest.raises(TypeError, match="progress"):
            engine.embed_missing(progress=1)  # type: ignore[arg-type]
    with oneiros.Engine(path, embedder=LetterCounts()) as engine:
        with pytest.raises(ValueError, match="embedder: expected vectors of 2 components, got 8"):
            engine.embed_missing()
        assert (engine.stats()["embedder"], engine.stats()["without_vector"]) == (None, 1)


def test_progress_goes_to_the_error_stream(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with oneiros.Engine(path) as engine:
        engine.add("aaa")
    with oneiros.Engine(path, embedder=LetterCounts()) as engine:
        assert engine.embed_missing(progress=True) == 1
        assert engine.reembed(LetterCounts(), progress=True) == 1
    assert capsys.readouterr().out == ""


def test_the_missing_vectors_of_an_async_engine(path: Path) -> None:
    async def run() -> int:
        async with oneiros.AsyncEngine(path, embedder=LetterCounts()) as engine:
            return await engine.embed_missing()

    with oneiros.Engine(path) as engine:
        engine.add("aaa")
    assert asyncio.run(run()) == 1


def test_a_blank_text_is_not_embedded() -> None:
    embedder = LetterCounts()
    with oneiros.Engine(":memory:", embedder=embedder) as engine:
        id = engine.add("  ")
        engine.update(id, text="\n")
        assert (embedder.asked, engine.embed_missing()) == ([], 0)
        engine.update(id, text="aaa")
        assert embedder.asked == ["aaa"]
