"""Each row kernel of oneiros.kernels with its oracle and what its arguments may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.oracles import ciar, cognitive, house, mnemosyne, omega, reverie

Values = st.SearchStrategy[float]

EDGES = (
    0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 1e-310, 2.3e-308,
    1.2e-38, 1e-45, 3.4e38, 1e39, 1.7e308, -1e300, 0.5, 1 - 2**-53, 1 + 2**-52,
)  # fmt: skip
WILD: Values = st.one_of(st.sampled_from(EDGES), st.floats())


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """The values of one argument: those it is for, and whether it refuses the rest."""

    usual: Values
    low: float = -math.inf
    high: float = math.inf
    is_age: bool = False
    wild: Values = WILD
    bulk: tuple[float, ...] = ()
    """A few values for large arrays; else numbers of the range, up to 50."""

    def whole(self) -> st.SearchStrategy[int]:
        """Integers of the range, or of the few values."""
        if self.bulk:
            return st.sampled_from([int(value) for value in self.bulk])
        low, high = max(self.low, -20.0), min(self.high, 400.0)
        return st.integers(math.ceil(low), math.floor(high))

    def accepts(self, value: float) -> bool:
        """Tell whether the value is in range, so that no kernel may refuse it. NaN always is."""
        if math.isnan(value):
            return True
        if math.isinf(value):
            return self.is_age and value >= self.low
        return self.low <= value <= self.high


AGE = Argument(
    usual=st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, 7.0, 30.0, math.nan, math.inf, 5e-324, -2.0, 1e300]),
        st.floats(-1e3, 1e9),
        st.floats(0, 400),
        st.integers(0, 20_000).map(float),
    ),
    is_age=True,
)
PAST = Argument(usual=AGE.usual.filter(lambda age: not age < 0), low=0, is_age=True)  # A6
UNIT = Argument(
    usual=st.one_of(st.sampled_from([0.0, 1.0, 0.5, math.nan]), st.floats(1e-12, 1)),
    low=0,
    high=1,
)
COSINE = Argument(usual=st.one_of(st.floats(-1, 1), st.sampled_from([0.5])), low=-1, high=1)
COUNT = Argument(
    wild=WILD.filter(lambda value: not 0 < abs(value) < 1),  # there is no part of an access
    usual=st.one_of(
        st.integers(0, 20).map(float),
        st.integers(0, 2**32 - 1).map(float),
        st.just(math.nan),
    ),
    low=0,
    high=2**32 - 1,
)
STABILITY = Argument(
    usual=st.one_of(st.sampled_from([0.0, 0.01, 1.0, 10.0, math.nan, 1e30]), st.floats(1e-30, 100)),
    low=0,
    high=3.4e38,
)
QUALITY = Argument(
    usual=st.one_of(st.sampled_from([0.0, 3.0, math.nan, 3e38]), st.floats(0, 5)),
    low=0,
    high=3.4e38,
)
FEEDBACK = Argument(
    usual=st.one_of(st.integers(-12, 12), st.integers(-(2**15), 2**15 - 1)).map(float),
    low=-(2**15),
    high=2**15 - 1,
)
FACTOR = Argument(usual=st.floats(0, 10), low=0)
RATE = Argument(
    usual=st.one_of(st.just(0.0), st.floats(1e-6, 1)),
    wild=WILD.filter(lambda value: not value < 0),  # nothing grows with age
    low=0,
)
LIMIT = Argument(
    usual=st.one_of(st.sampled_from([30.0, 180.0, math.inf, math.nan]), st.floats(1e-3, 1e6)),
    low=5e-324,
    high=math.inf,
    bulk=(30.0, 60.0, 90.0, 180.0),
)
HOURS = AGE
PRIORITY = Argument(usual=st.integers(1, 5).map(float), bulk=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0))
DAYS = Argument(  # whole days, so that float32 has them exactly
    usual=st.integers(19_990, 20_050).map(lambda day: day * 86_400.0),
    bulk=tuple(day * 86_400.0 for day in range(19_990, 20_050, 3)),
)


def one_of(*values: float) -> Argument:
    """Return an argument that is one of a few values (any other is refused)."""
    return Argument(usual=st.sampled_from(values), low=math.inf, bulk=values)


def zero(*_: float) -> float:
    """Nothing is exponentiated."""
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kernel: its oracle takes the same arguments in the same order."""

    oracle: Callable[..., float]
    arguments: Mapping[str, Argument]
    parameters: Mapping[str, Values] = field(default_factory=dict)
    exponent: Callable[..., float] = zero
    """What the kernel exponentiates for these arguments; DESIGN.md section 3 bounds float32 by it."""
    scale: Callable[..., float] = zero
    """The largest term that may cancel against another: rounding is relative to that."""


def shifted(value: Callable[..., float]) -> Callable[..., float]:
    """Return |ln value|: what must have been exponentiated to come to it."""

    def exponent(*arguments: float) -> float:
        got = value(*arguments)
        return abs(math.log(got)) if 0 < got < math.inf else 0.0

    return exponent


def stability_exponent(age: float, stability: float) -> float:
    """R8's exponent."""
    return abs(age / 30 * (1 - 1 / stability)) if stability and math.isfinite(age) else 0.0


positive = st.floats(1e-2, 1e4)

CASES: dict[str, Case] = {
    "time_decay_boost": Case(
        oracle=reverie.time_decay_boost,
        arguments={"age_days": AGE},
        parameters={"boost": st.floats(0, 10), "tau_days": positive},
    ),
    "depth_weight": Case(oracle=reverie.depth_weight, arguments={"depth": one_of(1, 2, 3)}),
    "spread_weight": Case(
        oracle=reverie.spread_weight,
        arguments={"session_spread": COUNT},
        parameters={"cap": st.one_of(st.just(math.inf), st.floats(0.1, 10))},
    ),
    "stability_boost": Case(
        oracle=reverie.stability_boost,
        arguments={"age_days": AGE, "stability": STABILITY},
        parameters={"tau_days": positive, "low": st.floats(0.01, 1), "high": st.floats(1, 9)},
        exponent=stability_exponent,
    ),
    "replay_delta": Case(
        oracle=reverie.replay_delta,
        arguments={"peer_count": COUNT, "age_hours": HOURS},
        parameters={"max_delta": st.floats(0, 1)},
    ),
    "scan_priority": Case(
        oracle=reverie.scan_priority,
        arguments={"age_hours": HOURS, "uses": COUNT, "importance": UNIT, "overlap": UNIT},
        parameters={"half_life_hours": positive, "access_floor": st.floats(0, 10)},
        exponent=lambda age, *_: abs(age / 168),
    ),
    "downscale": Case(
        oracle=reverie.downscale,
        arguments={"strength": UNIT, "rate": UNIT},
        parameters={"floor": st.floats(0, 1)},
    ),
    "staleness": Case(oracle=reverie.staleness, arguments={"idle_days": AGE, "limit_days": LIMIT}),
    "signal": Case(
        oracle=reverie.signal,
        arguments={
            "access_count": COUNT,
            "age_days": AGE,
            "revision_count": COUNT,
            "weight": FACTOR,
        },
    ),
    "retention_score": Case(
        oracle=cognitive.retention_score,
        arguments={"similarity": COSINE, "retention": UNIT},
        parameters={"alpha": st.floats(0, 2)},
        exponent=lambda _, retention: abs(0.3 * math.log(retention)) if retention > 0 else 0.0,
    ),
    "spacing_factor": Case(oracle=cognitive.spacing_factor, arguments={"days": AGE}),
    "reinforce_stability": Case(
        oracle=cognitive.reinforce_stability,
        arguments={"stability": STABILITY, "days": AGE},
        parameters={"gain": st.floats(0, 1)},
    ),
    "association_decay": Case(
        oracle=cognitive.association_decay,
        arguments={"weight": UNIT, "days": AGE},
        parameters={"tau_days": positive},
        exponent=lambda _, days: abs(days / 90),
    ),
    "recency_blend": Case(
        oracle=mnemosyne.recency_blend,
        arguments={"age_hours": HOURS},
        parameters={"tau_hours": positive, "weight": st.floats(0, 1)},
    ),
    "weibull_retention": Case(
        oracle=mnemosyne.weibull_retention,
        arguments={
            "age_hours": HOURS,
            "shape": Argument(
                usual=st.one_of(st.just(1.0), st.floats(0.3, 1.5)), low=0.01, high=100
            ),
            "eta_hours": Argument(usual=st.floats(1, 1e4), low=1e-3, high=1e9),
        },
        exponent=shifted(mnemosyne.weibull_retention),
    ),
    "temporal_proximity": Case(
        oracle=omega.temporal_proximity,
        arguments=dict.fromkeys(("time", "start", "end"), DAYS),
    ),
    "feedback_factor": Case(oracle=omega.feedback_factor, arguments={"f": FEEDBACK}, scale=abs),
    "priority_factor": Case(
        oracle=omega.priority_factor,
        arguments={"p": PRIORITY},
    ),
    "floored_decay": Case(
        oracle=omega.floored_decay,
        arguments={"age_days": AGE, "rate": RATE, "floor": UNIT},
        exponent=shifted(omega.floored_decay),
    ),
    "decision_rate": Case(
        oracle=omega.decision_rate,
        arguments={"rate": RATE, "access_count": COUNT},
        exponent=lambda *_: 10 * abs(math.log(0.85)),
    ),
    "thompson_boost": Case(oracle=omega.thompson_boost, arguments={"good": COUNT, "bad": COUNT}),
    "consolidation_boost": Case(oracle=omega.consolidation_boost, arguments={"cq": QUALITY}),
    "overlap_boost": Case(
        oracle=omega.overlap_boost,
        arguments={"word_ratio": UNIT, "feedback": FEEDBACK, "weight": FACTOR},
    ),
    "context_boost": Case(
        oracle=omega.context_boost,
        arguments={
            "tag_overlap": COUNT,
            "project_match": one_of(0, 1),
            "content_match": COUNT,
            "weight": FACTOR,
        },
    ),
    "cluster_boost": Case(oracle=omega.cluster_boost, arguments={"c": COSINE}),
    "ciar": Case(
        oracle=ciar.ciar,
        arguments={"certainty": UNIT, "impact": UNIT, "age_days": PAST, "access_count": COUNT},
        parameters={
            "rate": st.floats(1e-4, 0.99),
            "reinforcement": st.floats(0, 0.99),
            "clamp": st.booleans(),
        },
        exponent=lambda _, __, age, ___: abs(0.0231 * age),
    ),
    "damp": Case(
        oracle=house.damp,
        arguments={"factor": FACTOR},
        parameters={"amount": st.floats(0, 1)},
    ),
}
