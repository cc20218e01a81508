"""Paths to values in metadata: how they are written, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, TypeAlias

from oneiros.errors import QueryTooLarge
from oneiros.model.validation import shown

__all__ = ["MISSING", "Key", "NoValue", "label", "read_key", "resolver", "utf8_of"]

Key: TypeAlias = "str | tuple[str, ...]"
"""A key of metadata, a dotted path, or the keys of a path one by one."""

_MOST_KEYS: Final = 32


class NoValue(Enum):
    """The type of :data:`MISSING`."""

    MISSING = "missing"


MISSING: Final = NoValue.MISSING
"""The result of a path without a value; JSON null is a value."""


def read_key(path: object) -> Key:
    """Return a path in its one form: a path of one key without a dot is this key.

    Raises:
        TypeError: neither text nor a sequence of texts.
        ValueError: a path without keys.
        QueryTooLarge: a path of more than 32 keys.
    """
    if isinstance(path, str):
        if path.count(".") >= _MOST_KEYS:
            raise _too_long(path.count(".") + 1)
        return path
    if not isinstance(path, tuple | list) or not all(isinstance(key, str) for key in path):
        msg = f"metadata: keys are text, got {shown(path)}"
        raise TypeError(msg)
    if not path:
        msg = "metadata: a path needs at least one key"
        raise ValueError(msg)
    if len(path) > _MOST_KEYS:
        raise _too_long(len(path))
    return path[0] if len(path) == 1 and "." not in path[0] else tuple(path)


def _too_long(count: int) -> QueryTooLarge:
    return QueryTooLarge(f"metadata: a path has at most {_MOST_KEYS} keys, got {count}")


def label(key: Key) -> str:
    """Return a path as messages name it."""
    return f"metadata[{key!r}]"


def utf8_of(key: Key) -> tuple[list[bytes], bytes]:
    """Return the keys of a path, and the key that comes before them, empty if there is none.

    Lone surrogates, which no stored key has, are encoded as other bytes than any key's.
    """
    dotted = key if isinstance(key, str) and "." in key else ""
    keys = key.split(".") if isinstance(key, str) else key
    return [word.encode("utf-8", "surrogatepass") for word in keys], dotted.encode(
        "utf-8", "surrogatepass"
    )


def resolver(key: Key) -> Callable[[Mapping[str, object]], object]:
    """Return a function from metadata to the value at a path, or :data:`MISSING`.

    A dotted path is a key of its own if metadata has that key, else a path through objects. Lists
    are not entered.
    """
    if isinstance(key, tuple):
        return lambda metadata: _walked(metadata, key)
    keys = tuple(key.split("."))
    if len(keys) == 1:
        return lambda metadata: metadata.get(key, MISSING)

    def find(metadata: Mapping[str, object]) -> object:
        value = metadata.get(key, MISSING)
        return _walked(metadata, keys) if value is MISSING else value

    return find


def _walked(value: object, keys: tuple[str, ...]) -> object:
    for key in keys:
        if not isinstance(value, Mapping):
            return MISSING
        value = value.get(key, MISSING)
    return value
