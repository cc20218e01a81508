"""OMEGA's tables and lists, copied from docs/systems/omega.md O8 to O11, O14, O16."""

from __future__ import annotations

TEMPORAL_WEIGHT = 1.2  # O7

PROFILES = {  # vector, text, word, context, graph. O8
    "_default": (1.0, 1.0, 1.0, 1.0, 1.0),
    "error_pattern": (0.3, 1.5, 2.0, 0.5, 0.3),
    "decision": (0.8, 0.6, 0.5, 1.0, 2.0),
    "lesson_learned": (1.5, 0.8, 0.5, 0.8, 1.0),
    "user_preference": (0.6, 1.0, 1.5, 0.3, 0.3),
    "knowledge-update": (0.8, 1.3, 1.5, 1.0, 1.0),
    "multi-session": (1.3, 1.0, 1.3, 1.0, 1.0),
    "temporal-reasoning": (1.0, 1.3, 1.3, 1.0, 1.0),
}

INTENTS: dict[str | None, tuple[float, ...]] = {  # vector, text, word, context, graph. O9
    "navigational": (0.1, 2.0, 2.0, 0.5, 0.3),
    "factual": (0.3, 1.5, 1.8, 1.0, 1.0),
    "conceptual": (1.8, 0.5, 0.3, 1.0, 1.0),
    None: (1.0, 1.0, 1.0, 1.0, 1.0),
}

KEYWORD_SIGNS = (  # O9, in the order of the table
    *("code", "path", "quoted", "camel_case", "snake_case", "memory_id", "version", "url", "hex"),
)

FACTUAL = (  # O9
    *("what was", "what is", "what are", "which", "when did", "when was", "who", "who's", "whose"),
    *("whom", "where", "where's", "did we", "did i", "was there", "is there", "decision about"),
    *("preference for", "error with", "bug in", "remind me", "remember", "remembers", "remembered"),
)

CONCEPTUAL = (  # O9
    *("how does", "how doesn't", "how do", "how don't", "how to", "why does", "why doesn't"),
    *("why do", "why don't", "why is", "why isn't", "explain", "explains", "explained"),
    *("explaining", "understand", "understands", "understanding", "overview", "overviews"),
    *("architecture", "architectures", "design", "designs", "designed", "designing", "pattern"),
    *("patterns", "approach", "approaches", "strategy", "concept", "concepts", "conceptual"),
)

CONJUNCTIONS = ("and also", "and", "as well as", "also")  # O10

NOT_BEFORE = (  # O10
    *("the", "a", "an", "in", "on", "at", "to", "of", "by", "or", "if", "is", "was", "were", "are"),
    *("it", "its"),
)

CLAUSE_MARKS = (  # O10
    *("what", "which", "when", "where", "who", "how", "why", "did", "do", "does", "was", "were"),
    *("is", "are", "has", "have", "will", "can", "should", "tell", "show", "find", "list"),
)

KIND_WEIGHT = {  # O11
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

RATE_A_DAY = {  # O14
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
RATE_OTHERWISE = 0.02

HIDDEN_KINDS = {  # shown when `kind=` asks. O23
    "code_chunk",
    "coordination_snapshot",
    "file_summary",
    "session_respawn",
    "session_summary",
}

CONTEXTS = {  # min_vec, min_text, min_composite, context boost. O16
    "general": (0.50, 0.35, 0.10, 1.0),
    "error_debug": (0.40, 0.45, 0.08, 1.0),
    "file_edit": (0.50, 0.35, 0.10, 2.0),
    "session_start": (0.45, 0.40, 0.10, 1.0),
    "planning": (0.45, 0.40, 0.10, 1.5),
    "review": (0.45, 0.40, 0.10, 1.5),
}
