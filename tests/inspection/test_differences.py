"""Differences of texts: what they put together again, and that they end soon."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.inspection.differences import differences

TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(["tea", "milk", "\n", "a", "b", ".", ","])).map(" ".join)
)


@given(TEXTS, TEXTS)
def test_pieces_make_up_both_texts(before: str, after: str) -> None:
    pieces = differences(before, after)
    assert "".join(piece.text for piece in pieces if piece.change != "added") == before
    assert "".join(piece.text for piece in pieces if piece.change != "removed") == after
    assert all(piece.text for piece in pieces)
    assert {piece.change for piece in pieces} <= {"same", "removed", "added"}


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert [piece.change for piece in differences(text, text)] == ["same"] * bool(text)


def test_words_are_kept_whole() -> None:
    pieces = differences("Ada likes tea, hot", "Ada likes teas, hot")
    assert [tuple(piece) for piece in pieces] == [
        ("same", "Ada likes "),
        ("removed", "tea"),
        ("added", "teas"),
        ("same", ", hot"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 9_000, "b " * 9_000),
        ("a b " * 4_000, "b a " * 4_000 + "c"),
        ("x" * 10_000_000, "y" * 10_000_000),
        (" ".join(map(str, range(900))), " ".join(map(str, reversed(range(900))))),
    ],
    ids=["repeated", "turned", "huge", "reversed"],
)
def test_hostile_texts_take_no_long_time(before: str, after: str) -> None:
    started = time.process_time()
    pieces = differences(before, after)
    assert time.process_time() - started < 5
    assert "".join(piece.text for piece in pieces if piece.change != "added") == before
