"""A scope sees nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import oneiros
from tests.dream.worlds import DAY, NOW


@pytest.fixture
def ids(mind: oneiros.Engine) -> dict[str, str]:
    """One memory in each of two projects, and one in none."""
    return {
        "mine": mind.add("canary mine", project="x", embedding=[1.0, 0.0]),
        "theirs": mind.add("canary theirs", project="y", embedding=[1.0, 0.0]),
        "nobodys": mind.add("canary nobodys", embedding=[1.0, 0.0]),
    }


def test_a_scope_finds_and_counts_its_own_only(
    mind: oneiros.Engine, ids: dict[str, str], tmp_path: Path
) -> None:
    scope = mind.scope(project="x")
    assert len(scope) == scope.count() == 1
    assert scope.search("canary", embedding=[1.0, 0.0]).ids == [ids["mine"]]
    assert [r.ids for r in scope.search_many(["canary", "theirs"])] == [[ids["mine"]], []]
    assert [memory.id for memory in scope.list()] == [ids["mine"]]
    assert scope.get_many(list(ids.values()))[1:] == [None, None]
    assert scope.count(oneiros.where(project="y")) == 0
    assert scope.count(~oneiros.where(project="x")) == 0
    assert scope.export(tmp_path / "out.jsonl") == 1
    assert "theirs" not in (tmp_path / "out.jsonl").read_text()


def test_what_lies_outside_cannot_be_touched_nor_told_from_what_is_not_there(
    mind: oneiros.Engine, ids: dict[str, str]
) -> None:
    scope = mind.scope(project="x")
    calls = (
        scope.get,
        scope.delete,
        scope.restore,
        scope.forget,
        lambda id: scope.update(id, text="z"),
    )
    for call in calls:
        said = []
        for id in (ids["theirs"], "no such id"):
            with pytest.raises(oneiros.UnknownMemory) as caught:
                call(id)
            said.append(str(caught.value).replace(id, "ID"))
        assert said[0] == said[1]
    assert scope.delete(where=oneiros.where(project="y")) == 0
    with pytest.raises(oneiros.DuplicateId) as taken:
        scope.add("z", id=ids["theirs"])
    assert "canary" not in str(taken.value)
    with pytest.raises(oneiros.DuplicateId):
        scope.add("z", id=ids["theirs"], on_conflict="update")
    assert mind.get(ids["theirs"]).text == "canary theirs"


@pytest.mark.parametrize("on_conflict", ["raise", "update", "replace"])
def test_an_id_that_is_taken_outside_says_nothing_of_its_memory(on_conflict: str) -> None:
    with oneiros.Engine(":memory:") as engine:
        names = ["live", "gone", "odd", "pinned"]
        engine.add_many([{"id": id, "text": f"canary {id}", "user": "bob"} for id in names])
        engine.delete("gone")
        engine.update("odd", status="quarantined")
        engine.pin("pinned")
        scope = engine.scope(user="ada")
        said = set()
        for id in names:
            with pytest.raises(oneiros.DuplicateId) as taken:
                scope.add_many([{"id": id, "text": "mine"}], on_conflict=on_conflict)
            said.add((str(taken.value).replace(id, "ID"), *getattr(taken.value, "__notes__", ())))
        assert len(said) == 1
        assert "canary" not in str(said)
        assert engine.get("live").text == "canary live"
        assert scope.count() == 0


def test_what_is_added_through_a_scope_is_in_it(mind: oneiros.Engine) -> None:
    scope = mind.scope(project="x").scope(session="s")
    id = scope.add("ant")
    assert (mind.get(id).project, mind.get(id).session) == ("x", "s")
    with pytest.raises(ValueError, match="project: the scope fixes it"):
        scope.add("ant", project="y")
    with pytest.raises(ValueError, match="project: fixed by the scope"):
        scope.update(id, project="y")
    with pytest.raises(ValueError, match="already bound"):
        scope.scope(project="y")
    with pytest.raises(ValueError, match="'kind' cannot bound a scope"):
        mind.scope(kind="fact")


def test_a_soft_deleted_memory_is_restored_by_its_own_scope_only(
    mind: oneiros.Engine, ids: dict[str, str]
) -> None:
    mind.delete(ids["mine"])
    with pytest.raises(oneiros.UnknownMemory):
        mind.scope(project="y").restore(ids["mine"])
    mind.scope(project="x").restore(ids["mine"])
    assert ids["mine"] in mind.search("canary").ids


def test_a_cycle_takes_nothing_from_a_project_for_what_another_says() -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        for project in ("x", "y"):
            for number in range(2):
                mind.scope(project=project).add("call home", id=f"{project}{number}", now=NOW)
        mind.dream(NOW + 2 * DAY)
        for project in ("x", "y"):  # docs/systems/reverie.md R13
            assert [one.id for one in mind.scope(project=project).list()] == [f"{project}1"]


def test_a_scope_names_its_bounds() -> None:
    with oneiros.Engine(":memory:") as engine:
        scope = engine.scope(user="ada", namespace="acme")
        assert scope.scope(namespace="acme/eu").bounds == {"user": "ada", "namespace": "acme/eu"}
        scope.bounds["user"] = "bob"  # a copy
        assert scope.bounds == {"user": "ada", "namespace": "acme"}
        assert engine.bounds == {}


def test_an_engine_and_a_scope_are_true_without_memories() -> None:
    mind = oneiros.Engine(":memory:")
    scope = mind.scope(user="ada")
    assert (len(mind), len(scope)) == (0, 0)
    assert bool(mind)
    assert bool(scope)
    mind.close()
    assert bool(mind)
