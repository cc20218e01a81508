"""A store of shards: routed by scope, each shard as a store of its own, one report of all."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.ray import ShardedEngine, ShardUnavailable, WholeResponse, actors
from oneiros.ray.shard import layout_file, store_file
from tests.frozen.answers import plain_values

ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
pytestmark = pytest.mark.usefixtures("cluster")

NOW = 1_750_000_000.0
USERS = ["ada", "bob", "cy", "dee", "eve", "fay"]


def clock() -> float:
    return NOW


@pytest.fixture(scope="module")
def shared(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardedEngine]:
    """Two shards, used by tests that each have users of their own."""
    assert cluster is None
    folder = tmp_path_factory.mktemp("shared")
    with ShardedEngine(folder, shards=2, clock=clock, embedder="hashing") as engine:
        yield engine


def test_a_user_lives_in_one_shard(shared: ShardedEngine) -> None:
    for user in USERS:
        shared.add(f"{user} likes tea", user=user, id=f"tea of {user}")
    shards = {user: shared.layout.shard_of(user) for user in USERS}
    assert set(shards.values()) == {0, 1}
    for user, shard in shards.items():
        response = shared.search("tea", user=user)
        assert response.texts == [f"{user} likes tea"]
        assert response.results[0].memory.user == user
        assert shared.get(f"tea of {user}", user=user).text == f"{user} likes tea"
        path = store_file(Path(shared.folder), shard)
        with oneiros.Engine(path, read_only=True, embedder="hashing") as engine:
            assert engine.get(f"tea of {user}").user == user
    with pytest.raises(oneiros.UnknownMemory, match="tea of ada"):
        shared.get("tea of ada", user="bob")


def test_a_scope_has_the_bits_of_a_store_of_its_own(shared: ShardedEngine) -> None:
    """Neither the number of shards nor other users in the shard change a score."""
    records = [
        {
            "id": f"n{number}",
            "text": f"note {number} on tea, {'milk' * (number % 3)}",
            "user": "gil",
        }
        for number in range(50)
    ]
    shared.add_many(records)
    shared.add("tea with milk, says a neighbour", user=neighbour_of(shared, "gil"))
    with oneiros.Engine(":memory:", clock=clock, embedder="hashing") as alone:
        alone.add_many(records)
        expected = alone.scope(user="gil").search("tea with milk", explain=True, reinforce=False)
        found = shared.search("tea with milk", user="gil", explain=True, reinforce=False)
        assert (found.ids, found.scores) == (expected.ids, expected.scores)
        assert [result.explanation for result in found] == [
            result.explanation for result in expected
        ]


def neighbour_of(engine: ShardedEngine, user: str) -> str:
    """Return another user in the same shard."""
    shard = engine.layout.shard_of(user)
    return next(
        name for name in ("hu", "ian", "jan", "kai") if engine.layout.shard_of(name) == shard
    )


def test_writes_reach_their_memory(shared: ShardedEngine) -> None:
    id = shared.add("Hal takes sugar", user="hal", project="kitchen")
    assert len(id) == 26
    shared.update(id, user="hal", text="Hal takes honey", importance=0.9)
    assert shared.get(id, user="hal").text == "Hal takes honey"
    assert shared.get(id, user="hal").project == "kitchen"
    scope = shared.scope(user="hal", project="kitchen")
    assert (scope.count(), scope.search("honey").ids) == (1, [id])
    assert shared.scope(user="hal", project="garage").count() == 0
    assert shared.delete(id, user="hal") == 1
    assert scope.list() == []
    assert scope.restore(id)
    receipt = shared.forget(id, user="hal")
    assert receipt.ids == (id,)
    assert scope.get_many([id]) == [None]
    assert shared.delete(user="hal", where=oneiros.where(project="kitchen")) == 0


def test_a_repeated_addition_is_one_memory(shared: ShardedEngine) -> None:
    given: dict[str, Any] = {"user": "ida", "tags": ["b", "a"], "event_at": "2025-01-01T00:00:00Z"}
    assert shared.add("Ida moved", id="move", **given) == "move"
    assert shared.add("Ida moved", id="move", **given) == "move"
    assert shared.scope(user="ida").count() == 1
    with pytest.raises(oneiros.DuplicateId):
        shared.add("Ida moved away", id="move", **given)
    with pytest.raises(oneiros.DuplicateId):
        shared.add("Ida moved", id="move", **{**given, "tags": ["a"]})
    records = [{"id": name, "text": name, "user": "ida"} for name in ("one", "two", "three")]
    assert shared.add_many(records[:2]) == ["one", "two"]
    assert shared.add_many(records) == ["one", "two", "three"]
    assert shared.scope(user="ida").count() == 4
    with pytest.raises(oneiros.DuplicateId):
        shared.add_many([{"id": "new", "text": "new", "user": "ida"}, {**records[0], "text": "x"}])
    assert shared.scope(user="ida").count() == 4  # neither
    shared.update("one", user="ida", text="changed")
    with pytest.raises(oneiros.DuplicateId):
        shared.add("one", id="one", user="ida")
    shared.add("again", id="one", user="ida", on_conflict="update")
    assert shared.get("one", user="ida").text == "again"


def test_an_id_of_another_user_is_taken(shared: ShardedEngine) -> None:
    first, second = [user for user in USERS if shared.layout.shard_of(user) == 0][:2]
    shared.add("same words", id="taken", user=first)
    with pytest.raises(oneiros.DuplicateId):
        shared.add("same words", id="taken", user=second)


def test_errors_are_those_of_the_engine(shared: ShardedEngine) -> None:
    with pytest.raises(ValueError, match="importance: ") as caught:
        shared.add("x", user="jo", importance=7)
    assert type(caught.value) is ValueError
    with pytest.raises(ValueError, match="user: fixed by the scope"):
        shared.scope(user="jo").update("x", user="bob")
    with pytest.raises(TypeError, match="nonsense"):
        shared.search("x", user="jo", nonsense=1)
    for call in (
        lambda: shared.add("x"),
        lambda: shared.add_many([{"text": "x"}]),
        lambda: shared.delete(where=oneiros.where(kind="fact")),
        lambda: shared.forget(where=oneiros.where(kind="fact")),
        lambda: shared.scope(project="x"),
    ):
        with pytest.raises(ValueError, match="needs user, by which the store is split"):
            call()


def test_an_id_is_found_in_its_shard(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2, clock=clock) as engine:
        one, other = (
            next(user for user in USERS if engine.layout.shard_of(user) == shard)
            for shard in range(2)
        )
        engine.add_many(
            [
                {"id": "tea", "text": "tea", "user": one},
                {"id": "milk", "text": "milk", "user": one},
                {"id": "rum", "text": "rum", "user": other},
                {"id": "twice", "text": "here", "user": one},
                {"id": "twice", "text": "there", "user": other},
            ]
        )
        assert (engine.locate("tea"), engine.locate("rum")) == (0, 1)
        assert engine.get("rum").user == other
        engine.update("tea", importance=0.9)
        engine.feedback("tea", "helpful")
        engine.pin("tea")
        engine.link("tea", "milk", 0.8)
        memory = engine.get("tea", user=one)
        assert (memory.importance, memory.feedback, memory.pinned) == (0.9, 1, True)
        assert [link.id for link in engine.neighbours("tea")] == ["milk"]
        assert engine.unlink("tea", "milk", user=one)
        assert engine.neighbours("milk", user=one) == []
        assert engine.history("tea")[-1].changed == ("pinned",)
        engine.supersede("milk", "tea", "oat")
        assert engine.get("milk").superseded_by == "tea"
        scope = engine.scope(user=one)
        assert scope.why_not("milk", "milk").hidden[0].reason == "superseded"
        assert [similar.id for similar in scope.similar("TEA")] == ["tea"]
        assert [memory.id for memory in scope.last(1)] == ["twice"]
        assert engine.delete("rum") == 1
        assert engine.locate("rum") == 1  # until it is forgotten
        assert engine.restore("rum")
        assert engine.forget("rum").ids == ("rum",)
        for call in (
            lambda: engine.locate("rum"),
            lambda: engine.get("rum"),
            lambda: engine.link("tea", "rum"),
        ):
            with pytest.raises(oneiros.UnknownMemory, match="'rum'"):
                call()
        with pytest.raises(oneiros.DuplicateId, match="'twice' is in the shards 0, 1; name a val"):
            engine.get("twice")
        assert engine.get("twice", user=other).text == "there"
        engine.add("rum", id="rum", user=other)
        with pytest.raises(
            ValueError, match="'rum' lies in shard 1 and 'tea' in shard 0; links do"
        ):
            engine.link("tea", "rum")
        with pytest.raises(ValueError, match="successors do not cross shards"):
            engine.supersede("tea", "rum")


def test_scopes_are_searched_each_for_itself(shared: ShardedEngine) -> None:
    for user in ("kim", "lee", "mo"):
        shared.add(f"{user} drinks oolong", user=user)
    found = shared.search_each("oolong", ["mo", "kim", "nobody", "lee", "mo"])
    assert list(found) == ["mo", "kim", "nobody", "lee"]
    assert found["kim"].texts == ["kim drinks oolong"]
    assert len(found["nobody"]) == 0
    assert not found.is_partial


def one_engine(records: list[dict[str, Any]], **options: Any) -> oneiros.Engine:
    """Return an engine with all records, added one after the other."""
    whole = oneiros.Engine(":memory:", clock=clock, embedder="hashing", **options)
    for number, record in enumerate(records):
        whole.add_many([record], now=NOW - 1_000 + number)
    return whole


def records_of_users(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{number}",
            "text": f"note {number} on {('tea', 'milk', 'honey', 'rum')[number % 4]}, {number % 7}",
            "user": USERS[number % len(USERS)],
            "session": f"talk {number // 10}",
            "project": ("kitchen", "garage")[number % 2],
        }
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def filled(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardedEngine]:
    """Three shards that hold what :func:`one_engine` holds."""
    assert cluster is None
    folder = tmp_path_factory.mktemp("filled")
    with ShardedEngine(folder, shards=3, clock=clock, embedder="hashing") as engine:
        for number, record in enumerate(records_of_users(60)):
            engine.add_many([record], now=NOW - 1_000 + number)
        yield engine


@pytest.mark.parametrize("profile", ["oneiros", "omega", "cognitive", "rrf"])
def test_all_shards_answer_as_one_engine(filled: ShardedEngine, profile: str) -> None:
    with one_engine(records_of_users(60)) as whole:
        for query in ("note on tea", "milk and honey 5", "rum 3?", "zebra"):
            options = {"profile": profile, "reinforce": False, "explain": True}
            found = filled.search(query, 7, **options)
            assert plain_values(found) == plain_values(whole.search(query, 7, **options))
            assert [result.memory.text for result in found] == found.texts
            assert isinstance(found, WholeResponse)
            assert (found.missing, found.is_partial) == ({}, False)
            options["where"] = oneiros.where(user=["ada", "eve"])
            expected = whole.search(query, 3, offset=2, **options)
            found = filled.search(query, 3, offset=2, **options)
            assert plain_values(found) == plain_values(expected)
        for query in ("te* +mil*", "hon* -ru*", "note zebr*"):
            options = {"profile": profile, "reinforce": False, "syntax": "query"}
            found = filled.search(query, **options)
            assert plain_values(found) == plain_values(whole.search(query, **options))


def in_other_words(query: str) -> list[str]:
    return ["rum and honey", "zebra"] if "tea" in query else []


def test_a_query_is_rephrased_where_it_is_asked(tmp_path: Path) -> None:
    records = records_of_users(30)
    given: dict[str, Any] = {"profile": "omega", "query_expander": in_other_words}
    with (
        one_engine(records, **given) as whole,
        ShardedEngine(tmp_path, shards=2, clock=clock, embedder="hashing", **given) as engine,
    ):
        for number, record in enumerate(records):
            engine.add_many([record], now=NOW - 1_000 + number)
        for query in ("how does the tea work", "how does the milk work", "tea"):
            found = engine.search(query, reinforce=False)
            assert plain_values(found) == plain_values(whole.search(query, reinforce=False))
            stages = [stage for stage in found.trace.stages if stage.name == "query_expansion"]
            assert [stage.survivor_count for stage in stages] == [
                3 if query == "how does the tea work" else 1
            ]


def test_a_scope_may_span_shards(filled: ShardedEngine) -> None:
    with one_engine(records_of_users(60)) as whole:
        found = filled.search("note on tea", scope={"project": "kitchen"}, reinforce=False)
        expected = whole.scope(project="kitchen").search("note on tea", reinforce=False)
        assert plain_values(found) == plain_values(expected)
        in_one = filled.search("note", scope={"project": "kitchen", "user": "ada"}, reinforce=False)
        same = filled.search("note", scope={"project": "kitchen"}, user="ada", reinforce=False)
        expected = whole.scope(project="kitchen", user="ada").search("note", reinforce=False)
        assert in_one.ids == same.ids == expected.ids
        assert in_one.scores == expected.scores


def test_results_of_all_shards_count_as_used(tmp_path: Path) -> None:
    records = records_of_users(12)
    with ShardedEngine(tmp_path, shards=2, clock=clock, embedder="hashing") as engine:
        for number, record in enumerate(records):
            engine.add_many([record], now=NOW - 1_000 + number)
        found = engine.search("tea", 4, session="mine")
        users = {record["id"]: record["user"] for record in records}
        assert len({engine.layout.shard_of(users[id]) for id in found.ids}) == 2
        for id, user in users.items():
            memory = engine.get(id, user=user)
            assert memory.access_count == (id in found.ids)
            assert ("mine" in memory.sessions) == (id in found.ids)
        with one_engine(records) as whole:
            whole.search("tea", 4, session="mine")
            again = engine.search("tea", 4, explain=True)
            assert plain_values(again) == plain_values(whole.search("tea", 4, explain=True))
        engine.search("tea", reinforce=False)
        assert engine.get(found.ids[0], user=users[found.ids[0]]).access_count == 1


def test_what_is_not_supported_over_shards_is_refused(shared: ShardedEngine) -> None:
    for options, words in (
        ({"as_of": NOW}, "as_of: not supported in a search over shards"),
        ({"scope": {"nonsense": "x"}}, "'nonsense' cannot bound a scope"),
    ):
        with pytest.raises(ValueError, match=words):
            shared.search("tea", **options)
    with pytest.raises(TypeError, match="user: must be a str, got None"):
        shared.search("tea", user=None)
    with pytest.raises(TypeError, match="nonsense"):
        shared.search("tea", nonsense=1)
    with pytest.raises(TypeError, match="allow_partial"):
        shared.search("tea", allow_partial="yes")


def test_a_response_without_a_shard_is_marked(tmp_path: Path) -> None:
    records = records_of_users(12)
    with ShardedEngine(
        tmp_path, shards=2, clock=clock, embedder="hashing", patience_seconds=0.2
    ) as engine:
        engine.add_many(records)
        kept = next(r["user"] for r in records if engine.layout.shard_of(r["user"]) == 1)
        ray.kill(engine.actors._actors[0], no_restart=True)
        with pytest.raises(ShardUnavailable) as caught:
            engine.search("tea")
        assert caught.value.shard == 0
        response = engine.search("tea", allow_partial=True, explain=True)
        assert isinstance(response, WholeResponse)
        assert response.is_partial
        assert list(response.missing) == [0]
        users = {record["id"]: record["user"] for record in records}
        assert {engine.layout.shard_of(users[id]) for id in response.ids} == {1}
        assert response.profile_hash == oneiros.profiles.get("oneiros").hash
        again = pickle.loads(pickle.dumps(response))
        assert (again.missing, again.ids) == (response.missing, response.ids)
        # Alone, the shard that is left abstains from this question.
        assert engine.search("quasar voltage", user=kept).abstained
        nothing = engine.search("quasar voltage", allow_partial=True)
        assert not nothing.abstained
        assert len(nothing) > 0


def test_stats_are_summed(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=3, key="project", clock=clock) as engine:
        engine.add_many(
            [{"text": f"fact {n}", "project": f"p{n}", "kind": "fact"} for n in range(9)]
        )
        stats = engine.stats()
        assert (stats["memories"], stats["kinds"], stats["missing"]) == (9, {"fact": 9}, {})
        assert [shard["memories"] for shard in stats["shards"].values()] == [
            sum(engine.layout.shard_of(f"p{n}") == shard for n in range(9)) for shard in range(3)
        ]


OLD = "2023-01-01T00:00:00Z"


def test_dreams_are_one_report_and_one_undo(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2, profile="reverie", clock=clock) as engine:
        for user in USERS:
            engine.add(f"the door code of {user}", user=user, id=f"door {user}", now=OLD)
            engine.add(f"{user} likes tea", user=user, id=f"tea {user}")
        plan = engine.dream(dry_run=True)
        assert plan.removed == {"deleted": len(USERS)}
        assert all(report.is_dry_run for report in plan.reports.values())
        report = engine.dream()
        assert sorted(report.reports) == [0, 1]
        assert (report.live_before, report.live_after) == (12, 6)
        assert report.removed == {"deleted": len(USERS)}
        assert report.change_count == sum(each.change_count for each in report.reports.values())
        assert {each.now for each in report.reports.values()} == {NOW}
        assert str(report).startswith("2 shards: 12 -> 6 memories")
        assert engine.stats()["memories"] == 6
        undone = engine.undo_dream(pickle.loads(pickle.dumps(report)))
        assert undone.brought_back == len(USERS)
        assert undone.change_count == report.change_count
        assert str(undone).startswith(
            f"2 shards: {report.change_count} fields restored, 6 memories"
        )
        assert engine.stats()["memories"] == 12
        again = engine.dream(at_once=2)
        engine.undo_dream(again.ids)
        assert all(engine.get(f"door {user}", user=user) for user in USERS)
        with pytest.raises(ValueError, match="report"):
            engine.undo_dream({2: "x"})


def test_the_collector_leaves_the_memories_of_a_shard_alone(shared: ShardedEngine) -> None:
    """Or a search over many shards would wait for one that collects."""
    actor = shared.actors._actors[0]
    assert ray.get(actor.__ray_call__.remote(lambda _: gc.get_freeze_count())) > 10_000


def test_a_layout_is_fixed(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2) as engine:
        engine.add("tea", user="ada", id="tea")
    for options in ({"shards": 3}, {"shards": 2, "key": "project"}):
        with pytest.raises(ValueError, match="was made as shard 0 of 2 by user, not as shard 0"):
            ShardedEngine(tmp_path, **options)
    with ShardedEngine(tmp_path, shards=2) as engine:
        assert engine.get("tea", user="ada").text == "tea"
    with ShardedEngine(tmp_path, shards=2, read_only=True) as replica:
        assert replica.search("tea", user="ada").ids == ["tea"]
        with pytest.raises(oneiros.EngineReadOnly):
            replica.add("milk", user="ada")


def test_a_lost_store_is_not_an_empty_one(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2) as engine:
        lost = engine.layout.shard_of("ada")
    assert layout_file(tmp_path, lost).exists()
    for path in tmp_path.glob(f"{store_file(tmp_path, lost).name}*"):
        path.unlink()
    with pytest.raises(ShardUnavailable, match="missing on this machine; restore it") as caught:
        ShardedEngine(tmp_path, shards=2)
    assert caught.value.shard == lost
    assert not store_file(tmp_path, lost).exists()
    store_file(tmp_path, lost).touch()
    with pytest.raises(ShardUnavailable, match="empty; restore it"):
        ShardedEngine(tmp_path, shards=2)
    assert store_file(tmp_path, lost).stat().st_size == 0


def test_a_new_store_beside_memories_is_a_lost_one(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2) as engine:
        home = engine.layout.shard_of("ada")
    for path in tmp_path.glob(f"{store_file(tmp_path, home).stem}*"):
        path.unlink()
    with ShardedEngine(tmp_path, shards=2) as engine:  # the first opening was interrupted
        engine.add("tea", user="ada")
    for path in tmp_path.glob(f"{store_file(tmp_path, 1 - home).stem}*"):
        path.unlink()
    with pytest.raises(ShardUnavailable, match="has no store in") as caught:
        ShardedEngine(tmp_path, shards=2)
    assert caught.value.shard == 1 - home
    assert not layout_file(tmp_path, 1 - home).exists()


def test_a_damaged_note_is_named(tmp_path: Path) -> None:
    ShardedEngine(tmp_path, shards=2).close()
    layout_file(tmp_path, 1).write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"shard-00001\.json: not the note of a shard"):
        ShardedEngine(tmp_path, shards=2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"shards": 0}, ValueError, "shards: "),
        ({"shards": 2.5}, TypeError, "shards: "),
        ({"shards": 70_000}, ValueError, "shards: "),
        ({"shards": 2, "key": "agent"}, ValueError, "key: "),
        ({"shards": 2, "patience_seconds": "long"}, TypeError, "patience_seconds: "),
        ({"shards": 2, "patience_seconds": -1}, ValueError, "patience_seconds: "),
        ({"shards": 2, "ray_options": 5}, TypeError, "ray_options: "),
        ({"shards": 2, "ray_options": lambda _: None}, TypeError, "ray_options: "),
        ({"shards": 2, "profile": "nonsense"}, oneiros.UnknownProfile, "nonsense"),
        ({"shards": 2, "embeder": "hashing"}, TypeError, "did you mean 'embedder'"),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ShardedEngine(tmp_path, **options)


def test_a_namespace_lies_with_all_below_it(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=4, key="namespace") as engine:
        engine.add("Refunds take five days", namespace="acme/support", id="refund")
        engine.add("Refunds take a week", namespace="acme/support/eu", id="refund-eu")
        engine.add("Refunds are a pain", namespace="zeta", id="pain")
        assert sorted(engine.search("refunds", namespace="acme").ids) == ["refund", "refund-eu"]
        assert engine.search("refunds", namespace="acme/support/eu").ids == ["refund-eu"]
        assert engine.get("refund", namespace="acme").text == "Refunds take five days"


def test_actors_that_do_not_start_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actors, "_START_SECONDS", 0.0)
    with pytest.warns(RuntimeWarning, match="did not start within 0 s: 0, 1. Ray waits until"):
        ShardedEngine(tmp_path, shards=2).close()


def test_a_closed_engine_says_so(tmp_path: Path) -> None:
    engine = ShardedEngine(tmp_path, shards=1, clock=clock)
    engine.add("tea", user="ada")
    engine.close()
    engine.close()
    for call in (
        lambda: engine.search("tea"),
        lambda: engine.search("tea", user="ada"),
        lambda: engine.move("ada", 0),
    ):
        with pytest.raises(oneiros.EngineClosed, match="the sharded engine is closed"):
            call()


def test_the_traceback_of_a_foreign_error_is_shown(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0 / texts.count("tea")] for _ in texts]

    with ShardedEngine(tmp_path, shards=1, embedder=embed) as engine:
        engine.add("tea", user="ada")
        with pytest.raises(ZeroDivisionError) as caught:
            engine.add("milk", user="ada")
        assert "in embed" in str(caught.value.__cause__)
        with pytest.raises(ValueError, match="importance") as refused:
            engine.add("tea", user="ada", importance=7)
        assert refused.value.__cause__ is None


SHUT_DOWN = """
import sys
import oneiros, ray
from oneiros.ray import ShardedEngine

ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
with ShardedEngine(sys.argv[1], shards=1) as engine:
    ray.shutdown()
    try:
        engine.search("tea", user="ada")
    except oneiros.EngineClosed as error:
        print(error)
print("Ray runs:", ray.is_initialized())
"""


def test_an_engine_outlives_its_ray(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHUT_DOWN, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("Ray was shut down, and the shards' actors with it"), done.stderr
    assert done.stdout.endswith("Ray runs: False\n")


class Failing:
    """A judge that has an opinion on nothing in one shard."""

    def __call__(self, older: str, newer: str) -> str:
        msg = f"{older} and {newer}"
        raise LookupError(msg)


def test_an_error_in_one_shard_names_the_cycles_of_the_others(tmp_path: Path) -> None:
    with ShardedEngine(tmp_path, shards=2, profile="cognitive", clock=clock) as engine:
        steady, doomed = (
            next(user for user in USERS if engine.layout.shard_of(user) == shard)
            for shard in range(2)
        )
        engine.add("tea", user=steady)
        for text in ("The office is in Oslo", "The office is in Rome"):
            engine.add(text, user=doomed, embedding=[1.0, 0.0])
        with pytest.raises(LookupError, match="Oslo and The office is in Rome") as caught:
            engine.dream(judge=Failing())
        *_, place, finished = caught.value.__notes__
        assert place == "in shard 1"
        assert finished.startswith("shards that finished, with the ids of their cycles: {0: '")
        engine.undo_dream({0: finished.split("'")[1]})
