"""A float32 kernel lies within (4 + 2 |exponent|) ULP of its float64 value on the same inputs.

An exponential multiplies the relative error of what it is given by its exponent, whatever computes
it, so the exponents count: of ``exp(-age / tau)`` that is ``age / tau``, of ``x ** y`` it is ``y``.
The primitives, whose arguments come as they are, have no such excuse. Where a formula subtracts,
the ULP is that of what it subtracts from; where an exponential lies below the normal float32
numbers (an exponent beyond 87), what is left of its digits is no measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oneiros import _core

Array = np.ndarray[Any, Any]
Parameters = dict[str, Any]
Exponent = Callable[[Parameters, list[Array]], Array]

ROWS = 20_000
BY_MAGNITUDE = {  # from, to
    "age_days": (1e-3, 1e4),
    "age_hours": (1e-3, 1e4),
    "days": (1e-3, 1e4),
    "stability": (1e-3, 1e3),
    "session_spread": (1e-3, 1e6),
    "peer_count": (1e-3, 1e6),
    "uses": (1e-3, 1e6),
    "idle_days": (1e-3, 1e4),
    "limit_days": (1.0, 1e3),
    "revision_count": (1e-3, 1e3),
    "access_count": (1e-3, 1e6),
    "good": (1e-1, 1e3),
    "bad": (1e-1, 1e3),
    "bm25": (1e-3, 50.0),
    "best_bm25": (1.0, 50.0),
    "rate": (1e-4, 1.0),
    "shape": (0.1, 2.0),
    "eta_hours": (1.0, 1e4),
    "quality": (1e-3, 10.0),
    "tag_overlap": (1.0, 8.0),
    "content_match": (1.0, 8.0),
}
EVENLY = {  # all others: from 0 to 1
    "feedback": (-6.0, 12.0),
    "priority": (0.0, 6.0),
    "score": (2.0, 9.0),
    "worst": (0.0, 2.0),
    "best": (9.0, 12.0),
}
WHOLE = {"depth": (1, 3), "category": (0, 3), "kind": (0, 5), "code": (0, 5), "condition": (0, 1)}
PRIMITIVES = {"exp": 1, "log": 1, "log1p": 1, "log2": 1, "sqrt": 1, "power": 2} | dict.fromkeys(
    ("add", "subtract", "multiply", "divide", "minimum", "maximum"), 2
)
NUMBERS = """
boost=0.3 tau_days=30.0 cap=inf low=0.1 high=3.0 max_delta=0.1 model=0.0 alpha=0.3
span_days=7.0 most=2.0 gain=0.1 limit=1.0 tau_hours=168.0 weight=0.3 otherwise=1.0 loss=0.2
floor=0.2 base=0.7 step=0.08 least=0.5 spread=0.4 disliked=0.5 tag=0.1 project=0.15
content=0.05 most_content=3.0 window=0.01 priority_gain=0.005 access_gain=0.0025
most_accesses=3.0 quality_gain=0.0025 most_quality=3.0 recency_gain=0.05 rate=0.0231
reinforcement=0.1 clamp=0.0 most_days=30.0 most_gain=0.3 threshold=0.6 amount=0.15
half_life_days=90.0 half_life_hours=168.0 access_floor=0.1 factor=2.1 offset=1.3 share=0.3 decay=0.5 reach=2.0
"""
# Cut off nowhere, so that exponents become large.
FREER = """
floor=0.0 low=0.0 high=1e6 model=1.0 most_days=inf most=33.3 alpha=2.7 tau_days=17.3
tau_hours=61.7 half_life_days=12.3 half_life_hours=23.7 access_floor=0.0 rate=0.271 most_gain=77.7 weight=1.0 amount=0.99
"""


def numbers_in(text: str) -> Parameters:
    return {pair.split("=")[0]: float(pair.split("=")[1]) for pair in text.split()}


PUBLISHED: Parameters = numbers_in(NUMBERS) | {
    "table": [0.8, 1.0, 1.2],
    "floors": [0.02, 0.02, 0.02, 0.6],
    "beta_days": [45.0, 120.0, math.inf, 120.0],
    "weights": [0.7, 1.1],
}
SETS = {"published": PUBLISHED, "free": PUBLISHED | numbers_in(FREER) | {"floors": [0.0] * 4}}


def drawn(name: str, random: np.random.Generator) -> Array:
    """Return ROWS values of an input of this name, float32."""
    if name in WHOLE:
        first, last = WHOLE[name]
        return random.integers(first, last, ROWS, endpoint=True).astype(np.float32)
    if name in BY_MAGNITUDE:
        smallest, largest = BY_MAGNITUDE[name]
        some = np.exp(random.uniform(math.log(smallest), math.log(largest), ROWS))
        is_count = (random.random(ROWS) < 0.3) & (some > 1)
        return np.where(is_count, np.floor(some), some).astype(np.float32)
    low, high = EVENLY.get(name, (0.0, 1.0))
    return random.uniform(low, high, ROWS).astype(np.float32)


def inputs_of(kernel: str) -> list[Array]:
    random = np.random.default_rng(7)
    if kernel == "exp":
        return [random.uniform(-103, 89, ROWS).astype(np.float32)]
    if kernel in PRIMITIVES:
        return list(np.exp(random.uniform(-20, 20, (PRIMITIVES[kernel], ROWS))).astype(np.float32))
    if kernel == "temporal_proximity":  # seconds that a float32 holds
        start = random.integers(0, 1 << 20, ROWS)
        end = start + random.integers(1, 1 << 22, ROWS)
        time = random.integers(0, 1 << 23, ROWS)
        return [part.astype(np.float32) for part in (time, start, end)]
    names = _core.kernel_signature(kernel=kernel)[0] or ["score", "score"]
    if kernel == "spread_neighbours":
        return [drawn(names[0], random), *random.integers(-1, ROWS, (2, ROWS))]
    return [drawn(name, random) for name in names]


def days_over_pace(parameters: Parameters, inputs: list[Array]) -> Array:
    days, stability, importance, category = inputs
    beta_days: Array = np.array(parameters["beta_days"])[category.astype(int)]
    pace = np.maximum(stability, 0.01) * np.minimum(1 + 2 * importance, 3)
    spent: Array = days / (pace * beta_days)
    return spent if parameters["model"] == 0 else 1.4427 * np.log1p(spent)


EXPONENTS: dict[str, Exponent] = {
    "time_decay_boost": lambda p, i: i[0] / p["tau_days"],
    "stability_boost": lambda p, i: i[0] / p["tau_days"] * (1 - 1 / i[1]),
    "retention": days_over_pace,
    "retention_score": lambda p, i: p["alpha"] * np.ones_like(i[1]),
    "association_decay": lambda p, i: i[1] / p["tau_days"],
    "recency_blend": lambda p, i: i[0] / p["tau_hours"],
    "weibull_retention": lambda _, i: (i[0] / i[2]) ** i[1],
    "floored_decay": lambda _, i: i[0] * i[1],
    "decision_rate": lambda p, i: np.minimum(i[1], p["most"]),
    "freshness": lambda p, i: i[0] / p["tau_days"],
    "ciar_decay": lambda p, i: i[0] * p["rate"],
    "ciar": lambda p, i: i[2] * p["rate"],
    "ciar_shipped_decay": lambda p, i: np.minimum(i[0], p["most_days"]) * p["rate"],
    "ciar_shipped": lambda p, i: np.minimum(i[2], p["most_days"]) * p["rate"],
    "scan_priority": lambda p, i: i[0] / p["half_life_hours"] * math.log(2),
    "half_life_decay": lambda p, i: i[0] / p["half_life_days"] * math.log(2),
}
LARGEST_TERM = {"feedback_factor": 1.0, "damp": 1.0}  # those that subtract from it
LARGEST_EXPONENT = 87.0


def errors_in_ulps(kernel: str, parameters: Parameters, inputs: list[Array]) -> Array:
    """Return how far the float32 kernel is from the float64 one, in ULPs of the latter's value."""
    single, double = (
        _core.evaluate(
            kernel=kernel, inputs=inputs, parameters=parameters, dtype=dtype, out=None, threads=1
        )
        for dtype in ("float32", "float64")
    )
    assert np.array_equal(np.isnan(single), np.isnan(double))
    size = np.maximum(np.abs(double), LARGEST_TERM.get(kernel, 0.0))
    size = np.minimum(size, 1e38)
    unit = np.spacing(size.astype(np.float32)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(single), np.abs(single - double) / unit, 0.0)


@pytest.mark.parametrize("parameter_set", SETS)
@pytest.mark.parametrize("kernel", _core.kernel_names())
def test_a_float32_kernel_errs_by_its_roundings_alone(kernel: str, parameter_set: str) -> None:
    signature = _core.kernel_signature(kernel=kernel)
    parameters = {name: SETS[parameter_set][name] for name, _ in signature[1]}
    inputs = inputs_of(kernel)
    errors = errors_in_ulps(kernel, parameters, inputs)
    exponents = np.zeros(ROWS)
    if kernel in EXPONENTS:
        wide = [column.astype(np.float64) for column in inputs]
        exponents = np.abs(EXPONENTS[kernel](parameters, wide))
    excess = np.where(exponents <= LARGEST_EXPONENT, errors - (4 + 2 * exponents), 0.0)
    worst = int(np.argmax(excess))
    assert excess[worst] <= 0, (errors[worst], exponents[worst], [x[worst] for x in inputs])
