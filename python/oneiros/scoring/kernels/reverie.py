"""The kernels of Reverie. Source: docs/systems/reverie.md."""

from __future__ import annotations

import numpy.typing as npt

from oneiros.scoring.factors import Depth, Spread, Stability, TimeDecay
from oneiros.scoring.kernels.arguments import FloatArray, Result, judged, run
from oneiros.scoring.phases.reverie import Consolidate, Downscale, Promote, Scan

__all__ = [
    "depth_weight",
    "downscale",
    "replay_delta",
    "scan_priority",
    "signal",
    "spread_weight",
    "stability_boost",
    "staleness",
    "time_decay_boost",
]


_TIME_DECAY = TimeDecay()
_DEPTH = Depth()
_SPREAD = Spread()
_STABILITY = Stability()
_CONSOLIDATE = Consolidate()
_SCAN = Scan()
_DOWNSCALE = Downscale()
_PROMOTE = Promote()


def time_decay_boost(
    age_days: npt.ArrayLike,
    boost: float = _TIME_DECAY.boost,
    tau_days: float = _TIME_DECAY.tau_days,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``1 + boost * exp(-age_days / tau_days)``, in [1, 1 + boost].

    Args:
        age_days: days since the last update; < 0 counts as 0, NaN (no timestamp) gives 1.
        boost: gain at age 0, 0 to 1e6.
        tau_days: time constant of the gain, days, > 0.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/reverie.md R4.

    >>> from oneiros import kernels
    >>> round(kernels.time_decay_boost(30), 4)
    1.1104
    """
    parameters = judged(TimeDecay, boost=boost, tau_days=tau_days)
    return run("time_decay_boost", {"age_days": age_days}, parameters, out, threads)


def depth_weight(
    depth: npt.ArrayLike,
    table: tuple[float, float, float] = _DEPTH.table,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``table[depth - 1]``.

    Args:
        depth: 1, 2 or 3; NaN gives NaN.
        table: weights of depths 1, 2 and 3, each 0 to 1e6.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; a depth that is not 1, 2 or 3.

    Source: docs/systems/reverie.md R6.

    >>> from oneiros import kernels
    >>> kernels.depth_weight(3)
    1.2
    """
    return run("depth_weight", {"depth": depth}, judged(Depth, table=table), out, threads)


def spread_weight(
    session_spread: npt.ArrayLike,
    cap: float = _SPREAD.cap,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``min(ln(1 + session_spread) / ln(2), cap)``, exactly 1 at a spread of 1.

    Args:
        session_spread: number of sessions that used the memory, >= 0; NaN gives NaN.
        cap: upper bound of the factor, > 0; infinity for none.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; a spread below 0 or infinite.

    Source: docs/systems/reverie.md R7.

    >>> from oneiros import kernels
    >>> kernels.spread_weight(3)
    2.0
    """
    values = {"session_spread": session_spread}
    return run("spread_weight", values, judged(Spread, cap=cap), out, threads)


def stability_boost(
    age_days: npt.ArrayLike,
    stability: npt.ArrayLike,
    tau_days: float = _STABILITY.tau_days,
    low: float = _STABILITY.low,
    high: float = _STABILITY.high,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``exp((age_days / tau_days) * (1 - 1 / stability))``, clamped to [low, high].

    Args:
        age_days: days since the last access; < 0 counts as 0, NaN (no timestamp) gives 1.
        stability: 1 gives exactly 1 for every age, <= 0 gives ``low``, NaN gives NaN.
        tau_days: time constant, days, > 0.
        low: lower bound of the factor, 0 to ``high``.
        high: upper bound of the factor, ``low`` to 1e6.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/reverie.md R8.

    >>> from oneiros import kernels
    >>> round(kernels.stability_boost(30, 2.0), 4)
    1.6487
    """
    parameters = judged(Stability, tau_days=tau_days, low=low, high=high)
    values = {"age_days": age_days, "stability": stability}
    return run("stability_boost", values, parameters, out, threads)


def replay_delta(
    peer_count: npt.ArrayLike,
    age_hours: npt.ArrayLike,
    max_delta: float = _CONSOLIDATE.max_delta,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``max_delta / (1 + age_hours) * ln(1 + peer_count)``, clamped to [0, max_delta].

    Args:
        peer_count: number of memories replayed with it, >= 0; NaN gives NaN.
        age_hours: hours since creation; < 0 counts as 0, NaN gives NaN.
        max_delta: upper bound of the gain of one replay, 0 to 1e6.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; a count below 0 or infinite.

    Source: docs/systems/reverie.md R17.

    >>> from oneiros import kernels
    >>> round(kernels.replay_delta(1, 1), 4)
    0.0347
    """
    values = {"peer_count": peer_count, "age_hours": age_hours}
    return run("replay_delta", values, judged(Consolidate, max_delta=max_delta), out, threads)


def scan_priority(
    age_hours: npt.ArrayLike,
    uses: npt.ArrayLike,
    importance: npt.ArrayLike,
    overlap: npt.ArrayLike,
    half_life_hours: float = _SCAN.half_life_hours,
    access_floor: float = _SCAN.access_floor,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return the priority of a staged memory for replay.

    ``2 ** (-age_hours / half_life_hours) * max(access_floor, ln(1 + uses)) * importance
    * (1 - overlap)``.

    Args:
        age_hours: hours since the last update; < 0 counts as 0, NaN gives NaN.
        uses: number of revisions plus duplicates, >= 0; NaN gives NaN.
        importance: 0 to 1.
        overlap: largest Jaccard similarity of its words to another memory's of its topic, 0 to 1.
        half_life_hours: half-life of the recency, hours, > 0.
        access_floor: lower bound of the term for uses, 0 to 1e6.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; a number of uses below 0 or infinite.

    Source: docs/systems/reverie.md R10.

    >>> from oneiros import kernels
    >>> round(kernels.scan_priority(24, 2, 0.5, 0.0), 4)
    0.4975
    """
    parameters = judged(Scan, half_life_hours=half_life_hours, access_floor=access_floor)
    values = {"age_hours": age_hours, "uses": uses, "importance": importance, "overlap": overlap}
    return run("scan_priority", values, parameters, out, threads)


def downscale(
    strength: npt.ArrayLike,
    rate: npt.ArrayLike = _DOWNSCALE.rate,
    floor: float = _DOWNSCALE.floor,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``max(floor, strength * rate)``; a strength below the floor is unchanged.

    Args:
        strength: 0 to 1; NaN gives NaN.
        rate: the share to keep, 0 to 1; NaN gives NaN.
        floor: lower bound, 0 to 1.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/reverie.md R12.

    >>> from oneiros import kernels
    >>> kernels.downscale(0.8)
    0.76
    """
    values = {"strength": strength, "rate": rate}
    return run("downscale", values, judged(Downscale, floor=floor), out, threads)


def staleness(
    idle_days: npt.ArrayLike,
    limit_days: npt.ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``idle_days / limit_days``; a memory is stale from 1 on.

    Args:
        idle_days: days since the last access, or since creation if never accessed; < 0 counts as
            0, NaN gives NaN.
        limit_days: limit of the kind, > 0; infinity (never stale) gives 0, NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels; a limit that is not above 0.

    Source: docs/systems/reverie.md R13.

    >>> from oneiros import kernels
    >>> kernels.staleness(45, 30)
    1.5
    """
    values = {"idle_days": idle_days, "limit_days": limit_days}
    return run("staleness", values, {}, out, threads)


def signal(
    access_count: npt.ArrayLike,
    age_days: npt.ArrayLike,
    revision_count: npt.ArrayLike,
    weight: npt.ArrayLike = _PROMOTE.other_weight,
    *,
    out: FloatArray | None = None,
    threads: int = 1,
) -> Result:
    """Return ``access_count / age_days * (1 + revision_count) * weight``.

    0 at any age without accesses or with weight 0.

    Args:
        access_count: number of accesses; NaN gives NaN.
        age_days: days since creation; < 0 counts as 0, NaN gives NaN.
        revision_count: number of revisions; NaN gives NaN.
        weight: weight of the memory's kind; NaN gives NaN.
        out: array for the result, of its shape and dtype.
        threads: 1 to 256.

    Raises:
        TypeError, ValueError: as for all kernels.

    Source: docs/systems/reverie.md R16.

    >>> from oneiros import kernels
    >>> kernels.signal(6, 30, 1)
    0.4
    """
    values = {
        "access_count": access_count,
        "age_days": age_days,
        "revision_count": revision_count,
        "weight": weight,
    }
    return run("signal", values, {}, out, threads)
