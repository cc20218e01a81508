"""Calls that read while another thread has the read model rebuilt, which gives rows other numbers."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.index.row_sets import RowSets
from oneiros.search.call import SearchCall
from oneiros.write.sync import Sync

NOW = 1_750_000_000.0
WORDS = ("apple", "pear", "plum")


@contextmanager
def opened() -> Iterator[oneiros.Engine]:
    """An engine whose rows move down by nine when its read model is rebuilt."""
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        engine.add_many(
            [
                *({"id": f"gone{n}", "text": "apple", "project": "p"} for n in range(9)),
                *(
                    {
                        "id": f"m{n}",
                        "text": f"{WORDS[n % 3]} and {WORDS[n % 2]} of basket {n // 4}",
                        "project": "pq"[n % 2],
                        "session": f"s{n // 5}",
                        "embedding": [1.0, n % 4, n % 3],
                    }
                    for n in range(30)
                ),
            ]
        )
        engine.link_many([(f"m{n}", f"m{n + 2}", 0.9) for n in range(0, 20, 2)])
        engine.forget_many([f"gone{n}" for n in range(9)])
        yield engine


def exported(memories: Any, folder: Path) -> list[str]:
    path = folder / "memories.jsonl"
    memories.export(path)
    ids = [json.loads(line).get("id") for line in path.read_text().splitlines()]
    path.unlink()
    return ids


CALLS: dict[str, Callable[[Any, Path], object]] = {
    "search": lambda of, _: [
        (result.id, result.score, result.memory.project)
        for result in of.search("apple plum", 12, embedding=[1.0, 2.0, 0.0], reinforce=False)
    ],
    "search with a filter": lambda of, _: (
        of.search("apple", where=oneiros.where(session="s2"), reinforce=False).ids
    ),
    "search by omega": lambda of, _: of.search("apple", profile="omega", reinforce=False).ids,
    "search_many": lambda of, _: [
        found.ids for found in of.search_many(["apple", "pear"], reinforce=False)
    ],
    "texts": lambda of, _: of.search("plum", reinforce=False).texts,
    "why_not": lambda of, _: str(of.why_not("apple", "m5", reinforce=False)),
    "list": lambda of, _: [memory.id for memory in of.list(limit=7)],
    "list after": lambda of, _: [memory.id for memory in of.list(order="oldest", after="m4")],
    "last": lambda of, _: [memory.id for memory in of.last(3, session="s4")],
    "values": lambda of, _: of.values("project"),
    "count": lambda of, _: of.count(oneiros.where(session="s1")),
    "links": lambda of, _: of.links(now=NOW),
    "neighbours": lambda of, _: of.neighbours("m4", now=NOW),
    "similar": lambda of, _: of.similar("m4", 5),
    "near_duplicates": lambda of, _: of.near_duplicates(["m0", "m6", "m12"]),
    "conflicts": lambda of, _: of.conflicts(least_confidence=0.01),
    "export": exported,
}


def rebuilding(method: Callable[..., Any], engine: oneiros.Engine) -> Callable[..., Any]:
    """Return a method after which the read model is rebuilt, once."""
    services = engine._scope.services
    first = services.read_model

    def rebuild() -> None:
        services.read_model = services.sync.rebuild()

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        returned = method(*args, **kwargs)
        if services.read_model is first:
            services.sync.writer.run(rebuild)
        return returned

    return call


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("bounds", [{}, {"project": "p"}])
def test_a_call_reads_one_read_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, bounds: dict[str, str]
) -> None:
    ask = CALLS[name]
    with opened() as engine:
        wanted = ask(engine.scope(**bounds) if bounds else engine, tmp_path)
    is_rebuilt = False
    for owner, method in (
        (RowSets, "matching"),
        (RowSets, "consulted"),
        (RowSets, "searched"),
        (SearchCall, "request"),
        (Sync, "associations"),
        (Sync, "texts"),
    ):
        with opened() as engine, monkeypatch.context() as patch:
            services = engine._scope.services
            first = services.read_model
            patch.setattr(owner, method, rebuilding(getattr(owner, method), engine))
            assert ask(engine.scope(**bounds) if bounds else engine, tmp_path) == wanted, method
            is_rebuilt |= services.read_model is not first
    assert is_rebuilt
