"""A memory that is added alone leaves the same store and read model by the short way as by the long."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.write import reinforce
from oneiros.write.sync import Sync
from tests.write.test_record_columns import GIVEN, NOW, WRONG, state_of


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(sorted(GIVEN)), unique=True, max_size=6))
    record: dict[str, Any] = {
        "id": f"m{draw(st.integers(0, 9))}",
        "text": draw(st.sampled_from(["a?", "b c", *"defghijk"])),
    }
    record |= {name: draw(GIVEN[name] | st.none()) for name in names}
    if draw(st.integers(0, 9)) == 0:
        name = draw(st.sampled_from(sorted(WRONG)))
        record[name] = draw(WRONG[name])
    return record


def outcome(given: list[dict[str, Any]], *, profile: str, embedder: Any, is_short: bool) -> Any:
    """What an engine holds after records were added one by one, and the errors that they met."""
    patch = pytest.MonkeyPatch()
    with (
        patch.context() as changed,
        oneiros.Engine(":memory:", profile=profile, embedder=embedder) as engine,
    ):
        # uses are written when flush() asks: how many revisions a slow run makes is not its matter
        changed.setattr(reinforce, "FLUSH_SECONDS", 3600.0)
        if not is_short:
            changed.setattr(Sync, "insert_one", lambda *_: False)
        errors: list[Any] = []
        for number, record in enumerate(given):
            try:
                engine.add(**record, now=NOW + number)
                if number % 3 == 0:
                    engine.search("b", now=NOW + number, session="s1")
            except (TypeError, ValueError) as error:
                errors.append((type(error), str(error), getattr(error, "__notes__", None)))
        problems = engine.check()
        engine.flush()
        return errors, problems, *state_of(engine), engine._scope.services.store.settings()


def two_wide(texts: list[str]) -> Any:
    return np.array([(len(text), text.count("b")) for text in texts], np.float32)


@given(
    given=st.lists(records(), max_size=9),
    profile=st.sampled_from(["oneiros", "cognitive"]),
    embedder=st.sampled_from([None, two_wide]),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_both_ways_leave_the_same(given: list[dict[str, Any]], profile: str, embedder: Any) -> None:
    short = outcome(given, profile=profile, embedder=embedder, is_short=True)
    assert short == outcome(given, profile=profile, embedder=embedder, is_short=False)


def waiting(engine: oneiros.Engine) -> int:
    return len(engine._scope.services.sync._unapplied)


def is_short(engine: oneiros.Engine) -> bool:
    """Have the memories added stay where they wait, and return whether one of them was."""
    return waiting(engine) > 0


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("oneiros.write.sync._APPLY_SECONDS", 60.0)
    with oneiros.Engine(tmp_path / "mind.db", profile="cognitive") as engine:
        engine.add("the first is of a kind that is not known yet", id="first")
        assert not waiting(engine)
        yield engine


def test_readers_have_it_as_soon_as_it_is_added(engine: oneiros.Engine) -> None:
    looks = {
        "search": lambda id: [result.id for result in engine.search(id)],
        "list": lambda _: [one.id for one in engine.list(limit=100)],
        "get": lambda id: [engine.get(id).id],
        "similar": lambda id: [id] if engine.similar(id) is not None else [],
        "count": lambda _: engine.count(),
        "stats": lambda _: engine.stats()["memories"],
        "len": lambda _: len(engine),
        "rescore": lambda _: engine.rescore().ids,
        "update": lambda id: engine.update(id, importance=0.9),
        "link": lambda id: engine.link(id, "first"),
        "delete": engine.delete,
        "forget": engine.forget,
        "check": lambda _: engine.check(),
    }
    known = 1
    for number, (name, look) in enumerate(looks.items()):
        id = engine.add(f"word{number}", id=f"word{number}")
        known += 1
        assert is_short(engine), name
        found = look(id)
        if name in ("search", "list", "get", "similar", "rescore"):
            assert id in found, name
        elif name in ("count", "stats", "len"):
            assert found == known, name
        elif name == "check":
            assert found == []


def test_many_come_into_the_read_model_together(engine: oneiros.Engine) -> None:
    ids = [engine.add(f"ant{n}", session=f"s{n % 3}") for n in range(50)]
    assert waiting(engine) == 50
    assert [[result.id for result in engine.search(f"ant{n}")] for n in range(50)] == [
        [id] for id in ids
    ]
    assert not waiting(engine)
    assert engine.check(deep=True) == []


def test_it_is_applied_soon_though_nobody_asks(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as engine:
        engine.add("first")
        engine.add("second")
        is_applied = threading.Event()
        for _ in range(200):
            if not waiting(engine):
                is_applied.set()
                break
            threading.Event().wait(0.01)
        assert is_applied.is_set()
        assert engine._scope.services.read_model.live_count == 2


def test_what_others_write_comes_in_its_order(tmp_path: Path, engine: oneiros.Engine) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="cognitive") as other:
        for number in range(6):
            engine.add(f"mine {number}", id=f"mine{number}")
            other.add(f"theirs {number}", id=f"theirs{number}")
            other.delete(f"mine{number}")
            engine.add(f"mine again {number}", id=f"again{number}")
        for one in (engine, other):
            assert len(one.search("mine", 50)) == 6
            assert len(one.search("theirs", 50)) == 6
            assert one.check(deep=True) == []


def test_what_cannot_be_applied_is_read_from_the_store(
    engine: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = engine.add("ant")
    sync = engine._scope.services.sync
    apply = sync._apply
    failures = iter([MemoryError("no room")])

    def once(batch: Any) -> None:
        for failure in failures:
            raise failure
        apply(batch)

    monkeypatch.setattr(sync, "_apply", once)
    assert [result.id for result in engine.search("ant")] == [id]
    assert engine.check() == []


def test_an_interrupt_notes_what_became_of_it(
    engine: oneiros.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = engine._scope.services.sync

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sync.store, "insert_one", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        engine.add("ant", id="a")
    assert caught.value.__notes__ == ["oneiros: the write was rolled back, nothing of it is stored"]
    monkeypatch.undo()
    monkeypatch.setattr(sync.writer, "look", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        engine.add("ant", id="a")
    assert caught.value.__notes__ == ["oneiros: the write was committed before the interrupt"]
    monkeypatch.undo()
    assert [result.id for result in engine.search("ant")] == ["a"]


def test_each_text_is_embedded_once_whichever_way_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oneiros.write.sync._APPLY_SECONDS", 60.0)
    embedded: list[str] = []

    def embedder(texts: list[str]) -> Any:
        embedded.extend(texts)
        return two_wide(texts)

    with oneiros.Engine(tmp_path / "mind.db", embedder=embedder) as engine:
        for text, is_at_once in (("one", False), ("two b", True), ("two b", False), ("", True)):
            before = waiting(engine)
            engine.add(text)
            assert (waiting(engine) > before) == is_at_once, text
        assert embedded == ["one", "two b", "two b"]
        with pytest.raises(oneiros.DuplicateId):
            engine.add("three", id=engine.add("four"))
        assert embedded[3:] == ["four", "three"]
        four = engine.add("aaa", id="a")
        assert waiting(engine)
        engine.add("aaa", id=four, priority=4, on_conflict="update")
        engine.add("bbb", id="b")
        engine.add_many([{"text": "bbb", "id": "b", "priority": 4}], on_conflict="update")
        assert embedded[5:] == ["aaa", "bbb"]
        assert engine.stats()["vectors"] == 6
        assert engine.check(deep=True) == []


def test_a_vector_of_another_embedder_is_not_stored(tmp_path: Path) -> None:
    def second(texts: list[str]) -> Any:
        return -two_wide(texts)

    with (
        oneiros.Engine(tmp_path / "mind.db", embedder=two_wide) as one,
        oneiros.Engine(tmp_path / "mind.db", embedder=two_wide) as other,
    ):
        one.add("first")
        other.add("second")
        other.reembed(second)
        with pytest.raises(oneiros.EmbedderMismatch):
            one.add("third")
        assert other.add("fourth")
        assert [memory.text for memory in other.list()] == ["first", "second", "fourth"]


def test_threads_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db", durability="normal") as engine:
        engine.add("first")

        def add(name: str) -> None:
            for number in range(100):
                engine.add(f"ant x{name}{number}", id=f"{name}{number}")
                if number % 10 == 0:
                    found = [result.id for result in engine.search(f"x{name}{number}")]
                    assert found == [f"{name}{number}"]

        threads = [threading.Thread(target=add, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert engine.count() == 301
        assert engine.check(deep=True) == []
    with oneiros.Engine(tmp_path / "mind.db") as engine:
        assert engine.count() == 301
        assert [result.id for result in engine.search("xb99")] == ["b99"]
