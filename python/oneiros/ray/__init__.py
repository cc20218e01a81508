"""Batches and stores on many machines with Ray, an optional package (``pip install 'oneiros[ray]'``).

Ray schedules, moves and restarts; the engine in each process is the one of a single machine, so scores
have the same bits. Ray itself is imported on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.ray.batches import rescore as rescore
    from oneiros.ray.failures import MixedShards as MixedShards
    from oneiros.ray.failures import ScopeBusy as ScopeBusy
    from oneiros.ray.failures import ShardUnavailable as ShardUnavailable
    from oneiros.ray.folder_drain import drain_folder as drain_folder
    from oneiros.ray.folder_status import FolderStatus as FolderStatus
    from oneiros.ray.folder_status import ShardStatus as ShardStatus
    from oneiros.ray.folder_status import status as status
    from oneiros.ray.generations import Generation as Generation
    from oneiros.ray.generations import back_up as back_up
    from oneiros.ray.generations import list_generations as list_generations
    from oneiros.ray.generations import open_replica as open_replica
    from oneiros.ray.generations import restore as restore
    from oneiros.ray.moves import MovedScope as MovedScope
    from oneiros.ray.reports import ScopeResponses as ScopeResponses
    from oneiros.ray.reports import ShardedReport as ShardedReport
    from oneiros.ray.reports import WholeResponse as WholeResponse
    from oneiros.ray.sharded import ShardedEngine as ShardedEngine
    from oneiros.ray.sharded import ShardScope as ShardScope
else:
    __getattr__ = door(
        __name__,
        ("batches", "cluster"),
        {
            "FolderStatus": "folder_status",
            "Generation": "generations",
            "MixedShards": "failures",
            "MovedScope": "moves",
            "ScopeBusy": "failures",
            "ScopeResponses": "reports",
            "ShardScope": "sharded",
            "ShardStatus": "folder_status",
            "ShardUnavailable": "failures",
            "ShardedEngine": "sharded",
            "ShardedReport": "reports",
            "WholeResponse": "reports",
            "back_up": "generations",
            "drain_folder": "folder_drain",
            "list_generations": "generations",
            "open_replica": "generations",
            "rescore": "batches",
            "restore": "generations",
            "status": "folder_status",
        },
    )

__all__ = [
    "FolderStatus",
    "Generation",
    "MixedShards",
    "MovedScope",
    "ScopeBusy",
    "ScopeResponses",
    "ShardScope",
    "ShardStatus",
    "ShardUnavailable",
    "ShardedEngine",
    "ShardedReport",
    "WholeResponse",
    "back_up",
    "drain_folder",
    "list_generations",
    "open_replica",
    "rescore",
    "restore",
    "status",
]
