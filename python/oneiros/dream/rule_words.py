"""The rules of a dream cycle in words, for people; JSON and docs/systems have their codes."""

from __future__ import annotations

from typing import Final

__all__ = ["HELD_WORDS", "RULE_NAMES", "RULE_WORDS", "held_words", "rule_name"]

RULE_NAMES: Final = {
    "R11": "replay",
    "R12": "weakening",
    "R13": "pruning",
    "R14": "placing",
    "R15": "promotion",
    "C19": "cooling",
    "C20": "stubbing",
    "C21": "summarising",
    "C22": "judging",
    "O31": "forgetting",
    "R19": "undoing",
}
"""By rule, its name in a list."""

RULE_WORDS: Final = {
    "R11": "replayed: strength and links grow",
    "R12": "weakened a little, as all are",
    "R13": "not used for long, superseded, never used and weak, or a duplicate: removed",
    "R14": "used or old enough: consolidated; weak and not used for long: archived",
    "R15": "depth follows use",
    "C19": "at the lowest retention for a week, or superseded: cold",
    "C20": "cold for half a year: cut to a stub",
    "C21": "several alike: one summary",
    "C22": "a judge found a conflict or a duplicate",
    "O31": "old, not used and of little weight: archived",
    "R19": "a cycle undone",
}
"""By rule, what it does."""

HELD_WORDS: Final = {
    "protected": "pinned, core, or tagged explicit or schema_violation",
    "young": "too young to be removed",
    "prune budget": "the profile's limit for removals is reached",
    "change budget": "the profile's limit for changes is reached",
    "changed since": "changed after the cycle was planned",
}
"""By reason of a report, why memories are left as they are."""


def rule_name(rule: str) -> str:
    """Return the name of a rule; what has none is returned as it is."""
    return RULE_NAMES.get(rule, rule)


def held_words(reason: str) -> str:
    """Return why memories are left as they are; a reason without words is returned as it is."""
    return HELD_WORDS.get(reason, reason)
