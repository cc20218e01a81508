"""Between what each factor of each profile stays; docs/systems, and DESIGN.md for the names."""

from __future__ import annotations

import math

OPEN = math.inf

BOUNDS: dict[str, dict[str, tuple[float, float]]] = {
    "reverie": {
        "time_decay": (1.0, 1.3),
        "strength": (0.0, 1.0),
        "depth": (0.8, 1.2),
        "spread": (1.0, OPEN),  # R7: no cap as published
        "stability": (0.1, 3.0),
    },
    "cognitive": {"retention": (0.02**0.3, 1.0)},
    "mnemosyne": {"recency": (0.7, 1.0)},
    "mnemosyne-3": {"recency": (0.7, 1.0), "tier": (0.25, 1.0), "veracity": (0.5, 1.0)},
    "omega": {
        "kind": (0.05, 3.0),
        "feedback": (0.2, 2.5),
        "priority": (0.78, 1.10),
        "decay": (0.15, 1.0),
        "thompson": (0.8, 1.2),
        "consolidation": (1.0, 1.3),
        "overlap": (1.0, 1.0),  # without a query
        "preference": (1.0, 1.0),
        "context": (1.0, 1.0),
        "cluster": (1.0, 1.0),
        "temporal": (1.0, 1.0),
        "rerank": (1.0, 1.0),
    },
    "omega-bounded": {"tie_break": (0.0, 0.01), "freshness": (0.0, 0.05)},
    "ciar": {
        "significance": (0.0, 1.0),
        "decay": (0.0, 1.0),
        "reinforcement": (1.0, OPEN),  # A1: linear
    },
    "ciar-shipped": {
        "significance": (0.0, 1.0),
        "decay": (0.1, 1.0),
        "reinforcement": (1.0, 1.3),
    },
    "oneiros": {  # H6: 0.85 + 0.15 x the factor; of feedback 0.6 + 0.4 x the factor
        "recency": (0.85 + 0.15 * 0.5, 1.0),
        "strength": (0.85, 1.0),
        "feedback": (0.6 + 0.4 * 0.2, 1.0),  # H19: good verdicts without a question raise nothing
        "priority": (0.85 + 0.15 * 0.78, 0.85 + 0.15 * 1.10),
        "trust": (0.0, 1.0),  # H11
        "question_feedback": (0.2, 1.45),  # H19
    },
}
BOUNDS |= {"bm25": {}, "cosine": {}, "rrf": {}}  # no factors
BOUNDS["reverie-capped"] = {**BOUNDS["reverie"], "spread": (1.0, 3.0)}
BOUNDS["cognitive-0.5"] = BOUNDS["cognitive"]
