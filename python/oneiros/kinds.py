"""The kinds of memories that mean the same, and which tables by kind read them alike.

Systems name one kind with different words: "preference" in one is "user_preference" in another. In
tables of pruning, staleness, default priority, decay rates and expiry, a kind without an entry of
its own gets the entry of another word for it. Every other table is read literally, as published.
The stored kind stays what the user wrote, and filters compare it literally.

A part of a profile names the fields that read other words in ``reads_aliases``.

The page docs/kinds.md lists what each kind does under each profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

__all__ = ["ALIASES", "kinds_of", "table_of", "with_aliases", "words_with_aliases"]

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
"""The other words for a kind, by its plain word."""

_GROUPS: Final = tuple((kind, *others) for kind, others in ALIASES.items())


def with_aliases(table: Mapping[str, Value]) -> dict[str, Value]:
    """Return a table by kind, extended by the other words for the kinds that it lists.

    An entry of the table stays as it is. Where the table lists several words for one kind, a word
    that it does not list gets the entry of the first in the order of :data:`ALIASES`.
    """
    found = dict(table)
    for group in _GROUPS:
        listed = [word for word in group if word in table]
        if listed:
            for word in group:
                found.setdefault(word, table[listed[0]])
    return found


def table_of(part: object, field: str) -> Mapping[str, float]:
    """Return a table by kind of a profile's part, with other words where the part declares it."""
    table: Mapping[str, float] = getattr(part, field)
    return with_aliases(table) if _reads_aliases(part, field) else table


def kinds_of(part: object, field: str) -> tuple[str, ...]:
    """Return a list of kinds of a profile's part, with other words where the part declares it."""
    kinds: tuple[str, ...] = getattr(part, field)
    return words_with_aliases(kinds) if _reads_aliases(part, field) else kinds


def _reads_aliases(part: object, field: str) -> bool:
    return field in getattr(part, "reads_aliases", ())


def words_with_aliases(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return kinds in their order, followed by the other words for them."""
    return tuple(with_aliases(dict.fromkeys(kinds)))
