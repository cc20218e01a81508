"""What is like a memory, a text or a batch: O26 pair by pair; scopes, deletion, and nothing dropped."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.stages import Duplicates
from oneiros.search.near_duplicates import NearDuplicate, Similar
from tests.engine.embedders import LetterCounts
from tests.oracles import finishing, texts

NOW = 1_750_000_000.0
VECTORS = ([1.0, 0.0], [1.0, 0.42], [1.0, 0.44], [0.0, 1.0], [-1.0, 0.3], [0.3, -1.0])
TEXTS = [
    *("", "ant", "ANT", "x" * 150 + "y", "x" * 150 + "z", "bee", "\ufb01g", "fig"),
    *("**Ant**\n", "ant bee", "> ant_bee", "***"),
]
records = st.lists(
    st.fixed_dictionaries(
        {"text": st.sampled_from(TEXTS), "project": st.sampled_from(["p", "q"])},
        optional={"embedding": st.sampled_from(VECTORS)},
    ),
    min_size=1,
    max_size=8,
)
Record = dict[str, Any]


def cosine(one: Record, other: Record) -> float | None:
    left, right = one.get("embedding"), other.get("embedding")
    return None if left is None or right is None else finishing.cosine_of(left, right)


def expected(asked: Record, others: dict[str, Record], k: int) -> list[Similar]:
    """Those that begin alike as they were added, then the nearest; by definition."""
    begun = [id for id, one in others.items() if texts.begins_alike(asked["text"], one["text"])]
    near = {
        id: round(found, 6)
        for id, one in others.items()
        if id not in begun and (found := cosine(asked, one)) is not None
    }
    told = [*begun, *sorted(near, key=lambda id: -near[id])]  # stable: ties by insertion
    return [
        Similar(
            id,
            pytest.approx(cosine(asked, others[id]), abs=1e-6),
            id in begun,
            finishing.are_alike(asked, others[id]),
        )
        for id in told[:k]
    ]


@settings(max_examples=30, deadline=None)
@given(
    records=records,
    asked=st.integers(0, 7),
    k=st.integers(0, 8),
    scoped=st.booleans(),
    gone=st.sets(st.integers(0, 7)),
)
def test_what_is_similar_is_what_the_page_says(
    records: list[Record], asked: int, k: int, scoped: bool, gone: set[int]
) -> None:
    named = {f"m{place}": one for place, one in enumerate(records)}
    with oneiros.Engine(":memory:", clock=lambda: NOW) as mind:
        report = mind.add_many([{"id": id, **one} for id, one in named.items()])
        assert report.ids == list(named)
        for place in gone:
            if place < len(records):
                mind.delete(f"m{place}")
        view = mind.scope(project="p") if scoped else mind
        held = {
            id: one
            for place, (id, one) in enumerate(named.items())
            if place not in gone and (not scoped or one["project"] == "p")
        }
        own = f"m{asked % len(records)}"
        others = {id: one for id, one in held.items() if id != own}
        if own in held:
            assert view.similar(own, k) == expected(named[own], others, k)
        text = {**named[own]}
        vector = text.get("embedding")
        assert view.similar(text["text"], k, embedding=vector) == expected(text, held, k)
        told = view.near_duplicates(list(held))
        pairs = {
            (later, earlier)
            for earlier, later in itertools.combinations(held, 2)
            if finishing.are_alike(held[earlier], held[later])
        }
        assert {(one.id, one.of) for one in told} == pairs
        assert len(told) == len(pairs)
        if not scoped:  # the report of all that is still there
            assert report.near_duplicates == told
        assert mind.list(limit=9) == mind.list(limit=9)
        assert all(memory.access_count == 0 for memory in mind.list())


@pytest.fixture
def mind() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", embedder=LetterCounts(), clock=lambda: NOW) as opened:
        opened.add("abc", id="first")
        yield opened


def test_a_report_tells_what_repeats_and_drops_nothing(mind: oneiros.Engine) -> None:
    report = mind.add_many(
        [
            {"id": "same", "text": "ABC"},
            {"id": "other", "text": "hhh"},
            {"id": "again", "text": "hhhh"},
            {"id": "first", "text": "abc abc"},
        ],
        on_conflict="update",
    )
    assert report.ids == ["same", "other", "again", "first"]
    assert len(mind) == 4
    asked = len(mind._scope.services.sync.vectors.embedder.asked)  # type: ignore[union-attr]
    assert [(one.id, one.of, one.begins_alike) for one in report.near_duplicates] == [
        ("again", "other", False)
    ]
    assert report.near_duplicates[0].cosine == pytest.approx(1.0)
    assert len(mind._scope.services.sync.vectors.embedder.asked) == asked  # type: ignore[union-attr]
    assert "near" not in repr(report)


def test_an_import_looks_for_nothing_until_it_is_asked(mind: oneiros.Engine) -> None:
    report = mind.add_many({"text": f"{'a' * (1 + number)}"} for number in range(1_200))
    read_model = mind._scope.services.read_model
    assert not read_model.texts.are_read
    copied = pickle.loads(pickle.dumps(report))
    assert read_model.texts.are_read
    mind.close()
    assert copied.near_duplicates == report.near_duplicates == copy.copy(report).near_duplicates
    assert copied == report
    assert len(report.near_duplicates) >= 1_199


def test_a_report_goes_by_what_is_there_when_it_is_asked(mind: oneiros.Engine) -> None:
    report = mind.add_many([{"id": "a", "text": "abc"}, {"id": "b", "text": "abc"}])
    mind.delete("a")
    mind.forget("first")
    assert report.near_duplicates == []
    late = mind.add_many([{"id": "c", "text": "abc"}])
    mind.close()
    with pytest.raises(oneiros.EngineClosed):
        assert late.near_duplicates


def test_a_text_needs_no_memory_and_an_unknown_id_is_a_text(mind: oneiros.Engine) -> None:
    (found,) = mind.similar("Abc")
    assert (found.id, found.begins_alike, found.is_duplicate) == ("first", True, True)
    assert mind.similar("zz") == []  # no letter of it counts: no vector
    (found,) = mind.similar("abd")
    assert (found.is_duplicate, found.cosine) == (False, pytest.approx(2 / 3))
    (found,) = mind.similar("abd", embedding=[1, 1, 1, 0, 0, 0, 0, 0])
    assert found.is_duplicate
    mind.add("def", id="abc")
    assert [one.id for one in mind.similar("abc")] == ["first"]  # of the memory that has this id
    with pytest.raises(oneiros.UnknownMemory, match="nobody"):
        mind.near_duplicates(["abc", "nobody"])


def test_the_rule_is_the_profiles(mind: oneiros.Engine) -> None:
    mind.add("abd", id="second")
    loose = profiles.get("omega").replace(duplicates=Duplicates(characters=2, cosine=0.99))
    (found,) = mind.similar("first", profile=loose)
    assert (found.begins_alike, found.is_duplicate) == (True, True)
    near = profiles.get("omega").replace(duplicates=Duplicates(cosine=0.5))
    assert mind.near_duplicates(["second"], profile=near) == [
        NearDuplicate("second", "first", pytest.approx(2 / 3), False)
    ]
    assert mind.near_duplicates(["second"]) == []
    where = oneiros.where(kind="fact")
    assert mind.similar("first", where=where) == []
