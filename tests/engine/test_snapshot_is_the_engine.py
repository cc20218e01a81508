"""A store reopened from its snapshot is the engine that was closed, and the one made anew."""

from __future__ import annotations

import contextlib
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.index import snapshot
from oneiros.vector_index import index

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
NOW = 1.8e9
WORDS = [f"word{number}" for number in range(30)]
KINDS = ["fact", "lesson", "plan", "note"]
FILTERS: list[oneiros.Where | None] = [
    None,
    oneiros.where(kind=["fact", "plan"]),
    oneiros.where(project="p1"),
    oneiros.where(session="s2") | oneiros.where(topic="t0"),
    oneiros.where(tags="red"),
    ~oneiros.where(tags=["red", "a b"]),
    oneiros.where(metadata={"lang": "en"}),
    oneiros.where(metadata={"rank": 1}) & ~oneiros.where(kind="note"),
    oneiros.where(metadata={"flag": True}),
    oneiros.where(metadata={"flag": None}),
    oneiros.where(status="archived"),
    oneiros.where(id=["m1", "m5", "no such"]),
    oneiros.where(importance=(0.5, None)),
    oneiros.where(created_at=(NOW - 500, NOW)),
]

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "add", "update", "retag", "delete", "restore", "search", "forget", "reopen"]
        ),
        st.integers(0, 2**32),
    ),
    max_size=25,
)


def record(chosen: random.Random, number: int) -> dict[str, Any]:
    held: dict[str, Any] = {
        "id": f"m{number}",
        "text": " ".join(chosen.choices(WORDS, k=chosen.randrange(1, 12))),
        "kind": chosen.choice(KINDS),
        "importance": round(chosen.random(), 2),
        "created_at": NOW - chosen.randrange(1000),
    }
    optional: dict[str, Any] = {
        "title": chosen.choice(WORDS),
        "project": f"p{chosen.randrange(3)}",
        "session": f"s{chosen.randrange(4)}",
        "topic": f"t{chosen.randrange(2)}",
        "tags": chosen.sample(["red", "blue", "a b", "grün"], k=2),
        "metadata": {
            "lang": chosen.choice(["en", "de"]),
            "rank": chosen.choice([1, 1.0, 2.5]),
            "flag": chosen.choice([True, False, None]),
            "list": [1, 2],
        },
        "valid_until": NOW + chosen.randrange(-50, 50),
        "status": "archived",
        "embedding": np.array([chosen.gauss(0, 1) for _ in range(4)], np.float32),
    }
    shares = {"status": 0.1, "embedding": 0.8}
    return held | {
        name: value for name, value in optional.items() if chosen.random() < shares.get(name, 0.5)
    }


def do(mind: oneiros.Engine, step: str, seed: int, count: int) -> int:
    """Take one step; returns how many memories were ever added."""
    chosen = random.Random(seed)
    ids = [f"m{number}" for number in range(count)]
    known = [memory.id for memory in mind.get_many(ids) if memory is not None] if ids else []
    if step == "add":
        added = [record(chosen, count + place) for place in range(chosen.randrange(1, 12))]
        mind.add_many(added, now=NOW)
        return count + len(added)
    if step == "search":
        mind.search(
            " ".join(chosen.choices(WORDS, k=2)), now=NOW, session=chosen.choice(["x", "s1"])
        )
    elif step == "restore" and ids:
        chosen_id = chosen.choice(ids)
        with contextlib.suppress(oneiros.UnknownMemory):
            mind.restore(chosen_id)
    elif known:
        chosen_id = chosen.choice(known)
        fresh = record(chosen, 0)
        if step == "update":
            changes = {name: fresh[name] for name in ("text", "kind", "embedding") if name in fresh}
            mind.update(chosen_id, **changes, now=NOW)
        elif step == "retag":
            changes = {
                name: fresh[name] for name in ("tags", "metadata", "session") if name in fresh
            }
            mind.update(chosen_id, **changes, now=NOW)
        elif step == "delete":
            mind.delete(chosen_id, now=NOW)
        elif step == "forget":
            mind.forget(chosen_id)
    return count


def picture(mind: oneiros.Engine) -> list[object]:
    """All that can be asked of an engine without changing it."""
    seen: list[object] = [len(mind), mind.check()]
    stats = mind.stats()
    of_the_process = dict.fromkeys(("revision", "file_bytes", "waiting", "vector_search"))
    seen.append({**stats, "lexical": stats["lexical"]["documents"], **of_the_process})
    for where in FILTERS:
        seen.append(mind.count(where))
        listed = list(mind.list(where, limit=1000))
        seen.append([memory.id for memory in listed])
        if where is None:
            seen.append([sorted(memory.sessions) for memory in listed])
        for query in ("word1 word2 word3 word4", "word7"):
            for vector in (None, [1.0, 0.5, -0.25, 0.0]):
                response = mind.search(
                    query, k=20, where=where, now=NOW, reinforce=False, embedding=vector
                )
                seen.append([(found.id, found.score) for found in response.results])
    scope = mind.scope(project="p1")
    seen.append([found.id for found in scope.search("word1 word5", now=NOW, reinforce=False)])
    return seen


def closed_and_reopened(mind: oneiros.Engine, path: Path) -> tuple[list[object], list[object]]:
    """What the engine shows before it is closed, and what one made anew from its store does."""
    mind.flush()
    vectors = mind._scope.services.read_model.indexes.vectors
    assert vectors is None or vectors.settle(60)
    live = picture(mind)
    mind.close()
    copy = path.with_name("anew.db")
    shutil.copy(path, copy)
    with oneiros.Engine(copy) as anew:
        assert anew._scope.services.read_model.row_sets.attributes.stored is None
        made = picture(anew)
    for left in copy.parent.glob("anew.db*"):
        left.unlink()
    return live, made


@pytest.mark.parametrize("trusted", [True, False])
@settings(deadline=None, max_examples=20)
@given(steps=STEPS, first=st.integers(0, 2**32))
@example(steps=[("forget", 0)], first=3)  # the only vector there was
@example(steps=[("forget", 0), ("reopen", 0)], first=126)  # the only memory
def test_reopened_closed_and_made_anew_are_one(
    trusted: bool, steps: list[tuple[str, int]], first: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "FEWEST_ROWS", 1)
        patch.setattr(snapshot, "_SHARE_CHANGED", 10**9)
        for name in ("LEAST_GRAPH", "FEWEST_FRESH", "FEWEST_DEAD"):
            patch.setattr(index, name, 8)  # so few are searched exactly for all that
        path = Path(folder) / "mind.db"
        mind = oneiros.Engine(path, vector_index="hnsw")
        count = do(mind, "add", first, 0)
        for step, seed in [*steps, ("reopen", 0)]:
            if step != "reopen":
                count = do(mind, step, seed, count)
                continue
            held = mind._scope.services.read_model
            has_none = held.indexes.has_erased or not held.lifecycle.ids
            vectors = held.indexes.vectors
            live, made = closed_and_reopened(mind, path)
            if not trusted:  # the same bytes, but who knows whose
                beside = path.with_name("mind.db-snapshot")
                if beside.exists():
                    shutil.copy(beside, folder + "/moved")
                    shutil.move(folder + "/moved", beside)
            mind = oneiros.Engine(path, vector_index="hnsw")
            again = mind._scope.services.read_model
            assert has_none or again.row_sets.attributes.stored is not None
            if vectors is not None and vectors.has_graph and not has_none:
                assert again.indexes.vectors is not None
                assert again.indexes.vectors.settle(60)
                assert again.indexes.vectors.has_graph
                event("a graph came back")
            assert picture(mind) == live == made
        mind.close()
