"""The explanations of a whole response, a row a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.display.tables import DisplayTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.explain.explanation import Explanation

__all__ = ["explanations_table"]


def explanations_table(ids: Sequence[str], explanations: Sequence[Explanation]) -> DisplayTable:
    """Return one row a result, best first.

    Columns: rank, id, each channel's rank and score, the parts of the relevance, relevance, each
    factor, what scores were divided by if they were, score. A factor that is added and not multiplied
    has a "+" before its name.
    """
    channels = list(dict.fromkeys(c.name for told in explanations for c in told.channels))
    parts = list(dict.fromkeys(p.heading for told in explanations for p in told.parts))
    factors = list(dict.fromkeys(f.heading for told in explanations for f in told.factors))
    shares = any(told.divided_by is not None for told in explanations)
    rows = []
    for rank, (id, told) in enumerate(zip(ids, explanations, strict=True), start=1):
        held = {channel.name: (channel.rank, channel.score) for channel in told.channels}
        values = {factor.heading: factor.value for factor in told.factors}
        figures = [value for name in channels for value in held.get(name, (None, None))]
        given = {part.heading: part.value for part in told.parts}
        added = (given.get(name) for name in parts)
        applied = (values.get(name) for name in factors)
        divisor = (told.divided_by,) if shares else ()
        rows.append((rank, id, *figures, *added, told.relevance, *applied, *divisor, told.score))
    pairs = (f"{name} {what}" for name in channels for what in ("rank", "score"))
    ends = (*factors, "÷ the best", "score") if shares else (*factors, "score")
    return DisplayTable(("rank", "id", *pairs, *parts, "relevance", *ends), tuple(rows))
