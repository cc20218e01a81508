"""check(deep=True) finds a read model that differs from the store in any part, and rebuilds it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import Engine
from oneiros.index.comparison import StoreComparison
from oneiros.index.snapshot import FEWEST_ROWS
from tests.engine.embedders import LetterCounts

COUNT = 30
NOW = 1_770_000_000.0


def record(number: int) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": f"m{number}",
        "text": f"ant {number} of hill {number % 3}",
        "importance": number % COUNT / COUNT,
        "project": "pq"[number % 2],
        "tags": [f"t{number % 4}"],
        "metadata": {"number": number},
        "session": f"s{number % 5}",
        "embedding": (1.0, number / COUNT),
    }
    if number % 7 == 0:
        fields["valid_until"] = NOW + 1e9
    return fields


@pytest.fixture
def mind() -> Iterator[Engine]:
    with Engine(":memory:", clock=lambda: NOW) as opened:
        opened.add_many([record(number) for number in range(COUNT)])
        opened.supersede("m1", "m2")
        opened.delete("m3")
        opened.search("ant", session="t")
        opened.forget("m4")
        yield opened


def column(name: str, value: float) -> Callable[[Engine], object]:
    def write(mind: Engine) -> None:
        lifecycle = mind._scope.services.read_model.lifecycle
        lifecycle.columns.write(rows=[lifecycle.row_of["m5"]], values={name: [value]})

    return write


def row(mind: Engine, id: str = "m5") -> int:
    found = mind._scope.services.read_model.lifecycle.row_of.get(id)
    assert found is not None
    return found


def text(mind: Engine) -> None:
    """Have the lexical index hold another text."""
    indexes = mind._scope.services.read_model.indexes
    indexes.lexical.add(row=row(mind), text="another text")
    indexes._text_digests[row(mind)] = 7


def attributes(mind: Engine) -> None:
    held = mind._scope.services.read_model.row_sets.attributes._attributes
    held[row(mind)] = held[row(mind)]._replace(project="r")


def deaf(mind: Engine) -> None:
    """Miss an update, as an engine that does not follow would."""
    sync = mind._scope.services.sync
    apply = sync._apply
    sync._apply = lambda _: None  # type: ignore[method-assign]
    try:
        mind.update("m5", text="a bee", importance=0.875, project="z")
    finally:
        sync._apply = apply  # type: ignore[method-assign]


CHANGES: dict[str, Callable[[Engine], object]] = {
    "column importance": column("importance", 0.875),
    "column created_at": column("created_at", NOW - 5),
    "column access_count": column("access_count", 77),
    "column deleted_at": column("deleted_at", NOW),
    "column superseded": column("superseded", 1),
    "column asks": column("asks", 0.5),
    "column names_time": column("names_time", 1),
    "column sequence": column("sequence", 4.5),
    "kind": column("kind", 0),
    "project": column("project_code", 0),
    "user": column("user_code", 7),
    "namespace": column("namespace_code", 7),
    "source": column("source_code", 7),
    "column trust": column("trust", 0.25),
    "sessions": lambda mind: mind._scope.services.read_model.lifecycle.sessions.add(
        rows=[row(mind)], session="u"
    ),
    "live memories": lambda mind: mind._scope.services.read_model.row_sets.live.discard(row(mind)),
    "superseded memories": lambda mind: mind._scope.services.read_model.row_sets._superseded.add(
        row(mind)
    ),
    "archived memories": lambda mind: mind._scope.services.read_model.row_sets._archived.add(
        row(mind)
    ),
    "quarantined memories": (
        lambda mind: mind._scope.services.read_model.row_sets._quarantined.add(row(mind))
    ),
    "doubted memories": lambda mind: mind._scope.services.read_model.row_sets._doubted.add(
        row(mind)
    ),
    "perishable memories": lambda mind: mind._scope.services.read_model.row_sets._perishable.add(
        row(mind)
    ),
    "attributes": attributes,
    "lexical index": text,
    "vector index": lambda mind: mind._scope.services.read_model.indexes._remove_vectors(
        np.array([row(mind)], np.uint32)
    ),
    "memories": lambda mind: mind._scope.services.read_model.erase(["m5"]),
    "column text of an update": deaf,
}


def answers(mind: Engine) -> list[Any]:
    found = [
        (result.id, result.score, result.memory.text)
        for query in ("ant hill", "another text", "a bee")
        for result in mind.search(query, k=COUNT, embedding=(1.0, 0.5), reinforce=False)
    ]
    return [found, mind.count(oneiros.where(project="p")), mind.list(limit=COUNT)]


@pytest.mark.parametrize("part", CHANGES)
@pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
def test_a_difference_is_reported_and_the_read_model_rebuilt(mind: Engine, part: str) -> None:
    assert mind.check(deep=True) == []
    CHANGES[part](mind)
    problems = mind.check(deep=True)
    assert all(problem.endswith("; rebuilt from the store") for problem in problems)
    if part != "column text of an update":
        assert any(
            problem.startswith(f"{part}: 1 memory unlike the store's") for problem in problems
        )
    assert problems
    assert mind.check(deep=True) == []
    sync = mind._scope.services.sync
    after = answers(mind)
    mind._scope.services.read_model = sync.writer.run(sync.rebuild)
    assert answers(mind) == after


@pytest.mark.parametrize(("name", "value"), [("priority", 1), ("status", 2), ("feedback", 9)])
def test_sums_of_whole_numbers_are_compared_by_each_check(
    mind: Engine, name: str, value: int
) -> None:
    column(name, value)(mind)
    (problem,) = mind.check()
    assert problem.startswith(f"column {name}: its sum is ")
    assert mind.check() == []


def test_a_snapshot_and_what_came_since_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add_many([record(number) for number in range(FEWEST_ROWS)], links=False)
        mind.supersede("m1", "m2")
        mind.delete("m3")
    assert Path(f"{path}-snapshot").is_file()
    with Engine(path, clock=lambda: NOW) as mind:
        assert mind.check(deep=True) == []
        mind.search("ant hill", session="t")
        mind.update("m5", importance=0.25, tags=["other"])
        mind.delete("m6")
        mind.forget("m7")
        mind.add("ant late", id="late", superseded_by="m8", session="v")
        assert mind.check(deep=True) == []
        attributes(mind)
        assert mind.check(deep=True) != []


def test_cycles_and_reembedding_leave_no_difference(tmp_path: Path) -> None:
    with Engine(tmp_path / "mind.db", profile="cognitive", clock=lambda: NOW) as mind:
        mind.add_many([record(number) for number in range(COUNT)], now=NOW - 900 * 86_400.0)
        report = mind.dream(NOW, summarise=" and ".join)
        assert mind.check(deep=True) == []
        mind.reembed(LetterCounts())
        assert mind.check(deep=True) == []
        mind.undo_dream(report.id)
        assert mind.check(deep=True) == []


def test_the_name_that_external_benchmarks_use_is_the_read_model() -> None:
    with oneiros.Engine(":memory:") as mind:
        mind.add("tea")
        assert mind._parts.projections is mind._scope.services.read_model
        assert mind.check(deep=True) == []
        assert mind._parts.projections is mind._scope.services.read_model


def test_a_commit_of_another_engine_meanwhile_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path) as other:
        mind.add("ant")
        sync = mind._scope.services.sync
        read_model = sync.read_model
        follow = sync._follow

        def followed(reading: Any) -> None:
            follow(reading)
            other.add("bee")

        monkeypatch.setattr(sync, "_follow", followed)
        assert mind.check() == []
        assert mind.check(deep=True) == []
        assert sync.read_model is read_model


def test_searches_do_not_wait_for_a_deep_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    problems = StoreComparison.problems

    def late(comparison: StoreComparison) -> list[str]:
        begun.set()
        assert may_end.wait(60)
        return problems(comparison)

    with oneiros.Engine(tmp_path / "mind.db") as mind:
        mind.add("ant")
        mind.search("ant")  # reads the links, which later searches have
        monkeypatch.setattr(StoreComparison, "problems", late)
        checking = threading.Thread(target=mind.check, kwargs={"deep": True})
        adding = threading.Thread(target=mind.add, args=("ant and bee",))
        searching = threading.Thread(target=mind.search, args=("ant",))
        checking.start()
        assert begun.wait(60)
        adding.start()
        adding.join(0.2)  # it may wait
        searching.start()
        searching.join(20)
        has_waited = searching.is_alive()
        may_end.set()
        for thread in (checking, adding, searching):
            thread.join()
        assert not has_waited
        assert len(mind.search("ant")) == 2
