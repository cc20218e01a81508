"""Strategies for the phases of a dream cycle that a profile can hold."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from oneiros.scoring.phases.cognitive import Conflicts, Cooling, Stubbing, Summarising
from oneiros.scoring.phases.omega import Forgetting
from oneiros.scoring.phases.reverie import (
    Consolidate,
    Downscale,
    Place,
    Promote,
    Prune,
    Scan,
)
from tests.profiles.values import SHARE, TABLE, WEIGHT, WORD, WORDS

ABOVE_0 = st.floats(0, 1e9, exclude_min=True)
COUNT = st.integers(0, 1_000)
LIMITS = {
    "limits_days": st.dictionaries(WORD, ABOVE_0 | st.just(math.inf), max_size=4),
    "other_limit_days": ABOVE_0 | st.just(math.inf),
}
DAYS = st.floats(0, 1e9)
REVERIE = st.tuples(
    st.builds(
        Scan,
        half_life_hours=ABOVE_0,
        access_floor=WEIGHT,
        limit=st.none() | st.integers(1, 1_000),
        compared=st.integers(0, 4_096),
    ),
    st.builds(Consolidate, max_delta=WEIGHT, nearest=COUNT, link_gain=SHARE, most_linked=COUNT),
    st.builds(Downscale, rate=SHARE, floor=SHARE, cross_session_share=SHARE),
    st.builds(Prune, **LIMITS, least_staleness=ABOVE_0, archived_kinds=WORDS, strength_floor=SHARE),
    st.builds(Place, **LIMITS, least_activity=COUNT, below_strength=SHARE),
    st.builds(
        Promote, **LIMITS, third_spread=st.integers(1, 99), weights=TABLE, missed_limits=ABOVE_0
    ),
).flatmap(
    lambda phases: st.sampled_from([(), phases, phases[:3], phases[2:], phases[:2], phases[5:1:-1]])
)
OTHERS = st.tuples(
    st.builds(Cooling, within=SHARE, days=DAYS),
    st.builds(Stubbing, days=DAYS, characters=COUNT),
    st.builds(
        Summarising,
        below=SHARE,
        least_cosine=SHARE,
        group_size=st.integers(2, 1_000),
        base_quality=WEIGHT,
        quality_step=WEIGHT,
        most_quality=WEIGHT,
        link=st.floats(0, 1, exclude_min=True),
        most_compared=COUNT,
    ),
    st.builds(Conflicts, above_cosine=SHARE, most_asked=COUNT, most_pairs=COUNT),
    st.builds(Forgetting, age_days=DAYS, disliked_at=st.floats(-1e9, 0), exempt=WORDS),
).flatmap(lambda phases: st.sampled_from([(), phases, phases[:4], phases[::-2]]))
PHASES = st.tuples(REVERIE, OTHERS).map(lambda parts: (*parts[0], *parts[1]))
