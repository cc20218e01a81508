"""How a store drifts from cycle to cycle. Source: docs/systems/reverie.md R19 (ours)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import require_instance
from oneiros.dataclasses_on_use import asdict, dataclass
from oneiros.display import moment
from oneiros.visible_text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oneiros.dream.report import DreamReport

__all__ = ["CycleDrift", "Drift", "drift_over"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CycleDrift:
    """The figures of one cycle; see :func:`oneiros.dream.drift.drift_of`."""

    id: str
    now: float
    """Its clock, seconds UTC."""
    profile: str
    is_undone: bool
    """Whether it was taken back."""
    live: int
    """Memories that are live after it."""
    stale_share: float
    """The share of them that are as stale as what is pruned, 0 to 1."""
    half_life_days: Mapping[str, float | None]
    """By kind, the first age at which at most half of its memories are left; None: more are."""
    access_gini: float
    """How concentrated accesses are, 0 (alike) to 1 (one has all)."""
    churn: float | None
    """How much the 50 recalled most changed since the cycle before, 0 to 1; None: there was none."""

    def __repr__(self) -> str:
        return f"<CycleDrift {_line(self)}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Drift:
    """The figures of several cycles."""

    cycles: tuple[CycleDrift, ...]
    """The oldest first."""

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds that have a half-life in some cycle, those of the last cycle first."""
        found: dict[str, None] = {}
        for cycle in reversed(self.cycles):
            found.update(
                dict.fromkeys(k for k, days in cycle.half_life_days.items() if days is not None)
            )
        return tuple(found)

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return {"cycles": [asdict(cycle) for cycle in self.cycles]}

    def __repr__(self) -> str:
        count = len(self.cycles)
        cycles = f"{count} cycle{'' if count == 1 else 's'}"
        return (
            f"<Drift of {cycles}, the last: {_line(self.cycles[-1])}>"
            if count
            else "<Drift of no cycle>"
        )

    def __str__(self) -> str:
        return "\n".join(map(_line, self.cycles)) or "no dream cycle ran"


def drift_over(reports: Iterable[DreamReport]) -> Drift:
    """Return the figures of cycles, side by side.

    Args:
        reports: the newest first, as ``Engine.dreams`` returns them. Undoings have no figures: they
            say which cycle they took back. Nor has one that is damaged.

    Raises:
        TypeError: that are no reports.
    """
    from oneiros.dream.report import DreamReport  # noqa: PLC0415 - whoever has one loaded it

    require_instance("reports", reports, (Iterable,), "several DreamReport")
    given = list(reports)
    for place, one in enumerate(given):
        require_instance(f"reports[{place}]", one, (DreamReport,), "a DreamReport")
    undone = {report.undoes for report in given}
    return Drift(
        cycles=tuple(
            CycleDrift(
                id=report.id,
                now=report.now,
                profile=report.profile,
                is_undone=report.id in undone,
                live=report.drift["live"],
                stale_share=report.drift["stale_share"],
                half_life_days=report.drift["half_life_days"],
                access_gini=report.drift["access_gini"],
                churn=report.drift["churn"],
            )
            for report in reversed(given)
            if report.drift
        )
    )


def _line(cycle: CycleDrift) -> str:
    lives = ", ".join(
        f"{one_line(kind)} {days:.4g} days"
        for kind, days in cycle.half_life_days.items()
        if days is not None
    )
    churn = "-" if cycle.churn is None else f"{cycle.churn:.1%}"
    taken_back = ", undone" if cycle.is_undone else ""
    return (
        f"{cycle.id} {moment(cycle.now)} ({cycle.profile}{taken_back}): {cycle.live} live, "
        f"{cycle.stale_share:.1%} stale, Gini {cycle.access_gini:.3f}, churn {churn}, "
        f"half-lives: {lives or 'none'}"
    )
