"""Duplicates of a large batch are counted as those of memories that come one by one."""

from __future__ import annotations

import random

import pytest

from oneiros.model.memory import Memory
from oneiros.store import Store
from tests.store.samples import memory


def counts(store: Store) -> dict[str, int]:
    with store.read() as reading:
        return {row.id: row.duplicate_count for rows in reading.changes(0) for row in rows}


@pytest.mark.parametrize("texts", [3, 40, 100_000])
@pytest.mark.parametrize("before", [0, 150])
@pytest.mark.parametrize("within", [(), ("project",)])
def test_a_large_batch_counts_as_one_by_one(
    texts: int, before: int, within: tuple[str, ...]
) -> None:
    rng = random.Random(texts)

    def made(start: int, count: int) -> list[Memory]:
        return [
            memory(
                f"m{start + n}",
                text=f"text {rng.randrange(texts)}",
                topic=rng.choice([None, "a"]),
                project=rng.choice([None, "p"]),
                user=rng.choice([None, None, "ada", "bob"]),
                namespace=rng.choice([None, None, None, "acme", "acme/eu"]),
                status=rng.choice(["staged", "staged", "quarantined"]),
                deleted_at=rng.choice([None, None, 1.0]),
            )
            for n in range(count)
        ]

    older, added = made(0, before), made(before, 200)
    with Store(":memory:") as at_once, Store(":memory:") as singly:
        for store in (at_once, singly):
            if older:
                with store.write() as transaction:
                    transaction.insert_many(older)
        with at_once.write() as transaction:
            repeating = transaction.count_duplicates(transaction.insert_many(added), within=within)
        with singly.write() as transaction:
            assert repeating == sum(
                transaction.count_duplicates(transaction.insert_many([one]), within=within)
                for one in added
            )
        assert counts(at_once) == counts(singly)
        assert texts > 1000 or repeating > 0


def test_the_duplicates_are_those_of_a_plain_scan() -> None:
    rng = random.Random(3)
    memories = [
        memory(
            f"m{n}",
            text=rng.choice(["tea", "milk"]),
            topic=rng.choice([None, "a"]),
            user=rng.choice([None, "ada", "bob"]),
            agent=rng.choice([None, "writer"]),
            namespace=rng.choice([None, "acme", "acme/eu"]),
            status=rng.choice(["staged", "archived", "quarantined"]),
            deleted_at=rng.choice([None, None, 1.0]),
        )
        for n in range(150)
    ]

    def key(one: Memory) -> tuple[object, ...]:
        return one.text, one.topic, one.user, one.agent, one.namespace

    expected = {one.id: 0 for one in memories}
    for place, one in enumerate(memories):
        if one.status == "quarantined":
            continue
        for older in memories[:place]:
            is_there = older.deleted_at is None and older.status != "quarantined"
            if is_there and key(older) == key(one):
                expected[older.id] += 1
                break
    with Store(":memory:") as store:
        with store.write() as transaction:
            transaction.count_duplicates(transaction.insert_many(memories))
        assert counts(store) == expected
    assert max(expected.values()) > 2
