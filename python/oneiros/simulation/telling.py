"""Lives told in tables of words and numbers: how each profile fared, and what it forgot."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oneiros.simulation.figures import Lives

__all__ = ["Told", "fared", "forgot"]

_HEADS: Final = (
    *("profile", "dreams", "recalled", "aside", "deleted", "away"),
    *("recall@10", "misled", "untrue", "p50 ms", "p99 ms"),
)

_MOST_KINDS: Final = 7
"""Kinds with a column of their own; the others share one."""

_OTHERS: Final = "other"


class Told(NamedTuple):
    """A table."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    """Of as many cells as there are heads; the first ``names`` of them are no numbers."""
    names: int


def fared(lives: Sequence[Lives], title: str) -> Told:
    """Return a row for each of the lives: how things stand at the end, and shares over the months.

    Args:
        lives: means over their worlds are told.
        title: of the table.
    """
    rows = []
    for one in lives:
        counts = (one.at_the_end(name) for name in ("active", "set_aside", "deleted"))
        shares = (one.over_time(name) for name in ("found", "misled", "untrue"))
        times = (one.at_the_end(name) for name in ("p50_ms", "p99_ms"))
        rows.append(
            (
                one.profile,
                str(one.courses[0].dreams) if one.is_dreaming else "-",
                *(f"{count:.0f}" for count in counts),
                f"{one.at_the_end('taken_away'):.1%}",
                *("-" if math.isnan(share) else f"{share:.3f}" for share in shares),
                *(f"{milliseconds:.2f}" for milliseconds in times),
            )
        )
    return Told(title, _HEADS, rows, 1)


def forgot(lives: Sequence[Lives]) -> Told | None:
    """Return what dreams took away: a row a rule, a column a kind; None where nobody dreamt.

    A share is of the memories told of that kind.

    Args:
        lives: those awake are left out.
    """
    dreaming = [one for one in lives if one.is_dreaming]
    if not dreaming:
        return None
    told: Counter[str] = Counter()
    for course in dreaming[0].courses:
        told.update({one.kind: one.told for one in course.forgotten})
    kinds = [kind for kind, _ in told.most_common(_MOST_KINDS)]
    heads = ("profile", "rule", "all", *kinds, *([_OTHERS] if len(told) > len(kinds) else []))
    rows = [row for one in dreaming for row in _rows_of(one, told, heads[3:])]
    return Told("Away at the end, of each kind, by rule", heads, rows, 2)


def _rows_of(lives: Lives, told: Counter[str], columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield a profile's rows: by all rules, then by each, that which took the most first."""
    totals: Counter[str] = Counter()
    taken: dict[str, Counter[str]] = {}
    for kind, count in told.items():
        totals[kind if kind in columns else _OTHERS] += count
    for course in lives.courses:
        for one in course.forgotten:
            for rule, count in one.taken.items():
                of_rule = taken.setdefault(rule, Counter())
                of_rule[one.kind if one.kind in columns else _OTHERS] += count
    by_rule = sorted(taken.items(), key=lambda held: (-held[1].total(), held[0]))
    of_all: Counter[str] = sum(taken.values(), Counter())
    for place, (rule, counts) in enumerate([("all", of_all), *by_rule]):
        shares = (counts.total() / totals.total(), *(counts[one] / totals[one] for one in columns))
        name = lives.profile if place == 0 else ""
        yield (name, rule, *(f"{share:.0%}" if share else "-" for share in shares))
