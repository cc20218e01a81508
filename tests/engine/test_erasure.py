"""Erasing by filter and in bulk: the receipt, the scope, and what was derived from the memories."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine, Erasure, where
from oneiros.errors import StoreFull, UnknownMemory
from oneiros.store import Transaction
from tests.engine.sqlite_steps import steps_of

NOW = 1_770_000_000.0
DAY = 86_400.0
FADED = {"importance": 0.1, "created_at": NOW - 900 * DAY}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:", clock=lambda: NOW) as opened:
        opened.add_many(
            [
                {"id": "a1", "text": "red tea", "user": "ada", "session": "s"},
                {"id": "a2", "text": "green tea", "user": "ada", "title": "Tea"},
                {"id": "b1", "text": "blue tea", "user": "bob", "session": "s"},
                {"id": "b2", "text": "red tea", "user": "bob"},
            ],
            now=NOW - DAY,
        )
        yield opened


def ids(engine: oneiros.Memories) -> list[str]:
    return [memory.id for memory in engine.list(limit=100)]


def digest(text: str, title: str = "") -> str:
    return hashlib.sha256(title.encode() + b"\0" + text.encode()).hexdigest()


# -- the receipt -----------------------------------------------------------------------------------


def test_a_receipt_names_what_went_when_and_by_which_digests(engine: Engine) -> None:
    engine.link("a1", "b1")
    engine.link("a1", "a2")
    engine.feedback("a2", "helpful")
    receipt = engine.forget(where=where(user="ada"), now=NOW + 0.25)
    assert (receipt.ids, receipt.derived, receipt.erased_at) == (("a1", "a2"), (), NOW + 0.25)
    assert receipt.digests == {"a1": digest("red tea"), "a2": digest("green tea", "Tea")}
    assert (receipt.links, receipt.verdicts, receipt.dream_changes) == (2, 1, 0)
    assert len(receipt) == 2
    assert receipt.covers("red tea")
    assert receipt.covers("green tea", "Tea")
    assert not receipt.covers("green tea")
    assert not receipt.covers("blue tea")
    assert "tea" not in json.dumps(receipt.to_dict())
    assert repr(receipt) == "<Erasure of 2 memories and 0 derived from them>"
    assert ids(engine) == ["b1", "b2"]
    assert engine.neighbours("b1") == []
    assert engine.check(deep=True) == []


def test_equal_memories_have_equal_digests_whenever_they_go() -> None:
    def erased(order: list[str], now: float) -> Erasure:
        with Engine(":memory:") as engine:
            engine.add_many([{"id": id, "text": f"text of {id}"} for id in order], now=NOW)
            return engine.forget_many(order, now=now)

    one, other = erased(["x", "y"], NOW + 1), erased(["y", "x"], NOW + 2)
    assert one != other
    assert one.digest == other.digest
    assert one.digest != erased(["x"], NOW + 1).digest
    expected = json.dumps([[id, digest(f"text of {id}")] for id in ("x", "y")])
    assert one.digest == hashlib.sha256(expected.encode()).hexdigest()


@given(now=st.floats(0, 4e9), text=st.text(max_size=9).filter(str.strip))
def test_a_receipt_goes_through_json(now: float, text: str) -> None:
    with Engine(":memory:") as engine:
        engine.add(text.replace("\ud800", ""), id="a \u00e9\n", now=NOW)
        receipt = engine.forget("a \u00e9\n", now=now)
    assert abs(receipt.erased_at - now) <= 1e-6
    assert Erasure.from_dict(json.loads(json.dumps(receipt.to_dict()))) == receipt


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": ["b1"]}, "digest: must be that of the ids and digests"),
        ({"digest": "0"}, "digest: must be that"),
        ({"digest": None}, "digest: must be that"),
        ({"digests": {"a1": "0"}}, "digest: must be that"),
        ({"digests": []}, "digests: expected a mapping"),
        ({"ids": "a1"}, "ids: expected a sequence of str"),
        ({"erased_at": "soon"}, "erased_at: must be ISO 8601"),
        ({"links": -1}, "links: must be"),
        ({"verdicts": 1.5}, "verdicts: "),
        ({"words": 3}, "words: no value of a receipt"),
    ],
)
def test_a_receipt_that_was_changed_is_refused(
    engine: Engine, change: dict[str, Any], message: str
) -> None:
    record = engine.forget("a1").to_dict()
    with pytest.raises((ValueError, TypeError), match=message):
        Erasure.from_dict(record | change)
    del record["digests"]
    with pytest.raises(ValueError, match="digests: missing in the receipt"):
        Erasure.from_dict(record)


@pytest.mark.parametrize("wrong", [None, [], "{}", 5])
def test_a_receipt_is_made_of_a_dict(wrong: Any) -> None:
    with pytest.raises(TypeError, match="record: expected a dict, as to_dict returns, got "):
        Erasure.from_dict(wrong)


def test_a_receipt_is_confirmed_until_an_id_or_something_derived_is_back(engine: Engine) -> None:
    receipt = engine.forget("a1", now=NOW)
    assert engine.verify_erased(receipt)
    assert not engine.verify_erased("red tea")  # of another user's memory
    engine.add("new words", id="a1", now=NOW + 60)
    assert engine.verify_erased(receipt)
    assert not engine.verify_erased(Erasure(("b1",), (), NOW, {}))
    assert not engine.verify_erased(Erasure((), ("b1",), NOW, {}))
    engine.add("of green", id="d", derived_from=["a2"], now=NOW - 1)
    kept = engine.forget("a2", derived=False, now=NOW)
    assert "d" in ids(engine)
    assert not engine.verify_erased(kept)
    assert engine.forget("d", now=NOW).ids == ("d",)
    assert engine.verify_erased(kept)


# -- which memories --------------------------------------------------------------------------------


def test_all_that_match_go_whatever_their_state(engine: Engine) -> None:
    engine.add_many(
        [
            {"id": "quarantined", "text": "x", "user": "ada", "status": "quarantined"},
            {"id": "archived", "text": "x", "user": "ada", "status": "archived"},
            {"id": "expired", "text": "x", "user": "ada", "valid_until": NOW - 5},
            {"id": "superseded", "text": "x", "user": "ada", "superseded_by": "b1"},
            {"id": "deleted", "text": "x", "user": "ada", "tags": ["t"]},
            {"id": "of bob", "text": "x", "user": "bob", "tags": ["t"]},
        ],
        now=NOW,
    )
    engine.delete("deleted")
    engine.delete("of bob")
    receipt = engine.forget(where=where(user="ada"))
    assert receipt.ids == (
        *("a1", "a2", "quarantined", "archived", "expired", "superseded", "deleted"),
    )
    assert ids(engine) == ["b1", "b2"]
    assert engine.get_deleted(["deleted", "of bob"])[0] is None
    assert engine.forget(where=where(tags="t")).ids == ("of bob",)
    assert engine.check(deep=True) == []


def test_metadata_and_joined_filters_match(engine: Engine) -> None:
    engine.add_many(
        [{"id": f"m{n}", "text": f"n {n}", "metadata": {"price": n}} for n in range(6)], now=NOW
    )
    engine.delete("m5")
    assert engine.forget(where=oneiros.meta("price") >= 4).ids == ("m4", "m5")
    assert engine.forget(where=where(id="m0") | where(user="bob")).ids == ("b1", "b2", "m0")
    assert not engine.forget(where=where(user="nobody"))
    assert ids(engine) == ["a1", "a2", "m1", "m2", "m3"]


def test_an_empty_filter_is_refused_but_in_a_scope(engine: Engine) -> None:
    with pytest.raises(ValueError, match="where: must have a condition"):
        engine.forget(where=where())
    assert len(ids(engine)) == 4
    receipt = engine.scope(user="ada").forget(where=where())
    assert receipt.ids == ("a1", "a2")
    assert ids(engine) == ["b1", "b2"]


def test_a_scope_erases_nothing_outside_it_not_even_what_was_derived(engine: Engine) -> None:
    engine.add("a stranger's note on red", id="note", user="bob", derived_from=["a1"], now=NOW)
    engine.add("of that note", id="further", user="ada", derived_from=["note"], now=NOW)
    engine.add("her note on red", id="hers", user="ada", derived_from=["a1"], now=NOW)
    ada = engine.scope(user="ada")
    for id in ("b1", "nobody"):
        with pytest.raises(UnknownMemory, match=f"no memory '{id}'"):
            ada.forget(id)
        with pytest.raises(UnknownMemory, match=f"no memory '{id}'"):
            ada.forget_many(["a1", id])
    assert not ada.forget(where=where(user="bob"))
    receipt = ada.forget("a1", now=NOW)
    assert (receipt.ids, receipt.derived) == (("a1",), ("hers",))
    assert ids(engine) == ["a2", "b1", "b2", "note", "further"]
    assert not engine.verify_erased(receipt)  # the engine shows what the scope left
    assert engine.forget("note", now=NOW).derived == ("further",)
    assert engine.verify_erased(receipt)


def test_unknown_ids_leave_everything_as_it_was(engine: Engine) -> None:
    before = engine.list(limit=10), engine.stats()
    with pytest.raises(UnknownMemory, match="'nobody'"):
        engine.forget_many(["a1", "a2", "nobody"])
    with pytest.raises(TypeError, match=r"ids\[1\]: expected str"):
        engine.forget_many(["a1", 5])
    assert (engine.list(limit=10), engine.stats()) == before
    assert engine.forget_many(["a2", "a1", "a2"]).ids == ("a2", "a1")
    assert not engine.forget_many([])


@pytest.mark.parametrize("place", ["_relink", "rows", "note_traces"])
def test_a_failing_transaction_erases_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    engine.add("derived", id="d", derived_from=["a1"], now=NOW)
    before, found = engine.list(limit=10), engine.search("tea", reinforce=False).ids

    full = StoreFull("no space")

    def fail(*_: object) -> None:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, place, fail)
        with pytest.raises(StoreFull):
            engine.forget(where=where(user="ada"))
    assert engine.list(limit=10) == before
    assert engine.search("tea", reinforce=False).ids == found
    assert engine.check(deep=True) == []
    assert len(engine.forget(where=where(user="ada"))) == 3


# -- what was derived ------------------------------------------------------------------------------


def summarised(engine: Engine, **fields: object) -> str:
    """Add five memories and let a cycle summarise them; return the summary's id."""
    engine.add_many(
        [
            {"id": f"m{n}", "text": f"harbour {n}", "embedding": [1.0, n / 100], **FADED, **fields}
            for n in range(5)
        ],
        now=NOW - 900 * DAY,
    )
    engine.dream(now=NOW)
    (summary,) = (memory.id for memory in engine.list(limit=100) if memory.derived_from)
    return summary


def test_a_chain_of_derived_memories_goes_and_the_other_sources_are_found_again() -> None:
    with Engine(":memory:", profile="cognitive", clock=lambda: NOW) as engine:
        summary = summarised(engine)
        engine.add("of the summary", id="second", derived_from=[summary], now=NOW)
        engine.add("of that", id="third", derived_from=["second", "m4"], now=NOW)
        engine.add("aside", id="aside", derived_from=["m9"], now=NOW)
        assert engine.search("harbour", reinforce=False).ids == [summary]
        receipt = engine.forget("m0")
        assert receipt.ids == ("m0",)
        assert receipt.derived == (summary, "second", "third")
        assert ids(engine) == ["m1", "m2", "m3", "m4", "aside"]
        for n in range(1, 5):
            memory = engine.get(f"m{n}")
            assert (memory.superseded_by, memory.tier, memory.cold_since) == (None, "hot", None)
            assert memory.metadata == {}
        found = engine.search("harbour", reinforce=False).ids
        assert sorted(found) == ["m1", "m2", "m3", "m4"]
        assert engine.check(deep=True) == []
        engine.add("harbour 5", id="m5", embedding=[1.0, 0.0], now=NOW - 900 * DAY, **FADED)
        engine.dream(now=NOW + DAY)  # has five again
        (again,) = (memory for memory in engine.list(limit=100) if "m5" in memory.derived_from)
        assert again.derived_from == ("m1", "m2", "m3", "m4", "m5")


@pytest.mark.parametrize("is_derived_first", [False, True])
def test_a_chain_of_derived_memories_costs_no_scan_for_each_step(is_derived_first: bool) -> None:
    steps = []
    for length in (250, 1_000):
        with Engine(":memory:") as engine:
            chain = [{"id": "m0", "text": "m0"}] + [
                {"id": f"m{n}", "text": f"m{n}", "derived_from": [f"m{n - 1}"]}
                for n in range(1, length)
            ]
            engine.add_many(chain[::-1] if is_derived_first else chain)
            steps.append(steps_of(engine, partial(engine.forget, "m0")))
            assert engine.count() == 0
    assert steps[1] < 5 * steps[0]


def test_a_summary_that_names_no_sources_goes_too() -> None:
    with Engine(":memory:", profile="cognitive", clock=lambda: NOW) as engine:
        summary = summarised(engine)
        engine.update(summary, derived_from=[])  # as older versions wrote it
        receipt = engine.forget("m3")
        assert receipt.derived == (summary,)
        assert {engine.get(f"m{n}").tier for n in (0, 1, 2, 4)} == {"hot"}


def test_a_cold_memory_that_no_summary_replaced_stays_cold(engine: Engine) -> None:
    engine.update("b1", tier="cold")
    engine.add("newer", id="newer", derived_from=["a1"], now=NOW)
    engine.supersede("b1", "newer")
    engine.forget("a1")
    assert (engine.get("b1").superseded_by, engine.get("b1").tier) == (None, "cold")


def purged(engine: Engine, id: str) -> None:
    engine.delete(id, now=NOW)
    engine.purge(0.0, now=NOW + DAY)


def added_over(engine: Engine, id: str) -> None:
    engine.delete(id, now=NOW)
    engine.add("another", id=id, on_conflict="update", now=NOW)


@pytest.mark.parametrize("erase", [Engine.forget, purged, added_over])
def test_the_sources_of_an_erased_summary_are_found_again(
    erase: Callable[[Engine, str], object],
) -> None:
    with Engine(":memory:", profile="cognitive", clock=lambda: NOW) as engine:
        summary = summarised(engine)
        erase(engine, summary)
        sources = [engine.get(f"m{n}") for n in range(5)]
        assert {(m.superseded_by, m.tier, m.cold_since) for m in sources} == {(None, "hot", None)}
        found = engine.search("harbour", reinforce=False).ids
        assert sorted(found) == [f"m{n}" for n in range(5)]
        assert engine.check(deep=True) == []


@pytest.mark.parametrize(
    "end",
    [
        lambda engine: engine.forget("new"),
        lambda engine: engine.update("old", superseded_by=None),
        lambda engine: engine.resolve_conflict("old", "new", "distinct"),
    ],
    ids=["forget", "update", "distinct"],
)
def test_a_memory_that_a_cycle_cooled_for_its_successor_is_found_again_without_it(
    end: Callable[[Engine], object],
) -> None:
    with Engine(":memory:", profile="cognitive", clock=lambda: NOW) as engine:
        engine.add("harbour at six", id="old", now=NOW)
        engine.add("harbour at seven", id="new", now=NOW)
        engine.supersede("old", "new", now=NOW)
        engine.dream(now=NOW + DAY)
        assert engine.get("old").tier == "cold"
        end(engine)
        assert (engine.get("old").tier, engine.get("old").cold_since) == ("hot", None)
        assert "old" in engine.search("harbour", reinforce=False).ids
        assert engine.check(deep=True) == []


def test_a_memory_that_was_cold_before_it_was_superseded_stays_cold(engine: Engine) -> None:
    engine.update("b1", tier="cold", cold_since=NOW - DAY)
    engine.supersede("b1", "a1", now=NOW)
    engine.update("b1", superseded_by=None)
    assert (engine.get("b1").tier, engine.get("b1").cold_since) == ("cold", NOW - DAY)


def test_a_summary_stays_where_derived_is_false() -> None:
    with Engine(":memory:", profile="cognitive", clock=lambda: NOW) as engine:
        summary = summarised(engine)
        receipt = engine.forget("m0", derived=False)
        assert (receipt.ids, receipt.derived) == (("m0",), ())
        assert engine.get("m1").superseded_by == summary


def test_a_successor_takes_over_what_the_erased_ones_replaced(engine: Engine) -> None:
    engine.add_many([{"id": f"v{n}", "text": f"version {n}"} for n in range(5)], now=NOW)
    for n in range(4):
        engine.supersede(f"v{n}", f"v{n + 1}", "a reason")
    engine.forget_many(["v1", "v2"])
    assert engine.get("v0").superseded_by == "v3"
    assert engine.get("v0").metadata["superseded_reason"] == "a reason"
    engine.forget_many(["v4", "v3"])
    assert engine.get("v0").superseded_by is None
    assert engine.get("v0").metadata == {}
    assert engine.check(deep=True) == []


@pytest.mark.parametrize("field", ["user", "project", "agent", "namespace"])
def test_a_scope_does_not_learn_the_successor_of_what_another_erases(
    engine: Engine, field: str
) -> None:
    one, other = engine.scope(**{field: "one"}), engine.scope(**{field: "other"})
    other.add_many([{"id": "old", "text": "a"}, {"id": "new", "text": "b"}], now=NOW)
    other.supersede("old", "new")
    one.add("c", id="mine", superseded_by="old", metadata={"superseded_reason": "a guess"}, now=NOW)
    other.forget("old")
    found = one.get("mine")
    assert found is not None
    assert found.superseded_by is None
    assert found.metadata == {}
    assert engine.check(deep=True) == []


@settings(max_examples=60, deadline=None)
@given(
    successors=st.lists(st.one_of(st.none(), st.integers(0, 7)), min_size=8, max_size=8),
    users=st.lists(st.sampled_from(["one", "two"]), min_size=8, max_size=8),
    gone=st.lists(st.integers(0, 7), unique=True, max_size=8),
)
def test_erasing_many_leaves_what_erasing_one_by_one_leaves(
    successors: list[int | None], users: list[str], gone: list[int]
) -> None:
    records = [
        {
            "id": f"m{n}",
            "text": f"t {n}",
            "user": user,
            "superseded_by": None if by is None else f"m{by}",
        }
        for n, (user, by) in enumerate(zip(users, successors, strict=True))
    ]
    left = []
    for at_once in (True, False):
        with Engine(":memory:", clock=lambda: NOW) as engine:
            engine.add_many(records)
            if at_once:
                engine.forget_many([f"m{n}" for n in gone])
            else:
                for n in gone:
                    engine.forget(f"m{n}")
            found = engine.search("t", k=10, reinforce=False).ids
            left.append(({m.id: m.superseded_by for m in engine.list(limit=10)}, sorted(found)))
    assert left[0] == left[1]


def test_merged_repeats_go_one_by_one_or_by_their_user() -> None:
    with Engine(":memory:", profile="reverie", clock=lambda: NOW) as engine:
        for n in range(3):
            engine.add("the same words", id=f"m{n}", user="ada", now=NOW - (9 - n) * DAY)
        engine.dream(now=NOW)
        assert ids(engine) == ["m2"]
        assert engine.forget("m0").ids == ("m0",)  # the one that stays has words of its own
        assert ids(engine) == ["m2"]
        assert engine.forget(where=where(user="ada")).ids == ("m1", "m2")
        assert engine.verify_erased("the same words")


def test_a_cycle_whose_memories_went_can_be_undone() -> None:
    with Engine(":memory:", profile="cognitive", clock=lambda: NOW) as engine:
        summarised(engine)
        (report,) = engine.dreams()
        before = {f"m{n}": engine.get(f"m{n}") for n in (0, 1)}
        assert {memory.tier for memory in before.values()} == {"cold"}
        engine.forget_many(["m2", "m3"])
        undone = engine.undo_dream(report.id, now=NOW)
        assert undone.undoes == report.id
        assert ids(engine) == ["m0", "m1", "m4"]
        assert {engine.get(id).tier for id in ids(engine)} == {"hot"}
        assert engine.check(deep=True) == []
        for known in engine.dreams():
            assert not any(f"harbour {n}" in json.dumps(known.record()) for n in (2, 3))


# -- around it -------------------------------------------------------------------------------------


def test_a_cached_response_does_not_return_the_forgotten() -> None:
    with Engine(":memory:", profile="omega", clock=lambda: NOW) as engine:
        engine.add_many([{"id": "a", "text": "red tea", "user": "ada"}, {"id": "b", "text": "tea"}])
        for _ in range(2):
            assert sorted(engine.search("tea").ids) == ["a", "b"]
        engine.forget(where=where(user="ada"))
        assert engine.search("tea").ids == ["b"]


def test_other_processes_follow_an_erasure_of_many(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, clock=lambda: NOW) as engine, Engine(path, clock=lambda: NOW) as other:
        engine.add_many(
            [{"id": f"m{n}", "text": f"tea {n}", "embedding": [1.0, n / 9]} for n in range(40)]
        )
        for n in range(1, 40):
            engine.link("m0", f"m{n}")
        assert len(other.search("tea", k=50, session="s").ids) == 40  # waits to be written
        engine.forget_many([f"m{n}" for n in range(1, 40)])
        assert other.search("tea", k=50).ids == ["m0"]
        assert other.search("", embedding=[1.0, 1.0], k=50).ids == ["m0"]
        assert other.neighbours("m0") == []
        other.flush()
        assert other.check(deep=True) == engine.check(deep=True) == []
        other.add("tea again", id="m7")
        assert engine.search("tea", k=50, reinforce=False).ids != []
        assert sorted(engine.search("tea", k=50, reinforce=False).ids) == ["m0", "m7"]


def test_purging_a_scope_erases_only_what_is_in_it(engine: Engine) -> None:
    engine.add("of red", id="d", user="ada", derived_from=["a1"], now=NOW)
    for id in ("a1", "b1", "b2"):
        engine.delete(id, now=NOW - 40 * DAY)
    ada = engine.scope(user="ada")
    assert ada.purgeable() == ["a1"]
    assert [memory and memory.id for memory in ada.get_deleted(["a1", "b1"])] == ["a1", None]
    assert ada.purge() == 1
    assert ada.purge() == 0
    assert ids(engine) == ["a2", "d"]  # a purge leaves what was derived
    assert engine.purgeable() == ["b1", "b2"]
    assert engine.purge() == 2


def test_erasing_is_awaited_too() -> None:
    async def run() -> None:
        async with oneiros.AsyncEngine(":memory:", clock=lambda: NOW) as engine:
            await engine.add_many(
                [{"id": f"m{n}", "text": f"tea {n}", "user": "ab"[n % 2]} for n in range(6)]
            )
            receipt = await engine.forget(where=where(user="a"))
            assert receipt.ids == ("m0", "m2", "m4")
            scope = await engine.scope(user="b")
            assert (await scope.forget_many(["m1"])).ids == ("m1",)
            await scope.delete("m3", now=NOW - 40 * DAY)
            assert await scope.purgeable() == ["m3"]
            assert await scope.purge() == 1
            assert await engine.verify_erased(receipt)
            assert await engine.count() == 1

    asyncio.run(run())
