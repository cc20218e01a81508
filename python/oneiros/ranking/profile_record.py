"""Profiles as plain records: what TOML holds and what the content hash covers.

A record is a table of tables of numbers and words. Reading refuses what it does not know, and what
is larger or deeper than any profile.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar, cast

__all__ = [
    "content_hash",
    "parse_toml",
    "read_declaration",
    "record_of",
    "require_keys",
    "toml_of",
]

LONGEST_TEXT = 64 * 1024
DEEPEST = 8
MOST_NODES = 256
MOST_DOTS = 2 * MOST_NODES


Kind = TypeVar("Kind")
"""A frozen dataclass; where several kinds may stand in one place, each has a ``name``, or, where its
declarations have names of their own, a field ``told_by`` that no other kind has."""


def record_of(declaration: Any) -> dict[str, object]:
    """Return a declaration's name, if it has one, and fields; a field that is None is left out.

    A declaration that is more than its fields says so by a ``record`` of its own.
    """
    if hasattr(declaration, "record"):
        own: dict[str, object] = declaration.record()
        return own
    name = getattr(declaration, "name", None)
    record: dict[str, object] = {} if name is None else {"name": name}
    for field in fields(declaration):
        value = getattr(declaration, field.name)
        if field.init and value is not None:
            record[field.name] = list(value) if isinstance(value, tuple) else value
    return record


def require_keys(record: Mapping[str, object], known: Sequence[str], where: str) -> None:
    """Refuse a key that is not among ``known``.

    Raises:
        ValueError: names the key, where it stands and the known ones.
    """
    for key in record:
        if key not in known:
            msg = f"{where}: unknown key {key!r}; known: {', '.join(known)}"
            raise ValueError(msg)


def read_declaration(record: object, kinds: Sequence[type[Kind]], where: str) -> Kind:
    """Make the declaration that ``record`` describes.

    Args:
        record: a table with ``name`` (it may be absent where there is one kind) and fields.
        kinds: the classes that may stand here.
        where: the place in the profile, for the errors.

    Raises:
        TypeError: ``record`` is no table, or a field has another type.
        ValueError: an unknown name or key, or a value out of its range.
    """
    if not isinstance(record, Mapping):
        msg = f"{where}: expected a table, got {type(record).__name__} {record!r}"
        raise TypeError(msg)
    kind = _kind_of(record, kinds, where)
    known = [field.name for field in fields(cast("type[Any]", kind)) if field.init]
    require_keys(record, ["name", *known] if hasattr(kind, "name") else known, where)
    try:
        return kind(**{key: value for key, value in record.items() if key in known})
    except (TypeError, ValueError) as error:
        msg = f"{where}.{error}"
        raise type(error)(msg) from error


def _kind_of(record: Mapping[str, object], kinds: Sequence[type[Kind]], where: str) -> type[Kind]:
    if len(kinds) == 1 and ("name" not in record or not hasattr(kinds[0], "name")):
        return kinds[0]
    by_name: dict[str, type[Kind]] = {}
    for kind in kinds:
        told_by = getattr(kind, "told_by", None)
        if told_by is None:
            by_name[str(getattr(kind, "name", ""))] = kind
        elif told_by in record:
            return kind
    name = record.get("name")
    if not isinstance(name, str) or name not in by_name:
        msg = f"{where}.name: must be one of {', '.join(by_name)}, got {name!r}"
        raise ValueError(msg)
    return by_name[name]


def content_hash(record: Mapping[str, object]) -> str:
    """Return the SHA-256 of the record as JSON with sorted keys, in hexadecimal.

    Floats stand as ``repr`` writes them, the shortest text that reads back: the same in every
    version of Python.
    """
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def parse_toml(text: object) -> dict[str, object]:
    """Return the table that ``text`` holds.

    Raises:
        TypeError: ``text`` is no str.
        ValueError: no TOML; longer than 64 KiB; deeper than 8 or wider than 256 values.
    """
    if not isinstance(text, str):
        msg = f"text: expected str, got {type(text).__name__}"
        raise TypeError(msg)
    length = len(text.encode("utf-8", "surrogatepass"))
    if length > LONGEST_TEXT:
        msg = f"text: at most {LONGEST_TEXT} bytes, got {length}"
        raise ValueError(msg)
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        # tomllib takes quadratic time for a.a.a.a: minutes for a key of 64 KiB
        msg = f"text: at most {MOST_DOTS} dots a line"
        raise ValueError(msg)
    try:
        record = tomllib.loads(text)
    except RecursionError as error:
        msg = f"text: nested deeper than {DEEPEST}"
        raise ValueError(msg) from error
    _require_size(record)
    return record


def _require_size(record: dict[str, object]) -> None:
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
    """Write a record of scalars, lists of numbers, tables and lists of tables as TOML."""
    lines = [f"{key} = {_scalar(value)}" for key, value in record.items() if _is_plain(value)]
    for key, value in record.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{key}]", *_table(value)]
        elif isinstance(value, list) and not _is_plain(value):
            for table in value:
                lines += ["", f"[[{key}]]", *_table(table)]
    return "\n".join(lines) + "\n"


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return not any(isinstance(item, Mapping) for item in value)
    return not isinstance(value, Mapping)


def _table(table: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_scalar(value)}" for key, value in table.items()]


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_scalar(item) for item in value) + "]"
    if isinstance(value, str):
        # As they are: beyond the basic plane JSON's escapes are surrogates, which TOML refuses.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
