"""Engines that misbehave, for the tests of comparisons."""

from __future__ import annotations

import os
import time
from pathlib import Path

from oneiros.benchmark.corpus import Corpus
from oneiros.benchmark.rivals import Entrant
from oneiros.benchmark.rivals.oneiros_engine import LexicalAlone
from oneiros.benchmark.rivals.rival import Ids, MemorySearch, Question

__all__ = ["entrant"]


def entrant(name: str, **rest: object) -> Entrant:
    """Return an entrant of a class of this file."""
    given = {"task": "words", "judged_by": "words", **rest}
    return Entrant(name=name, place=f"{__name__}:{name}", **given)  # type: ignore[arg-type]


class Wrong(LexicalAlone):
    """Fast, and wrong: the same ten for every query."""

    def search(self, query: str, k: int) -> Ids:  # noqa: ARG002
        return range(k)


class Raising(LexicalAlone):
    """Fails when it is built."""

    def build(self, texts: list[str], folder: Path) -> None:  # noqa: ARG002
        msg = "no room for texts"
        raise RuntimeError(msg)


class Ending(LexicalAlone):
    """Ends its process at a search of the first round."""

    searches = 0

    def search(self, query: str, k: int) -> Ids:
        self.searches += 1
        if self.searches > 400 + 13:  # the warm-up and the judged answers are over
            os._exit(3)
        return super().search(query, k)


class Slow(LexicalAlone):
    """Takes 50 ms a search."""

    def search(self, query: str, k: int) -> Ids:
        time.sleep(0.05)
        return super().search(query, k)


class OtherTexts(MemorySearch):
    """Finds the right memories and returns wrong texts."""

    def build(self, corpus: Corpus, folder: Path) -> None:  # noqa: ARG002
        self.projects = corpus.projects()

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:  # noqa: ARG002
        return [(self.projects.index(question.project), "another text")]
