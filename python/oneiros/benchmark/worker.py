"""The measurements that run inside an engine's own process."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns, process_time
from typing import TYPE_CHECKING, Any

from oneiros.benchmark.conditions import busy_seconds
from oneiros.benchmark.corpus import Corpus
from oneiros.benchmark.exact import BEST
from oneiros.benchmark.rivals.rival import MemorySearch, Question, VectorSearch, WordSearch

if TYPE_CHECKING:
    from oneiros.benchmark.rivals.rival import Rival

__all__ = ["ROUND_SECONDS", "Worker"]

ROUND_SECONDS = 0.4
"""A slow engine answers so few of the questions that a round lasts about this long."""

_FEWEST = 10


class Worker:
    """One engine over one corpus.

    Args:
        place: module and class of the engine, as in "package.module:Class".
        corpus: what to store and ask.
        scratch: an empty folder.
    """

    def __init__(self, place: str, corpus: Corpus, scratch: Path) -> None:
        module, _, name = place.partition(":")
        self._rival: Rival = getattr(import_module(module), name)()
        self._corpus = corpus
        self._scratch = scratch
        self._questions = corpus.questions()
        self._ask = _searches_of(self._rival)

    def build(self) -> float:
        """Build the engine; return the seconds."""
        rival, corpus = self._rival, self._corpus
        texts, vectors = corpus.texts(), corpus.vectors()
        started = perf_counter()
        if isinstance(rival, MemorySearch):
            rival.build(corpus, self._scratch)
        elif isinstance(rival, WordSearch):
            rival.build(texts, self._scratch)
        elif isinstance(rival, VectorSearch):
            rival.build(vectors)
        rival.rest()
        return perf_counter() - started

    def warm_up(self) -> int:
        """Ask every question once, or as many as a round has time for; return how many those are."""
        for question in self._questions[:3]:
            self._ask(question)
        few = self._questions[3:13] or self._questions
        each = median(map(self._seconds, few))  # other work on the machine may stall a few
        fitting = max(_FEWEST, int(ROUND_SECONDS / each))
        self._questions = self._questions[:fitting]
        for question in self._questions[13:]:
            self._ask(question)
        self._rival.rest()
        return len(self._questions)

    def _seconds(self, question: Question) -> float:
        started = perf_counter()
        self._ask(question)
        return perf_counter() - started

    def answers(self) -> list[list[int]]:
        """Return the ids that each question finds.

        Raises:
            AssertionError: a text is not that of its id, or not of the question's project.
        """
        found = [list(self._ask(question)) for question in self._questions]
        if isinstance(self._rival, MemorySearch):
            texts, projects = self._corpus.texts(), self._corpus.projects()
            for question, results in zip(self._questions, found, strict=True):
                for id, text in results:
                    if texts[id] != text or projects[id] != question.project:
                        msg = f"{question.words!r} found memory {id}: not its text or project"
                        raise AssertionError(msg)
            found = [[id for id, _ in results] for results in found]
        self._rival.rest()
        return [[int(id) for id in ids] for ids in found]

    def turn(self) -> dict[str, Any]:
        """Return the nanoseconds of each question; what it leaves for later is done after them.

        And how many cores other processes kept busy meanwhile.
        """
        busy, own, began = busy_seconds(), process_time(), perf_counter()
        spent = []
        for question in self._questions:
            started = perf_counter_ns()
            self._ask(question)
            spent.append(perf_counter_ns() - started)
        self._rival.rest()
        others = busy_seconds() - busy - (process_time() - own)
        return {"spent": spent, "other_cores": others / (perf_counter() - began)}

    def close(self) -> None:
        """Close the engine."""
        self._rival.close()


def _searches_of(rival: Rival) -> Callable[[Question], Any]:
    """Return the search of a question, as the rival's task has it."""
    if isinstance(rival, MemorySearch):
        return lambda question: rival.search(question, BEST)
    if isinstance(rival, WordSearch):
        return lambda question: rival.search(question.words, BEST)
    if isinstance(rival, VectorSearch):
        return lambda question: rival.search(question.vector, BEST)
    msg = f"rival: must be a search of memories, words or vectors, got {type(rival).__name__}"
    raise TypeError(msg)
