"""Strategies for the values that declarations of many kinds hold."""

from __future__ import annotations

from hypothesis import strategies as st

WEIGHT = st.floats(0, 1e6)
SHARE = st.floats(0, 1)
WORD = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=16
)  # at most 64 bytes
WORDS = st.lists(WORD, max_size=4).map(tuple)
TABLE = st.dictionaries(WORD, WEIGHT, max_size=6)
