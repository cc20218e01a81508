"""The shard of a memory, by a hash of one field of its scope."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from oneiros.display.escaping import one_line
from oneiros.model.fields import FIELDS
from oneiros.runtime.dataclasses import dataclass

__all__ = ["KEYS", "Layout", "key_in"]


KEYS: Final = ("user", "namespace", "project")
"""Fields by which stores can be split."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The number of shards and the field that decides. Both are fixed when a store is made."""

    shards: int
    key: str

    def shard_of(self, value: str) -> int:
        """Return the number of the shard that holds the memories with a value of the key.

        A namespace lies in the shard of its first segment, with all that is above and below it.
        """
        digest = hashlib.blake2b(self.root(value).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.shards

    def root(self, value: str) -> str:
        """Return what moves together: the value, or the first segment of a namespace."""
        return value.partition("/")[0] if self.key == "namespace" else value


def key_in(layout: Layout, fields: Mapping[str, Any], call: str) -> str:
    """Return the value of the key among the fields of a scope or a record.

    Raises:
        ValueError: it is missing, or not a value of the field.
        TypeError: it is not a text.
    """
    value = fields.get(layout.key)
    if value is None:
        given = ", ".join(map(one_line, fields)) or "no field"
        msg = f"{call}: needs {layout.key}, by which the store is split into shards; got {given}"
        raise ValueError(msg)
    FIELDS[layout.key].check(value)
    return str(value)
