"""A reranker asked: what it may return, what is made of it, and what a search is spared."""

from __future__ import annotations

import contextvars
import math
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros.models.rerankers import (
    MOST_LEFT,
    Judged,
    Judgement,
    judge,
    order_by,
    require_reranker,
    shares_of,
)
from tests.oracles import reranking as oracle

LONG = 30.0
finite = st.floats(allow_nan=False, allow_infinity=False)
scores = st.lists(
    st.none() | finite | st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf]),
    min_size=1,
    max_size=12,
)


def told_by(answer: object, texts: int = 3, seconds: float = LONG) -> Judgement:
    return judge(lambda *_: answer, "q", ["t"] * texts, seconds)  # type: ignore[arg-type, return-value]


@settings(max_examples=80, deadline=None)
@given(scores)
def test_scores_do_what_the_pages_say(scores: list[float | None]) -> None:
    told = told_by(scores, len(scores), math.inf)
    known = [one for one in scores if one is not None and math.isfinite(one)]
    if not known:
        assert (told.scores, told.reason) == (None, "no score is a finite number")
        return
    assert told.scores is not None
    missing = len(scores) - len(known)
    assert told.reason == (f"{missing} of {len(scores)} have no finite score" if missing else "")
    assert order_by(told.scores) == oracle.order(scores)
    np.testing.assert_allclose(
        shares_of(told.scores), oracle.shares(scores), rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize("seconds", [LONG, math.inf])
def test_all_forms_of_an_answer(seconds: float) -> None:
    for answer in (
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3], np.float32),
        np.array([1, 2, 3], np.int8),
        Judged([1, 2, 3]),
    ):
        told = told_by(answer, seconds=seconds)
        assert told.scores is not None
        assert told.scores.tolist() == [1.0, 2.0, 3.0]
        assert (told.reason, told.prompt_tokens, told.completion_tokens) == ("", 0, 0)
    told = told_by(Judged([None, 1.0, math.nan], prompt_tokens=120, completion_tokens=7))
    assert (told.prompt_tokens, told.completion_tokens) == (120, 7)
    assert told.reason == "2 of 3 have no finite score"
    told = told_by(np.ma.masked_array([9, 1, 2], [True, False, False]))
    assert told.reason == "1 of 3 have no finite score"
    assert told.scores is not None
    assert order_by(told.scores) == [0, 2, 1]
    told = told_by(Judged([None] * 3, prompt_tokens=120))
    assert (told.scores, told.prompt_tokens) == (None, 120)  # paid for all the same


def test_an_object_that_predicts_is_given_pairs_even_where_it_can_be_called() -> None:
    class CrossEncoder:
        def predict(self, pairs: list[tuple[str, str]]) -> Any:
            assert pairs == [("q", "a"), ("q", "bb")]
            return np.array([len(text) for _, text in pairs], np.float32)

        def __call__(self, *_: object) -> Any:
            raise AssertionError

    told = judge(CrossEncoder(), "q", ["a", "bb"], LONG)
    assert told.scores is not None
    assert told.scores.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([1.0, 2.0], "ValueError: expected 3 scores, one a text, got shape (2,)"),
        ([[1.0], [2.0], [3.0]], "ValueError: expected 3 scores, one a text, got shape (3, 1)"),
        (1.0, "ValueError: expected 3 scores, one a text, got shape ()"),
        (["1", "2", "3"], "TypeError: expected numbers, got dtype <U1"),
        (None, "TypeError: expected numbers, got dtype object"),
        ([1.0, object(), 2.0], "TypeError: expected numbers, got dtype object"),
        ([[1.0], 2.0, 3.0], "ValueError: "),
        ([10**400, 1, 2], "TypeError: expected numbers"),
    ],
)
def test_what_is_no_answer_is_none_and_says_why(answer: object, reason: str) -> None:
    told = told_by(answer)
    assert told.scores is None
    assert told.reason.startswith(reason)


@pytest.mark.parametrize("seconds", [LONG, math.inf])
def test_what_it_raises_is_told_in_one_line(seconds: float) -> None:
    def failing(_: str, texts: list[str]) -> list[float]:
        texts.clear()  # its own list
        msg = f"no\nnetwork\x1b[2J {'x' * 500}"
        raise ConnectionError(msg)

    texts = ["t"]
    told = judge(failing, "q", texts, seconds)
    assert texts == ["t"]
    assert told.reason.startswith("ConnectionError: no␊network␛[2J xxx")
    assert len(told.reason) <= 200


def test_tokens_that_are_none_are_refused() -> None:
    for wrong, error in (
        (-1, ValueError),
        (1.5, TypeError),
        (True, TypeError),
        (2**54, ValueError),
    ):
        with pytest.raises(error, match="prompt_tokens"):
            Judged([1.0], prompt_tokens=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, 5, "model", [], object()])
def test_what_is_no_reranker_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match="reranker: expected a callable"):
        require_reranker("reranker", wrong)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    opened = threading.Event()
    yield opened
    opened.set()


def waiting(gate: threading.Event) -> Callable[[str, list[str]], list[float]]:
    def slow(_: str, texts: list[str]) -> list[float]:
        assert gate.wait(LONG)
        return [1.0] * len(texts)

    return slow


def running() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "oneiros-rerank"]


def test_a_slow_one_is_left_behind_and_so_are_only_a_few(gate: threading.Event) -> None:
    slow = waiting(gate)
    for _ in range(MOST_LEFT):
        told = judge(slow, "q", ["t"], 0.01)
        assert (told.scores, told.reason) == (None, "no answer within 0.01 s")
    assert judge(slow, "q", ["t"], LONG).reason.startswith(f"{MOST_LEFT} earlier calls")
    assert len(running()) == MOST_LEFT
    assert told_by([1, 2, 3]).scores is not None  # another reranker is asked
    gate.set()
    for thread in running():
        thread.join(LONG)
    assert judge(slow, "q", ["t"], LONG).scores is not None
    assert judge(slow, "q", ["t"], 0.0).reason == "no time was left"
    assert judge(slow, "q", ["t"], -1.0).reason == "no time was left"


def test_a_method_is_one_reranker_each_time_it_is_given(gate: threading.Event) -> None:
    class Model:
        def scores(self, _: str, texts: list[str]) -> list[float]:
            assert gate.wait(LONG)
            return [1.0] * len(texts)

    model, other = Model(), Model()
    for _ in range(MOST_LEFT):
        judge(model.scores, "q", ["t"], 0.01)
    assert judge(model.scores, "q", ["t"], 0.01).reason.startswith(f"{MOST_LEFT} earlier calls")
    assert judge(other.scores, "q", ["t"], 0.01).reason == "no answer within 0.01 s"
    gate.set()
    for thread in running():
        thread.join(LONG)
    assert judge(model.scores, "q", ["t"], LONG).scores is not None


def test_without_a_deadline_it_runs_in_the_callers_thread() -> None:
    asked: list[threading.Thread] = []

    def own(*_: object) -> list[float]:
        asked.append(threading.current_thread())
        return [1.0]

    judge(own, "q", ["t"], math.inf)
    judge(own, "q", ["t"], LONG)
    judge(own, "q", ["t"], 1e300)
    assert asked[0] is threading.current_thread()
    assert asked[1].name == asked[2].name == "oneiros-rerank"


def test_the_callers_context_goes_along() -> None:
    user = contextvars.ContextVar("user", default="nobody")
    user.set("ada")
    assert judge(lambda *_: [len(user.get())], "q", ["t"], LONG).scores == [3.0]


def test_one_that_would_end_the_program_has_said_nothing() -> None:
    def leaving(*_: object) -> list[float]:
        raise SystemExit(3)

    assert judge(leaving, "q", ["t"], LONG).reason == "SystemExit: 3"
    assert judge(leaving, "q", ["t"], math.inf).reason == "SystemExit: 3"


def _asked_in_a_child(slow: Any, told: Any) -> None:
    told.put(judge(slow, "q", ["t"], 0.01).reason)


def test_a_child_of_a_fork_begins_with_none_left(gate: threading.Event) -> None:
    slow = waiting(gate)
    for _ in range(MOST_LEFT):
        judge(slow, "q", ["t"], 0.01)
    fork = multiprocessing.get_context("fork")
    told = fork.SimpleQueue()
    child = fork.Process(target=_asked_in_a_child, args=(slow, told))
    child.start()
    assert told.get() == "no answer within 0.01 s"
    child.kill()
    child.join(LONG)
