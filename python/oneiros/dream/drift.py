"""Drift of a store from cycle to cycle. Source: docs/systems/reverie.md R19."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.display.escaping import one_line
from oneiros.display.tables import moment
from oneiros.dream.phases.kinds import staleness
from oneiros.dream.report import DreamReport
from oneiros.model.validation import require_instance
from oneiros.runtime.dataclasses import asdict, dataclass
from oneiros.scoring.phases.reverie import Prune

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from oneiros.dream.draft import Draft

    Column = npt.NDArray[Any]
    Days = npt.NDArray[np.float64]

__all__ = ["TOP", "CycleDrift", "Drift", "access_gini", "drift_of", "drift_over", "half_life_days"]

TOP: Final = 50
"""Number of most recalled memories that a cycle notes, from which the next computes the churn."""

_KINDS: Final = 30
_DAY: Final = 86_400.0
_ROUNDING: Final = 1e-12


def drift_of(
    draft: Draft, prune: Prune | None = None, before: Collection[str] | None = None
) -> dict[str, Any]:
    """Return the drift figures of a cycle for its report, as values for JSON.

    - "live": number of live memories after the cycle.
    - "stale_share": share of the remaining memories that are stale enough to be pruned (R13), 0 to
      1; 0 if none remain.
    - "half_life_days": by kind, for the 30 kinds with the most memories, see
      :func:`half_life_days`; None if more than half are live.
    - "access_gini": see :func:`access_gini`.
    - "top": ids of up to 50 live memories with the most accesses, at least one each. Ties: the last
      accessed first, then the first inserted.
    - "churn": change of "top" since the previous cycle, 0 to 1; None if there was none. The Jaccard
      distance 1 - (in both) / (in either); 0 if both are empty.

    Memories that the cycle adds count in "live" only.

    Args:
        draft: after all phases.
        prune: the profile's phase, for its limits and its staleness threshold; None: the published
            defaults.
        before: "top" of the previous cycle; None: there was none.

    Source: docs/systems/reverie.md R19 (ours).
    """
    rows = np.flatnonzero(draft.live)
    counts = draft.column("access_count")[rows]
    chosen = prune or Prune()
    stale = int(np.count_nonzero(staleness(draft, chosen)[rows] >= chosen.least_staleness))
    ids = draft.source.ids
    top = [ids[row] for row in _most_recalled(draft, rows, counts)]
    return {
        "live": len(rows) + len(draft.added),
        "stale_share": stale / len(rows) if len(rows) else 0.0,
        "half_life_days": _half_lives(draft),
        "access_gini": access_gini(counts),
        "top": top,
        "churn": None if before is None else _distance(set(before), set(top)),
    }


def access_gini(counts: Column) -> float:
    """Return the Gini coefficient of access counts, 0 (all equal) up to 1 (one has all).

    With the counts in ascending order, x_1 to x_n: sum of (2 i - n - 1) x_i, divided by n times
    their sum. 0 if nothing was accessed.

    Args:
        counts: shape (n,), whole numbers >= 0.
    """
    total = int(counts.sum(dtype=np.uint64))
    if not total:
        return 0.0
    rising = np.sort(counts).astype(np.float64)
    size = len(rising)
    weights = 2.0 * np.arange(1, size + 1) - size - 1
    return float(weights @ rising / (size * total))


def half_life_days(lived: Days, has_died: Column) -> float | None:
    """Return the age at which half of the memories ever created are still live.

    The median of the Kaplan-Meier survival curve. At each age of a deletion, the curve falls by the
    share of deletions among all memories that reached this age. Live memories count up to their
    current age.

    Args:
        lived: days from creation to deletion, or to now if live; >= 0.
        has_died: whether the memory was deleted.

    Returns:
        The first age at which the curve is at most 1/2; None if it stays above.
    """
    deaths = np.sort(lived[has_died])
    if not len(deaths):
        return None
    # Deaths of equal age are counted one by one: the product of their shares is the joint share.
    reached = len(lived) - np.searchsorted(np.sort(lived), deaths, side="left")
    within = np.arange(len(deaths)) - np.searchsorted(deaths, deaths, side="left")
    alive = np.cumprod(1.0 - 1.0 / (reached - within))
    halved = np.flatnonzero(alive <= 0.5 + _ROUNDING)
    return float(deaths[halved[0]]) if len(halved) else None


def _half_lives(draft: Draft) -> dict[str, float | None]:
    """Return the half-life of each kind, over live and soft-deleted memories."""
    deleted = draft.column("deleted_at")
    rows = np.flatnonzero(draft.live | ~np.isnan(deleted))
    has_died = ~draft.live[rows]
    ends = np.where(has_died, deleted[rows], draft.now)
    lived = np.maximum((ends - draft.column("created_at")[rows]) / _DAY, 0.0)
    kinds = draft.column("kind")[rows]
    order = np.argsort(kinds, kind="stable")
    sizes = np.bincount(kinds, minlength=len(draft.source.kinds))
    ends_of = np.cumsum(sizes)
    found: dict[str, float | None] = {}
    for code in np.argsort(-sizes, kind="stable")[:_KINDS].tolist():
        if sizes[code]:
            of_kind = order[ends_of[code] - sizes[code] : ends_of[code]]
            found[draft.source.kinds[code]] = half_life_days(lived[of_kind], has_died[of_kind])
    return found


def _most_recalled(draft: Draft, rows: Column, counts: Column) -> list[int]:
    used = np.flatnonzero(counts)
    if len(used) > TOP:
        least = np.partition(counts[used], len(used) - TOP)[len(used) - TOP]
        used = used[counts[used] >= least]
    accessed = np.nan_to_num(draft.column("last_accessed_at")[rows[used]], nan=-np.inf)
    order = np.lexsort((-accessed, -counts[used].astype(np.int64)))
    best: list[int] = rows[used[order[:TOP]]].tolist()
    return best


def _distance(first: set[str], second: set[str]) -> float:
    """Return the Jaccard distance of two sets; 0 if both are empty."""
    union = first | second
    return 1.0 - len(first & second) / len(union) if union else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CycleDrift:
    """The drift figures of one cycle; see :func:`oneiros.dream.drift.drift_of`."""

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
