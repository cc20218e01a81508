"""The class ``Memory``, and the checks of records and updates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from oneiros import _core, display
from oneiros._lazy import copy, np
from oneiros.display.escaping import LONGEST_NAMED, shortened
from oneiros.model.calls import nearest
from oneiros.model.fields import ENUMS, FIELDS, LAYER_BY_DEPTH, PRIORITY_BY_KIND, PRIORITY_OTHERWISE
from oneiros.model.ids import new_ulid
from oneiros.model.validation import LAST_MOMENT, LAST_NUMBER, moment, shown, wrong
from oneiros.runtime.dataclasses import MISSING, dataclass, field, fields, replace

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.clock import Time
    from oneiros.model.validation import Check

__all__ = [
    "BLANKS",
    "ENUMS",
    "FIELDS",
    "Memory",
    "checked_columns",
    "checked_values",
    "iso_time",
    "named_fields",
    "repeatable",
    "validate_changes",
]

_CHECKS = {name: entry.check for name, entry in FIELDS.items()}
_check_now = moment("now")
_TIMES = tuple(name for name, entry in FIELDS.items() if entry.kind == "time")
_SHOWN_ID = 40  # characters
_SHOWN_TEXT = 60
_FIXED = ("id", "learned_at")
_COMPARABLE = tuple(name for name in FIELDS if name != "embedding")
_LIST_NAMES = frozenset(
    name for name, entry in FIELDS.items() if entry.kind in ("words", "word_set", "ids")
)
_LISTS = tuple(name for name in FIELDS if name in _LIST_NAMES)


class _WithUndecoded:
    """The slot of the bytes of an embedding that is decoded on first use, as that needs NumPy.

    ``store.rows`` sets it, and leaves ``embedding`` unset.
    """

    __slots__ = ("_undecoded",)

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> object:
            """Decode the embedding on first use. Python calls this only for unset fields."""
            if name != "embedding":
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg, name=name, obj=self)
            blob = self._undecoded
            vector = None if blob is None else _core.decode_embedding(blob=blob)
            object.__setattr__(self, "embedding", vector)
            return vector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Memory(_WithUndecoded):
    """A memory with all its fields; docs/systems/fields.md lists their ranges.

    Times are seconds since the Unix epoch, UTC; ``ttl`` is in seconds. Memories from the store are
    complete and valid. A new one needs only ``text``. Adding it checks all fields and fills in
    those with a blank value (``id`` "", NaN times, priority 0, layer "", spread 0), as
    :meth:`from_record` does.

    Two memories are equal if all their fields are, embeddings bit for bit. ``repr()`` is one line
    with the beginning of the text; :meth:`to_record` has every field.

    >>> from oneiros import Memory
    >>> Memory(id="m1", text="Ada likes coffee", tags=["drink"])
    <Memory 'm1' (note): 'Ada likes coffee'>
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
    user: str | None = None
    agent: str | None = None
    namespace: str | None = None
    sessions: frozenset[str] = frozenset()
    tags: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
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
    source: str | None = None
    source_ref: str | None = None
    derived_from: tuple[str, ...] = ()
    trust: float = 1.0
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
    def from_record(record: Mapping[str, object] | Memory, *, now: Time) -> Memory:
        """Check a record, fill in missing fields and return it as a memory.

        None in a record means "not given". Times may be seconds, an aware ``datetime`` or an ISO
        8601 string with an offset. An embedding is normalised to length 1 (a zero vector becomes
        None). Defaults of missing fields: a new ULID for ``id``, ``now`` for ``created_at`` and
        ``learned_at``, ``created_at`` for ``updated_at``, the ``session`` for ``sessions`` and
        their number, at least 1, for ``session_spread``; ``priority`` depends on the kind
        (docs/systems/omega.md O13), ``canonical_layer`` on the depth.

        Args:
            record: field names to values, or a memory (all its fields are checked again).
            now: the current time, for missing ids and times, in one of the forms of times.

        Raises:
            TypeError: the record is no mapping, or a value has the wrong type.
            ValueError: an unknown field, no text, or a value outside its range.
            TextEncodingError: a string contains a lone surrogate.

        >>> from oneiros import Memory
        >>> memory = Memory.from_record({"text": "Ada likes coffee", "session": "s1"}, now=100.0)
        >>> memory.created_at, memory.session_spread
        (100.0, 1)
        """
        return Memory(**checked_values(record, now=_moment(_check_now, now)))

    def to_record(self, *, iso: bool = False) -> dict[str, object]:
        """Return all fields as a dict of its own, which ``json.dumps`` accepts.

        ``Memory.from_record(memory.to_record(), now=...)`` equals the memory. In a new memory, the
        blank values that adding it fills in are None.

        Args:
            iso: return times as ISO 8601 in UTC, rounded to microseconds. Times after the year
                5138, which are refused as numbers, are always returned so.

        >>> from oneiros import Memory
        >>> Memory.from_record({"text": "tea"}, now=0.0).to_record(iso=True)["created_at"]
        '1970-01-01T00:00:00+00:00'
        """
        record = {name: getattr(self, name) for name in FIELDS}
        if self.embedding is not None:
            record["embedding"] = np.asarray(self.embedding).tolist()
        record["sessions"] = sorted(self.sessions) if self.session_spread or self.sessions else None
        record["tags"] = list(self.tags)
        record["labels"] = list(self.labels)
        record["derived_from"] = list(self.derived_from)
        record["metadata"] = copy.deepcopy(self.metadata)
        for name, blank in BLANKS.items():
            if record[name] == blank:
                record[name] = None
        for name in _TIMES:
            seconds = record[name]
            if seconds is None or seconds != seconds:  # noqa: PLR0124 - NaN
                record[name] = None
            elif isinstance(seconds, int | float) and (iso or seconds > LAST_NUMBER):
                record[name] = iso_time(seconds)
        return record

    def __repr__(self) -> str:

        # One made by hand may have what no check has seen.
        id, kind = shortened(str(self.id), _SHOWN_ID), shortened(str(self.kind), _SHOWN_ID)
        state = "" if self.deleted_at is None else ", deleted"
        return f"<Memory {id!r} ({kind}{state}): {shortened(str(self.text), _SHOWN_TEXT)!r}>"

    def _repr_html_(self) -> str:
        return display.notebook.memory_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        same = all(_is_same(getattr(self, name), getattr(other, name)) for name in _COMPARABLE)
        return same and _bits(self.embedding) == _bits(other.embedding)

    def __hash__(self) -> int:
        return hash((self.id, self.text))


def repeatable(record: Any) -> Any:
    """Return a record that can be checked more than once: iterators become lists.

    Args:
        record: anything; only mappings and memories are looked into.
    """
    if isinstance(record, Memory):
        lists: dict[str, Any] = {
            name: list(value)
            for name in _LISTS
            if hasattr(value := getattr(record, name), "__next__")
        }
        return replace(record, **lists) if lists else record
    if type(record) is dict:
        if _LIST_NAMES.isdisjoint(record):
            return record
    elif not isinstance(record, Mapping):
        return record
    given = [name for name in _LISTS if hasattr(record.get(name), "__next__")]
    return {**record, **{name: list(record[name]) for name in given}} if given else record


def checked_values(record: object, *, now: float) -> dict[str, Any]:
    """Check a record as :meth:`Memory.from_record` does, and return its values as a dict.

    The dict has the fields given and those that depend on others. Any other field has its default.

    Raises:
        TypeError, ValueError, TextEncodingError: as :meth:`Memory.from_record`.
    """
    if isinstance(record, Memory):
        record = named_fields(record)
    elif type(record) is not dict and not isinstance(record, Mapping):
        raise TypeError(wrong("record", "a mapping of fields or a Memory", record))
    values: dict[str, Any] = {}
    checks = _CHECKS
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


def checked_columns(
    records: Sequence[dict[str, Any]], *, now: float, without: frozenset[str] = frozenset()
) -> tuple[dict[str, list[Any]], dict[str, Any]] | None:
    """Check many records by column, with the results of :func:`checked_values`.

    Args:
        records: at least one.
        now: seconds since the Unix epoch.
        without: fields to leave out.

    Returns:
        The fields given and those that depend on others: a dict of columns, one value per record,
        and a dict of the values that all records share. None if the records have to be checked one
        by one, because one is invalid or has an embedding, ``sessions`` or ``session_spread``.
    """
    count = len(records)
    names = set[str]().union(*records) - without
    if not names <= _COLUMN_FIELDS:
        return None
    columns: dict[str, list[Any]] = {}
    try:
        for name in names:
            given = [record.get(name) for record in records]
            missing = given.count(None)
            if missing == count:
                continue
            check = _CHECKS[name]
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
    return columns, _fill_in_columns(columns, count, now)


def validate_changes(changes: Mapping[str, object]) -> dict[str, object]:
    """Check the values of an update.

    Args:
        changes: field names to new values; None clears a nullable field.

    Returns:
        The values as a memory stores them.

    Raises:
        TypeError: a value has the wrong type.
        ValueError: an unknown field, ``id`` or ``learned_at`` (which never change), a value outside
            its range, or None for a field that always has a value.
        TextEncodingError: a string contains a lone surrogate.
    """
    values: dict[str, object] = {}
    for name, value in changes.items():
        if name not in FIELDS:
            raise ValueError(_unknown(name))
        if name in _FIXED:
            msg = f"{name}: cannot be changed, got {shown(value)}"
            raise ValueError(msg)
        if value is None and not FIELDS[name].nullable:
            msg = f"{name}: always has a value, got None"
            raise ValueError(msg)
        values[name] = None if value is None else _CHECKS[name](value)
    return values


def _is_same(one: object, other: object) -> bool:
    """Return whether two values are equal; NaN, which stands for a time to fill in, is NaN."""
    return one == other or (one != one and other != other)  # noqa: PLR0124


def _bits(embedding: npt.NDArray[np.float32] | None) -> bytes | None:
    return None if embedding is None else np.asarray(embedding, np.float32).tobytes()


def _fill_in(values: dict[str, Any], now: float) -> None:
    """Fill in the fields that depend on ``now`` or on other fields."""
    if "id" not in values:
        values["id"] = new_ulid(now)
    if "created_at" not in values:
        values["created_at"] = _moment(_CHECKS["created_at"], now)
    if "updated_at" not in values:
        values["updated_at"] = values["created_at"]
    if "learned_at" not in values:
        values["learned_at"] = _moment(_CHECKS["learned_at"], now)
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
    """Fill in columns as :func:`_fill_in` does for one record.

    Returns:
        The fields that have the same value in all records.
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
    fill("created_at", _moment(_CHECKS["created_at"], now))
    fill("updated_at", columns.get("created_at", shared.get("created_at")))
    fill("learned_at", _moment(_CHECKS["learned_at"], now))
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


def _moment(check: Check, now: Time) -> float:
    # Clocks were checked when they were set, so a late year is not a mistake.
    if isinstance(now, int | float) and LAST_NUMBER < now <= LAST_MOMENT:
        return now
    checked: float = check(now)
    return checked


BLANKS = {"id": "", "priority": 0, "canonical_layer": "", "session_spread": 0}


# For fields given in only some records of a batch: the default, or that they are filled in.
_DEFAULTS: dict[str, Any] = {
    entry.name: entry.default for entry in fields(Memory) if entry.default is not MISSING
}
_FILLED_IN = frozenset(
    ("id", "created_at", "updated_at", "learned_at", "priority", "canonical_layer")
)
for _name in _FILLED_IN:
    del _DEFAULTS[_name]
_DEFAULTS |= {"tags": [], "labels": [], "metadata": {}}
_COLUMN_FIELDS = FIELDS.keys() - {"embedding", "sessions", "session_spread"}


def named_fields(memory: Memory) -> dict[str, object]:
    """Return the fields of a memory that are not blank, as a record that can be checked."""
    values = {name: getattr(memory, name) for name in FIELDS}
    if not memory.session_spread and not memory.sessions:
        del values["sessions"]
    # Callers may ignore the annotations; the check of each field then refuses or converts the value.
    for name, blank in BLANKS.items():
        if isinstance(values[name], type(blank)) and values[name] == blank:
            del values[name]
    for name in _TIMES:
        seconds = values[name]
        if seconds is None or (isinstance(seconds, float) and math.isnan(seconds)):  # not given
            del values[name]
        elif isinstance(seconds, float) and seconds > LAST_NUMBER:
            values[name] = iso_time(seconds)
    return values


def _unknown(name: object) -> str:
    near = nearest(str(name), FIELDS)
    hint = f" (did you mean {near!r}?)" if near else "; free values go into metadata"
    return f"{shortened(str(name), LONGEST_NAMED)}: no field of a memory has this name{hint}"


def iso_time(seconds: float) -> str | float:
    """Return a time as ISO 8601 in UTC; one before the year 1 stays a number."""
    from datetime import UTC, datetime  # noqa: PLC0415 - slow to load, and few need it

    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, ValueError, OSError):  # the last: beyond what the system's calendar has
        return seconds
