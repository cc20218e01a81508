"""How much of a text asks. Source: docs/systems/house.md H9."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["asking_share"]

_MARKS: Final = ".!?…‼⁇⁈⁉؟"
# Each run of marks is tried once, at its beginning, and never gone back over.
_END: Final = rf"(?<![{_MARKS}])[{_MARKS}]++(?=[\"'”’»)\]]*+(?:\s|$))|[。！？]+|\n+"  # noqa: RUF001
_compiled = cache(re.compile)  # when it is first needed
_ASKS: Final = frozenset("?？؟⁇⁈⁉")  # noqa: RUF001


def asking_share(text: str) -> float:
    """Return the share of a text's characters that stand in sentences which end by a question mark.

    A sentence ends with a run of marks (``.``, ``!``, ``?`` and their like) before white space, with
    closing quotes or brackets between them or none, or at the text's end; with an ideographic mark;
    or with its line. It asks if a question mark is in that run. Its marks are part of it. In time
    linear in the text's length.

    Returns:
        From 0 to 1; 0 for an empty text.
    """
    if "?" not in text and (text.isascii() or _ASKS.isdisjoint(text)):
        return 0.0
    asking = start = 0
    for end in _compiled(_END).finditer(text):
        if not _ASKS.isdisjoint(end.group()):
            asking += end.end() - start
        start = end.end()
    return asking / len(text)
