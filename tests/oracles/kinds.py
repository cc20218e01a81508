"""Words that mean one kind, and how some tables by kind read them: docs/kinds.md.

Limits of staleness, default priorities, decay rates and expiring kinds. Other tables are literal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

Value = TypeVar("Value")

SAME = (
    ("bug", "issue"),
    ("config", "configuration", "setup"),
    ("directive", "constraint", "instruction", "rule"),
    ("error", "error_pattern"),
    ("lesson", "lesson_learned", "learning"),
    ("note", "general"),
    ("preference", "user_preference"),
    ("skill", "skill_template"),
)


def entry(table: Mapping[str, Value], kind: str, otherwise: Value) -> Value:
    """Return the kind's own entry, else that of the first other word for it, else ``otherwise``."""
    if kind in table:
        return table[kind]
    for group in SAME:
        if kind in group:
            for word in group:
                if word in table:
                    return table[word]
    return otherwise


def is_among(kinds: Iterable[str], kind: str) -> bool:
    """Tell whether a list of kinds names this one, by whatever word."""
    return entry(dict.fromkeys(kinds, True), kind, otherwise=False)
