"""Late interaction: scores beside a plain loop, and a cache with a limit."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oneiros.models.late_interaction import TokenCache, max_sim


def oracle(query: np.ndarray, text: np.ndarray) -> float:
    """Return the sum over the query's tokens of the best dot product, by plain loops."""
    if not len(query) or not len(text):
        return math.nan
    best = (max(float(np.dot(one, other)) for other in text) for one in query)
    return sum(best)


def vectors(tokens: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float16, (tokens, 4), elements=st.floats(-1.0, 1.0, width=16))


some_vectors = st.integers(0, 5).flatmap(vectors)


@given(some_vectors, st.lists(some_vectors, max_size=6))
def test_scores_are_those_of_the_loop(query: np.ndarray, texts: list[np.ndarray]) -> None:
    got = max_sim(query, texts)
    want = [oracle(query.astype(float), text.astype(float)) for text in texts]
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, want, atol=1e-5)


@given(vectors(3), st.lists(vectors(2), min_size=1, max_size=4), vectors(1))
def test_another_token_never_lowers_a_score(
    query: np.ndarray, texts: list[np.ndarray], token: np.ndarray
) -> None:
    longer = [np.concatenate([text, token]) for text in texts]
    assert np.all(max_sim(query, longer) >= max_sim(query, texts) - 1e-6)


@pytest.mark.parametrize("text", [np.zeros((2, 3)), np.zeros(4), np.zeros((0, 3))])
def test_vectors_of_another_dimension_are_refused(text: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"texts: .*\(2, 4\), got .* at 1"):
        max_sim(np.zeros((2, 4)), [np.zeros((1, 4)), text])


def test_the_least_recently_used_texts_are_dropped() -> None:
    one = np.ones((4, 8), np.float16)  # 64 bytes
    cache = TokenCache(3 * 65)
    for text in "abc":
        cache.put(text, one)
    assert (len(cache), cache.byte_count) == (3, 195)
    assert cache.get("a") is one
    cache.put("d", one)
    assert [text for text in "abcd" if cache.get(text) is not None] == ["a", "c", "d"]
    cache.put("a", one)  # kept already
    assert cache.byte_count == 195
    cache.put("large", np.ones((400, 8), np.float16))  # alone beyond the limit
    assert cache.get("large") is None
    assert len(cache) == 3


def test_a_limit_of_zero_keeps_nothing() -> None:
    cache = TokenCache(0)
    cache.put("a", np.ones((1, 2), np.float16))
    assert (cache.get("a"), len(cache), cache.byte_count) == (None, 0, 0)


def test_threads_leave_the_count_of_bytes_right() -> None:
    cache = TokenCache(2_000)
    one = np.ones((2, 4), np.float16)

    def work(first: int) -> None:
        for number in range(first, first + 300):
            cache.put(f"{number % 120:05}", one)
            cache.get(f"{number * 7 % 120:05}")

    threads = [threading.Thread(target=work, args=(place * 37,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.byte_count == len(cache) * 21 <= 2_000


class SlowText(str):
    """A text that takes a while to look up, so that the cache is nearly always being changed."""

    __slots__ = ()

    def __hash__(self) -> int:
        time.sleep(0.02)
        return super().__hash__()


@pytest.mark.skipif(sys.platform == "win32", reason="has no fork")
def test_a_child_forked_amid_a_change_can_use_the_cache() -> None:
    cache = TokenCache(2_000)
    one = np.ones((2, 4), np.float16)
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            cache.put(SlowText("text"), one)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                cache.put("another", one)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        is_over.set()
        thread.join()
