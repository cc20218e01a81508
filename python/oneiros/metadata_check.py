"""What metadata accepts: a JSON object, copied."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from oneiros.errors import TextEncodingError
from oneiros.field_checks import JSON_LIMIT, Check, encoded, plain, wrong

__all__ = ["metadata"]

DEPTH_LIMIT = 32
"""Levels of nesting."""


def metadata(name: str) -> Check:
    """Return the check of a JSON object: a deep copy, so that later changes stay outside."""

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
