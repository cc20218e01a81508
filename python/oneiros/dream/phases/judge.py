"""Conflict judging: compare new memories with similar ones. Source: docs/systems/cognitive.md C22."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.phases.cool import STUB, to_cold
from oneiros.dream.phases.grouping import answer_of, rounded
from oneiros.model.fields import ENUMS
from oneiros.model.validation import require_choice

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.cognitive import Conflicts

    Mask = npt.NDArray[np.bool_]
    Pair = tuple[int, int]

__all__ = ["VERDICTS", "judge_conflicts"]

VERDICTS: Final = ("contradiction", "update", "duplicate", "distinct")
"""The allowed results of a judge for an older and a newer text."""

_ARCHIVED: Final = ENUMS["status"].index("archived")
_MOST: Final = 2**32 - 1  # the field's maximum duplicate count


def judge_conflicts(draft: Draft, phase: Conflicts) -> None:
    """Retire the older memory of each pair that the judge finds conflicting, most similar first.

    Without a judge, the pairs are only counted.
    """
    pairs = _pairs(draft, phase)
    judged = retired = 0
    if draft.judge is not None:
        chosen = pairs[: phase.most_pairs]
        rows = np.array(chosen, np.uint32).reshape(-1)
        texts = dict(zip(rows.tolist(), draft.source.texts(rows), strict=True))
        for older, newer in chosen:
            if draft.column("superseded")[[older, newer]].any():
                continue
            verdict = answer_of("judge", draft.judge, texts[older], texts[newer])
            require_choice("judge", verdict, VERDICTS)
            judged += 1
            retired += _settle(draft, verdict, older, newer)
    draft.count(pairs=len(pairs), judged=judged, retired=retired)


def _settle(draft: Draft, verdict: str, older: int, newer: int) -> bool:
    """Apply a verdict; returns whether the older memory was retired."""
    if verdict == "distinct":
        return False
    is_duplicate = verdict == "duplicate"
    rows = np.array([older, newer] if is_duplicate else [older], np.uint32)
    if not len(draft.changeable("C22", rows, whole=True)):
        return False
    draft.supersede("C22", older, newer)
    to_cold(draft, "C19", rows[:1])  # superseded memories are cooled at once
    if is_duplicate:
        count = int(draft.column("duplicate_count")[newer])
        draft.change("C22", "duplicate_count", rows[1:], min(count + 1, _MOST))
        draft.rest(rows[1:], rows[:1])  # counts as a duplicate only if the older one is retired
    return True


def _pairs(draft: Draft, phase: Conflicts) -> list[Pair]:
    """Return pairs of a similar older and newer row, each once, the most similar first."""
    current = draft.live & (draft.column("superseded") == 0)
    current &= (draft.column("status") != _ARCHIVED) & (draft.column("tier") != STUB)
    rows = _new_rows(draft, current)[: phase.most_asked]
    projects = draft.source.grouped("project")
    similarity: dict[Pair, int] = {}
    least = rounded(phase.above_cosine)
    for project in np.unique(projects[rows]).tolist():
        members = rows[projects[rows] == project]
        found = draft.source.nearest(members, phase.nearest, current & (projects == project))
        for row, (others, cosines) in zip(members.tolist(), found, strict=True):
            for other, cosine in zip(others.tolist(), rounded(cosines).tolist(), strict=True):
                if cosine > least:
                    pair = _by_age(draft, row, other)
                    similarity[pair] = max(cosine, similarity.get(pair, cosine))
    return sorted(similarity, key=lambda pair: (-similarity[pair], pair))


def _new_rows(draft: Draft, current: Mask) -> Rows:
    """Return the rows added or changed since the last cycle, the latest first."""
    updated = draft.column("updated_at")
    if draft.previous is not None:
        created = draft.column("created_at")
        current = current & ((created >= draft.previous) | (updated >= draft.previous))
    rows = np.flatnonzero(current).astype(np.uint32)
    return rows[np.argsort(-updated[rows], kind="stable")]


def _by_age(draft: Draft, first: int, second: int) -> Pair:
    """Return two rows, the one with the older text first."""

    def times(row: int) -> tuple[float, float, int]:
        return draft.column("updated_at")[row], draft.column("created_at")[row], row

    return (first, second) if times(first) < times(second) else (second, first)
