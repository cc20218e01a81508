"""A reranker asked, under a deadline: its scores, or why there are none."""

from __future__ import annotations

import contextvars
import os
import threading
from collections import Counter
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from oneiros.numpy_on_use import np
from oneiros.rerank import Judged, call_of
from oneiros.rerank.scores import checked_scores
from oneiros.visible_text import shortened

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.rerank import Reranker

__all__ = ["MOST_LEFT", "Judgement", "judge"]

MOST_LEFT: Final = 4
"""Calls of one reranker that may run on past their deadlines; while so many do, it is not asked."""

_LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of asking a reranker."""

    scores: npt.NDArray[np.float64] | None
    """One a text, NaN where one has none; None: there is not one."""
    reason: str = ""
    """Why some or all are missing; empty where none is."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


def judge(reranker: Reranker, query: str, texts: list[str], seconds: float) -> Judgement:
    """Ask a reranker, and wait for it no longer than ``seconds``.

    It runs in a thread of its own, which is left behind where it takes longer: nothing can end it,
    and its answer is not heard. One that raises, or gives another number of scores or no finite one,
    has said nothing.

    Args:
        reranker: asked once, for all texts.
        query: the question.
        texts: at least one.
        seconds: how long; infinity: it runs in this thread, however long it takes.
    """
    if seconds <= 0:
        return Judgement(None, "no time was left")
    asked = partial(_asked, reranker, query, texts)
    if seconds == float("inf"):
        return asked()
    return _LEFT.within(seconds, reranker, asked)


def _asked(reranker: Reranker, query: str, texts: list[str]) -> Judgement:
    try:
        told = call_of(reranker)(query, list(texts))
        held = told if isinstance(told, Judged) else Judged(told)  # type: ignore[arg-type]
        scores = checked_scores(held.scores, len(texts))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever it is, it is told)
        return Judgement(None, shortened(f"{type(error).__name__}: {error}", _LONGEST_REASON))
    tokens = held.prompt_tokens, held.completion_tokens
    missing = int(np.count_nonzero(np.isnan(scores)))
    if missing == len(texts):
        return Judgement(None, "no score is a finite number", *tokens)
    reason = f"{missing} of {len(texts)} have no finite score" if missing else ""
    return Judgement(scores, reason, *tokens)


class _LeftBehind:
    """Runs calls in threads, and counts those that outlast their deadline."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew: in the child of a fork, where these threads do not run."""
        self._lock = threading.Lock()
        self._running: Counter[int] = Counter()  # by id of the reranker, which its threads hold

    def within(self, seconds: float, reranker: Reranker, asked: partial[Judgement]) -> Judgement:
        """Return the answer, or that it took too long."""
        key = id(reranker)
        with self._lock:
            if self._running[key] >= MOST_LEFT:
                return Judgement(None, f"{MOST_LEFT} earlier calls still run past their deadlines")
        answers: SimpleQueue[Judgement] = SimpleQueue()
        is_left = False
        has_ended = False

        def run() -> None:
            nonlocal has_ended
            told = Judgement(None, "it ended its thread")
            try:
                told = asked()
            finally:
                with self._lock:
                    has_ended = True
                    if is_left:
                        self._running[key] -= 1
                answers.put(told)

        thread = threading.Thread(
            target=partial(contextvars.copy_context().run, run), name="oneiros-rerank", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            return Judgement(None, f"no thread: {error}")
        try:
            return answers.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        except Empty:
            return Judgement(None, f"no answer within {seconds:.3g} s")
        finally:
            with self._lock:
                if not has_ended:  # also where an interrupt ended the wait
                    is_left = True
                    self._running[key] += 1


_LEFT = _LeftBehind()
os.register_at_fork(after_in_child=_LEFT.forget)
