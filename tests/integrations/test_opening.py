"""The file behind an adapter: what is refused when it is named or opened; and its memories."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.engine import listing
from oneiros.integrations import opening
from oneiros.integrations.opening import Opening


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (None, TypeError, "path: expected a str or a path of str, got NoneType"),
        (b"agent.db", TypeError, "path: expected a str or a path of str, got bytes"),
        ("", ValueError, "path: must be a file's name, got ''"),
        ("a\0b", ValueError, "path: must be a file's name"),
    ],
)
def test_a_path_is_checked_at_once(path: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Opening(path)


@pytest.mark.parametrize(
    ("scope", "error", "message"),
    [
        ("ada", TypeError, r"scope: expected a dict of fields, such as \{'user': 'ada'\}, got str"),
        ({"usr": "ada"}, ValueError, "scope: 'usr' cannot bound a scope; can: project, "),
        ({"user": 3}, TypeError, "user: "),
        ({"user": ""}, ValueError, "user: "),
        ({"namespace": "a//b"}, ValueError, "namespace: "),
    ],
)
def test_a_scope_is_checked_at_once(scope: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Opening(":memory:", scope)


def test_an_engine_is_no_path() -> None:
    with oneiros.Engine(":memory:") as engine:
        for memories in (engine, engine.scope(user="ada")):
            with pytest.raises(TypeError, match=r"an open engine is shared with over\(\)"):
                Opening(memories)  # type: ignore[arg-type]
            assert Opening.over(memories).memories is memories


def test_a_file_is_opened_by_its_first_use_and_again_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    opening = Opening(path, {"user": "ada"})
    assert not path.exists()
    opening.memories.add("tea")
    assert opening.memories is opening.memories
    opening.close()
    assert opening.memories.count() == 1
    opening.close()
    with oneiros.Engine(path) as engine:
        assert [memory.user for memory in engine.list()] == ["ada"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_the_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opening = Opening("agent.db", {"user": "ada"})
    opening.memories.add("tea", id="tea")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir("/")  # as daemons do
            opening.memories.add("milk", id="milk")
            opening.close()
            code = 0 if opening.memories.count() == 2 else 2
            opening.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    opening.memories.add("coffee", id="coffee")
    assert opening.memories.search("milk").ids == ["milk"]
    opening.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_not_given_an_empty_store_in_memory() -> None:
    opening = Opening(":memory:")
    opening.memories.add("tea")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            opening.memories.count()
        except oneiros.EngineClosed:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert opening.memories.count() == 1
    opening.close()


def test_all_memories_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_AT_ONCE", 3)
    with oneiros.Engine(":memory:") as engine:
        ids = engine.add_many([{"text": f"memory {n}", "kind": "fact"} for n in range(6)]).ids
        engine.add("apart", id="apart", kind="note")
        assert [memory.id for memory in opening.all_memories(engine)] == [*ids, "apart"]
        of_kind = opening.all_memories(engine, oneiros.where(kind="fact"))
        assert [memory.id for memory in of_kind] == list(ids)
        assert list(opening.all_memories(engine.scope(user="ada"))) == []


def test_memories_erased_while_all_are_read_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_AT_ONCE", 3)
    with oneiros.Engine(":memory:") as engine:
        ids = engine.add_many([{"text": f"memory {n}"} for n in range(9)]).ids
        read = opening.all_memories(engine)
        assert [next(read).id for _ in range(3)] == list(ids[:3])
        engine.forget_many([ids[2], ids[3], ids[8]])
        assert [memory.id for memory in read] == [*ids[4:8]]


def test_what_another_caller_erases_does_not_keep_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    with oneiros.Engine(":memory:") as engine:
        ids = engine.add_many([{"text": f"memory {n}"} for n in range(4)]).ids
        read_all = opening.all_memories

        def erased_meanwhile(*given: Any) -> Any:
            yield from read_all(*given)
            engine.forget(ids[1])

        monkeypatch.setattr(opening, "all_memories", erased_meanwhile)
        assert opening.remove(engine, erases=True) == 3
        monkeypatch.undo()
        assert engine.count() == 0
        assert opening.remove(engine, erases=True) == 0


def test_a_scope_alone_is_erased() -> None:
    with oneiros.Engine(":memory:") as engine:
        kept = engine.add("tea", user="grace")
        engine.add("coffee", user="ada")
        opening.remove(engine.scope(user="ada"), erases=True)
        assert [memory.id for memory in engine.list()] == [kept]
