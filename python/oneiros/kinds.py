"""The kinds of memories that mean the same, and how tables by kind read them.

Systems name one kind with different words: "preference" in one is "user_preference" in another. A
table of a profile gives a kind its own entry where it has one. Otherwise the kind gets the entry of
another word for it. The stored kind stays what the user wrote, and filters compare it literally.

The page docs/kinds.md lists what each kind does under each profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

__all__ = ["ALIASES", "with_aliases", "words_with_aliases"]

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


def words_with_aliases(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return kinds in their order, followed by the other words for them."""
    return tuple(with_aliases(dict.fromkeys(kinds)))
