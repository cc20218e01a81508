"""The memories recalled most often, as candidates of their own. Source: docs/systems/omega.md O1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros import _core
    from oneiros.gathering import Question, Stages
    from oneiros.projections import Projections, Visible
    from oneiros.ranking.relevance_terms import HotSet

__all__ = ["seeded"]


def seeded(
    rule: HotSet,
    question: Question,
    projections: Projections,
    visible: Visible,
    candidates: _core.Candidates,
    stages: Stages,
) -> dict[int, float]:
    """Return by row what the hot memories are worth; those no channel found become candidates.

    Args:
        rule: which are hot, and how much of the question they must hold.
        question: the search.
        projections: what it reads.
        visible: the rows that recall may return.
        candidates: what the channels found; gains rows.
        stages: the trace.
    """
    sought = question.sought
    assert sought is not None
    permitted = projections.indexes.permitted(question.query, visible.bits, question.syntax)
    rows = _hottest(rule.size, projections, permitted)
    if not rows:
        stages.end("hot_set", 0, 0, "no memory was ever recalled")
        return {}
    overlaps = sought.overlaps_of(question.profile.factors, np.array(rows, np.uint32)).tolist()
    seeds = {
        row: rule.weight * overlap
        for row, overlap in zip(rows, overlaps, strict=True)
        if overlap >= rule.least_overlap and overlap > 0.0
    }
    found = set(candidates.rows.tolist())
    candidates.append([row for row in seeds if row not in found])
    stages.end("hot_set", len(rows), len(seeds))
    return seeds


def _hottest(
    count: int, projections: Projections, permitted: npt.NDArray[np.uint8] | None
) -> list[int]:
    """Return the most accessed rows. Where all are permitted, the columns hold the deleted, too."""
    most_accessed = projections.lifecycle.columns.most_accessed
    if permitted is not None:
        return most_accessed(count=count, allowed=permitted)
    live, asked = projections.row_sets.live, count
    while True:
        rows = most_accessed(count=asked, allowed=None)
        held = [row for row in rows if row in live]
        if len(held) >= count or len(rows) < asked:
            return held[:count]
        asked *= 4
