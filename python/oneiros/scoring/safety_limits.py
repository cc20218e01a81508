"""What a dream cycle never does, whatever its phases say."""

from __future__ import annotations

from typing import Final

from oneiros.model.validation import require_int, require_number, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass, fields
from oneiros.scoring.tables import require_words

__all__ = ["SafetyRails"]

_TIMES: Final = ("updated_at", "learned_at")
_SHARE: Final = (0.0, 1.0, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyRails:
    """Bounds on what dream cycles may take away.

    Never taken away, by no phase: what is pinned, core, tagged explicit or schema_violation, or
    younger than ``youngest_days``. Taken away is what is soft-deleted, archived or cut to a stub.
    Where a budget does not suffice, the phases say who goes first; the others wait for another cycle,
    and the report counts them.
    """

    youngest_days: float = 0.0
    """Days since creation, or since the store learned of a memory where that is later, below which
    nothing is taken away; >= 0."""

    most_pruned: float = 1.0
    """The share of the live memories that all cycles of a day may take away, 0 to 1; 1: no limit.

    A day is the 24 hours up to the cycle, by the cycles' clocks. Live memories are those of the
    first cycle in it, or those now and those taken away since where these are fewer."""

    most_changed: float = 1.0
    """The share of the live memories that one cycle may change otherwise, downscaling apart, 0 to 1."""

    activity_times: tuple[str, ...] = ("learned_at",)
    """Times that make a memory less idle, and younger, to every rule that takes memories away:
    "updated_at", "learned_at". The last access, or creation, always counts; empty: nothing else."""

    kept_importance: float | None = None
    """The importance from which on no rule of age takes a memory away, 0 to 1; None: none (in TOML
    ``false``)."""

    kept_priority: int | None = None
    """The priority from which on no rule of age takes a memory away, 1 to 5; None: none (in TOML
    ``false``)."""

    def __post_init__(self) -> None:
        settle_numbers(
            self, youngest_days=(0.0, 1e9, False), most_pruned=_SHARE, most_changed=_SHARE
        )
        times = require_words("activity_times", self.activity_times)
        for time in times:
            if time not in _TIMES:
                msg = f"activity_times: must be among {', '.join(_TIMES)}, got {time!r}"
                raise ValueError(msg)
        settle(self, "activity_times", tuple(time for time in _TIMES if time in times))
        if self.kept_importance is None or self.kept_importance is False:
            settle(self, "kept_importance", None)
        else:
            least = require_number("kept_importance", self.kept_importance, low=0.0, high=1.0)
            settle(self, "kept_importance", least)
        if self.kept_priority is None or self.kept_priority is False:
            settle(self, "kept_priority", None)
        else:
            require_int("kept_priority", self.kept_priority, low=1, high=5)

    def record(self) -> dict[str, object]:
        """Return the fields; None is written as false, since a field left out has its default."""
        record: dict[str, object] = {
            field.name: getattr(self, field.name) for field in fields(self)
        }
        for name in ("kept_importance", "kept_priority"):
            if record[name] is None:
                record[name] = False
        return {**record, "activity_times": list(self.activity_times)}
