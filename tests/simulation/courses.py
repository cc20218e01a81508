"""Courses made by hand."""

from __future__ import annotations

from typing import Any

from oneiros.simulation.figures import Course, DayFigures, Forgotten

__all__ = ["CHECKPOINT", "course"]

CHECKPOINT: dict[str, Any] = {
    "day": 30.0,
    "memories": 10,
    "active": 6,
    "archived": 3,
    "deleted": 1,
    "added": 0,
    "questions": 4,
    "found": 0.75,
    "stale_at_rank_1": 0.25,
    "stale_in_top_k": 0.5,
    "p50_ms": 1.0,
    "p99_ms": 2.0,
}


def course(
    profile: str = "reverie",
    *,
    seed: int = 0,
    is_dreaming: bool = True,
    forgotten: tuple[Forgotten, ...] = (),
    months: tuple[dict[str, Any], ...] = ({},),
) -> Course:
    """Return a course of checkpoints, each ten memories of which four are removed, or as told."""
    return Course(
        profile=profile,
        seed=seed,
        is_dreaming=is_dreaming,
        dreams=30 if is_dreaming else 0,
        dream_seconds=1.0,
        checkpoints=tuple(DayFigures(**CHECKPOINT | month) for month in months),
        forgotten=forgotten,
    )
