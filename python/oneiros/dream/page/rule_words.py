"""What the rules of a dream cycle do, in a few words."""

from __future__ import annotations

from typing import Final

__all__ = ["RULE_WORDS"]

RULE_WORDS: Final = {
    "R11": "replayed: strength and links grow",
    "R12": "everything weakens a little",
    "R13": "stale, superseded, unused or said twice",
    "R14": "used or old enough: consolidated; fading: archived",
    "R15": "depth follows use",
    "C19": "at the floor for a week, or superseded: cold",
    "C20": "cold for half a year: cut to a stub",
    "C21": "several that say much the same: one summary",
    "C22": "a judge found a conflict",
    "O31": "old, unused and of little weight: archived",
    "R19": "a cycle taken back",
}
"""By rule, as docs/systems has it."""
