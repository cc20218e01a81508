"""What a dream cycle never does, whatever its phases say."""

from __future__ import annotations

from dataclasses import dataclass

from oneiros.ranking.declaration import settle_numbers

__all__ = ["SafetyRails"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyRails:
    """Bounds on what one cycle may take away.

    Never taken away, by no phase: what is pinned, core, tagged explicit or schema_violation, or
    younger than ``youngest_days``. Taken away is what is soft-deleted, archived or cut to a stub.
    Where a budget does not suffice, the phases say who goes first; the others wait for another cycle,
    and the report counts them.
    """

    youngest_days: float = 0.0
    """Days since creation below which nothing is taken away, >= 0."""

    most_pruned: float = 1.0
    """The share of the live memories that one cycle may take away, 0 to 1."""

    most_changed: float = 1.0
    """The share of the live memories that one cycle may change otherwise, downscaling apart, 0 to 1."""

    def __post_init__(self) -> None:
        share = (0.0, 1.0, False)
        settle_numbers(
            self,
            youngest_days=(0.0, 1e9, False),
            most_pruned=share,
            most_changed=share,
        )
