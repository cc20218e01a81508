"""Filters and scopes by user, agent, namespace, labels, source and trust, beside a plain scan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import oneiros
from oneiros.index import snapshot

NOW = 1_750_000_000.0
NAMESPACES = ("acme", "acme/support", "acme/support/eu", "acme/supporters", "bolt")
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "user": st.sampled_from([None, "ada", "bob"]),
    "agent": st.sampled_from([None, "writer"]),
    "namespace": st.sampled_from([None, *NAMESPACES]),
    "labels": st.lists(st.sampled_from(["red", "new"]), max_size=2),
    "source": st.sampled_from([None, "user", "tool", "agent", "document"]),
    "source_ref": st.sampled_from([None, "https://example.org", "m7"]),
    "trust": st.sampled_from([0.0, 0.3, 0.5, 1.0]),
}
Matches = Callable[[oneiros.Memory], bool]


def below(namespace: str) -> Matches:
    wanted = namespace.split("/")
    return lambda memory: (memory.namespace or "").split("/")[: len(wanted)] == wanted


FILTERS: list[tuple[Mapping[str, Any], Matches]] = [
    ({"user": "ada"}, lambda memory: memory.user == "ada"),
    ({"user": ["ada", "bob"]}, lambda memory: memory.user in ("ada", "bob")),
    ({"agent": "writer"}, lambda memory: memory.agent == "writer"),
    *(({"namespace": name}, below(name)) for name in (*NAMESPACES, "none/such")),
    (
        {"namespace": ["bolt", "acme/support"]},
        lambda memory: below("bolt")(memory) or below("acme/support")(memory),
    ),
    ({"labels": ["red", "blue"]}, lambda memory: "red" in memory.labels),
    ({"labels_all": ["red", "new"]}, lambda memory: {"red", "new"} <= set(memory.labels)),
    ({"source": ["tool", "agent"]}, lambda memory: memory.source in ("tool", "agent")),
    ({"source_ref": "m7"}, lambda memory: memory.source_ref == "m7"),
    ({"trust": (0.3, None)}, lambda memory: memory.trust >= 0.3),
    ({"trust": (None, 0.3)}, lambda memory: memory.trust <= 0.3),
    (
        {"user": "ada", "namespace": "acme", "trust": (0.5, None)},
        lambda memory: memory.user == "ada" and below("acme")(memory) and memory.trust >= 0.5,
    ),
]


def require_plain_reading(engine: oneiros.Engine, memories: Mapping[str, oneiros.Memory]) -> None:
    """Compare each filter in each call with a scan over the memories."""
    live = {id: memory for id, memory in memories.items() if memory.deleted_at is None}
    for given, matches in FILTERS:
        condition = oneiros.where(**given)
        wanted = sorted(id for id, memory in live.items() if matches(memory))
        others = sorted(live.keys() - set(wanted))
        assert sorted(memory.id for memory in engine.list(condition, limit=1_000)) == wanted, given
        assert engine.count(condition) == len(wanted)
        assert engine.count(~condition) == len(others)
        for embedding in (None, [1.0, 0.0]):
            found = engine.search(
                "harbour", 100, where=condition, embedding=embedding, reinforce=False
            )
            assert sorted(found.ids) == wanted, given
        assert sorted(id for id, _ in engine.rescore("ciar", where=condition, now=NOW)) == wanted
    for bounds, matches in FILTERS:
        if set(bounds) <= {"user", "agent", "namespace"} and all(
            isinstance(value, str) for value in bounds.values()
        ):
            scope = engine.scope(**bounds)
            wanted = sorted(id for id, memory in live.items() if matches(memory))
            assert sorted(memory.id for memory in scope.list(limit=1_000)) == wanted
            assert len(scope) == len(wanted)
            for id, memory in memories.items():
                assert (scope.get_many([id])[0] is not None) == matches(memory)


class Changes(RuleBasedStateMachine):
    """Memories that are added, updated, deleted and restored, by two engines on one file."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.path = self.folder / f"{len(list(self.folder.iterdir()))}.db"
        self.engines = [self.opened(), self.opened()]
        self.memories: dict[str, oneiros.Memory] = {}
        self.count = 0

    def opened(self) -> oneiros.Engine:
        return oneiros.Engine(self.path, durability="normal", embedder=None, profile="reverie")

    def teardown(self) -> None:
        for engine in self.engines:
            engine.close()

    @rule(given=st.fixed_dictionaries({}, optional=FIELDS), which=st.integers(0, 1))
    def add(self, given: dict[str, Any], which: int) -> None:
        id = f"m{self.count}"
        self.count += 1
        self.engines[which].add(
            f"harbour {id}", id=id, embedding=[1.0, self.count / 64], now=NOW, **given
        )

    @rule(given=st.lists(st.fixed_dictionaries(FIELDS), min_size=2, max_size=6))
    def add_many(self, given: list[dict[str, Any]]) -> None:
        first, self.count = self.count, self.count + len(given)
        records = [
            {"text": f"harbour m{n}", "id": f"m{n}", "embedding": [1.0, n / 64], **fields}
            for n, fields in enumerate(given, first)
        ]
        self.engines[0].add_many(records, now=NOW)

    @rule(data=st.data(), given=st.fixed_dictionaries({}, optional=FIELDS), which=st.integers(0, 1))
    def update(self, data: st.DataObject, given: dict[str, Any], which: int) -> None:
        live = sorted(id for id, memory in self.memories.items() if memory.deleted_at is None)
        if live and given:
            self.engines[which].update(data.draw(st.sampled_from(live)), now=NOW, **given)

    @rule(data=st.data(), which=st.integers(0, 1))
    def delete_or_restore(self, data: st.DataObject, which: int) -> None:
        if self.memories:
            id = data.draw(st.sampled_from(sorted(self.memories)))
            if self.memories[id].deleted_at is None:
                self.engines[which].delete(id, now=NOW)
            else:
                self.engines[which].restore(id, now=NOW)

    @rule(namespace=st.sampled_from(NAMESPACES))
    def delete_a_namespace(self, namespace: str) -> None:
        self.engines[0].delete(where=oneiros.where(namespace=namespace), now=NOW)

    @rule()
    def open_again(self) -> None:
        for engine in self.engines:
            engine.close()
        self.engines = [self.opened(), self.opened()]

    @invariant()
    def filters_are_read_plainly(self) -> None:
        ids = [f"m{n}" for n in range(self.count)]
        found = zip(ids, self.engines[0].get_many(ids), strict=True)
        self.memories = {id: memory for id, memory in found if memory is not None}
        for engine in self.engines:
            require_plain_reading(engine, self.memories)


def test_filters_are_read_plainly_while_memories_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    Changes.folder = tmp_path
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415

    run_state_machine_as_test(
        Changes,
        settings=settings(
            max_examples=12,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_snapshot_holds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    path = tmp_path / "m.db"
    rng = np.random.default_rng(5)
    records: list[dict[str, Any]] = [
        {
            "id": f"m{n}",
            "text": f"harbour {n}",
            "embedding": [1.0, n / 64],
            "user": ("ada", "bob", None)[rng.integers(3)],
            "namespace": (*NAMESPACES, None)[rng.integers(6)],
            "labels": ["red"] * int(rng.integers(2)) + ["new"] * int(rng.integers(2)),
            "source": ("user", "tool", None)[rng.integers(3)],
            "source_ref": ("m7", None)[rng.integers(2)],
            "trust": float(rng.choice([0.0, 0.3, 0.5, 1.0])),
            "status": ("staged", "staged", "quarantined")[rng.integers(3)],
        }
        for n in range(40)
    ]
    for record in records:
        if record["status"] == "quarantined":
            record["status"] = "consolidated"
    with oneiros.Engine(path, profile="reverie") as engine:
        engine.add_many(records, now=NOW)
    assert Path(f"{path}-snapshot").exists()
    with oneiros.Engine(path, profile="reverie") as engine:
        assert engine._scope.services.read_model.row_sets.attributes.stored is not None
        memories = {memory.id: memory for memory in engine.list(limit=100)}
        assert len(memories) == len(records)
        require_plain_reading(engine, memories)
        engine.update("m3", user="cy", namespace="bolt", labels=["new"], source=None, trust=0.3)
        engine.delete("m4")
        memories = {memory.id: memory for memory in engine.list(limit=100)}
        require_plain_reading(engine, memories)
        assert engine.check(deep=True) == []
    with oneiros.Engine(path, profile="reverie") as engine:
        require_plain_reading(engine, memories)


# Scopes


@pytest.fixture
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:") as engine:
        yield engine


def test_a_scope_gives_its_fields_and_keeps_a_namespace_below_its_own(
    engine: oneiros.Engine,
) -> None:
    scope = engine.scope(user="ada", agent="writer", namespace="acme/support")
    added = scope.add("tea", id="own")
    scope.add_many(
        [
            {"id": "below", "text": "milk", "namespace": "acme/support/eu"},
            {"id": "same", "text": "salt", "namespace": "acme/support", "user": "ada"},
            oneiros.Memory(id="memory", text="bread", namespace="acme/support/us"),
        ]
    )
    namespaces = [scope.get(id).namespace for id in (added, "below", "same", "memory")]
    assert namespaces == ["acme/support", "acme/support/eu", "acme/support", "acme/support/us"]
    assert {memory.user for memory in engine.list()} == {"ada"}
    assert engine.get("memory").agent == "writer"


@pytest.mark.parametrize("namespace", ["acme", "acme/supporters", "bolt"])
def test_a_record_outside_is_refused(engine: oneiros.Engine, namespace: str) -> None:
    scope = engine.scope(namespace="acme/support")
    with pytest.raises(ValueError, match="namespace: the scope fixes it"):
        scope.add("tea", namespace=namespace)
    id = scope.add("tea", namespace="acme/support/eu")
    with pytest.raises(ValueError, match="namespace: fixed by the scope"):
        scope.update(id, namespace=namespace)
    with pytest.raises(ValueError, match="namespace: fixed by the scope"):
        scope.update(id, namespace=None)
    scope.update(id, namespace="acme/support/us")
    assert engine.get(id).namespace == "acme/support/us"
    with pytest.raises(ValueError, match="user: fixed by the scope"):
        engine.scope(user="ada").update(engine.add("x", user="ada"), user="bob")


def test_an_upsert_through_a_scope_leaves_a_memory_in_its_namespace(
    engine: oneiros.Engine,
) -> None:
    scope = engine.scope(namespace="acme")
    scope.add("tea", id="a", namespace="acme/eu")
    scope.add("green tea", id="a", on_conflict="update")
    scope.add_many(
        [{"id": "a", "text": "black tea"}, {"id": "b", "text": "x"}], on_conflict="update"
    )
    assert (engine.get("a").text, engine.get("a").namespace) == ("black tea", "acme/eu")
    assert engine.get("b").namespace == "acme"
    engine.add("other", id="c", namespace="bolt")
    with pytest.raises(oneiros.DuplicateId):
        scope.add("taken", id="c", on_conflict="update")


def test_scopes_nest_downwards(engine: oneiros.Engine) -> None:
    acme = engine.scope(namespace="acme")
    acme.add("eu", namespace="acme/support/eu")
    acme.add("top")
    assert acme.scope(namespace="acme/support").count() == 1
    assert acme.scope(user="ada").count() == 0
    for other in ("bolt", "acmes"):
        with pytest.raises(ValueError, match="namespace: this scope is already bound"):
            acme.scope(namespace=other)
    with pytest.raises(ValueError, match="namespace: this scope is already bound"):
        acme.scope(namespace="acme/support").scope(namespace="acme")
    with pytest.raises(ValueError, match="segments joined by single slashes"):
        engine.scope(namespace="acme/")
    with pytest.raises(ValueError, match="user: must be 1 to"):
        engine.scope(user="")
    assert repr(engine.scope(user="ada")).startswith("<Scope user='ada' of")


def test_a_scope_sees_nothing_of_other_users(engine: oneiros.Engine) -> None:
    engine.add("secret of bob", id="b", user="bob", embedding=[1.0, 0.0])
    engine.add("secret of ada", id="a", user="ada", embedding=[1.0, 0.0])
    engine.link("a", "b")
    ada = engine.scope(user="ada")
    for profile in oneiros.profiles.names():
        found = ada.search("secret", profile=profile, embedding=[1.0, 0.0], reinforce=False)
        assert set(found.ids) <= {"a"}
    assert [similar.id for similar in ada.similar("secret of bob")] in ([], ["a"])
    assert [similar.id for similar in ada.similar("a")] == []
    assert ada.neighbours("a") == []
    assert ada.get_many(["b"]) == [None]
    assert not ada.why_not("secret", "b").exists
    for call in (ada.delete, ada.forget, ada.restore, ada.pin):
        with pytest.raises(oneiros.UnknownMemory):
            call("b")
    engine.feedback("b", "helpful")
    ada.add("secret of bob")
    assert engine.get("b").duplicate_count == 0


def test_a_cycle_replays_the_memories_of_a_user_with_none_of_others() -> None:
    def life(*users: str) -> oneiros.Engine:
        engine = oneiros.Engine(":memory:", embedder="hashing", clock=lambda: NOW + 259_200)
        for day, text in enumerate(("the oven is hot", "the oven is cold", "an oven of clay")):
            now = NOW + 86_400 * day
            for user in users:
                engine.scope(user=user).add(text, id=f"{user} {day}", session="today", now=now)
            engine.dream(now=now + 7_200)
        return engine

    with life("ada", "bob") as shared, life("bob") as alone:
        links = [(id, link.id) for id, link in shared.links()]
        assert all(one.split()[0] == other.split()[0] for one, other in links)
        bobs = shared.scope(user="bob")
        assert list(bobs.links()) == list(alone.links())
        assert list(alone.links())
        strengths = {memory.id: memory.strength for memory in alone}
        assert {memory.id: memory.strength for memory in bobs} == strengths


def test_verdicts_of_a_scope_count_those_of_its_namespaces(engine: oneiros.Engine) -> None:
    for namespace in ("acme", "acme/eu", "acmes", None):
        engine.feedback(engine.add("x", namespace=namespace), "helpful")
    with engine._scope.services.store.read() as reading:
        for bound, count in (("acme", 2), ("acme/eu", 1), ("acmes", 1), ("bolt", None)):
            counted = reading.verdict_counts({"namespace": bound})
            assert counted == ([] if count is None else [("note", "helpful", count)])


def test_none_of_them_is_a_searchable_word(engine: oneiros.Engine) -> None:
    engine.add(
        "tea",
        user="ada",
        agent="writer",
        namespace="acme/support",
        labels=["urgent"],
        source="tool",
        source_ref="invoice",
    )
    for word in ("ada", "writer", "acme", "support", "urgent", "tool", "invoice"):
        assert engine.search(word, reinforce=False).ids == []
    assert len(engine.search("tea", reinforce=False).ids) == 1


def test_filters_name_their_mistakes() -> None:
    for given, message in (
        ({"namespace": "acme/"}, "namespace: must be segments joined by single slashes"),
        ({"source": "human"}, "source: no such value 'human'; known: user, tool, agent, document"),
        ({"trust": ("x", None)}, "trust: must be a number"),
        ({"user": None}, "user: expected text or a list of texts"),
        ({"derived_from": "m1"}, "unknown field 'derived_from'"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            oneiros.where(**given)


def test_a_filter_is_the_same_as_json() -> None:
    condition = oneiros.where(
        user="ada", namespace="acme", labels_all=["x", "y"], labels="x", trust=(0.5, None)
    )
    assert oneiros.filters.Where.from_json(condition.to_json()) == condition


def test_the_asynchronous_engine_has_the_same_scopes() -> None:
    async def run() -> list[str]:
        async with oneiros.AsyncEngine(":memory:") as engine:
            scope = await engine.scope(user="ada", namespace="acme")
            await scope.add("tea", id="a", namespace="acme/eu")
            await engine.add("tea", id="b", trust=0.2)
            assert (await scope.search("tea")).ids == ["a"]
            return (await engine.search("tea", least_trust=0.5)).ids

    assert asyncio.run(run()) == ["a"]
