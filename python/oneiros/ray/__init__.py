"""Batches and stores on many machines with Ray, an optional package (``pip install 'oneiros[ray]'``).

Ray schedules, moves and restarts; the engine in each process is the one of a single machine, so scores
have the same bits. Ray itself is imported on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.ray.batches import rescore as rescore
    from oneiros.ray.failures import ShardUnavailable as ShardUnavailable
    from oneiros.ray.reports import ScopeResponses as ScopeResponses
    from oneiros.ray.reports import ShardedReport as ShardedReport
    from oneiros.ray.sharded import ShardedEngine as ShardedEngine
    from oneiros.ray.sharded import ShardScope as ShardScope
else:
    __getattr__ = door(
        __name__,
        ("batches", "cluster"),
        {
            "ScopeResponses": "reports",
            "ShardScope": "sharded",
            "ShardUnavailable": "failures",
            "ShardedEngine": "sharded",
            "ShardedReport": "reports",
            "rescore": "batches",
        },
    )

__all__ = [
    "ScopeResponses",
    "ShardScope",
    "ShardUnavailable",
    "ShardedEngine",
    "ShardedReport",
    "rescore",
]
