"""The log after a crash: whatever of it is whole comes back, nothing else."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from oneiros.store import Store
from tests.store.samples import add, memory, rows

COMMITS = 12


@pytest.fixture
def crashed(tmp_path: Path) -> tuple[bytes, bytes]:
    """Return the file and the log of a store whose process died after some commits."""
    path = tmp_path / "origin" / "mind.db"
    path.parent.mkdir()
    with Store(path) as store:
        for number in range(COMMITS):
            add(store, memory(f"m{number}a"), memory(f"m{number}b", text="long " * 900))
        return path.read_bytes(), (path.parent / "mind.db-wal").read_bytes()


def recovered(folder: Path, main: bytes, log: bytes) -> int:
    """Return how many commits come back; fail where something else does."""
    folder.mkdir()
    (folder / "mind.db").write_bytes(main)
    (folder / "mind.db-wal").write_bytes(log)
    with Store(folder / "mind.db", durability="normal") as store:
        count = store.revision()
        wanted = [f"m{number}{part}" for number in range(count) for part in "ab"]
        assert [row.id for row in rows(store)] == wanted
        assert store.quick_check() == []
        add(store, memory("goes on"))
    return count


def test_a_log_cut_at_any_place_gives_a_prefix(
    tmp_path: Path, crashed: tuple[bytes, bytes]
) -> None:
    main, log = crashed
    step = 1 if os.environ.get("ONEIROS_LONG") else 997
    counts = [
        recovered(tmp_path / str(size), main, log[:size])
        for size in [*range(0, len(log), step), len(log)]
    ]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, COMMITS)


def test_a_damaged_log_gives_a_prefix(tmp_path: Path, crashed: tuple[bytes, bytes]) -> None:
    main, log = crashed
    rng = random.Random(3)
    counts = set()
    for number in range(5000 if os.environ.get("ONEIROS_LONG") else 150):
        damaged = bytearray(log)
        damaged[rng.randrange(len(log))] ^= 1 << rng.randrange(8)
        counts.add(recovered(tmp_path / f"flip{number}", main, bytes(damaged)))
    assert len(counts) > COMMITS // 2
