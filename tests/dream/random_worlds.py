"""Small random worlds whose every field that Reverie's phases read varies, often at a limit."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.dream.worlds import DAY, HOUR, NOW, Fields, World
from tests.oracles.ieee import as_float32

__all__ = ["PREVIOUS", "WORLDS"]

KINDS = (
    *("note", "session", "bug", "config", "decision"),
    *("reference", "heuristic", "directive", "preference"),
    *("issue", "setup", "rule", "user_preference", "fact"),
)
LIMITS = (0.0, 1.0, 15.0, 30.0, 60.0, 90.0, 180.0, 360.0)
AGES = st.one_of(
    st.sampled_from([days * DAY for days in LIMITS] + [HOUR, HOUR + 1.0, -DAY]),
    st.floats(0.0, 20.0 * DAY),
    st.floats(0.0, 800.0 * DAY),
)
STRENGTHS = st.sampled_from([0.0, 0.005, 0.01, 0.0101, 0.05, 0.2, 0.25, 0.5, 0.99, 1.0])
WORDS = ("ada", "likes", "black", "coffee", "été", "the")
TEXTS = st.sampled_from(["ada likes coffee", ""]) | st.lists(  # many say the same
    st.sampled_from(WORDS), max_size=4
).map(" ".join)
VECTORS = ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (0.8, 0.6), (-1.0, 0.0))


@st.composite
def _memories(draw: st.DrawFn) -> Fields:
    age = draw(AGES)
    since = st.floats(0.0, 1.0).map(lambda share: NOW - age * share) | st.just(NOW - age)
    sometimes = {
        "updated_at": since,
        "last_accessed_at": since,
        "learned_at": since,
        "priority": st.integers(1, 5),
        "kind": st.sampled_from(KINDS),
        "topic": st.sampled_from(["a", "b"]),
        "project": st.sampled_from(["p", "q"]),
        "session": st.sampled_from(["s", "t"]),
        "user": st.sampled_from(["ada"]),
        "trust": st.sampled_from([0.0, 0.25, 0.5]),
        "embedding": st.sampled_from(VECTORS),
        "importance": st.floats(0.0, 1.0).map(as_float32),
        "strength": STRENGTHS.map(as_float32),
        "access_count": st.integers(0, 5),
        "revision_count": st.integers(0, 2),
        "duplicate_count": st.integers(0, 2),
        "session_spread": st.integers(1, 6),
        "depth": st.integers(1, 3),
        "canonical_layer": st.sampled_from(["episodic", "intermediate", "semantic"]),
        "importance_tag": st.sampled_from(["explicit", "cross_session", "schema_violation"]),
        "status": st.sampled_from(["consolidated", "archived", "quarantined"]),
        "replayed_at": st.just(NOW - DAY),
    }
    rarely = {
        "pinned": st.just(True),
        "core": st.just(True),
        "superseded_by": st.just("other"),
        "deleted_at": st.just(NOW - DAY),
        "erased": st.just(True),
    }
    chosen = {name for name in sometimes if draw(st.booleans())}
    chosen |= {name for name in rarely if draw(st.integers(0, 9)) == 0}
    drawn = {
        name: draw(strategy) for name, strategy in {**sometimes, **rarely}.items() if name in chosen
    }
    return {"text": draw(TEXTS), "created_at": NOW - age, **drawn}


WORLDS = st.lists(_memories(), max_size=14).map(World)
"""Up to fourteen memories."""

PREVIOUS = st.none() | st.sampled_from([NOW, NOW - DAY, NOW - 90 * DAY, NOW - 400 * DAY])
"""When the cycle before was."""
