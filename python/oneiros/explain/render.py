"""Explanations of a whole response as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.display.tables import DisplayTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.explain.explanation import Explanation

__all__ = ["explanations_table"]


def explanations_table(ids: Sequence[str], explanations: Sequence[Explanation]) -> DisplayTable:
    """Return a table with one row per result, best first.

    Columns: rank, id, each channel's rank and score, the parts of the relevance, relevance, each
    factor, the divisor of scores if there is one, score. Names of added factors begin with "+".
    """
    channels = list(dict.fromkeys(c.name for each in explanations for c in each.channels))
    parts = list(dict.fromkeys(p.heading for each in explanations for p in each.parts))
    factors = list(dict.fromkeys(f.heading for each in explanations for f in each.factors))
    has_divisor = any(each.divided_by is not None for each in explanations)
    rows = []
    for rank, (id, explanation) in enumerate(zip(ids, explanations, strict=True), start=1):
        found = {channel.name: (channel.rank, channel.score) for channel in explanation.channels}
        part_of = {part.heading: part.value for part in explanation.parts}
        factor_of = {factor.heading: factor.value for factor in explanation.factors}
        row: list[object] = [rank, id]
        row += [value for name in channels for value in found.get(name, (None, None))]
        row += [*map(part_of.get, parts), explanation.relevance, *map(factor_of.get, factors)]
        row += [explanation.divided_by, explanation.score] if has_divisor else [explanation.score]
        rows.append(tuple(row))
    pairs = (f"{name} {figure}" for name in channels for figure in ("rank", "score"))
    ends = (*factors, "÷ the best", "score") if has_divisor else (*factors, "score")
    return DisplayTable(("rank", "id", *pairs, *parts, "relevance", *ends), tuple(rows))
