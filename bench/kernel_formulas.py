"""The formulas of ``oneiros.kernels``, as one text each, with columns to compute them over.

Source of each: docs/systems, by rule. Every public name of ``oneiros.kernels`` stands either in
``KERNELS`` or in ``LEFT_OUT``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.formula import (
    COUNT,
    DAYS,
    HOURS,
    SHARE,
    STABILITY,
    Array,
    Form,
    Formula,
    Work,
    uniform,
    whole,
)
from bench.formulas import CIAR, FEEDBACK, KINDS, LIFE, by_kind
from oneiros import kernels
from oneiros.scoring.factors.omega import KIND_WEIGHTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel(Formula):
    """One kernel over its columns, in the order of its arguments."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """The formula's own numbers, where they are not as published."""
    takes_list: bool = False
    """Whether the columns are one argument."""


def kernel_form(name: str, work: Work) -> Form:
    """The kernel itself, writing into a given array."""
    kernel, compute = KERNELS[name], getattr(kernels, name)
    columns = list(work.columns.values())
    arguments = [columns] if kernel.takes_list else columns

    def whole(threads: int) -> Array:
        answer: Array = compute(*arguments, **kernel.options, out=work.out, threads=threads)
        return answer

    return whole


BETA = np.array([45, 120, 1e30, 120])
FLOOR = np.array([0.02, 0.02, 0.02, 0.6])
WEIGHTS = by_kind(KIND_WEIGHTS, 1.0)
DAY = 86_400.0
HALF_PAST = 1_800.0
"""Seconds: no event lies whole days away, where rounding would decide how many."""
DAYS_AWAY = (
    "where(time < 8640000, -floor((time - 8640000) / 86400), floor((time - 11232000) / 86400))"
)


def _times(random: np.random.Generator, rows: int) -> Array:
    return random.integers(0, 24 * 365, rows) * 3_600.0 + HALF_PAST


KERNELS = {
    "time_decay_boost": Kernel(  # docs/systems/reverie.md R4
        text="1 + 0.3 * exp(-age_days / 30)", columns={"age_days": DAYS}
    ),
    "depth_weight": Kernel(  # R6
        text="where(depth < 1.5, 0.8, where(depth < 2.5, 1.0, 1.2))", columns={"depth": whole(1, 3)}
    ),
    "spread_weight": Kernel(  # R7
        text="log2(1 + session_spread)", columns={"session_spread": whole(1, 200)}
    ),
    "stability_boost": Kernel(  # R8
        text="min(max(exp(age_days / 30 * (1 - 1 / stability)), 0.1), 3)",
        columns={"age_days": DAYS, "stability": STABILITY},
    ),
    "replay_delta": Kernel(  # R17
        text="min(0.1 / (1 + age_hours) * log1p(peer_count), 0.1)",
        columns={"peer_count": COUNT, "age_hours": HOURS},
    ),
    "scan_priority": Kernel(  # R10
        text="2 ** (-age_hours / 168) * max(log1p(uses), 0.1) * importance * (1 - overlap)",
        columns={"age_hours": HOURS, "uses": COUNT, "importance": SHARE, "overlap": SHARE},
    ),
    "downscale": Kernel(  # R12
        text="max(strength * rate, min(strength, 0.01))",
        columns={"strength": SHARE, "rate": uniform(0.95, 1.0)},
    ),
    "staleness": Kernel(  # R13
        text="idle_days / limit_days",
        columns={"idle_days": DAYS, "limit_days": uniform(30.0, 180.0)},
    ),
    "signal": Kernel(  # R16
        text="access_count * (1 + revision_count) * weight / age_days",
        columns={
            "access_count": COUNT,
            "age_days": uniform(0.1, 400.0),
            "revision_count": whole(0, 9),
            "weight": uniform(0.7, 1.5),
        },
    ),
    "retention": Kernel(  # docs/systems/cognitive.md C1, C2
        text=f"max(exp(-idle_days / ({LIFE} * beta(category))), floor_of(category))",
        columns={
            "idle_days": DAYS,
            "stability": STABILITY,
            "importance": SHARE,
            "category": whole(0, 3, np.uint8),
        },
        tables={"beta": BETA, "floor_of": FLOOR},
    ),
    "retention_score": Kernel(  # C6
        text="similarity * retention ** 0.3", columns={"similarity": SHARE, "retention": SHARE}
    ),
    "spacing_factor": Kernel(text="min(days / 7, 2)", columns={"days": uniform(0.0, 30.0)}),  # C11
    "reinforce_stability": Kernel(  # C11
        text="min(stability + 0.1 * min(days / 7, 2), 1)",
        columns={"stability": SHARE, "days": uniform(0.0, 30.0)},
    ),
    "association_decay": Kernel(  # C16
        text="weight * exp(-days / 90)", columns={"weight": SHARE, "days": DAYS}
    ),
    "ciar": Kernel(text=CIAR.text, columns=CIAR.columns),  # docs/systems/ciar.md A1, A2
    "should_promote": Kernel(  # A4
        text="score >= 0.6", columns={"score": SHARE}, is_verdict=True
    ),
    "recency_blend": Kernel(  # docs/systems/mnemosyne.md M5
        text="0.7 + 0.3 * exp(-age_hours / 168)", columns={"age_hours": HOURS}
    ),
    "weibull_retention": Kernel(  # M8
        text="exp(-((age_hours / eta_hours) ** shape))",
        columns={
            "age_hours": HOURS,
            "shape": uniform(0.5, 1.5),
            "eta_hours": uniform(200.0, 2000.0),
        },
    ),
    "weighted_sum": Kernel(  # M4
        text="0.5 * cosine + 0.3 * words + 0.2 * importance",
        columns={"cosine": SHARE, "words": SHARE, "importance": SHARE},
        options={"weights": (0.5, 0.3, 0.2)},
        takes_list=True,
    ),
    "minmax_floor": Kernel(  # docs/systems/omega.md O3
        text="0.1 + 0.9 * (scores - lowest(scores)) / (highest(scores) - lowest(scores))",
        columns={"scores": SHARE},
    ),
    "temporal_proximity": Kernel(  # O4
        text="where(max(8640000 - time, time - 11232000) <= 0, 1.0,"
        f" where({DAYS_AWAY} <= 30, 1 / (1 + {DAYS_AWAY} / 30), 0.0))",
        columns={"time": _times},
        options={"start": 100 * DAY, "end": 130 * DAY},
    ),
    "kind_weight": Kernel(  # O11; codes alone: float64
        text="weight(kind)",
        columns={"kind": whole(1, len(KINDS) - 1, np.uint16)},
        tables={"weight": WEIGHTS},
        options={"table": WEIGHTS.tolist()},
    ),
    "feedback_factor": Kernel(text=FEEDBACK, columns={"feedback": whole(-5, 12)}),  # O12
    "priority_factor": Kernel(  # O13
        text="0.7 + 0.08 * min(max(priority, 1), 5)", columns={"priority": whole(1, 5)}
    ),
    "floored_decay": Kernel(  # O14
        text="max(exp(-rate * age_days), least)",
        columns={"age_days": DAYS, "rate": uniform(0.0, 0.1), "least": uniform(0.1, 0.4)},
    ),
    "decision_rate": Kernel(  # O14; 0.85 ** n by its logarithm
        text="max(rate * exp(-0.16251892949777494 * min(access_count, 10)), 0.002)",
        columns={"rate": uniform(0.0, 0.1), "access_count": COUNT},
    ),
    "thompson_boost": Kernel(  # O15
        text="where(good + bad < 10, 1.0, 0.8 + 0.4 * (1 + good) / (2 + good + bad))",
        columns={"good": COUNT, "bad": whole(0, 20)},
    ),
    "consolidation_boost": Kernel(  # O17
        text="1 + 0.1 * min(max(quality, 0), 3)", columns={"quality": uniform(0.0, 4.0)}
    ),
    "overlap_boost": Kernel(  # O18
        text="1 + where(feedback < 0, 0.25, 0.5) * word_ratio * weight",
        columns={"word_ratio": SHARE, "feedback": whole(-5, 12), "weight": SHARE},
    ),
    "context_boost": Kernel(  # O20
        text="1 + (0.1 * tags + 0.15 * project + 0.05 * min(content, 3)) * weight",
        columns={
            "tags": whole(0, 5),
            "project": whole(0, 1),
            "content": whole(0, 6),
            "weight": SHARE,
        },
    ),
    "cluster_boost": Kernel(  # O21
        text="1 + min(max(0.33 * (cosine - 0.5), 0), 0.15)", columns={"cosine": SHARE}
    ),
    "damp": Kernel(
        text="0.85 + 0.15 * factor", columns={"factor": SHARE}
    ),  # docs/systems/house.md H6
    "blend": Kernel(  # H3
        text="0.4 * bm25 / highest(bm25) + 0.6 * max(cosine, 0)",
        columns={"bm25": uniform(0.5, 12.0), "cosine": uniform(-0.2, 0.9)},
    ),
}

LEFT_OUT = {
    "CIARComponents": "what explain_ciar returns, no formula",
    "explain_ciar": "takes one memory's numbers and gives a record of them, no column",
    "rrf": "joins ranked lists of ids by id, row by row nothing (bench/bench_fusion.py)",
    "spread_neighbours": "follows links from row to row, within one search's candidates",
}
"""Why a name is not measured over rows."""
