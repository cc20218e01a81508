"""Laws of recall that hold for every store, checked on random ones."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields as fields_of
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from tests.engine.world import (
    DAY,
    NOW,
    PROJECTS,
    QUESTIONS,
    VECTORS,
    Fields,
    World,
    known,
    queries,
    records,
    texts,
)
from tests.oracles import bm25

questions = st.one_of(st.none(), st.sampled_from(QUESTIONS))
many = st.lists(records, max_size=12)
SLOW = settings(max_examples=60, deadline=None)


@contextmanager
def opened(given: list[Fields], **options: object) -> Iterator[tuple[oneiros.Engine, World]]:
    """An engine in memory and its model, holding the same records."""
    world = World()
    settled = {"profile": "reverie", "analyzer": "simple", "clock": lambda: NOW, **options}
    with oneiros.Engine(":memory:", **settled) as mind:
        for id, one in zip(mind.add_many(given).ids, given, strict=True):
            world.known[id] = known(one, NOW)
        yield mind, world


def listed(response: oneiros.SearchResponse) -> list[tuple[str, float]]:
    return [(result.id, result.score) for result in response.results]


def everything(mind: oneiros.Engine) -> list[dict[str, object]]:
    rows = [
        {field.name: getattr(memory, field.name) for field in fields_of(memory)}
        for memory in mind.list(limit=1000)
    ]
    for row in rows:
        if row["embedding"] is not None:
            row["embedding"] = np.asarray(row["embedding"]).tolist()
    return rows


@SLOW
@given(given=many, query=queries, question=questions)
def test_a_search_without_reinforcement_leaves_the_store_unchanged(
    given: list[Fields], query: str, question: tuple[float, ...] | None
) -> None:
    with opened(given) as (mind, _):
        before = everything(mind)
        first = listed(mind.search(query, embedding=question, reinforce=False, session="s9"))
        mind.search(query, embedding=question, reinforce=False, explain=True, now=NOW + DAY)
        mind.flush()
        assert everything(mind) == before
        assert listed(mind.search(query, embedding=question, reinforce=False)) == first


@settings(max_examples=15, deadline=None)
@given(given=many, query=queries, question=questions)
def test_a_search_without_reinforcement_writes_no_byte(
    given: list[Fields], query: str, question: tuple[float, ...] | None
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        with oneiros.Engine(folder / "mind.db", profile="reverie", durability="normal") as mind:
            mind.add_many(given)
            mind.flush()
            before = dump(folder / "mind.db")
            mind.search(query, embedding=question, reinforce=False)
            mind.flush()
            assert dump(folder / "mind.db") == before
    finally:
        shutil.rmtree(folder)


def dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


@SLOW
@given(given=many, query=queries, question=questions, project=st.sampled_from(PROJECTS[1:]))
def test_a_filtered_search_finds_what_a_filter_of_all_results_leaves(
    given: list[Fields], query: str, question: tuple[float, ...] | None, project: str
) -> None:
    with opened(given) as (mind, _):
        whole = mind.search(query, k=100, embedding=question, reinforce=False).results
        kept = {result.id for result in whole if result.memory.project == project}
        asked = {"k": 100, "embedding": question, "reinforce": False}
        where = oneiros.where(project=project)
        found = listed(mind.search(query, where=where, **asked))
        assert {id for id, _ in found} == kept
        scope = mind.scope(project=project)
        assert listed(scope.search(query, statistics="store", **asked)) == found
        for k in (1, 3):  # a shorter list is the beginning of a longer one
            few = mind.search(query, where=where, **{**asked, "k": k})
            assert listed(few) == found[:k]


@SLOW
@given(
    words=st.lists(texts, max_size=30),
    query=queries,
    k=st.integers(0, 40),
    gone=st.sets(st.integers(0, 29)),
    variant=st.sampled_from(["lucene", "robertson", "atire", "bm25plus", "bm25l"]),
    k1=st.floats(0.1, 3),
    b=st.floats(0, 1),
)
def test_the_lexical_index_is_exhaustive_bm25(
    words: list[str], query: str, k: int, gone: set[int], variant: str, k1: float, b: float
) -> None:
    index = oneiros.LexicalIndex(variant=variant, k1=k1, b=b, analyzer="simple")
    index.add_many(list(range(len(words))), words)
    documents = {row: text.split() for row, text in enumerate(words)}
    for row in gone & documents.keys():
        index.delete(row)
        del documents[row]
    assert len(index) == len(documents)
    want = bm25.rank(documents, query.split(), k, variant=variant, k1=k1, b=b)
    hits = index.search(query, k=k)
    assert list(hits.ids) == [row for row, _ in want]
    assert list(hits.scores) == pytest.approx([score for _, score in want], rel=1e-12, abs=1e-15)


@SLOW
@given(
    words=st.lists(st.tuples(texts, st.one_of(st.none(), st.sampled_from(VECTORS))), max_size=12),
    age=st.floats(-10, 1000),
    query=queries,
    question=questions,
)
def test_fresh_memories_rank_as_without_lifecycle(
    words: list[tuple[str, tuple[float, ...] | None]],
    age: float,
    query: str,
    question: tuple[float, ...] | None,
) -> None:
    given: list[Fields] = [
        {"text": text, "id": f"m{row}", "created_at": NOW - age * DAY, "embedding": vector}
        for row, (text, vector) in enumerate(words)
    ]
    bare = oneiros.profiles.get("reverie", lifecycle=False)
    with opened(given) as (mind, world):
        full = mind.search(query, k=50, embedding=question, reinforce=False)
        live = mind.search(query, k=50, embedding=question, reinforce=False, profile=bare)
        assert listed(full) == listed(live)  # R9: the same bits
        want = world.search(query, 50, NOW, question, lifecycle=False)
        assert [one.id for one in want] == [id for id, _ in listed(live)]


def test_each_channel_gives_its_hundred_best() -> None:
    given: list[Fields] = [
        {"text": "ant " * (1 + row % 7) + "bee " * (row % 3), "embedding": VECTORS[row % 8],
         "project": PROJECTS[1 + row % 2], "created_at": NOW - row * DAY}
        for row in range(600)
    ]  # fmt: skip
    with opened(given) as (mind, world):
        for project in (None, "red"):
            where = None if project is None else oneiros.where(project=project)
            for query, question in (("ant", None), ("bee ant", QUESTIONS[0]), ("", QUESTIONS[1])):
                got = mind.search(query, k=500, embedding=question, where=where, reinforce=False)
                want = world.search(
                    query,
                    500,
                    NOW,
                    question,
                    lambda one: project is None or one.labels["project"] == project,  # noqa: B023
                )
                assert [id for id, _ in listed(got)] == [one.id for one in want]
                want_scores = [one.score for one in want]
                assert [s for _, s in listed(got)] == pytest.approx(want_scores, rel=1e-9)


def test_hidden_memories_take_no_place_in_a_channel() -> None:
    hidden: list[Fields] = [{"text": "ant", "status": "archived"} for _ in range(150)]
    shown: list[Fields] = [{"text": "ant bee cat", "id": f"m{row}"} for row in range(5)]
    with opened([*hidden, *shown]) as (mind, _):
        assert [id for id, _ in listed(mind.search("ant"))] == [f"m{row}" for row in range(5)]


def test_a_permuted_input_gives_the_same_scores() -> None:
    given: list[Fields] = [
        {"id": f"m{row}", "text": "ant " * (row + 1) + "bee", "created_at": NOW - row * DAY}
        for row in range(9)
    ]
    with opened(given) as (mind, _), opened(given[::-1]) as (other, _):
        scores = dict(listed(mind.search("ant bee", reinforce=False)))
        assert dict(listed(other.search("ant bee", reinforce=False))) == scores


def test_search_many_is_search_for_each() -> None:
    given: list[Fields] = [{"text": "ant " * row + "bee " * (9 - row)} for row in range(10)]
    asked = ["ant", "bee ant", "", "cat"]
    with opened(given) as (mind, _):
        batch = [listed(one) for one in mind.search_many(asked, k=5, reinforce=False)]
        assert batch == [listed(mind.search(query, k=5, reinforce=False)) for query in asked]
