"""Which memories say the same: by their texts' numbers, and held to the texts."""

from __future__ import annotations

import tracemalloc

import apsw
import pytest

from oneiros.store import Store
from tests.store.samples import NOW, memory


def said(*texts: str, **fields: object) -> Store:
    store = Store(":memory:")
    with store.write() as transaction:
        transaction.insert_many(
            [memory(f"m{number}", text=text, **fields) for number, text in enumerate(texts)]
        )
    return store


def groups(store: Store) -> list[list[int]]:
    with store.read() as reading:
        return sorted(reading.cycles.repeated_texts())


def test_what_is_said_twice_is_found_in_order_of_insertion() -> None:
    with said("a", "b", "a", "c", "b", "a", "") as store:
        assert groups(store) == [[1, 3, 6], [2, 5]]
        with store.write() as transaction:
            transaction.update_columns([("m1", {"deleted_at": NOW}), ("m5", {"topic": "other"})])
        assert groups(store) == [[1, 3]]
        with store.write() as transaction:
            transaction.update("m2", {"title": "another", "updated_at": NOW})
        assert groups(store) == []


def test_texts_of_one_number_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oneiros.store.rows.text_digest", lambda _text: 7)
    with said("a", "b", "a", "c", "b", "a") as store:
        assert groups(store) == [[1, 3, 6], [2, 5]]


def test_long_texts_take_no_room() -> None:
    with said(*["long " * 20_000] * 200, topic="t") as store:  # 20 MB
        before = apsw.memory_used()
        apsw.memory_high_water(reset=True)
        tracemalloc.start()
        try:
            assert groups(store) == [list(range(1, 201))]
            assert tracemalloc.get_traced_memory()[1] < 2**20
        finally:
            tracemalloc.stop()
        assert apsw.memory_high_water() - before < 2**21
