"""Stubbing: cut memories that were cold for long. Source: docs/systems/cognitive.md C20."""

from __future__ import annotations

import unicodedata
from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.phases.cool import COLD

if TYPE_CHECKING:
    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.cognitive import Stubbing

__all__ = ["beginning", "cut_to_stubs"]

_AT_ONCE: Final = 4_096
"""Rows whose texts and vectors are read at a time."""

_DAY: Final = 86_400.0
_JOINER: Final = "\u200d"
_LONGEST_CLUSTER: Final = 32


def cut_to_stubs(draft: Draft, phase: Stubbing) -> None:
    """Cut memories that were cold for long to the beginning of their text, the longest cold first.

    Their vectors and links are removed.
    """
    since = draft.activity("cold_since")
    long_cold = (draft.now - since) / _DAY >= phase.days
    long_cold &= draft.live & (draft.column("tier") == COLD) & (draft.column("core") == 0)
    rows = np.flatnonzero(draft.without_kept("C20", long_cold)).astype(np.uint32)
    draft.because["C20"] = partial(_because, draft)
    taken = draft.cut_to_stub("C20", rows[np.argsort(since[rows], kind="stable")])
    for start in range(0, len(taken), _AT_ONCE):
        _cut_contents(draft, taken[start : start + _AT_ONCE], phase.characters)
    _cut_links(draft, taken)


def beginning(text: str, length: int) -> str:
    """Return the beginning of a text, without cutting a character from its combining marks.

    Args:
        text: any text.
        length: maximum length in code points.
    """
    for end in range(min(length, len(text)), max(length - _LONGEST_CLUSTER, 0), -1):
        if end == len(text) or not _joins(text, end):
            return text[:end]
    return text[:length]


def _joins(text: str, place: int) -> bool:
    """Whether the code points before and at a place form one visible character."""
    return _JOINER in text[place - 1 : place + 1] or unicodedata.category(text[place])[0] == "M"


def _cut_contents(draft: Draft, rows: Rows, length: int) -> None:
    texts, vectors = draft.source.texts(rows), draft.source.vectors(rows)
    for row, text, vector in zip(rows.tolist(), texts, vectors, strict=True):
        kept = beginning(text, length)
        if kept != text:
            draft.set_content("C20", "text", row, text, kept)
        if vector.any():
            draft.set_content("C20", "embedding", row, vector, None)


def _cut_links(draft: Draft, rows: Rows) -> None:
    cut: set[int] = set()
    for row in rows.tolist():
        for other in draft.source.linked(row).tolist():
            if other not in cut:  # else the link is removed already
                draft.link("C20", row, other, weight=0.0)
        cut.add(row)


def _because(draft: Draft, rows: Rows) -> list[str]:
    """Return the reason for each cut row as text."""
    days = (draft.now - draft.activity("cold_since")[rows]) / _DAY
    return [f"cold for {count:.0f} days" for count in days.tolist()]
