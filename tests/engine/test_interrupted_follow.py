"""A write that is durable but whose read model was cut off is caught up by the next call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.index import snapshot
from tests.engine.test_dream_in_step import DAY, state

STEPS: dict[str, Callable[[Any], tuple[Any, str]]] = {
    "columns": lambda p: (p.lifecycle, "apply"),
    "rows": lambda p: (p.lifecycle, "rows_of_ids"),
    "row sets": lambda p: (p.row_sets, "apply"),
    "attributes": lambda p: (p.row_sets.attributes.index, "add_many"),
    "texts": lambda p: (p.indexes, "apply_texts"),
    "vectors": lambda p: (p.indexes, "_apply_vectors"),
    "words of texts": lambda p: (p.texts, "apply"),
    "publish": lambda p: (p.row_sets, "publish"),
}


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_what_an_interrupt_cut_off_is_done_by_the_next_call(
    mind: oneiros.Engine, monkeypatch: pytest.MonkeyPatch, step: str, moment: str
) -> None:
    mind.add("ant zero", id="a0", tags=["t"], embedding=[1.0, 0.0])
    texts = mind._scope.services.sync.texts(mind._scope.read_model)
    owner, name = STEPS[step](mind._scope.services.read_model)
    whole = getattr(owner, name)

    def cut_off(*given: object, **named: object) -> object:
        monkeypatch.undo()
        if moment == "after":
            whole(*given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, cut_off)
    with pytest.raises(KeyboardInterrupt):
        mind.add_many(
            [
                {"text": "ant one", "id": "a1", "tags": ["t"], "embedding": [1.0, 0.1]},
                {"text": "ant two", "id": "a2", "tags": ["u"], "embedding": [1.0, 0.2]},
            ]
        )
    mind.refresh()
    assert mind.check() == []
    assert len(mind) == 3  # it was durable before it was cut off
    assert mind.search("ant", reinforce=False).ids == ["a0", "a1", "a2"]
    assert set(mind.search("", embedding=[1.0, 0.0], reinforce=False).ids) == {"a0", "a1", "a2"}
    assert mind.count(oneiros.where(tags="t")) == 2
    assert len(texts.column) == 3
    mind.add("ant three", id="a3", tags=["u"])
    assert mind.search("ant", reinforce=False).ids == ["a0", "a1", "a2", "a3"]
    assert [memory.id for memory in mind.list()] == ["a0", "a1", "a2", "a3"]


def test_what_was_cut_off_is_no_row_of_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    with oneiros.Engine(tmp_path / "agent.db") as mind:
        mind.add_many({"id": f"a{n}", "text": f"ant {n}", "tags": ["t"]} for n in range(5))
    monkeypatch.undo()
    with oneiros.Engine(tmp_path / "agent.db") as mind:
        attributes = mind._scope.services.read_model.row_sets.attributes
        assert attributes.stored is not None
        add_many = attributes.index.add_many

        def cut_off(*given: Any, **named: Any) -> None:
            monkeypatch.undo()
            add_many(*given, **named)
            raise KeyboardInterrupt

        monkeypatch.setattr(attributes.index, "add_many", cut_off)
        with pytest.raises(KeyboardInterrupt):
            mind.add_many({"id": f"b{n}", "text": f"bee {n}", "tags": ["t"]} for n in range(3))
        mind.refresh()
        assert mind.count(oneiros.where(tags="t")) == len(mind) == 8
        assert mind.check() == []


def test_an_id_given_again_keeps_its_row_though_following_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows stand in order of insertion: by that, states that change later are told."""
    clock = VirtualClock(1.7e9)
    path = tmp_path / "agent.db"
    with oneiros.Engine(path, clock=clock) as mind, oneiros.Engine(path, clock=clock) as other:
        mind.add_many({"id": f"m{n}", "text": f"memory {n}"} for n in range(20))
        other.refresh()
        mind.forget("m3")
        mind.add("memory 3, again", id="m3")
        mind.add("memory 20", id="m20")

        def cut_off(*_: object) -> None:
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(other._scope.services.sync, "_follow_links", cut_off)
        with pytest.raises(KeyboardInterrupt):
            other.refresh()
        other.refresh()
        clock.advance(2 * DAY)
        mind.dream(profile="reverie")
        other.refresh()
        assert state(other) == state(mind)
        assert other.check() == []
