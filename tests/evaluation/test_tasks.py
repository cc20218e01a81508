"""Profiles on judged collections, through the engine; the house profile's figures hold.

The data stand outside the repository: ONEIROS_DATA names their folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from oneiros import profiles
from oneiros.evaluation.collection import Collection, Document, Query, read
from oneiros.evaluation.tasks import STANDSTILL, demo_task, measure, task_of
from oneiros.scoring.profile import Profile

DATA = Path(os.environ.get("ONEIROS_DATA") or Path(__file__).parents[3] / "shared" / "data")
HOUSE = {"locomo-dev": 0.60, "scifact-train": 0.735, "cranfield": 0.40, "cisi": 0.45}
"""nDCG@10 of the whole profile: docs/systems/house.md."""


@pytest.mark.parametrize("name", HOUSE)
def test_the_house_profile_finds_what_it_is_said_to(name: str) -> None:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"NO DATA: {folder} is missing; set ONEIROS_DATA to judge search quality")
    report = measure(task_of(read(folder)), profiles.get("oneiros"))
    print(f"\n{name}: nDCG@10 {report.overall.ndcg:.4f}")  # noqa: T201
    assert report.overall.ndcg >= HOUSE[name]


def test_the_house_profile_leads_on_the_demo() -> None:
    task = demo_task()
    house, *others = (
        measure(task, profiles.get(name)).overall
        for name in ("oneiros", "reverie", "omega", "ciar")
    )
    assert house.ndcg > max(other.ndcg for other in others)


def document(name: str, text: str, *, timestamp: str | None, **metadata: object) -> Document:
    return Document(id=name, title="", text=text, timestamp=timestamp, metadata=metadata)


def query(text: str, *, timestamp: str | None, **metadata: object) -> Query:
    return Query(id="q", text=text, timestamp=timestamp, metadata=metadata, answers={"d2": 1.0})


def collection(*documents: Document, queries: tuple[Query, ...], vectors: int = 0) -> Collection:
    return Collection(
        name="small",
        documents=documents,
        queries=queries,
        document_vectors=np.eye(vectors, dtype=np.float32) if vectors else None,
        query_vectors=np.eye(1, vectors, dtype=np.float32) if vectors else None,
    )


def test_times_groups_and_sessions_become_fields() -> None:
    stamp = "2024-01-02T00:00:00"
    whole = document("d1", "tea", timestamp=stamp, group="g", session=3)
    bare = document("d2", "tea", timestamp=None, session=4)
    asked = query("tea", timestamp=f"{stamp}+01:00", group="g")
    task = task_of(collection(whole, bare, queries=(asked,)))
    first, second = task.records
    assert (first["created_at"], second["created_at"]) == (1_704_153_600.0, STANDSTILL)
    assert (first["project"], first["session"]) == ("g", "g/3")
    assert ("project" in second, second["session"]) == (False, "4")
    assert task.questions[0].now == 1_704_153_600.0 - 3_600.0
    assert task.questions[0].where is not None


def test_groups_may_be_numbers_and_times_are_checked() -> None:
    told = document("d2", "tea", timestamp=None, group=5)
    other = document("d1", "tea", timestamp=None, group=6)
    asked = query("tea", timestamp=None, group=5)
    task = task_of(collection(other, told, queries=(asked,)))
    assert [record["project"] for record in task.records] == ["6", "5"]
    assert measure(task, profiles.get("reverie")).overall.ndcg == 1.0
    with pytest.raises(ValueError, match="timestamp: expected ISO 8601, got 'yesterday'"):
        task_of(collection(document("d2", "tea", timestamp="yesterday"), queries=(asked,)))


def test_a_question_is_asked_at_its_own_time_and_leaves_no_trace() -> None:
    documents = (
        document("d1", "tea", timestamp="2024-01-01T00:00:00"),
        document("d2", "tea", timestamp="2024-01-31T00:00:00"),
    )
    asked = query("tea", timestamp="2024-02-01T00:00:00")
    task = task_of(collection(*documents, queries=(asked,)))
    reverie = profiles.get("reverie")
    assert measure(task, reverie).overall.mrr == 1.0  # the later one is the fresher one
    assert measure(task, Profile(name="ranks")).overall.mrr == 0.5


def test_vectors_are_searched_where_there_are_some() -> None:
    documents = (
        document("d2", "tea", timestamp=None),
        document("d1", "coffee", timestamp=None),
    )
    asked = query("coffee", timestamp=None)
    task = task_of(collection(*documents, queries=(asked,), vectors=2))
    meaning = Profile(name="meaning", channels=(profiles.get("oneiros").channels[1],))
    seen: list[int] = []
    assert measure(task, meaning, seen.append).overall.mrr == 1.0
    assert seen == [1]
