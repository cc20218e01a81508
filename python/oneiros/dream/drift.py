"""Drift of a store from cycle to cycle. Source: docs/systems/reverie.md R19."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from oneiros import display
from oneiros._lazy import np
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line
from oneiros.display.tables import DisplayTable, moment
from oneiros.dream.report import DreamReport
from oneiros.model.validation import require_instance
from oneiros.runtime.dataclasses import asdict, dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pandas as pd

    Column = npt.NDArray[Any]
    Days = npt.NDArray[np.float64]

__all__ = ["CycleDrift", "Drift", "drift_over"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CycleDrift:
    """The drift figures of one cycle; see :func:`oneiros.dream.figures.drift_of`."""

    id: str
    now: float
    """The cycle's clock, seconds UTC."""
    profile: str
    is_undone: bool
    """Whether the cycle was undone."""
    live: int
    """Live memories after the cycle."""
    stale_share: float
    """Share of memories that are stale enough to be pruned, 0 to 1."""
    half_life_days: Mapping[str, float | None]
    """By kind, the first age at which at most half of its memories are left, or None."""
    access_gini: float
    """Concentration of accesses, 0 (all equal) to 1 (one memory has all)."""
    churn: float | None
    """Change of the 50 most recalled memories since the previous cycle, 0 to 1, or None."""

    def __repr__(self) -> str:
        return f"<CycleDrift {_line(self)}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Drift:
    """The drift figures of several cycles."""

    cycles: tuple[CycleDrift, ...]
    """The oldest first."""

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds with a half-life in any cycle, those of the last cycle first."""
        found: dict[str, None] = {}
        for cycle in reversed(self.cycles):
            found.update(
                dict.fromkeys(k for k, days in cycle.half_life_days.items() if days is not None)
            )
        return tuple(found)

    def record(self) -> dict[str, Any]:
        """Return the figures as a dict for JSON."""
        return {"cycles": [asdict(cycle) for cycle in self.cycles]}

    def table(self) -> DisplayTable:
        """Return a table with one row per cycle, the oldest first."""
        kinds = self.kinds()
        columns = ("id", "time", "undone", "live", "stale share", "Gini of accesses", "churn")
        rows = (
            (
                *(cycle.id, moment(cycle.now), "yes" if cycle.is_undone else "no", cycle.live),
                *(cycle.stale_share, cycle.access_gini, cycle.churn),
                *(cycle.half_life_days.get(kind) for kind in kinds),
            )
            for cycle in self.cycles
        )
        halves = (f"half-life of {kind}, days" for kind in kinds)
        return DisplayTable((*columns, *halves), tuple(rows))

    def to_frame(self) -> pd.DataFrame:
        """Return :meth:`table` as a pandas data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.table().to_frame()

    def _repr_html_(self) -> str:
        return display.notebook.drift_html(self)

    def __repr__(self) -> str:
        count = len(self.cycles)
        cycles = count_of(count, "cycle")
        return (
            f"<Drift of {cycles}, the last: {_line(self.cycles[-1])}>"
            if count
            else "<Drift of no cycle>"
        )

    def __str__(self) -> str:
        return "\n".join(map(_line, self.cycles)) or "no dream cycle ran"


def drift_over(reports: Iterable[DreamReport]) -> Drift:
    """Return the drift figures of several cycles.

    Args:
        reports: the newest first, as returned by ``Engine.dreams``. Reports of undoing mark the
            cycle that they undid; they and damaged reports have no figures.

    Returns:
        :class:`oneiros.dream.drift.Drift`, with the oldest cycle first.

    Raises:
        TypeError: ``reports`` is not an iterable of reports.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     report = engine.dream()
    >>> drift = oneiros.drift_over([report])
    >>> [(cycle.live, cycle.stale_share, cycle.churn) for cycle in drift.cycles]
    [(0, 0.0, None)]
    """
    require_instance("reports", reports, (Iterable,), "several DreamReport")
    listed = list(reports)
    for place, report in enumerate(listed):
        require_instance(f"reports[{place}]", report, (DreamReport,), "a DreamReport")
    undone = {report.undoes for report in listed}
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
            for report in reversed(listed)
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
    undone = ", undone" if cycle.is_undone else ""
    return (
        f"{cycle.id} {moment(cycle.now)} ({cycle.profile}{undone}): {cycle.live} live, "
        f"{cycle.stale_share:.1%} stale, Gini {cycle.access_gini:.3f}, churn {churn}, "
        f"half-lives: {lives or 'none'}"
    )
