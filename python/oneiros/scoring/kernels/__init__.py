"""Every formula on its own, over scalars or arrays; one file a system.

Conventions (docs/systems/README.md): arguments go by position in the order printed or by name;
Python numbers, float32 or float64 arrays, integer arrays, names or codes for kind and category. They
broadcast; strided or foreign-endian input is converted; a formula's own numbers (``tau_days`` and
the like) are single. ``out=`` takes the result, ``threads=`` (1 to 256) cuts large arrays (no value
depends on it). The result has the widest float dtype given; integers and Python numbers alone:
float64; nothing but Python numbers: a Python float.

Every kernel raises ``TypeError`` for an argument of another type or dtype, and ``ValueError`` for a
parameter out of its range, shapes that do not broadcast, or an unfit ``out``. A parameter that is
NaN gives NaN. The strict forms, which convert nothing, are the ``values`` of
``oneiros.scoring.factors``.
"""

from __future__ import annotations

from oneiros.scoring.kernels.ciar import CIARComponents, ciar, explain_ciar, should_promote
from oneiros.scoring.kernels.cognitive import (
    association_decay,
    reinforce_stability,
    retention,
    retention_score,
    spacing_factor,
)
from oneiros.scoring.kernels.house import blend, damp, spread_neighbours
from oneiros.scoring.kernels.mnemosyne import recency_blend, weibull_retention, weighted_sum
from oneiros.scoring.kernels.omega import (
    consolidation_boost,
    decision_rate,
    feedback_factor,
    floored_decay,
    kind_weight,
    priority_factor,
    thompson_boost,
)
from oneiros.scoring.kernels.omega_query import (
    cluster_boost,
    context_boost,
    minmax_floor,
    overlap_boost,
    temporal_proximity,
)
from oneiros.scoring.kernels.reverie import (
    depth_weight,
    downscale,
    replay_delta,
    scan_priority,
    signal,
    spread_weight,
    stability_boost,
    staleness,
    time_decay_boost,
)
from oneiros.scoring.rrf import rrf

__all__ = [
    "CIARComponents",
    "association_decay",
    "blend",
    "ciar",
    "cluster_boost",
    "consolidation_boost",
    "context_boost",
    "damp",
    "decision_rate",
    "depth_weight",
    "downscale",
    "explain_ciar",
    "feedback_factor",
    "floored_decay",
    "kind_weight",
    "minmax_floor",
    "overlap_boost",
    "priority_factor",
    "recency_blend",
    "reinforce_stability",
    "replay_delta",
    "retention",
    "retention_score",
    "rrf",
    "scan_priority",
    "should_promote",
    "signal",
    "spacing_factor",
    "spread_neighbours",
    "spread_weight",
    "stability_boost",
    "staleness",
    "temporal_proximity",
    "thompson_boost",
    "time_decay_boost",
    "weibull_retention",
    "weighted_sum",
]
