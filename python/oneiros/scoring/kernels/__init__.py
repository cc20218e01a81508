"""The formulas of the scoring systems as functions of scalars or arrays, one file per system.

    >>> import numpy as np
    >>> from oneiros import kernels
    >>> kernels.damp(np.array([0.5, 1.0]), 0.2)
    array([0.9, 1. ])

Conventions (docs/systems/README.md): arguments are Python numbers, float32, float64 or integer
arrays, or names or codes for kind and category, passed by position or by name. They broadcast.
Strided and foreign-endian arrays are converted. The parameters of a formula (such as ``tau_days``)
are single numbers. ``out=`` is an array for the result; ``threads=`` (1 to 256) splits large
arrays without changing any value. The result has the widest float dtype given, float64 for
integers and Python numbers, and is a Python float if all arguments are Python numbers.

Every kernel raises ``TypeError`` for an argument of a wrong type or dtype, and ``ValueError`` for a
parameter out of its range, shapes that do not broadcast, or a wrong ``out``. A parameter that is
NaN gives NaN.
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
    cluster_boost,
    consolidation_boost,
    context_boost,
    decision_rate,
    feedback_factor,
    floored_decay,
    kind_weight,
    minmax_floor,
    overlap_boost,
    priority_factor,
    temporal_proximity,
    thompson_boost,
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
