"""Escaping of control characters in stored text before it is displayed.

Memories are untrusted text. An escape sequence could move the cursor, change the window title or
fake a line of output, and a bidirectional override could show words in another order.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["LONGEST_NAMED", "OBEYED", "one_line", "shortened", "snippet", "visible"]

LONGEST_NAMED = 200
"""The most characters of a wrong name or id in a message."""

OBEYED: Final = (
    "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""A regular expression: C0 except newline and tab, DEL, C1, line and paragraph separators,
bidirectional overrides and isolates, lone surrogates (which no stream can encode). The module
``re`` compiles it on first use; compiled at import, it would slow down the start."""


def visible(stored: str) -> str:
    r"""Return the text with visible replacements for control characters.

    C0 controls and DEL become control pictures (ESC: ␛), the others code points (⟨U+202E⟩).
    Newlines, tabs and all other characters are unchanged.
    """
    return re.sub(OBEYED, _picture, stored)


def one_line(stored: str) -> str:
    """Return :func:`visible` text with newlines and tabs also replaced by control pictures."""
    return visible(stored).replace("\n", "␊").replace("\t", "␉")


def shortened(stored: str, length: int) -> str:
    """Return at most ``length`` characters of :func:`one_line` text; an ellipsis marks a cut."""
    shown = one_line(stored[: length + 1])
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def snippet(stored: str, length: int) -> str:
    """Return the beginning of a text as one :func:`visible` line of at most ``length`` characters.

    Runs of white space become single spaces; an ellipsis marks a cut.
    """
    beginning = stored[: 8 * length]  # a text may have 16 MiB
    shown = visible(" ".join(beginning.split()))
    if len(shown) <= length and len(beginning) == len(stored):
        return shown
    return shown[: length - 1] + "…"


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
