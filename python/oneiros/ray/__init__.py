"""Batches and stores on many machines with Ray, an optional package (``pip install 'oneiros[ray]'``).

Ray schedules, moves and restarts; the engine in each process is the one of a single machine, so scores
have the same bits. Ray itself is imported on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.ray.batches import rescore as rescore
else:
    __getattr__ = door(
        __name__,
        ("batches", "cluster"),
        {"rescore": "batches"},
    )

__all__ = ["rescore"]
