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
    "VERDICTS",
    "Field",
    "Range",
    "kinds_of",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a memory."""

    name: str
    kind: str
    """text, embedding, words, word_set, metadata, time, seconds, float32, int, bool, enum or id."""
    column: str | None
    """The dtype of its column in the core, which has the field's name; None: it has no column."""
    nullable: bool
    """Whether the field may be None (for other fields, None in a record means "not given")."""
    check: Check
    """Converts a given value to the stored one, or raises an error that names the field."""
    range: Range | None = None
    """The range that the check enforces, for checks of whole columns; None: it is no number."""

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
        "status": ("staged", "consolidated", "archived"),
        "canonical_layer": ("episodic", "intermediate", "semantic"),
        "tier": ("hot", "cold", "stub"),
    }
)
CATEGORIES: Final = ENUMS["category"]
LAYERS: Final = ENUMS["canonical_layer"]
LAYER_BY_DEPTH: Final = MappingProxyType({1: LAYERS[0], 2: LAYERS[1], 3: LAYERS[2]})

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


def _text(name: str, *, low: int = 0, high: int = TEXT_LIMIT, nullable: bool = False) -> Field:
    kind = "id" if name in ("id", "superseded_by") else "text"
    checked = check.text(name, low=low, high=high)
    column = "uint16" if name == "kind" else None
    return Field(name=name, kind=kind, column=column, nullable=nullable, check=checked)


def _time(name: str, *, nullable: bool = True) -> Field:
    return Field(
        name=name,
        kind="time",
        column="float64",
        nullable=nullable,
        check=check.time(name),
        range=Range(-FLOAT64_MAX, check.LAST_NUMBER, check.TIME_RULE),
    )


def _float(name: str, *, high: float = 1.0) -> Field:
    rule = "a number in [0, 1]" if high == 1.0 else "a finite float32 >= 0"
    return _number(name, "float32", "float32", Range(0.0, high, rule))


def _number(name: str, kind: str, column: str, bounds: Range, *, nullable: bool = False) -> Field:
    checked = check.number(name, low=bounds.low, high=bounds.high, rule=bounds.rule)
    return Field(
        name=name, kind=kind, column=column, nullable=nullable, check=checked, range=bounds
    )


def _int(name: str, column: str, *, low: int, high: int) -> Field:
    return Field(
        name=name,
        kind="int",
        column=column,
        nullable=False,
        check=check.integer(name, low=low, high=high),
        range=Range(low, high, f"an int in [{low}, {high}]"),
    )


def _bool(name: str) -> Field:
    return Field(
        name=name,
        kind="bool",
        column="uint8",
        nullable=False,
        check=check.boolean(name),
        range=Range(0, 1, "True or False"),
    )


def _enum(name: str) -> Field:
    words = ENUMS[name]
    return Field(
        name=name,
        kind="enum",
        column="uint8",
        nullable=False,
        check=check.one_of(name, words),
        range=Range(0, len(words) - 1, f"one of {', '.join(words)}, or its code"),
    )


def _ttl() -> Field:
    bounds = Range(0.0, FLOAT64_MAX, "a finite number of seconds >= 0")
    return _number("ttl", "seconds", "float64", bounds, nullable=True)


_TABLE = (  # in the order of docs/systems/fields.md
    _text("id", low=1, high=256),
    _text("text"),
    _text("title"),
    Field(
        name="embedding",
        kind="embedding",
        column=None,
        nullable=True,
        check=check.embedding("embedding"),
    ),
    _text("kind", low=1, high=64),
    _enum("category"),
    _text("topic", nullable=True),
    _text("project", nullable=True),
    _text("session", nullable=True),
    Field(
        name="sessions",
        kind="word_set",
        column=None,
        nullable=False,
        check=check.word_set("sessions"),
    ),
    Field(name="tags", kind="words", column=None, nullable=False, check=check.words("tags")),
    Field(
        name="metadata",
        kind="metadata",
        column=None,
        nullable=False,
        check=metadata("metadata"),
    ),
    _time("created_at", nullable=False),
    _time("updated_at", nullable=False),
    _time("last_accessed_at"),
    _time("learned_at", nullable=False),
    _time("event_at"),
    _time("valid_from"),
    _time("valid_until"),
    _ttl(),
    _float("importance"),
    _float("certainty"),
    _float("impact"),
    _int("priority", "uint8", low=1, high=5),
    _enum("veracity"),
    _bool("pinned"),
    _int("feedback", "int16", low=-INT16_MAX - 1, high=INT16_MAX),
    _int("access_count", "uint32", low=0, high=U32_MAX),
    _int("revision_count", "uint32", low=0, high=U32_MAX),
    _int("duplicate_count", "uint32", low=0, high=U32_MAX),
    _int("session_spread", "uint32", low=1, high=U32_MAX),
    _float("strength"),
    _int("depth", "uint8", low=1, high=3),
    _float("stability", high=FLOAT32_MAX),
    _float("consolidation_quality", high=FLOAT32_MAX),
    _enum("importance_tag"),
    _enum("status"),
    _bool("core"),
    _enum("canonical_layer"),
    _time("at_floor_since"),
    _time("cold_since"),
    _enum("tier"),
    _text("superseded_by", low=1, high=256, nullable=True),
    _time("deleted_at"),
)

FIELDS: Final = MappingProxyType({field.name: field for field in _TABLE})
"""Every field of a memory by name, in the order of docs/systems/fields.md."""


def _column_default(field: Field) -> float:
    if field.kind in ("time", "seconds"):
        return math.nan
    if field.name in ENUMS:
        return float(ENUMS[field.name].index(_DEFAULT_WORDS[field.name]))
    return _DEFAULT_NUMBERS.get(field.name, 0.0)


_DEFAULT_WORDS: Final = MappingProxyType(
    {
        "category": "semantic",
        "veracity": "unknown",
        "importance_tag": "none",
        "status": "staged",
        "canonical_layer": "intermediate",
        "tier": "hot",
    }
)
_DEFAULT_NUMBERS: Final = MappingProxyType(  # the others start at 0
    {
        "importance": 0.5,
        "certainty": 1.0,
        "impact": 0.5,
        "priority": float(PRIORITY_OTHERWISE),
        "session_spread": 1.0,
        "strength": 1.0,
        "depth": 2.0,
        "stability": 1.0,
    }
)

COLUMN_DEFAULTS: Final = MappingProxyType(
    {field.name: _column_default(field) for field in _TABLE if field.column is not None}
    | {"superseded": 0.0, "asks": 0.0}
)
"""Default values of columns as numbers: NaN for "no time", 0 for the code of an unknown kind."""
