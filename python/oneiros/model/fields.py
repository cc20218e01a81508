"""The fields of a memory with their kinds, defaults and ranges. Source: docs/systems/fields.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from oneiros.errors import TextEncodingError
from oneiros.model import validation as check
from oneiros.model.validation import (
    FLOAT32_MAX,
    JSON_LIMIT,
    TEXT_LIMIT,
    Check,
    encoded,
    plain,
    wrong,
)
from oneiros.runtime.dataclasses import dataclass

__all__ = [
    "ALIASES",
    "CATEGORIES",
    "COLUMN_DEFAULTS",
    "ENUMS",
    "FIELDS",
    "LAYERS",
    "LAYER_BY_DEPTH",
    "PRIORITY_BY_KIND",
    "PRIORITY_OTHERWISE",
    "SOURCES",
    "VERDICTS",
    "Field",
    "Range",
    "is_below",
    "kinds_of",
    "levels_of",
    "metadata",
    "table_of",
    "with_aliases",
    "words_with_aliases",
]


Value = TypeVar("Value")

ALIASES: Final = MappingProxyType(
    {
        "bug": ("issue",),
        "config": ("configuration", "setup"),
        "directive": ("constraint", "instruction", "rule"),
        "error": ("error_pattern",),
        "lesson": ("lesson_learned", "learning"),
        "note": ("general",),
        "preference": ("user_preference",),
        "skill": ("skill_template",),
    }
)
"""Kind -> its aliases."""

_GROUPS: Final = tuple((kind, *others) for kind, others in ALIASES.items())


def with_aliases(table: Mapping[str, Value]) -> dict[str, Value]:
    """Return a table by kind, extended by the aliases of the kinds that it lists.

    Existing entries are unchanged. If the table lists several names of one kind, the missing ones
    get the entry of the first in the order of :data:`ALIASES`.
    """
    found = dict(table)
    for group in _GROUPS:
        listed = [word for word in group if word in table]
        if listed:
            for word in group:
                found.setdefault(word, table[listed[0]])
    return found


def table_of(part: object, field: str) -> Mapping[str, float]:
    """Return a table by kind of a profile's part, with aliases if the part reads them."""
    table: Mapping[str, float] = getattr(part, field)
    return with_aliases(table) if _reads_aliases(part, field) else table


def kinds_of(part: object, field: str) -> tuple[str, ...]:
    """Return a list of kinds of a profile's part, with aliases if the part reads them."""
    kinds: tuple[str, ...] = getattr(part, field)
    return words_with_aliases(kinds) if _reads_aliases(part, field) else kinds


def _reads_aliases(part: object, field: str) -> bool:
    return field in getattr(part, "reads_aliases", ())


def words_with_aliases(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds in their order, followed by their aliases."""
    return tuple(with_aliases(dict.fromkeys(kinds)))


DEPTH_LIMIT = 32
"""Levels of nesting."""


def metadata(name: str) -> Check:
    """Return the check of a JSON object. It returns a deep copy."""

    def check(value: Any) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise TypeError(wrong(name, "a JSON object (a dict)", value))
        if not value:
            return {}
        copy: dict[str, object] = _json_copy(name, value, DEPTH_LIMIT)  # type: ignore[assignment]
        try:
            size = len(encoded(name, json.dumps(copy, ensure_ascii=False, separators=(",", ":"))))
        except TextEncodingError:
            raise
        except ValueError as error:  # an int with more digits than Python prints
            msg = f"{name}: must be JSON ({error})"
            raise ValueError(msg) from None
        if size > JSON_LIMIT:
            raise ValueError(wrong(name, f"at most {JSON_LIMIT} bytes of JSON, not {size}", value))
        return copy

    return check


def _json_copy(name: str, value: object, levels_left: int) -> object:
    if value is None or type(value) in (str, int, bool):
        return value
    value = plain(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        raise ValueError(wrong(name, "a finite number", value))
    if isinstance(value, (Mapping, list, tuple)):
        if levels_left == 0:
            raise ValueError(wrong(name, f"at most {DEPTH_LIMIT} levels deep", value))
        if isinstance(value, Mapping):
            return _json_object(name, value, levels_left - 1)
        return [_json_copy(f"{name}[{i}]", v, levels_left - 1) for i, v in enumerate(value)]
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(wrong(name, "JSON (object, array, str, number, true, false, null)", value))


def _json_object(name: str, value: Mapping[object, object], levels_left: int) -> dict[str, object]:
    copy: dict[str, object] = {}
    for key, inner in value.items():
        if not isinstance(key, str):
            raise TypeError(wrong(name, "a JSON object with str keys", key))
        copy[str.__str__(key)] = _json_copy(f"{name}.{key:.40}", inner, levels_left)
    return copy


U32_MAX = 2**32 - 1
INT16_MAX = 2**15 - 1
FLOAT64_MAX = 1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a column's numbers: codes of an enumeration, seconds of a time."""

    low: float
    high: float
    rule: str
    """The rule in error messages, after "must be"."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a memory."""

    name: str
    kind: str
    """text, embedding, words, word_set, ids, metadata, time, seconds, float32, int, bool, enum or id."""
    check: Check
    """Converts a given value to the stored one, or raises an error that names the field."""
    column: str | None = None
    """The dtype of its column in the core, which has the field's name; None: it has no column."""
    nullable: bool = False
    """Whether the field may be None (for other fields, None in a record means "not given")."""
    range: Range | None = None
    """The range that the check enforces, for checks of whole columns; None: it is no number."""
    default: float = 0.0
    """The column's default value: NaN for "no time", 0 for the code of an unknown kind."""
    is_state: bool = False
    """Whether reinforcement or dream cycles change it, so that the table ``lifecycle`` has it."""

    @property
    def most_stored(self) -> float:
        """The largest number that the store may contain in this field.

        For a time it is the end of year 9999, which can be given as a datetime but not as a number.

        REQUIRES: the field has a range.
        """
        assert self.range is not None
        return check.LAST_MOMENT if self.kind == "time" else self.range.high


ENUMS: Final = MappingProxyType(  # the index of a word is its code in columns and in the store
    {
        "category": ("episodic", "semantic", "procedural"),
        "veracity": ("stated", "unknown", "inferred", "imported", "tool"),
        "importance_tag": ("none", "proximity", "explicit", "cross_session", "schema_violation"),
        "status": ("staged", "consolidated", "archived", "quarantined"),
        "canonical_layer": ("episodic", "intermediate", "semantic"),
        "tier": ("hot", "cold", "stub"),
    }
)
CATEGORIES: Final = ENUMS["category"]
LAYERS: Final = ENUMS["canonical_layer"]
LAYER_BY_DEPTH: Final = MappingProxyType({1: LAYERS[0], 2: LAYERS[1], 3: LAYERS[2]})

SOURCES: Final = ("user", "tool", "agent", "document")
"""The values of ``source``, besides None: who said it."""

VERDICTS: Final = MappingProxyType({"helpful": 1, "unhelpful": -1, "outdated": -2})
"""Verdict -> change of ``feedback``. Source: docs/systems/omega.md O12."""

PRIORITY_OTHERWISE: Final = 3
_PUBLISHED_PRIORITIES: Final = (  # docs/systems/omega.md O13
    dict.fromkeys(("constraint", "checkpoint", "reminder", "user_preference"), 5)
    | dict.fromkeys(("error_pattern", "lesson_learned", "decision", "skill_template"), 4)
    | {"session_summary": 2}
    | dict.fromkeys(("coordination_snapshot", "session_respawn", "file_summary", "code_chunk"), 1)
)
PRIORITY_BY_KIND: Final = MappingProxyType(with_aliases(_PUBLISHED_PRIORITIES))


_LONGEST_ID: Final = 256
_LONGEST_NAME: Final = 1_024
_LONGEST_REFERENCE: Final = 65_536
_MOST_SEGMENTS: Final = 16


def levels_of(namespace: str) -> tuple[str, ...]:
    """Return a namespace and all above it, the topmost first.

    >>> from oneiros.model.fields import levels_of
    >>> levels_of("acme/support/eu")
    ('acme', 'acme/support', 'acme/support/eu')
    """
    ends = [place for place, character in enumerate(namespace) if character == "/"]
    return (*(namespace[:end] for end in ends), namespace)


def is_below(namespace: str | None, above: str) -> bool:
    """Return whether a namespace is another one or lies below it.

    >>> from oneiros.model.fields import is_below
    >>> is_below("acme/support/eu", "acme/support"), is_below("acme/supporters", "acme/support")
    (True, False)
    """
    return namespace is not None and (namespace == above or namespace.startswith(f"{above}/"))


def _text(name: str, low: int = 0, high: int = TEXT_LIMIT, **more: Any) -> Field:
    return Field(name, more.pop("kind", "text"), check.text(name, low=low, high=high), **more)


def _time(name: str, *, nullable: bool = True, **more: Any) -> Field:
    bounds = Range(-FLOAT64_MAX, check.LAST_NUMBER, check.TIME_RULE)
    return Field(name, "time", check.time(name), "float64", nullable, bounds, math.nan, **more)


def _real(name: str, kind: str, column: str, bounds: Range, **more: Any) -> Field:
    make = check.seconds if kind == "seconds" else check.number
    checked = make(name, low=bounds.low, high=bounds.high, rule=bounds.rule)
    return Field(name, kind, checked, column, range=bounds, **more)


def _float(name: str, default: float, *, high: float = 1.0, **more: Any) -> Field:
    rule = "a number in [0, 1]" if high == 1.0 else "a finite float32 >= 0"
    return _real(name, "float32", "float32", Range(0.0, high, rule), default=default, **more)


def _int(name: str, column: str, low: int, high: int, **more: Any) -> Field:
    bounds = Range(low, high, f"an int in [{low}, {high}]")
    return Field(name, "int", check.integer(name, low=low, high=high), column, range=bounds, **more)


def _bool(name: str, **more: Any) -> Field:
    bounds = Range(0, 1, "True or False")
    return Field(name, "bool", check.boolean(name), "uint8", range=bounds, **more)


def _enum(name: str, default: str, **more: Any) -> Field:
    words = ENUMS[name]
    bounds = Range(0, len(words) - 1, f"one of {', '.join(words)}, or its code")
    checked = check.one_of(name, words)
    return Field(name, "enum", checked, "uint8", False, bounds, words.index(default), **more)


_STATE: Final[dict[str, Any]] = {"is_state": True}
_COUNT: Final = ("uint32", 0, U32_MAX)
_SECONDS: Final = Range(0.0, FLOAT64_MAX, "a finite number of seconds >= 0")

_TABLE = (  # in the order of docs/systems/fields.md
    _text("id", 1, _LONGEST_ID, kind="id"),
    _text("text"),
    _text("title"),
    Field("embedding", "embedding", check.embedding("embedding"), nullable=True),
    _text("kind", 1, 64, column="uint16"),
    _enum("category", "semantic"),
    _text("topic", nullable=True),
    _text("project", nullable=True),
    _text("session", nullable=True),
    _text("user", 1, _LONGEST_NAME, nullable=True),
    _text("agent", 1, _LONGEST_NAME, nullable=True),
    Field(
        "namespace",
        "text",
        check.path("namespace", high=_LONGEST_NAME, most=_MOST_SEGMENTS),
        nullable=True,
    ),
    Field("sessions", "word_set", check.word_set("sessions"), **_STATE),
    Field("tags", "words", check.words("tags")),
    Field("labels", "words", check.words("labels")),
    Field("metadata", "metadata", metadata("metadata")),
    _time("created_at", nullable=False),
    _time("updated_at", nullable=False),
    _time("last_accessed_at", **_STATE),
    _time("learned_at", nullable=False),
    _time("event_at"),
    _time("valid_from"),
    _time("valid_until"),
    _real("ttl", "seconds", "float64", _SECONDS, nullable=True, default=math.nan),
    _float("importance", 0.5),
    _float("certainty", 1.0),
    _float("impact", 0.5),
    _int("priority", "uint8", 1, 5, default=float(PRIORITY_OTHERWISE)),
    _enum("veracity", "unknown"),
    _bool("pinned"),
    Field("source", "text", check.one_of("source", SOURCES), nullable=True),
    _text("source_ref", 1, _LONGEST_REFERENCE, nullable=True),
    Field("derived_from", "ids", check.ids("derived_from", high=_LONGEST_ID)),
    _float("trust", 1.0),
    _int("feedback", "int16", -INT16_MAX - 1, INT16_MAX, **_STATE),
    _int("access_count", *_COUNT, **_STATE),
    _int("revision_count", *_COUNT),
    _int("duplicate_count", *_COUNT, **_STATE),
    _int("session_spread", "uint32", 1, U32_MAX, default=1.0, **_STATE),
    _float("strength", 1.0, **_STATE),
    _int("depth", "uint8", 1, 3, default=2.0, **_STATE),
    _float("stability", 1.0, high=FLOAT32_MAX, **_STATE),
    _float("consolidation_quality", 0.0, high=FLOAT32_MAX, **_STATE),
    _enum("importance_tag", "none", **_STATE),
    _enum("status", "staged", **_STATE),
    _bool("core", **_STATE),
    _enum("canonical_layer", "intermediate", **_STATE),
    _time("at_floor_since", **_STATE),
    _time("cold_since", **_STATE),
    _enum("tier", "hot", **_STATE),
    _text("superseded_by", 1, _LONGEST_ID, kind="id", nullable=True),
    _time("deleted_at"),
)

FIELDS: Final = MappingProxyType({field.name: field for field in _TABLE})
"""Every field of a memory by name, in the order of docs/systems/fields.md."""


COLUMN_DEFAULTS: Final = MappingProxyType(
    {field.name: float(field.default) for field in _TABLE if field.column is not None}
    | {"superseded": 0.0, "asks": 0.0, "names_time": 0.0}
)
"""Default values of columns as numbers: NaN for "no time", 0 for the code of an unknown kind."""
