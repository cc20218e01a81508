"""OMEGA's tables by kind, of its release 1.4.15. Source: docs/systems/omega.md."""

from __future__ import annotations

from typing import Final

from oneiros.ranking.tables import Table

__all__ = ["KIND_RATES", "KIND_WEIGHTS"]

KIND_WEIGHTS: Final = Table(  # O11
    {
        "constraint": 3.0,
        "reminder": 3.0,
        "checkpoint": 2.5,
        "decision": 2.0,
        "lesson_learned": 2.0,
        "error_pattern": 2.0,
        "user_preference": 2.0,
        "contradiction_detected": 2.0,
        "skill_template": 2.0,
        "advisor_insight": 1.5,
        "public_statement": 1.5,
        "outcome_resolution": 1.5,
        "task_completion": 1.4,
        "sota_research": 1.4,
        "reflexion": 1.3,
        "outcome_evaluation": 1.3,
        "self_reflection": 1.3,
        "research_report": 1.3,
        "benchmark_update": 1.3,
        "session_summary": 1.2,
        "preference_generated": 1.1,
        "advisor_action_outcome": 1.1,
        "sota_scan": 1.1,
        "file_conflict": 1.0,
        "entity_profile_update": 1.0,
        "merge_claim": 0.8,
        "merge_release": 0.8,
        "file_claimed": 0.7,
        "file_released": 0.7,
        "branch_claimed": 0.7,
        "branch_released": 0.7,
        "session_respawn": 0.5,
        "test": 0.4,
        "coordination_snapshot": 0.2,
        "code_chunk": 0.1,
        "file_summary": 0.05,
    }
)

KIND_RATES: Final = Table(  # O14, a day
    {
        "constraint": 0.0,
        "user_preference": 0.0,
        "error_pattern": 0.0,
        "reminder": 0.0,
        "lesson_learned": 0.005,
        "skill_template": 0.01,
        "advisor_insight": 0.015,
        "decision": 0.015,
        "task_completion": 0.015,
        "session_summary": 0.05,
        "coordination_snapshot": 0.10,
    }
)
