"""Records of all that dream cycles tell apart, drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.dream.worlds import DAY, NOW

__all__ = ["RECORDS"]

TEXTS = st.sampled_from(["ada likes coffee", "a story", "été", "long coffee " * 20])
NEAR = [(1.0, 0.0), (0.96, 0.28)]
COLD_SINCE = st.sampled_from([None, NOW - 200.0 * DAY])
VARIED = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "age": st.sampled_from([0.0, 0.5, 20.0, 45.0, 200.0, 900.0]),
        "kind": st.sampled_from(["note", "session", "bug", "code_chunk", "file_summary"]),
        "category": st.sampled_from(["episodic", "semantic"]),
        "stability": st.sampled_from([0.125, 1.0, 5.0]),
        "strength": st.sampled_from([0.01, 0.2, 0.3, 1.0]),
        "session": st.sampled_from([None, "s", "t"]),
        "access_count": st.sampled_from([0, 0, 4, 9]),
        "importance": st.sampled_from([0.0, 0.5]),
        "embedding": st.sampled_from([None, *NEAR, (0.0, 1.0)]),
        "tier": st.sampled_from(["hot", "hot", "cold"]),
        "cold_since": COLD_SINCE,
        "pinned": st.sampled_from([False] * 5 + [True]),
        "core": st.sampled_from([False] * 5 + [True]),
        "importance_tag": st.sampled_from(["none"] * 5 + ["explicit"]),
    }
)
FADED = st.fixed_dictionaries(  # five of which make a summary, or stubs
    {
        "text": TEXTS,
        "age": st.sampled_from([200.0, 900.0]),
        "category": st.just("episodic"),
        "stability": st.just(0.125),
        "importance": st.just(0.0),
        "embedding": st.sampled_from(NEAR),
        "tier": st.sampled_from(["hot", "cold"]),
        "cold_since": COLD_SINCE,
    }
)
RECORDS = VARIED | FADED
