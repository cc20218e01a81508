"""Filters as plain JSON values, for the command line and for question files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from oneiros.errors import QueryTooLarge
from oneiros.scopes.conditions import (
    MAX_DEPTH,
    AllTags,
    And,
    AnyOf,
    Everything,
    Measured,
    MetadataIs,
    Not,
    Or,
    Where,
    Within,
    joined,
    where,
)

__all__ = ["from_json", "to_json"]

MAX_BYTES: Final = 16 * 1024 * 1024  # of a filter given as text: 100,000 ids fit


def to_json(condition: Where) -> dict[str, object]:
    """Return ``condition`` as JSON values; times are seconds since the epoch."""
    match condition:
        case And(parts=parts):
            return _conjunction([to_json(part) for part in parts])
        case Or(parts=parts):
            return {"any": [to_json(part) for part in parts]}
        case Not(part=part):
            return {"not": to_json(part)}
        case AnyOf(name=name, values=values):
            return {name: values[0] if len(values) == 1 else list(values)}
        case AllTags(values=values):
            return {"tags_all": list(values)}
        case Within(name=name, start=low, end=high) | Measured(name=name, low=low, high=high):
            return {name: [low, high]}
        case MetadataIs(key=key, value=value):
            return {"metadata": {key: value}}
        case Everything():
            return {}
        case _:
            msg = f"where: no JSON form of {type(condition).__name__}"
            raise TypeError(msg)


def _conjunction(parts: list[dict[str, object]]) -> dict[str, object]:
    """Return parts side by side in one object, as the keywords of `where` are, if no name recurs."""
    flat = {name: value for part in parts for name, value in part.items()}
    if len(flat) == sum(len(part) for part in parts):
        return flat
    return {"all": parts}


def from_json(value: str | Mapping[str, object]) -> Where:
    """Return the condition that ``value`` describes (see :meth:`oneiros.scopes.conditions.Where.from_json`)."""
    if isinstance(value, str):
        if len(value) > MAX_BYTES:
            msg = f"where: at most {MAX_BYTES} characters of JSON, got {len(value)}"
            raise QueryTooLarge(msg)
        try:
            parsed: object = json.loads(value)
        except ValueError as error:
            msg = f"where: not JSON: {error}"
            raise ValueError(msg) from error
        except RecursionError as error:
            raise _too_deep() from error
        return _read(parsed, 1)
    return _read(value, 1)


def _read(value: object, depth: int) -> Where:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if not isinstance(value, Mapping):
        msg = f"where: expected a JSON object, got {type(value).__name__}"
        raise TypeError(msg)
    sides: list[Where] = []
    for name, item in value.items():
        if name == "all":
            sides.extend(_parts(name, item, depth))
        elif name == "any":
            sides.append(joined(Or, _parts(name, item, depth)))
        elif name == "not":
            sides.append(~_read(item, depth + 1))
        else:
            sides.append(where(**{str(name): item}))
    return joined(And, sides)


def _parts(name: str, item: object, depth: int) -> list[Where]:
    if not isinstance(item, list | tuple):
        msg = f"where: {name!r} joins a list of objects, got {type(item).__name__}"
        raise TypeError(msg)
    return [_read(part, depth + 1) for part in item]


def _too_deep() -> QueryTooLarge:
    return QueryTooLarge(f"where: at most {MAX_DEPTH} levels deep")
