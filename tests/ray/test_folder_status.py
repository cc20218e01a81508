"""The state of a folder of shards, with and without problems. Without Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import oneiros
import oneiros.ray
from oneiros.ray.routing import Layout
from oneiros.ray.shard import layout_file, store_file, write_layout

LAYOUT = Layout(3, "user")


def shards_in(folder: Path, *options: dict[str, Any]) -> None:
    """Make the shards of a folder, each with as many memories as its number plus one."""
    for number, each in enumerate(options):
        with oneiros.Engine(store_file(folder, number), clock=lambda: 1.7e9, **each) as engine:
            engine.add_many(
                [{"id": f"{number}.{n}", "text": f"tea {n}"} for n in range(number + 1)]
            )
        write_layout(layout_file(folder, number), number, LAYOUT)


def test_counts_are_those_of_the_engines(tmp_path: Path) -> None:
    shards_in(tmp_path, *[{"embedder": "hashing"}] * 3)
    with oneiros.Engine(store_file(tmp_path, 2), embedder="hashing") as engine:
        engine.link("2.0", "2.1")
        engine.delete("2.2")
        engine.flush()
        found = oneiros.ray.status(tmp_path)  # while the store is in use
        stats = engine.stats()
    assert (found.shards, found.key, found.memories, found.problems) == (3, "user", 5, ())
    state = found.states[2]
    assert (state.memories, state.deleted, state.links) == (2, 1, 1)
    assert (state.revision, state.embedder) == (stats["revision"], stats["embedder"])
    assert state.file_bytes == stats["file_bytes"] > 0
    assert [each.is_here for each in found.states] == [True] * 3


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    shards_in(tmp_path, {}, {"analyzer": "german"}, {})
    found = oneiros.ray.status(tmp_path)
    assert found.problems == (
        "shard 1: analyzer is 'german', and 'english' in shard 0: no search over both",
    )
    store_file(tmp_path, 2).unlink()
    store_file(tmp_path, 0).write_bytes(b"no store" * 1_000)
    found = oneiros.ray.status(tmp_path)
    assert found.memories == 2
    first, last = found.problems
    assert first.startswith("shard 0: ")
    assert last == "shard 2: missing on this machine; restore it from a generation"
    layout_file(tmp_path, 2).unlink()  # as on a machine that never had it
    found = oneiros.ray.status(tmp_path)
    assert (found.states[2].is_here, found.states[2].problem) == (False, "")


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(FileNotFoundError, match="no folder of shards"):
            oneiros.ray.status(folder)
    write_layout(layout_file(tmp_path, 0), 0, LAYOUT)
    write_layout(layout_file(tmp_path, 1), 1, Layout(2, "project"))
    with pytest.raises(ValueError, match=r"shards of several stores \(2 by project, 3 by user\)"):
        oneiros.ray.status(tmp_path)
    layout_file(tmp_path, 1).write_text("[]")
    with pytest.raises(ValueError, match="not the note of a shard"):
        oneiros.ray.status(tmp_path)
