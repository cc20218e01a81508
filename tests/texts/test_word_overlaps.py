"""How much of their words texts share: by definition, and with the words of everybody else."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import _core
from oneiros.index.texts import normalised, word_overlaps, words_of
from tests.oracles import texts as oracle

WRITTEN = st.lists(
    st.sampled_from(["The", "the", "fox", "Fox's", "été", "été", "snake_case", "a", "no",
                     "東京タワー", "antidisestablishment", "antidisestablishmen", "12345678", "…", "\n"]),
    max_size=12,
).map(" ".join) | st.text("abcé_9 -\u0301東", max_size=20)  # fmt: skip


def column_of(texts: list[str]) -> _core.TextColumn:
    column = _core.TextColumn()
    rows = list(range(len(texts)))
    column.write(rows=rows, texts=list(map(normalised, texts)), tags=[""] * len(texts))
    return column


def jaccard(one: str, other: str) -> float:
    left, right = set(oracle.words(one)), set(oracle.words(other))
    return len(left & right) / len(left | right) if left & right else 0.0


@settings(max_examples=300, deadline=None)
@given(
    texts=st.lists(WRITTEN, max_size=8),
    data=st.data(),
)
def test_the_largest_overlap_is_the_oracles(texts: list[str], data: st.DataObject) -> None:
    count = len(texts)
    groups = np.array([data.draw(st.integers(-1, 1)) for _ in texts], np.int64)
    among = np.array([data.draw(st.booleans()) for _ in texts], np.bool_)
    rows = np.flatnonzero([data.draw(st.booleans()) for _ in texts]).astype(np.uint32)
    want = [
        max(
            (
                jaccard(texts[row], texts[other])
                for other in range(count)
                if other != row and among[other] and groups[other] == groups[row]
            ),
            default=0.0,
        )
        for row in rows.tolist()
    ]
    assert word_overlaps(column_of(texts), rows, among, groups).tolist() == want


@pytest.mark.parametrize("seed", range(5))
def test_common_and_rare_words_count_alike(seed: int) -> None:
    random = np.random.default_rng(seed)
    vocabulary = [f"word{number}" for number in range(60)]
    often = 1 / np.arange(1, 61)
    texts = [
        " ".join(random.choice(vocabulary, random.integers(1, 15), p=often / often.sum()))
        for _ in range(80)
    ]
    rows = np.arange(80, dtype=np.uint32)
    got = word_overlaps(column_of(texts), rows, np.ones(80, np.bool_), np.zeros(80, np.int64))
    want = [
        max(jaccard(texts[row], other) for other in texts[:row] + texts[row + 1 :])
        for row in range(80)
    ]
    assert got.tolist() == want


def test_long_texts_share_more_words_than_a_byte_counts() -> None:
    words = [f"word{number}" for number in range(900)]
    texts = [
        " ".join(words[first:last])
        for first, last in ((0, 600), (100, 400), (200, 900), (590, 610))
    ]
    rows = np.arange(4, dtype=np.uint32)
    got = word_overlaps(column_of(texts), rows, np.ones(4, np.bool_), np.zeros(4, np.int64))
    assert got.tolist() == [300 / 600, 300 / 600, 400 / 900, 20 / 700]


def test_a_row_asked_twice_has_one_answer_and_one_without_a_text_none() -> None:
    column = column_of(["black coffee", "black coffee please"])
    rows = np.array([0, 0, 7], np.uint32)
    got = word_overlaps(column, rows, np.ones(8, np.bool_), np.zeros(8, np.int64))
    assert got.tolist() == [2 / 3, 2 / 3, 0.0]


def test_every_character_parts_words_as_it_does_for_all_others() -> None:
    """``aaa?bbb`` shares a word with ``aaa`` where the character between them is no letter."""
    stable = [
        character
        for character in map(chr, range(0x20, sys.maxunicode + 1))
        if unicodedata.category(character) not in {"Cs", "Cn"}
        and normalised(f"aaa{character}bbb") == f"aaa{character}bbb"
    ]
    texts = [f"aaa{character}bbb" for character in stable]
    column = column_of([*texts, "aaa"])
    got = np.concatenate(
        [
            column.largest_word_overlaps(
                rows=list(range(start, stop)),
                groups=[0] * (stop - start),
                among=[len(texts)],
                among_groups=[0],
            )
            for start in range(0, len(texts), 256)
            for stop in [min(start + 256, len(texts))]
        ]
    )
    want = [0.5 if "aaa" in words_of(text) else 0.0 for text in texts]
    assert [text for text, *pair in zip(texts, got, want, strict=True) if pair[0] != pair[1]] == []


def test_groups_are_one_a_row() -> None:
    column = column_of(["a text"])
    with pytest.raises(ValueError, match="groups: expected 1, one a row, got 2"):
        column.largest_word_overlaps(rows=[0], groups=[0, 0], among=[], among_groups=[])
    with pytest.raises(ValueError, match="among_groups: expected 0, one a row, got 1"):
        column.largest_word_overlaps(rows=[0], groups=[0], among=[], among_groups=[0])
