"""Safety limits that hold for every phase of a dream cycle."""

from __future__ import annotations

from typing import Final

from oneiros.model.validation import require_int, require_number, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass, fields
from oneiros.scoring.tables import SHARE, require_words

__all__ = ["SafetyRails"]

_TIMES: Final = ("updated_at", "learned_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyRails:
    """Limits on the memories that dream cycles may remove: soft-delete, archive or cut to a stub.

    No phase ever removes memories that are pinned, core, tagged explicit or schema_violation, or
    younger than ``youngest_days``. If a budget is too small, the phases set the order; the rest
    waits for another cycle, and the report counts it.
    """

    youngest_days: float = 0.0
    """Least age of a removed memory in days, >= 0, since creation or since the store learned of it,
    whichever is later."""

    most_pruned: float = 1.0
    """The share of the live memories that all cycles of a day may remove, 0 to 1; 1: no limit.

    A day is the 24 hours up to the cycle, by the cycles' clocks. The live memories are those of the
    first cycle in it or, if fewer, the current ones and those removed since."""

    most_changed: float = 1.0
    """The share of the live memories that one cycle may change otherwise, except by downscaling, 0
    to 1."""

    activity_times: tuple[str, ...] = ("learned_at",)
    """Times that make a memory less idle and younger for rules that remove memories: "updated_at",
    "learned_at". The last access, or creation, always counts; empty: nothing else."""

    kept_importance: float | None = None
    """Memories of at least this importance are never removed for their age, 0 to 1; None: off
    (in TOML ``false``)."""

    kept_priority: int | None = None
    """Memories of at least this priority are never removed for their age, 1 to 5; None: off
    (in TOML ``false``)."""

    def __post_init__(self) -> None:
        settle_numbers(self, youngest_days=(0.0, 1e9, False), most_pruned=SHARE, most_changed=SHARE)
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
        """Return the fields; None is written as false, since a missing field has its default."""
        record: dict[str, object] = {
            field.name: getattr(self, field.name) for field in fields(self)
        }
        for name in ("kept_importance", "kept_priority"):
            if record[name] is None:
                record[name] = False
        return {**record, "activity_times": list(self.activity_times)}
