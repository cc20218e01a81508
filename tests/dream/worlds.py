"""Memories as dicts, the source of a draft over them, and what a cycle leaves of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.dream.draft import Draft
from oneiros.model.fields import COLUMN_DEFAULTS, ENUMS, FIELDS, LAYER_BY_DEPTH
from tests.oracles import records, texts
from tests.oracles.associations import PlainGraph, PlainLink
from tests.oracles.records import DEFAULTS, part_of

__all__ = ["DAY", "HOUR", "NOW", "Fields", "World", "after", "changes_of", "filled"]

NOW = 1_750_000_000.0
DAY = 86_400.0
HOUR = 3_600.0
TAU_DAYS = 90.0

Fields = dict[str, Any]
Rows = npt.NDArray[np.uint32]

_DTYPES = {name: field.column for name, field in FIELDS.items() if field.column is not None}
_RECORD = (
    *("title", "topic", "project", "session", "user", "agent", "namespace", "source"),
    *("tags", "labels", "metadata", "sessions", "superseded_by", "trust"),
)
_EMPTY: Fields = {
    "text": "", "title": "", "topic": None, "project": None, "session": None, "embedding": None,
    "user": None, "agent": None, "namespace": None, "source": None,
    "deleted_at": None, "last_accessed_at": None, "learned_at": None, "at_floor_since": None,
    "cold_since": None, "erased": False, "replayed_at": None,
}  # fmt: skip


def filled(given: Mapping[str, Any], row: int) -> Fields:
    """Return a memory with every field, those left out by docs/systems/fields.md.

    Beside a memory's own fields there are ``erased`` (nothing of it is left) and ``replayed_at``
    (when a cycle last replayed it, since it last changed).
    """
    created = given.get("created_at", NOW)
    defaults = {
        **_EMPTY,
        **DEFAULTS,
        "id": f"m{row}",
        "created_at": created,
        "updated_at": created,
        "tags": [],
        "labels": [],
        "derived_from": (),
        "metadata": {},
        "sessions": set(),
        "canonical_layer": LAYER_BY_DEPTH[given.get("depth", 2)],
        "priority": records.value(given, "priority"),
    }
    return defaults | dict(given)


class World:
    """Memories by row, as a cycle's source (:class:`oneiros.dream.draft.Source`).

    Args:
        memories: what differs from the defaults of each.
        links: of them, by rows.
    """

    def __init__(
        self, memories: Sequence[Mapping[str, Any]], links: PlainGraph | None = None
    ) -> None:
        self.memories = [filled(given, row) for row, given in enumerate(memories)]
        self.links = links or PlainGraph()
        self.kinds = ("", *dict.fromkeys(memory["kind"] for memory in self.memories))
        self.ids = ["" if memory["erased"] else memory["id"] for memory in self.memories]
        self._columns = {name: self._made(name) for name in COLUMN_DEFAULTS}

    def __len__(self) -> int:
        return len(self.memories)

    def _made(self, name: str) -> npt.NDArray[Any]:
        def number(memory: Fields) -> float:
            if name == "superseded":
                return float(memory["superseded_by"] is not None)
            value = memory.get(name, COLUMN_DEFAULTS[name])
            if name == "deleted_at" and memory["erased"]:
                return math.nan
            if name == "kind":
                return self.kinds.index(value)
            if name in ENUMS:
                return ENUMS[name].index(value)
            return math.nan if value is None else value

        dtype = {"superseded": "uint8", "asks": "float32", "names_time": "uint8"}.get(
            name
        ) or _DTYPES[name]
        made = np.array([number(memory) for memory in self.memories], dtype)
        made.flags.writeable = False
        return made

    def row_of(self, id: str) -> int | None:
        return self.ids.index(id) if id in self.ids else None

    def column(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name]

    def is_live(self, row: int) -> bool:
        memory = self.memories[row]
        is_there = memory["deleted_at"] is None and not memory["erased"]
        return is_there and memory["status"] != "quarantined"

    def live_rows(self) -> Rows:
        return np.array([row for row in range(len(self)) if self.is_live(row)], np.uint32)

    def texts(self, rows: Rows) -> list[str]:
        return [self.memories[row]["text"] for row in rows]

    def records(self, rows: Rows) -> list[Mapping[str, object]]:
        return [{name: self.memories[row][name] for name in _RECORD} for row in rows]

    def grouped(self, field: str) -> npt.NDArray[np.int64]:
        words = [memory[field] for memory in self.memories]
        codes = {word: code for code, word in enumerate(dict.fromkeys(words)) if word is not None}
        return np.array([codes.get(word, -1) for word in words], np.int64)

    def parted(self) -> npt.NDArray[np.int64]:
        parts = [part_of(memory) for memory in self.memories]
        codes = {part: code for code, part in enumerate(dict.fromkeys(parts))}
        return np.array([codes[part] for part in parts], np.int64)

    def vectors(self, rows: Rows) -> npt.NDArray[np.float32]:
        held = [self.memories[row]["embedding"] for row in range(len(self))]
        width = max((len(vector) for vector in held if vector is not None), default=0)
        made = np.zeros((len(rows), width), np.float32)
        for place, row in enumerate(rows):
            if held[row] is not None:
                vector = np.asarray(held[row], np.float64)
                made[place] = vector / np.linalg.norm(vector)
        return made

    def nearest(
        self, rows: Rows, count: int, among: npt.NDArray[np.bool_]
    ) -> list[tuple[Rows, npt.NDArray[np.float64]]]:
        every = self.vectors(np.arange(len(self), dtype=np.uint32)).astype(np.float64)
        lengths = np.linalg.norm(every, axis=1)
        found = []
        for row in rows:
            cosines = every @ every[row]
            near = [
                (-cosines[other], other)
                for other in range(len(self))
                if among[other] and other != row and lengths[other] > 0 and lengths[row] > 0
            ]
            best = sorted(near)[:count]
            found.append(
                (
                    np.array([other for _, other in best], np.uint32),
                    np.array([-negated for negated, _ in best], np.float64),
                )
            )
        return found

    def overlaps(self, rows: Rows, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        words = [set(texts.words(memory["text"])) for memory in self.memories]

        def jaccard(one: int, other: int) -> float:
            shared = words[one] & words[other]
            return len(shared) / len(words[one] | words[other]) if shared else 0.0

        def largest(row: int) -> float:
            topic = self.memories[row]["topic"]
            return max(
                (
                    jaccard(row, other)
                    for other in range(len(self))
                    if among[other] and other != row and self.memories[other]["topic"] == topic
                ),
                default=0.0,
            )

        return np.array([largest(row) for row in rows], np.float64)

    def repeated(self) -> list[Rows]:
        groups: dict[tuple[str | None, ...], list[int]] = {}
        for row in self.live_rows().tolist():
            memory = self.memories[row]
            said = memory["topic"], memory.get("title"), memory["text"], part_of(memory)
            groups.setdefault(said, []).append(row)
        return [np.array(group, np.uint32) for group in groups.values() if len(group) > 1]

    def linked(self, row: int) -> Rows:
        return np.array(sorted(self.links.neighbours(row)), np.uint32)

    def replayed_at(self, rows: Rows) -> npt.NDArray[np.float64]:
        times = [self.memories[row]["replayed_at"] for row in rows]
        return np.array([math.nan if time is None else time for time in times], np.float64)


def after(world: World, draft: Draft) -> World:
    """Return the world once all that was drafted is done."""
    memories = [dict(memory) for memory in world.memories]
    for change in draft.columns:
        for row, value in zip(change.rows.tolist(), change.after.tolist(), strict=True):
            memories[row][change.field] = _as_held(change.field, value)
    for row in draft.candidates.tolist():
        memories[row]["replayed_at"] = draft.now
    memories += [
        filled({"created_at": draft.now, **added.record}, len(world) + place)
        for place, added in enumerate(draft.added)
    ]

    def placed(row: int) -> int:
        return row if row >= 0 else len(world) - 1 - row

    for content in draft.contents:
        value = content.after
        if content.field == "superseded_by":
            assert isinstance(value, int)
            value = memories[placed(value)]["id"]
        memories[placed(content.row)][content.field] = value
    graph = PlainGraph(dict(world.links.links))
    for link in draft.links:
        one, other = placed(link.one), placed(link.other)
        if link.weight is None:
            graph.strengthen(one, other, draft.now, link.gain, TAU_DAYS)
        elif link.weight == 0:
            graph.remove(one, other)
        else:
            graph.set(one, other, PlainLink(link.weight, 0, draft.now, math.nan))
    return World(memories, graph)


def _as_held(field: str, value: float) -> Any:
    if field in ENUMS:
        return ENUMS[field][int(value)]
    kind = FIELDS[field].kind
    if kind == "bool":
        return bool(value)
    return None if kind == "time" and math.isnan(value) else value


def changes_of(draft: Draft) -> dict[tuple[int, str], tuple[Any, Any]]:
    """Return what each row's columns were before the cycle and are after it, where they differ.

    Of a column that several phases changed, what the first found and what the last left.
    """
    found: dict[tuple[int, str], tuple[Any, Any]] = {}
    for change in draft.columns:
        befores, afters = change.before.tolist(), change.after.tolist()
        for row, before, value in zip(change.rows.tolist(), befores, afters, strict=True):
            first = found.get((row, change.field), (_as_held(change.field, before), None))[0]
            found[row, change.field] = (first, _as_held(change.field, value))
    return {place: pair for place, pair in found.items() if pair[0] != pair[1]}
