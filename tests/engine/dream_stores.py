"""Stores to dream on, and what lies in them, byte for byte."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

import oneiros
from oneiros import _core
from oneiros.model.fields import FIELDS
from oneiros.scoring.profile import Profile
from tests.dream.worlds import DAY, NOW, World
from tests.oracles.ieee import as_float32

__all__ = [
    "PROFILES",
    "as_held",
    "called",
    "columns",
    "filled_mind",
    "links",
    "memories",
    "memories_and_links",
    "pages",
    "random_mind",
    "tables",
]

PROFILES = ("oneiros", "reverie", "cognitive", "omega", "mnemosyne", "ciar")
_UNSAID: dict[str, Any] = {"revision": None, "checksum": None}  # which differ from commit to commit
_LEFT_OUT = {"erased", "replayed_at", "deleted_at", "sessions", "metadata"}


def called(profile: Profile | str, **callables: Any) -> dict[str, Any]:
    """Return those arguments of ``dream`` that a phase of the profile calls: others are refused."""
    chosen = oneiros.profiles.get(profile) if isinstance(profile, str) else profile
    phases = {phase.name for phase in chosen.phases}
    return {name: given for name, given in callables.items() if name in phases}


def random_mind(
    path: Path | str, world: World, profile: Profile | str = "oneiros"
) -> oneiros.Engine:
    """Return an engine on a new file that holds a world of :mod:`tests.dream.random_worlds`."""
    mind = oneiros.Engine(path, profile=profile, durability="normal")
    records = list(map(_record, world.memories))
    oldest = min((one["created_at"] for one in records), default=NOW)
    mind.add_many(records, now=oldest)
    for memory in world.memories:
        if memory["erased"]:
            mind.forget(memory["id"])
        elif memory["deleted_at"] is not None:
            mind.delete(memory["id"], now=memory["deleted_at"])
    return mind


def _record(memory: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in memory.items() if name not in _LEFT_OUT and value is not None
    }


def filled_mind(path: Path | str, profile: str = "oneiros", count: int = 60) -> oneiros.Engine:
    """Return an engine on a new file on which every profile's cycle changes much.

    Memories of all ages and strengths, many that say the same, some linked, some protected.
    """
    mind = oneiros.Engine(path, profile=profile)
    mind.add_many([_varied(number) for number in range(count)], now=NOW - 900 * DAY)
    for number in range(0, count - 5, 5):
        mind.link(f"m{number}", f"m{number + 5}", weight=0.04 + number / 200, now=NOW - 300 * DAY)
    return mind


def _varied(number: int) -> dict[str, Any]:
    age = (number * 37 % 900) * DAY
    text = f"the same old story {number % 4}" if number % 5 > 1 else f"a story of its own w{number}"
    return {
        "id": f"m{number}",
        "text": text,
        "kind": ("note", "code_chunk", "file_summary")[number // 2 % 3],
        "topic": "ab"[number % 2],
        "session": f"s{number % 6}",
        "created_at": NOW - age,
        "strength": (0.03125, 0.25, 1.0)[number % 3],
        "stability": (0.125, 1.0, 5.0)[number // 3 % 3],
        "access_count": number % 5,
        "depth": 1 + number % 3,
        "importance": number % 7 / 7,
        "feedback": -(number % 6),
        "embedding": (math.cos(number % 4 + number / 1000), math.sin(number % 4 + number / 1000)),
        "pinned": number % 11 == 0,
        "core": number % 13 == 1,
        "importance_tag": "explicit" if number % 17 == 2 else "none",
    }


def _opened(path: Path | str) -> closing[apsw.Connection]:
    # By the engine's own SQLite: a second copy of the library in one process breaks the first's locks.
    return closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY))


def _rows(connection: apsw.Connection, sql: str) -> list[dict[str, Any]]:
    cursor = connection.execute(sql)
    names: list[str] = []
    found = []
    for row in cursor:
        names = names or [name for name, _ in cursor.getdescription()]
        found.append(dict(zip(names, row, strict=True)))
    return found


def memories(path: Path | str) -> dict[str, dict[str, Any]]:
    """Return every memory's fields by id, as the file holds them, the deleted among them."""
    return memories_and_links(path)[0]


def as_held(name: str, value: Any) -> Any:
    """Return what a column of a field keeps of a value; nothing of revisions."""
    if name in _UNSAID or value is None:
        return None
    is_float32 = name in FIELDS and FIELDS[name].column == "float32"
    return as_float32(value) if is_float32 else value


def links(path: Path | str) -> dict[tuple[int, int], dict[str, Any]]:
    """Return every link's fields by its two ends, as the file holds them."""
    return memories_and_links(path)[1]


def memories_and_links(
    path: Path | str,
) -> tuple[dict[str, dict[str, Any]], dict[tuple[int, int], dict[str, Any]]]:
    """Return what :func:`memories` and :func:`links` do."""
    with _opened(path) as connection:
        rows = _rows(
            connection, "SELECT * FROM memory JOIN lifecycle USING (sequence) ORDER BY sequence"
        )
        pairs = _rows(connection, "SELECT * FROM link WHERE weight > 0")
    held = {row["id"]: row | _UNSAID for row in rows}
    return held, {(row["first"], row["second"]): row | _UNSAID for row in pairs}


def tables(path: Path | str) -> dict[str, list[dict[str, Any]]]:
    """Return every table of a file, whole."""
    with _opened(path) as connection:
        names = _rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {row["name"]: _rows(connection, f'SELECT * FROM "{row["name"]}"') for row in names}


def pages(path: Path | str) -> bytes:
    """Return every page of a file, as it and its log hold them."""
    with _opened(path) as connection:
        return connection.serialize("main")


def columns(mind: oneiros.Engine) -> dict[str, bytes]:
    """Return every column of an engine, as bytes."""
    return dict(_columns(mind))


def _columns(mind: oneiros.Engine) -> Iterator[tuple[str, bytes]]:
    mind._scope.services.sync.settle()
    lifecycle = mind._scope.services.read_model.lifecycle
    for name in _core.Columns.schema():
        yield name, lifecycle.column(name)[: len(lifecycle.ids)].tobytes()
