"""How a store drifts from cycle to cycle. Source: docs/systems/reverie.md R19."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.display.escaping import one_line
from oneiros.display.tables import moment
from oneiros.dream.phases.kinds import staleness
from oneiros.model.validation import require_instance
from oneiros.runtime.dataclasses import asdict, dataclass
from oneiros.scoring.phases.reverie import Prune

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from oneiros.dream.draft import Draft
    from oneiros.dream.report import DreamReport

__all__ = ["TOP", "CycleDrift", "Drift", "access_gini", "drift_of", "drift_over", "half_life_days"]


if TYPE_CHECKING:
    Column = npt.NDArray[Any]
    Days = npt.NDArray[np.float64]


TOP: Final = 50
"""How many of the memories recalled most often a cycle notes, so that the next can tell the churn."""

_KINDS: Final = 30
_DAY: Final = 86_400.0
_ROUNDING: Final = 1e-12


def drift_of(
    draft: Draft, prune: Prune | None = None, before: Collection[str] | None = None
) -> dict[str, Any]:
    """Return the figures of a cycle for its report, as JSON can hold them.

    - "live": how many memories are live after it.
    - "stale_share": the share of the memories left that are as stale as what is pruned (R13), 0 to
      1; 0 where none is left.
    - "half_life_days": by kind, see :func:`half_life_days`; None where more than half is live. The
      30 kinds with the most memories.
    - "access_gini": see :func:`access_gini`.
    - "top": the ids of up to 50 live memories with the most accesses, at least one; of as many
      accesses the last accessed first, then the first inserted.
    - "churn": how much "top" changed since the cycle before, 0 to 1; None: there was none. The
      Jaccard distance 1 - (in both) / (in either); 0 where neither holds any.

    Memories that the cycle adds count in "live" alone: they are new.

    Args:
        draft: when all phases ran.
        prune: the profile's, for its limits and from which staleness on it prunes; None: as
            published.
        before: "top" of the cycle before; None: there was none.

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
    """Return the Gini coefficient of access counts, 0 (all alike) up to 1 (one has all).

    With the counts in rising order, x_1 to x_n: sum of (2 i - n - 1) x_i, over n times their sum.
    0 where nothing was accessed.

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

    The median of the survival curve as Kaplan and Meier estimate it: the curve falls, at each age at
    which some were deleted, by the share of these among all that reached this age, and memories that
    are still live count up to the age that they have.

    Args:
        lived: days from creation to deletion, or to now; >= 0.
        has_died: whether it is the former.

    Returns:
        The first age at which the curve is at most 1/2; None where it stays above.
    """
    deaths = np.sort(lived[has_died])
    if not len(deaths):
        return None
    # Deaths of one age one after the other: their shares multiply to that of all of them.
    reached = len(lived) - np.searchsorted(np.sort(lived), deaths, side="left")
    within = np.arange(len(deaths)) - np.searchsorted(deaths, deaths, side="left")
    alive = np.cumprod(1.0 - 1.0 / (reached - within))
    halved = np.flatnonzero(alive <= 0.5 + _ROUNDING)
    return float(deaths[halved[0]]) if len(halved) else None


def _half_lives(draft: Draft) -> dict[str, float | None]:
    """Return the half-life of each kind, over what is live or soft-deleted; what was erased is gone."""
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
            mine = order[ends_of[code] - sizes[code] : ends_of[code]]
            found[draft.source.kinds[code]] = half_life_days(lived[mine], has_died[mine])
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


def _distance(one: set[str], other: set[str]) -> float:
    either = one | other
    return 1.0 - len(one & other) / len(either) if either else 0.0


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
