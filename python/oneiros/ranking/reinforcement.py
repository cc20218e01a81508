"""What a recall does to the memories it returns."""

from __future__ import annotations

from dataclasses import dataclass

from oneiros.ranking.declaration import require_number, settle

__all__ = ["Reinforcement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinforcement:
    """Each returned memory grows more stable, the longer it had rested.

    ``stability = min(limit, stability * (1 + gain * min(2, days / span_days)))``, days since the
    last access (creation if never, a negative span 0); ``access_count`` goes up by one,
    ``last_accessed_at`` becomes now, the session joins the memory's set of sessions.
    ``oneiros._core.Columns.reinforce`` carries it out.

    Source: docs/systems/reverie.md R20.
    """

    gain: float = 0.1
    """Growth at ``span_days`` of rest, >= 0."""

    span_days: float = 7.0
    """Days, > 0."""

    limit: float = 10.0
    """The greatest stability, > 0."""

    def __post_init__(self) -> None:
        settle(self, "gain", require_number("gain", self.gain, low=0.0))
        settle(
            self,
            "span_days",
            require_number("span_days", self.span_days, low=0.0, above_low=True),
        )
        settle(self, "limit", require_number("limit", self.limit, low=0.0, above_low=True))
