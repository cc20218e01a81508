"""What dreams took away: of each kind how many, and by which rule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from oneiros.memory import Memory
from oneiros.scopes import where

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oneiros.dream.report import FieldChange

__all__ = ["DEFAULT_KIND", "SET_ASIDE", "TAKING_FIELDS", "Forgotten", "Takings", "is_set_aside"]

DEFAULT_KIND: Final = Memory.from_record({"text": "any"}, now=0.0).kind
"""Of a memory that names none."""

TAKING_FIELDS: Final = ("deleted_at", "status", "tier")
"""The fields by which a cycle takes a memory away."""

_COLD_TIERS: Final = ("cold", "stub")

SET_ASIDE: Final = where(status="archived") | where(tier=list(_COLD_TIERS))
"""What is kept, and not recalled unless asked for."""


class Forgotten(NamedTuple):
    """What is away of the memories of one kind."""

    kind: str
    told: int
    taken: Mapping[str, int]
    """How many of them, by the rule that took them, and its reason where a rule has several."""


class Takings:
    """Notes which rule took a memory away, cycle by cycle."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str], str] = {}

    def note(self, changes: Iterable[FieldChange]) -> None:
        """Note the changes of a cycle to :data:`TAKING_FIELDS`; the last one counts."""
        for change in changes:
            # Of several reasons the first would have done.
            reason = (change.reason or "").partition(",")[0]
            self._rules[change.field, change.id] = f"{change.rule} {reason}".strip()

    def by_kind(
        self, kinds: Mapping[str, str], memories: Iterable[Memory | None]
    ) -> Sequence[Forgotten]:
        """Return what is away of each kind, those with the most memories first.

        Args:
            kinds: of each memory told, by id.
            memories: as they are now, in the same order; None where one is deleted.
        """
        taken: dict[str, Counter[str]] = {kind: Counter() for kind in kinds.values()}
        for (id, kind), memory in zip(kinds.items(), memories, strict=True):
            field = _taken_by(memory)
            if field is not None:
                taken[kind][self._rules[field, id]] += 1
        told = Counter(kinds.values())
        return [Forgotten(kind, count, taken[kind]) for kind, count in told.most_common()]


def is_set_aside(memory: Memory) -> bool:
    """Whether :data:`SET_ASIDE` holds for a memory."""
    return _taken_by(memory) is not None


def _taken_by(memory: Memory | None) -> str | None:
    """Return the field by which a memory is away; None where it is not."""
    if memory is None:
        return "deleted_at"
    if memory.status == "archived":
        return "status"
    return "tier" if memory.tier in _COLD_TIERS else None
