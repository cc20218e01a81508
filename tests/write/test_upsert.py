"""Replacing memories, merging metadata, new times to live, and sweeping what has expired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros.clock import VirtualClock
from oneiros.model.fields import ENUMS
from oneiros.model.memory import Memory
from tests.engine.embedders import LetterCounts
from tests.write.test_record_columns import GIVEN

NOW = 1_750_000_000.0


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
def engine(clock: VirtualClock) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=clock) as engine:
        yield engine


def used(engine: oneiros.Engine, clock: VirtualClock, id: str) -> None:
    """Change and use a memory in every way."""
    for session in ("s7", "s8"):
        clock.advance(86_400)
        engine.search("ant", session=session, reinforce=True)
    engine.flush()
    engine.update(id, text="ant bee", embedding=[1.0, 1.0], pinned=True, status="consolidated")
    assert engine.get(id).access_count == 2
    clock.advance(1_000)


def fields_of(memory: Memory, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return {name: value for name, value in memory.to_record().items() if name not in without}


# -- replace ---------------------------------------------------------------------------------------


FIELDS_GIVEN = {
    name: values for name, values in GIVEN.items() if name not in ("deleted_at", "session_spread")
}


@given(
    others=st.fixed_dictionaries({}, optional=FIELDS_GIVEN),
    is_batch=st.booleans(),
    as_memory=st.booleans(),
)
def test_a_replaced_memory_is_the_record_as_given(
    others: dict[str, Any], *, is_batch: bool, as_memory: bool
) -> None:
    clock = VirtualClock(NOW)
    given: dict[str, Any] = {"id": "a", "text": "ant wasp", **others}
    with oneiros.Engine(":memory:", clock=clock) as engine:
        engine.add("ant", id="a", embedding=[1.0] * 2, metadata={"x": 1}, ttl=1e9, title="t")
        engine.add("other", id="m0")
        used(engine, clock, "a")
        if is_batch:
            record = Memory.from_record(given, now=clock()) if as_memory else given
            report = engine.add_many([record], on_conflict="replace")
            assert (report.ids, report.updated) == (["a"], ["a"])
        else:
            assert engine.add(**given, on_conflict="replace") == "a"
        with oneiros.Engine(":memory:", clock=clock) as fresh:
            fresh.add(**given)
            assert fields_of(engine.get("a")) == fields_of(fresh.get("a"))
        assert [memory.id for memory in engine.list()] == ["a", "m0"]
        assert engine.check(deep=True) == []
        everything: dict[str, Any] = {"profile": "bm25", "status": ENUMS["status"]}
        everything |= {"include_expired": True, "deep_recall": True}
        assert engine.search("bee", **everything).ids == []
        assert engine.search("wasp", **everything).ids == ["a"]


def test_links_verdicts_and_successors_stay(engine: oneiros.Engine) -> None:
    engine.add_many([{"id": id, "text": "ant"} for id in ("a", "b", "old")])
    engine.link("a", "b", 0.9)
    engine.feedback("a", "helpful")
    engine.supersede("old", "a")
    engine.add("bee", id="a", on_conflict="replace")
    assert [link.id for link in engine.neighbours("a")] == ["b"]
    assert engine.get("a").feedback == 1
    assert engine.get("old").superseded_by == "a"
    engine.add("bee", id="a", feedback=5, on_conflict="replace")
    assert engine.get("a").feedback == 5


def test_a_replaced_memory_survives_closing(tmp_path: Any, clock: VirtualClock) -> None:
    path = tmp_path / "store.db"
    with oneiros.Engine(path, clock=clock) as engine:
        engine.add("ant", id="a", session="s1")
        used(engine, clock, "a")
        engine.add("bee", id="a", session="s2", on_conflict="replace")
        before = fields_of(engine.get("a"))
        assert before["sessions"] == ["s2"]
    with oneiros.Engine(path, clock=clock) as engine:
        assert fields_of(engine.get("a")) == before
        assert engine.check(deep=True) == []
        assert engine.search("bee", reinforce=False).ids == ["a"]


def test_the_last_of_a_batch_wins_and_deleted_ids_are_new(engine: oneiros.Engine) -> None:
    engine.add("ant", id="gone", importance=0.9)
    engine.delete("gone")
    records = [
        {"id": "x", "text": "one", "title": "t"},
        {"id": "x", "text": "two"},
        {"id": "gone", "text": "back"},
    ]
    report = engine.add_many(records, on_conflict="replace")
    assert (report.ids, report.updated, report.repeated) == (["x", "gone"], [], ["x"])
    assert (engine.get("x").text, engine.get("x").title) == ("two", "")
    assert engine.get("gone").importance == 0.5


def test_the_embedder_embeds_what_is_replaced(clock: VirtualClock) -> None:
    embedder = LetterCounts()
    with oneiros.Engine(":memory:", embedder=embedder, clock=clock) as engine:
        engine.add("aab", id="x")
        engine.add("ccc", id="x", on_conflict="replace")
        (found,) = engine.search("c", profile="cosine")
        assert (found.id, found.score) == ("x", 1.0)
        engine.add("ccc", id="x", on_conflict="replace", embedding=[1.0] + [0.0] * 7)
        assert engine.search("a", profile="cosine")[0].score == 1.0


def test_without_an_embedder_the_old_vector_goes_silently(
    engine: oneiros.Engine, recwarn: pytest.WarningsRecorder
) -> None:
    engine.add("ant", id="x", embedding=[1.0, 0.0])
    engine.add("ant", id="x", on_conflict="replace")
    assert engine.get("x").embedding is None
    assert not recwarn.list


def test_a_scope_replaces_nothing_outside(engine: oneiros.Engine) -> None:
    engine.add("ant", id="x", project="p")
    with pytest.raises(oneiros.DuplicateId, match="id: 'x' is taken"):
        engine.scope(project="q").add("bee", id="x", on_conflict="replace")
    engine.scope(project="p").add("bee", id="x", on_conflict="replace")
    assert (engine.get("x").text, engine.get("x").project) == ("bee", "p")


def test_an_invalid_record_replaces_nothing(engine: oneiros.Engine) -> None:
    engine.add("ant", id="x")
    with pytest.raises(ValueError, match="importance: must be"):
        engine.add_many(
            [{"id": "x", "text": "bee"}, {"id": "y", "text": "y", "importance": 7}],
            on_conflict="replace",
        )
    assert engine.get("x").text == "ant"
    with pytest.raises(ValueError, match="on_conflict: must be one of raise, update, replace"):
        engine.add("bee", id="x", on_conflict="overwrite")


# -- metadata --------------------------------------------------------------------------------------


def patched(target: Any, patch: Any) -> Any:
    """RFC 7396, section 2, as it stands there."""
    if isinstance(patch, dict):
        if not isinstance(target, dict):
            target = {}
        target = dict(target)
        for name, value in patch.items():
            if value is None:
                if name in target:
                    del target[name]
            else:
                target[name] = patched(target.get(name), value)
        return target
    return patch


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["x", "y"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


@given(before=OBJECTS, patch=OBJECTS)
def test_metadata_is_merged_as_json_merge_patch_says(before: Any, patch: Any) -> None:
    with oneiros.Engine(":memory:") as engine:
        for id in ("updated", "added", "batch"):
            engine.add("ant", id=id, metadata=before)
        engine.update("updated", metadata=patch, merge_metadata=True)
        upsert: dict[str, Any] = {"on_conflict": "update", "merge_metadata": True}
        engine.add("ant", id="added", metadata=patch, **upsert)
        engine.add_many([{"id": "batch", "text": "ant", "metadata": patch}], **upsert)
        for id in ("updated", "added", "batch"):
            assert engine.get(id).metadata == patched(before, patch)


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [  # RFC 7396, appendix A, those of two objects
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_cases_of_the_rfc(
    engine: oneiros.Engine, target: Any, patch: Any, merged: dict[str, Any]
) -> None:
    engine.add("ant", id="x", metadata=target)
    engine.update("x", metadata=patch, merge_metadata=True)
    assert engine.get("x").metadata == merged


def test_a_merge_counts_as_one_revision_and_filters_follow(engine: oneiros.Engine) -> None:
    engine.add("ant", id="x", metadata={"url": "u", "page": 1})
    engine.update("x", metadata={"page": 2}, merge_metadata=True)
    assert engine.get("x").revision_count == 1
    assert engine.count(oneiros.where(metadata={"url": "u", "page": 2})) == 1
    engine.update("x", metadata={"page": 3})
    assert engine.get("x").metadata == {"page": 3}
    engine.update("x", importance=0.9, merge_metadata=True)
    assert engine.get("x").metadata == {"page": 3}


def test_a_new_memory_gets_its_metadata_as_given(engine: oneiros.Engine) -> None:
    engine.add("a", id="a", metadata={"x": None}, on_conflict="update", merge_metadata=True)
    assert engine.get("a").metadata == {"x": None}


def test_merges_are_refused_where_they_have_no_meaning(engine: oneiros.Engine) -> None:
    engine.add("ant", id="x", metadata={"big": "x" * 700_000})
    for on_conflict in ("raise", "replace"):
        with pytest.raises(ValueError, match='merge_metadata: needs on_conflict="update", got'):
            engine.add("a", id="x", on_conflict=on_conflict, merge_metadata=True)
    with pytest.raises(TypeError, match="merge_metadata: must be True or False, got 1"):
        engine.update("x", merge_metadata=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metadata: must be at most 1048576 bytes"):
        engine.update("x", metadata={"more": "x" * 700_000}, merge_metadata=True)
    assert engine.get("x").metadata.keys() == {"big"}


# -- times to live ---------------------------------------------------------------------------------


def test_touch_sets_the_end_and_nothing_else(engine: oneiros.Engine, clock: VirtualClock) -> None:
    engine.add("ant", id="x", ttl=60)
    before = fields_of(engine.get("x"), without=("ttl", "valid_until"))
    clock.advance(100)
    assert engine.search("ant").ids == []
    engine.touch("x", ttl=50)
    assert engine.search("ant", reinforce=False).ids == ["x"]
    assert (engine.get("x").valid_until, engine.get("x").ttl) == (clock() + 50, None)
    assert fields_of(engine.get("x"), without=("ttl", "valid_until")) == before
    clock.advance(50)
    assert engine.search("ant", reinforce=False).ids == ["x"]
    clock.advance(1)
    assert engine.search("ant", reinforce=False).ids == []
    engine.touch("x", ttl=timedelta(hours=1), now=clock() + 5)
    assert engine.get("x").valid_until == clock() + 3_605
    engine.touch("x", ttl=None)
    clock.advance(1e9)
    assert engine.search("ant").ids == ["x"]


def test_a_touch_that_changes_nothing_is_no_revision(engine: oneiros.Engine) -> None:
    engine.add("ant", id="x")
    revision = engine.changes().revision
    engine.touch("x", ttl=None)
    assert engine.changes(revision).revision == revision
    engine.touch("x", ttl=50)
    engine.touch("x", ttl=50)
    assert [each.changed for each in engine.history("x")] == [(), ("valid_until",)]


def test_touch_refuses_what_it_cannot_do(engine: oneiros.Engine) -> None:
    engine.add("ant", id="x", project="p")
    with pytest.raises(oneiros.UnknownMemory, match="id: no memory 'y'"):
        engine.touch("y", ttl=5)
    with pytest.raises(oneiros.UnknownMemory, match="id: no memory 'x'"):
        engine.scope(project="q").touch("x", ttl=5)
    with pytest.raises(ValueError, match="ttl: must be >= 0 and finite, got -1"):
        engine.touch("x", ttl=-1)
    with pytest.raises(TypeError, match="ttl: expected a number, got str 'soon'"):
        engine.touch("x", ttl="soon")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ttl: must end in year 9999"):
        engine.touch("x", ttl=1e12)
    assert engine.get("x").valid_until is None


def test_a_sweep_deletes_what_has_expired(engine: oneiros.Engine, clock: VirtualClock) -> None:
    records = [
        {"id": "ttl", "ttl": 10, "project": "p"},
        {"id": "until", "valid_until": NOW + 10, "project": "q"},
        {"id": "early", "valid_from": NOW + 99},
        {"id": "long", "ttl": 1e6},
        {"id": "plain"},
    ]
    engine.add_many([{"text": "ant", **record} for record in records])
    assert engine.sweep_expired() == 0
    clock.advance(11)
    assert engine.count(include_expired=False) == 3
    assert engine.sweep_expired(oneiros.where(project="p")) == 1
    assert engine.scope(project="p").sweep_expired() == 0
    assert engine.sweep_expired() == 1
    assert [memory.id for memory in engine.list()] == ["early", "long", "plain"]
    assert engine.sweep_expired() == 0
    assert engine.get_deleted(["ttl"])[0].deleted_at == clock()
    assert engine.restore("ttl")
    assert engine.sweep_expired(now=clock() + 1e7) == 2
    assert [memory.id for memory in engine.list()] == ["early", "plain"]


def test_only_kinds_that_expire_in_the_profile_are_swept(clock: VirtualClock) -> None:
    with oneiros.Engine(":memory:", profile="cognitive", clock=clock) as engine:
        for kind in ("plan", "fact"):
            engine.add("ant", id=kind, kind=kind, ttl=10)
        clock.advance(11)
        assert engine.search("ant", reinforce=False).ids == ["fact"]
        assert engine.sweep_expired() == 1
        assert [memory.id for memory in engine.list()] == ["fact"]


@pytest.mark.parametrize("on_conflict", ["raise", "update", "replace"])
def test_a_memory_with_a_time_that_is_no_number_is_added_again(
    engine: oneiros.Engine, on_conflict: str
) -> None:
    far = "9999-12-31T00:00:00+00:00"  # after the year 5138, times are refused as numbers
    engine.add("ant", id="m", valid_until=far, event_at=far)
    memory = engine.get("m")
    if on_conflict == "raise":
        engine.forget("m")
    engine.add_many([memory], on_conflict=on_conflict)
    again = engine.get("m")
    assert (again.valid_until, again.event_at) == (memory.valid_until, memory.event_at)
