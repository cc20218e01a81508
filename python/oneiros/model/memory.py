"""A memory: the record that everything else finds, ranks, strengthens and forgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from oneiros.model.calls import nearest
from oneiros.model.fields import ENUMS, FIELDS, LAYER_BY_DEPTH, PRIORITY_BY_KIND, PRIORITY_OTHERWISE
from oneiros.model.ids import new_ulid
from oneiros.model.validation import LAST_MOMENT, LAST_NUMBER, wrong
from oneiros.runtime.dataclasses import MISSING, NamedTuple, dataclass, field, fields

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "BLANKS",
    "ENUMS",
    "FIELDS",
    "Memory",
    "Undecoded",
    "checked_columns",
    "checked_values",
    "hold_embedding",
    "set_fields",
    "validate_changes",
]

_CHECKS = {name: (entry.check, entry.nullable) for name, entry in FIELDS.items()}
_ONLY_CHECKS = {name: entry.check for name, entry in FIELDS.items()}
_TIMES = tuple(name for name, entry in FIELDS.items() if entry.kind == "time")
_SHOWN_ID = 40  # characters
_SHOWN_TEXT = 60
_FIXED = ("id", "learned_at")
_COMPARABLE = tuple(name for name in FIELDS if name != "embedding")


class Undecoded:
    """An embedding whose bytes are known to be sound, and are not a vector yet: that takes NumPy."""

    __slots__ = ("decode",)

    def __init__(self, decode: Callable[[], npt.NDArray[np.float32]]) -> None:
        self.decode = decode


class _WithUndecoded:
    """What a memory may hold in place of its embedding."""

    __slots__ = ("_undecoded",)

    if not TYPE_CHECKING:  # a checker would take every name for an attribute

        def __getattr__(self, name: str) -> object:
            """Return the embedding, which is decoded when it is first read. Of set fields nobody asks."""
            if name != "embedding":
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg, name=name, obj=self)
            vector = self._undecoded.decode()
            object.__setattr__(self, "embedding", vector)
            return vector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Memory(_WithUndecoded):
    """One memory with all its fields; docs/systems/fields.md gives their ranges.

    Times are seconds since the Unix epoch, UTC; ``ttl`` is in seconds. What comes out of the store
    is complete and valid. A memory made by hand needs only ``text``: what is still at its "given
    at add" mark (``id`` "", a NaN time, priority 0, layer "", spread 0) is filled in, and every
    field checked, by :meth:`from_record`, which every ``add`` goes through.

    Two memories are equal when all their fields are, embeddings bit for bit. ``repr()`` is one line
    with the first words of the text; :meth:`to_record` has every field.
    """

    id: str = ""
    text: str
    title: str = ""
    embedding: npt.NDArray[np.float32] | None = None
    kind: str = "note"
    category: str = "semantic"
    topic: str | None = None
    project: str | None = None
    session: str | None = None
    sessions: frozenset[str] = frozenset()
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, object] = field(default_factory=dict)
    created_at: float = math.nan
    updated_at: float = math.nan
    last_accessed_at: float | None = None
    learned_at: float = math.nan
    event_at: float | None = None
    valid_from: float | None = None
    valid_until: float | None = None
    ttl: float | None = None
    importance: float = 0.5
    certainty: float = 1.0
    impact: float = 0.5
    priority: int = 0
    veracity: str = "unknown"
    pinned: bool = False
    feedback: int = 0
    access_count: int = 0
    revision_count: int = 0
    duplicate_count: int = 0
    session_spread: int = 0
    strength: float = 1.0
    depth: int = 2
    stability: float = 1.0
    consolidation_quality: float = 0.0
    importance_tag: str = "none"
    status: str = "staged"
    core: bool = False
    canonical_layer: str = ""
    at_floor_since: float | None = None
    cold_since: float | None = None
    tier: str = "hot"
    superseded_by: str | None = None
    deleted_at: float | None = None

    @staticmethod
    def from_record(record: Mapping[str, object] | Memory, *, now: float) -> Memory:
        """Check a record and fill in what it leaves out.

        None in a record means "not given". Times may be seconds, an aware ``datetime`` or an ISO
        8601 string with an offset. An embedding is normalised to length 1 (a zero vector becomes
        None). Left out, ``id`` becomes a new ULID, ``created_at`` and ``learned_at`` are ``now``,
        ``updated_at`` is ``created_at``, ``priority`` follows the kind (docs/systems/omega.md O13),
        ``canonical_layer`` the depth, ``sessions`` holds the ``session``, ``session_spread`` is
        their number, at least 1.

        Args:
            record: field names to values, or a memory (all its fields are checked again).
            now: seconds since the Unix epoch, for the id and the times left out.

        Raises:
            TypeError: the record is no mapping, or a value has the wrong type.
            ValueError: an unknown field, no text, or a value outside its range.
            TextEncodingError: a string holds a lone surrogate.
        """
        return Memory(**checked_values(record, now=now))

    def to_record(self, *, iso: bool = False) -> dict[str, object]:
        """Return the memory as a dict that ``json.dumps`` takes, every field in it.

        ``Memory.from_record(memory.to_record(), now=...)`` is the same memory.

        Args:
            iso: give times as ISO 8601 in UTC, for people; that rounds them to microseconds.
                Times past the year 5138, which would be refused as numbers, always come so.
        """
        record = {name: getattr(self, name) for name in FIELDS}
        if self.embedding is not None:
            record["embedding"] = self.embedding.tolist()
        record["sessions"] = sorted(self.sessions)
        record["tags"] = list(self.tags)
        for name in _TIMES:
            seconds = record[name]
            if seconds is not None and (iso or seconds > LAST_NUMBER):
                record[name] = _iso(seconds)
        return record

    def __repr__(self) -> str:
        from oneiros.display.escaping import shortened  # noqa: PLC0415 - for those who look

        id, kind = shortened(self.id, _SHOWN_ID), shortened(self.kind, _SHOWN_ID)
        state = "" if self.deleted_at is None else ", deleted"
        return f"<Memory {id!r} ({kind}{state}): {shortened(self.text, _SHOWN_TEXT)!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        same = all(getattr(self, name) == getattr(other, name) for name in _COMPARABLE)
        return same and _bits(self.embedding) == _bits(other.embedding)

    def __hash__(self) -> int:
        return hash((self.id, self.text))


def set_fields(memory: Memory, values: Mapping[str, object]) -> None:
    """Set fields of a memory that was just read, before anyone else has it.

    Args:
        memory: changed in place, which is many times as fast as ``dataclasses.replace``.
        values: by field, as a memory holds them; they are not checked.
    """
    for name, value in values.items():
        object.__setattr__(memory, name, value)


def hold_embedding(memory: Memory, embedding: npt.NDArray[np.float32] | Undecoded) -> None:
    """Give a memory that was just read its embedding."""
    if isinstance(embedding, Undecoded):
        object.__setattr__(memory, "_undecoded", embedding)
        object.__delattr__(memory, "embedding")
    else:
        object.__setattr__(memory, "embedding", embedding)


class ColumnValues(NamedTuple):
    """Values of many records, as a memory holds them."""

    varying: dict[str, list[Any]]
    """By field, one value per record."""
    shared: dict[str, Any]
    """By field, the value of all records."""


def checked_values(record: object, *, now: float) -> dict[str, Any]:
    """Return what :meth:`Memory.from_record` makes a memory of, without making one.

    The fields given and those that depend on others; what is left out has its default.

    Raises:
        As :meth:`Memory.from_record`.
    """
    if isinstance(record, Memory):
        record = _given(record)
    elif type(record) is not dict and not isinstance(record, Mapping):
        raise TypeError(wrong("record", "a mapping of fields or a Memory", record))
    values: dict[str, Any] = {}
    checks = _ONLY_CHECKS
    for name, value in record.items():
        check = checks.get(name)
        if check is None:
            raise ValueError(_unknown(name))
        if value is not None:
            values[name] = check(value)
    if "text" not in values:
        msg = "text: required, and missing from the record"
        raise ValueError(msg)
    _fill_in(values, now)
    return values


def checked_columns(records: Sequence[dict[str, Any]], *, now: float) -> ColumnValues | None:
    """Return what :func:`checked_values` returns for many records, by field.

    Args:
        records: at least one.
        now: as there.

    Returns:
        What was given, and what depends on other fields. None where the records have to be checked
        one by one: one of them is refused or has an embedding, ``sessions`` or ``session_spread``.
    """
    count = len(records)
    names = set[str]().union(*records)
    if not names <= _COLUMN_FIELDS:
        return None
    columns: dict[str, list[Any]] = {}
    try:
        for name in names:
            given = [record.get(name) for record in records]
            missing = given.count(None)
            if missing == count:
                continue
            check = _ONLY_CHECKS[name]
            if not missing:
                columns[name] = list(map(check, given))
            elif name in _DEFAULTS or name in _FILLED_IN:
                default = _DEFAULTS.get(name)
                columns[name] = [default if value is None else check(value) for value in given]
            else:
                return None
    except (TypeError, ValueError):
        return None
    if "text" not in columns:
        return None
    return ColumnValues(columns, _fill_in_columns(columns, count, now))


def validate_changes(changes: Mapping[str, object]) -> dict[str, object]:
    """Check the values of an update.

    Args:
        changes: field names to new values; None empties a field that may be empty.

    Returns:
        The values as a memory holds them.

    Raises:
        TypeError: a value has the wrong type.
        ValueError: an unknown field, ``id`` or ``learned_at`` (which never change), a value outside
            its range, or None for a field that always has a value.
        TextEncodingError: a string holds a lone surrogate.
    """
    values: dict[str, object] = {}
    for name, value in changes.items():
        if name not in _CHECKS:
            raise ValueError(_unknown(name))
        if name in _FIXED:
            msg = f"{name}: cannot be changed, got {value!r}"
            raise ValueError(msg)
        check, nullable = _CHECKS[name]
        if value is None and not nullable:
            msg = f"{name}: always has a value, got None"
            raise ValueError(msg)
        values[name] = None if value is None else check(value)
    return values


def _bits(embedding: npt.NDArray[np.float32] | None) -> bytes | None:
    return None if embedding is None else embedding.tobytes()


def _fill_in(values: dict[str, Any], now: float) -> None:
    """Give what depends on `now` or on other fields."""
    if "id" not in values:
        values["id"] = new_ulid(now)
    if "created_at" not in values:
        values["created_at"] = _moment("created_at", now)
    if "updated_at" not in values:
        values["updated_at"] = values["created_at"]
    if "learned_at" not in values:
        values["learned_at"] = _moment("learned_at", now)
    if "priority" not in values:
        values["priority"] = PRIORITY_BY_KIND.get(values.get("kind", ""), PRIORITY_OTHERWISE)
    if "canonical_layer" not in values:
        values["canonical_layer"] = LAYER_BY_DEPTH[values.get("depth", 2)]
    if "sessions" not in values and "session" in values:
        values["sessions"] = frozenset((values["session"],))
    spread = len(values["sessions"]) if "sessions" in values else 0
    if values.setdefault("session_spread", spread or 1) < spread:
        rule = f"at least the number of sessions, {spread}"
        raise ValueError(wrong("session_spread", rule, values["session_spread"]))


def _fill_in_columns(columns: dict[str, list[Any]], count: int, now: float) -> dict[str, Any]:
    """Give what depends on `now` or on other fields, as :func:`_fill_in` does for one record.

    Returns:
        The fields of which all records have the same value.
    """
    shared: dict[str, Any] = {}

    def fill(name: str, values: list[Any] | Any) -> None:
        given = columns.get(name)
        is_column = type(values) is list
        if given is None:
            if is_column:
                columns[name] = values
            else:
                shared[name] = values
        elif None in given:
            others = values if is_column else repeat(values)
            pairs = zip(given, others, strict=False)
            columns[name] = [other if value is None else value for value, other in pairs]

    if "id" not in columns or None in columns["id"]:
        fill("id", [new_ulid(now) for _ in range(count)])
    fill("created_at", _moment("created_at", now))
    fill("updated_at", columns.get("created_at", shared.get("created_at")))
    fill("learned_at", _moment("learned_at", now))
    kinds, depths, sessions = map(columns.get, ("kind", "depth", "session"))
    priorities = PRIORITY_BY_KIND
    fill(
        "priority",
        [priorities.get(kind, PRIORITY_OTHERWISE) for kind in kinds]
        if kinds
        else priorities.get("", PRIORITY_OTHERWISE),
    )
    fill(
        "canonical_layer",
        list(map(LAYER_BY_DEPTH.__getitem__, depths)) if depths else LAYER_BY_DEPTH[2],
    )
    if sessions is not None:
        sets = {name: frozenset(() if name is None else (name,)) for name in set(sessions)}
        columns["sessions"] = list(map(sets.__getitem__, sessions))
    shared["session_spread"] = 1
    return shared


def _moment(name: str, now: float) -> float:
    # A clock was checked when it was given: a late year that it shows is no slip.
    checked: float = now if LAST_NUMBER < now <= LAST_MOMENT else _ONLY_CHECKS[name](now)
    return checked


BLANKS = {"id": "", "priority": 0, "canonical_layer": "", "session_spread": 0}


# For fields given in some records of a batch only: what the others have, or that it is filled in.
_DEFAULTS: dict[str, Any] = {
    entry.name: entry.default for entry in fields(Memory) if entry.default is not MISSING
}
_FILLED_IN = frozenset(
    ("id", "created_at", "updated_at", "learned_at", "priority", "canonical_layer")
)
for _name in _FILLED_IN:
    del _DEFAULTS[_name]
_DEFAULTS |= {"tags": [], "metadata": {}}
_COLUMN_FIELDS = FIELDS.keys() - {"embedding", "sessions", "session_spread"}


def _given(memory: Memory) -> dict[str, object]:
    """Return the fields of a memory but those still to be filled in."""
    values = {name: getattr(memory, name) for name in FIELDS}
    if not memory.session_spread and not memory.sessions:
        del values["sessions"]
    for name, blank in BLANKS.items():
        if values[name] == blank:
            del values[name]
    for name in _TIMES:
        seconds = values[name]
        if seconds is None or math.isnan(seconds):  # not given
            del values[name]
        elif seconds > LAST_NUMBER:
            values[name] = _iso(seconds)
    return values


def _unknown(name: object) -> str:
    near = nearest(str(name), FIELDS)
    hint = f" (did you mean {near!r}?)" if near else "; free values go into metadata"
    return f"{name}: no field of a memory has this name{hint}"


def _iso(seconds: float) -> str | float:
    from datetime import UTC, datetime  # noqa: PLC0415 - takes a while to load

    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, ValueError):  # before the year 1: a number says it
        return seconds
