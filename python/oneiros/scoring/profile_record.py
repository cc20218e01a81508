"""Conversion between profiles, plain records and TOML, and the content hash.

A record is a table of tables of numbers and strings. Reading rejects unknown keys, and input that
is larger or deeper than any profile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeVar, cast

from oneiros.runtime.dataclasses import fields
from oneiros.runtime.hashing import sha256

__all__ = [
    "DEEPEST",
    "LONGEST_TEXT",
    "MOST_NODES",
    "content_hash",
    "parse_toml",
    "read_declaration",
    "record_of",
    "require_keys",
    "require_size",
    "toml_of",
]

LONGEST_TEXT = 64 * 1024
DEEPEST = 8
MOST_NODES = 4096
MOST_DOTS = 512

_LABELS = ("name", "system")
_BARE_KEY = r"[A-Za-z0-9_-]+"


Kind = TypeVar("Kind")
"""A frozen dataclass. Several kinds for one place are distinguished by a class attribute ``name``
or, if instances have their own names, by ``discriminator``, a field that no other kind has."""


def record_of(declaration: Any) -> dict[str, object]:
    """Return a declaration's name and system, if it has them, and its fields that are not None.

    A declaration may define a method ``record`` that returns something else.
    """
    record: dict[str, object]
    if hasattr(declaration, "record"):
        record = declaration.record()
        return record
    record = {key: getattr(declaration, key) for key in _LABELS if hasattr(declaration, key)}
    for field in fields(declaration):
        value = getattr(declaration, field.name)
        if field.init and value is not None:
            record[field.name] = _plain(value)
    return record


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def require_keys(record: Mapping[str, object], known: Sequence[str], where: str) -> None:
    """Check that all keys of ``record`` are known.

    Raises:
        ValueError: names the unknown key, its place and the known keys.
    """
    for key in record:
        if key not in known:
            msg = f"{where}: unknown key {key!r}; known: {', '.join(known)}"
            raise ValueError(msg)


def read_declaration(
    record: object, kinds: Sequence[type[Kind]], where: str, *, has_default: bool = False
) -> Kind:
    """Build the declaration that ``record`` describes.

    Args:
        record: a table with ``name``, with ``system`` if several classes share it, and the fields.
        kinds: the classes allowed here.
        where: the place in the profile, for error messages.
        has_default: without a ``name``, use the first class.

    Raises:
        TypeError: ``record`` is not a table, or a field has another type.
        ValueError: an unknown name or key, or a value out of its range.
    """
    if not isinstance(record, Mapping):
        msg = f"{where}: expected a table, got {type(record).__name__} {record!r}"
        raise TypeError(msg)
    kind = _kind_of(record, kinds, where, has_default)
    known = _fields_of(kind)
    labels = [label for label in _LABELS if hasattr(kind, label)]
    require_keys(record, list(dict.fromkeys((*labels, *known))), where)
    try:
        return kind(**{key: value for key, value in record.items() if key in known})
    except (TypeError, ValueError) as error:
        msg = f"{where}.{error}"
        raise type(error)(msg) from error


def _fields_of(kind: type[Kind]) -> list[str]:
    return [field.name for field in fields(cast("type[Any]", kind)) if field.init]


def _kind_of(
    record: Mapping[str, object], kinds: Sequence[type[Kind]], where: str, has_default: bool
) -> type[Kind]:
    """Return the class that a record names, by name, and by system if several share the name."""
    if has_default and ("name" not in record or _label(kinds[0], "name") is None):
        return kinds[0]
    for kind in kinds:
        if getattr(kind, "discriminator", None) in record:
            return kind
    name, system = record.get("name"), record.get("system")
    named = [kind for kind in kinds if _label(kind, "name") == name is not None]
    if not named:
        known = dict.fromkeys(_label(kind, "name") for kind in kinds)
        msg = f"{where}.name: must be one of {', '.join(filter(None, known))}, got {name!r}"
        raise ValueError(msg)
    if len(named) > 1 and system is None:
        fitting = [kind for kind in named if {*record} <= {"name", *_fields_of(kind)}]
        named = fitting or named
    if len(named) > 1 or system is not None:
        named = [kind for kind in named if _label(kind, "system") == system] or _refuse_system(
            named, where, system
        )
    return named[0]


def _label(kind: type[Any], label: str) -> str | None:
    """Return a class's name or system; None if it is a field or missing."""
    value = getattr(kind, label, None)
    return value if isinstance(value, str) else None


def _refuse_system(named: Sequence[type[Any]], where: str, system: object) -> NoReturn:
    known = ", ".join(str(_label(kind, "system")) for kind in named)
    msg = f"{where}.system: must be one of {known}, got {system!r}"
    raise ValueError(msg)


def content_hash(record: Mapping[str, object]) -> str:
    """Return the SHA-256 of the record as JSON with sorted keys, in hexadecimal.

    Floats are written by ``repr``, the shortest text that reads back, so the hash is the same in
    every version of Python.
    """
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode("ascii")).hexdigest()


def parse_toml(text: object) -> dict[str, object]:
    """Parse TOML.

    Raises:
        TypeError: ``text`` is not a str.
        ValueError: invalid TOML, more than 64 KiB, more than 8 levels or 4,096 values.
    """
    if not isinstance(text, str):
        msg = f"text: expected str, got {type(text).__name__}"
        raise TypeError(msg)
    _require_readable("text", text)
    import tomllib  # noqa: PLC0415 - takes milliseconds, for TOML only

    try:
        record = tomllib.loads(text)
    except RecursionError as error:
        msg = f"text: nested deeper than {DEEPEST}"
        raise ValueError(msg) from error
    require_size(record)
    return record


def _require_readable(name: str, text: str) -> None:
    """Check the length of a text and of its lines; ValueError otherwise, naming ``name``."""
    length = len(text.encode("utf-8", "surrogatepass"))
    if length > LONGEST_TEXT:
        msg = f"{name}: at most {LONGEST_TEXT} bytes, got {length}"
        raise ValueError(msg)
    # tomllib takes quadratic time for a.a.a.a: minutes for a key of 64 KiB. Only \n ends a line: a
    # quoted part of a key may hold the others that splitlines knows.
    if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
        msg = f"{name}: at most {MOST_DOTS} dots a line"
        raise ValueError(msg)


def require_size(record: Mapping[str, object]) -> None:
    """Check that a record has at most 8 levels and 4,096 values; ValueError otherwise."""
    level: list[object] = [record]
    nodes = 0
    for _ in range(DEEPEST):
        below: list[object] = []
        for node in level:
            if isinstance(node, dict):
                below += node.values()
            elif isinstance(node, list):
                below += node
        nodes += len(below)
        if nodes > MOST_NODES:
            msg = f"text: at most {MOST_NODES} values, got more"
            raise ValueError(msg)
        if not below:
            return
        level = below
    msg = f"text: nested deeper than {DEEPEST}"
    raise ValueError(msg)


def toml_of(record: Mapping[str, object]) -> str:
    """Return a record of scalars, lists of scalars, tables and lists of tables as TOML.

    Raises:
        ValueError: it is beyond what :func:`parse_toml` reads.
    """
    require_size(record)
    lines = _scalar_lines(record)
    for key, value in record.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{key}]", *_table_lines(value, key)]
        elif _is_table_list(value):
            for table in cast("list[Mapping[str, object]]", value):
                lines += ["", f"[[{key}]]", *_table_lines(table, key)]
    text = "\n".join(lines) + "\n"
    _require_readable("profile in TOML", text)
    return text


def _is_table_list(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(item, Mapping) for item in value)


def _table_lines(table: Mapping[str, object], path: str) -> list[str]:
    lines = _scalar_lines(table)
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += [f"[{path}.{key}]", *_scalar_lines(value)]
    return lines


def _scalar_lines(table: Mapping[str, object]) -> list[str]:
    return [
        f"{_key(key)} = {_scalar(value)}"
        for key, value in table.items()
        if not isinstance(value, Mapping) and not _is_table_list(value)
    ]


def _key(key: str) -> str:
    return key if re.fullmatch(_BARE_KEY, key) else _text(key)


def _text(text: str) -> str:
    """Return a TOML basic string, which is escaped as in JSON, and DEL too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_scalar(item) for item in value) + "]"
    if isinstance(value, str):
        return _text(value)
    return repr(value)
