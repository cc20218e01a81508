"""Links read by the core, by the numbers of their ends: the same as Python reads row by row."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import apsw
import pytest

from oneiros import _core
from oneiros.errors import StoreCorrupt
from oneiros.graph import Associations
from oneiros.index.columns import Lifecycle
from oneiros.store import Store, checksums
from oneiros.store.connections import StoreConnection
from oneiros.store.links import StoredLink
from tests.store.samples import memory

COUNT = 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of linked memories; some links were removed since, some ends are gone."""
    path = tmp_path / "memories.db"
    chosen = random.Random(3)
    pairs = sorted({tuple(sorted(chosen.sample(range(COUNT), 2))) for _ in range(150)})
    with Store(path) as store:
        with store.write() as transaction:
            for number in range(COUNT):
                transaction.insert(memory(f"m{number}"))
            transaction.set_links(
                StoredLink(
                    f"m{a}",
                    f"m{b}",
                    chosen.randrange(6),
                    chosen.uniform(0.01, 1.0),
                    chosen.uniform(0.0, 2e9),
                    chosen.choice([None, chosen.uniform(-1e9, 2e9)]),
                )
                for a, b in pairs
            )
        with store.write() as transaction:
            for a, b in pairs[::5]:
                transaction.remove_link(f"m{a}", f"m{b}")
    return path


def graph_of(store: Store, after: int) -> tuple[Any, Any]:
    """Return the graphs made of the links that the core and Python read."""
    lifecycle = Lifecycle()
    with store.read() as reading:
        for batch in reading.changes(0):
            lifecycle.apply(batch)
        ours, theirs = Associations(lifecycle), Associations(lifecycle)
        ours.read(reading.numbered_links(after))
        theirs.set_all(link for batch in reading.links(after) for link in batch)
    return ours.graph, theirs.graph


def links_of(graph: Any) -> list[tuple[Any, ...]]:
    columns = (column.tolist() for column in graph.links())
    return [
        (*link[:-1], None if link[-1] != link[-1] else link[-1])
        for link in zip(*columns, strict=True)
    ]


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("by_core", [True, False])
def test_the_links_are_those_that_python_reads(
    path: Path, after: int, by_core: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_core:  # as with a SQLite that loads no extensions

        def refuse(_: StoreConnection) -> int:
            raise apsw.ExtensionLoadingError

        monkeypatch.setattr(StoreConnection, "_address", refuse)
    with Store(path) as store:
        ours, theirs = graph_of(store, after)
        assert links_of(ours) == links_of(theirs)
        assert (len(ours) > 0) == (after == 0)


def test_a_link_that_was_removed_or_changed_since_is_brought_into_line(path: Path) -> None:
    with Store(path) as store:
        graph, _ = graph_of(store, 0)
        lifecycle = Lifecycle()
        with store.read() as reading:
            for batch in reading.changes(0):
                lifecycle.apply(batch)
            (before,) = reading.numbered_links(0)
        (a, b, *_), (c, d, _, _, created, _) = links_of(graph)[:2]
        names = list(lifecycle.ids)
        with store.write() as transaction:
            transaction.remove_link(names[a], names[b])
            transaction.set_link(StoredLink(names[c], names[d], 2, 0.125, 5.0, 6.0))
        links = Associations(lifecycle)
        links.read([before])
        with store.read() as reading:
            (changed,) = reading.numbered_links(2)
        assert links.apply(changed, wants_ends=True) == ([a, c], [b, d])
        assert links.apply(changed, wants_ends=False) is None
        found = {link[:2]: link[2:] for link in links_of(links.graph)}
        assert len(found) == len(graph) - 1
        assert (a, b) not in found
        assert found[c, d] == (0.125, 2, created, 6.0)


@pytest.mark.parametrize("is_sealed", [False, True])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("first", "-1"),
        ("first", "7"),
        ("second", "99"),
        ("revision", "9"),
        ("kind", "-1"),
        ("kind", "6"),
        ("weight", "-0.5"),
        ("weight", "1.5"),
        ("created_at", "9e999"),
        ("co_retrieved_at", "-9e999"),
        ("co_retrieved_at", "7.5"),
    ],
)
def test_a_damaged_link_is_named_or_left_out_as_by_python(
    path: Path, column: str, value: str, is_sealed: bool
) -> None:
    connection = apsw.Connection(str(path))
    checksums.register(connection)
    ((first, second),) = connection.execute(
        "SELECT first, second FROM link WHERE weight > 0 AND second > 12 LIMIT 1"
    )
    seal = f", checksum = {checksums.checksum_after({column: value})}" if is_sealed else ""
    connection.execute(
        f"UPDATE OR REPLACE link SET {column} = {value}{seal} WHERE first = ? AND second = ?",
        (first, second),
    )
    connection.close()
    lifecycle = Lifecycle()
    links = Associations(lifecycle)
    outcomes: list[object] = []
    with Store(path) as store, store.read() as reading:
        for batch in reading.changes(0):
            lifecycle.apply(batch)
        for fill in (
            lambda: links.set_all(link for batch in reading.links(0) for link in batch),
            lambda: links.read(reading.numbered_links(0)),
        ):
            try:
                fill()
                outcomes.append(links_of(links.graph))
            except StoreCorrupt as error:
                outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_links_whose_ends_have_no_row_are_left_out(path: Path) -> None:
    with Store(path) as store:
        graph, _ = graph_of(store, 0)
        lifecycle = Lifecycle()
        with store.read() as reading:
            for batch in reading.changes(0):
                lifecycle.apply(batch[: COUNT // 2])
            (links,) = reading.numbered_links(0)
    half = Associations(lifecycle)
    half.read([links])
    wanted = [link for link in links_of(graph) if max(link[:2]) < COUNT // 2]
    assert links_of(half.graph) == wanted
    assert wanted
    lifecycle.erased_rows.add(wanted[0][0])
    half.read([links])
    assert links_of(half.graph) == [link for link in wanted if wanted[0][0] not in link[:2]]


def test_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"links: expected columns of 2 values, got one of 1"):
        _core.StoredLinks(
            first=[1, 2],
            second=[2],
            weight=[0.5, 0.5],
            kind=[0, 0],
            created_seconds=[0.0, 0.0],
            last_seconds=[None, 1.0],
        )
