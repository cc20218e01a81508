"""The phases of Reverie, as a profile declares them. Source: docs/systems/reverie.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Final

from oneiros.model.validation import (
    LARGEST_WEIGHT,
    require_int,
    settle,
    settle_numbers,
)
from oneiros.runtime.dataclasses import dataclass, fields
from oneiros.scoring.tables import SHARE, WEIGHT, Table, require_table, require_words, settle_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oneiros.scoring.phases import Phase

__all__ = [
    "LIMITS_DAYS",
    "PHASES",
    "SIGNAL_WEIGHTS",
    "Consolidate",
    "Downscale",
    "Place",
    "Promote",
    "Prune",
    "Scan",
]


LIMITS_DAYS: Final = Table(  # R13
    {
        "session": 30.0,
        "bug": 60.0,
        "config": 90.0,
        "decision": 180.0,
        "reference": math.inf,
        "heuristic": math.inf,
        "directive": math.inf,
        "preference": math.inf,
    }
)

SIGNAL_WEIGHTS: Final = Table(  # R16
    {
        "directive": 1.5,
        "preference": 1.3,
        "decision": 1.2,
        "heuristic": 1.1,
        "bug": 1.0,
        "config": 1.0,
        "reference": 1.0,
        "session": 0.7,
    }
)


_MOST = 2**31 - 1
_AT_LEAST_0 = (0.0, 1e9, False)
_ABOVE_0 = (0.0, 1e9, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Find the staged memories to replay, by descending priority.

    ``priority = recency * access * importance * novelty``.

    Source: docs/systems/reverie.md R10.
    """

    name: ClassVar[str] = "scan"

    min_age_hours: float = 1.0
    """Hours since the last update that must be exceeded, >= 0."""

    half_life_hours: float = 168.0
    """Half-life of the recency, hours, > 0."""

    access_floor: float = 0.1
    """Lower bound of the access term ``ln(1 + revisions + duplicates)``, 0 to 1e6."""

    limit: int | None = 50
    """Maximum number of candidates, 1 to 2^31 - 1; None (in TOML ``false``) for all."""

    compared: int = 256
    """Number of memories, best by the other terms, whose novelty is computed; 0 to 4,096."""

    def __post_init__(self) -> None:
        settle_numbers(
            self,
            min_age_hours=_AT_LEAST_0,
            half_life_hours=_ABOVE_0,
            access_floor=WEIGHT,
        )
        require_int("compared", self.compared, low=0, high=4_096)
        if self.limit is None or self.limit is False:
            settle(self, "limit", None)
        else:
            require_int("limit", self.limit, low=1, high=_MOST)

    def record(self) -> dict[str, object]:
        """Return name and fields. No limit becomes false, since a missing limit is the default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name, **values, "limit": self.limit or False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidate:
    """Replay the candidates: strengthen them and their links to memories replayed with them.

    Source: docs/systems/reverie.md R11, R17.
    """

    name: ClassVar[str] = "consolidate"

    max_delta: float = 0.1
    """Upper bound of the strength gained by one replay, 0 to 1e6."""

    nearest: int = 3
    """Number of nearest consolidated memories by embedding replayed with each, 0 to 1,000."""

    link_gain: float = 0.1
    """Weight that a link gains, 0 to 1."""

    most_linked: int = 32
    """Maximum number of memories of a session or topic that are linked in pairs, 0 to 1,000."""

    def __post_init__(self) -> None:
        settle_numbers(self, max_delta=WEIGHT, link_gain=SHARE)
        require_int("nearest", self.nearest, low=0, high=1_000)
        require_int("most_linked", self.most_linked, low=0, high=1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Downscale:
    """Weaken every memory: ``strength = max(floor, strength * rate)``.

    No strength is raised. Memories tagged explicit or schema_violation are not changed.

    Source: docs/systems/reverie.md R12.
    """

    name: ClassVar[str] = "downscale"

    rate: float = 0.95
    """Share of the strength to keep, 0 to 1."""

    floor: float = 0.01
    """Lower bound of the strength, 0 to 1."""

    cross_session_share: float = 0.5
    """Loss of memories tagged cross_session, as a share of the others' loss, 0 to 1."""

    def __post_init__(self) -> None:
        settle_numbers(self, rate=SHARE, floor=SHARE, cross_session_share=SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """Delete or archive memories that are stale, superseded, unused or duplicated.

    Source: docs/systems/reverie.md R13.
    """

    name: ClassVar[str] = "prune"
    reads_aliases: ClassVar[tuple[str, ...]] = ("limits_days", "archived_kinds")

    limits_days: Mapping[str, float] = LIMITS_DAYS
    """Days without use at which the staleness is 1, by kind, > 0; infinity: never stale."""

    other_limit_days: float = 180.0
    """Limit of unlisted kinds, days, > 0."""

    least_staleness: float = 1.0
    """Staleness from which memories are removed, > 0."""

    archived_kinds: tuple[str, ...] = ("session",)
    """Kinds that are archived; all others are deleted."""

    unused_days: float = 30.0
    """Days since creation after which a weak memory without accesses is removed, >= 0."""

    strength_floor: float = 0.01
    """Strength up to which a memory is weak, 0 to 1."""

    def __post_init__(self) -> None:
        _settle_limits(self)
        settle(self, "archived_kinds", require_words("archived_kinds", self.archived_kinds))
        settle_numbers(
            self, least_staleness=_ABOVE_0, unused_days=_AT_LEAST_0, strength_floor=SHARE
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Consolidate staged memories that were used or are old enough; archive weak stale ones.

    Source: docs/systems/reverie.md R14.
    """

    name: ClassVar[str] = "place"
    reads_aliases: ClassVar[tuple[str, ...]] = ("limits_days",)

    least_activity: int = 1
    """Number of accesses, revisions and peers from which to consolidate, 0 to 2^31 - 1."""

    least_age_days: float = 1.0
    """Days since creation from which to consolidate regardless of activity, >= 0."""

    limits_days: Mapping[str, float] = LIMITS_DAYS
    """As in :class:`Prune`."""

    other_limit_days: float = 180.0
    """As in :class:`Prune`."""

    least_staleness: float = 0.5
    """Staleness from which a weak memory is archived, >= 0."""

    below_strength: float = 0.2
    """Strength below which a memory is weak, 0 to 1."""

    def __post_init__(self) -> None:
        require_int("least_activity", self.least_activity, low=0, high=_MOST)
        _settle_limits(self)
        settle_numbers(
            self, least_age_days=_AT_LEAST_0, least_staleness=_AT_LEAST_0, below_strength=SHARE
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Promote:
    """Move memories and their layer between depths 1 to 3.

    Source: docs/systems/reverie.md R15, R16.
    """

    name: ClassVar[str] = "promote"
    reads_aliases: ClassVar[tuple[str, ...]] = ("limits_days",)

    second_spread: int = 2
    """Number of sessions from which depth 1 becomes 2, 1 to 2^31 - 1."""

    second_accesses: int = 3
    """Number of accesses also needed for that, 0 to 2^31 - 1."""

    third_spread: int = 5
    """Number of sessions from which depth 2 becomes 3, 1 to 2^31 - 1."""

    limits_days: Mapping[str, float] = LIMITS_DAYS
    """As in :class:`Prune`."""

    other_limit_days: float = 180.0
    """As in :class:`Prune`."""

    below_staleness: float = 1.0
    """Staleness from which a memory is not promoted, >= 0."""

    missed_limits: float = 2.0
    """Staleness at which, and at each multiple of which, a memory falls by one depth, > 0."""

    weights: Mapping[str, float] = SIGNAL_WEIGHTS
    """Weights of the signal by kind, 0 to 1e6."""

    other_weight: float = 1.0
    """Weight of unlisted kinds, 0 to 1e6."""

    least_signal: float = 0.05
    """Signal below which a memory's layer is one lower than its depth, >= 0."""

    def __post_init__(self) -> None:
        require_int("second_spread", self.second_spread, low=1, high=_MOST)
        require_int("second_accesses", self.second_accesses, low=0, high=_MOST)
        require_int("third_spread", self.third_spread, low=1, high=_MOST)
        _settle_limits(self)
        weights = require_table("weights", self.weights, low=0.0, high=LARGEST_WEIGHT)
        settle(self, "weights", weights)
        settle_numbers(
            self,
            below_staleness=_AT_LEAST_0,
            missed_limits=_ABOVE_0,
            other_weight=WEIGHT,
            least_signal=_AT_LEAST_0,
        )


def _settle_limits(phase: Prune | Place | Promote) -> None:
    """Check the limits by kind and store them as floats."""
    limits = require_table(
        "limits_days", phase.limits_days, low=0.0, high=math.inf, above_low=True, finite=False
    )
    settle(phase, "limits_days", limits)
    settle_limits(phase, "other_limit_days")


PHASES: tuple[type[Phase], ...] = (Scan, Consolidate, Downscale, Prune, Place, Promote)
"""The phases of this file."""
