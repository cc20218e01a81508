"""Many profiles measured on the same questions, over stores that those share which store alike."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from oneiros.engine import Engine
from oneiros.evaluation.metrics import ndcg_at
from oneiros.evaluation.tasks import DEPTH

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from oneiros.evaluation.tasks import Asked, Task
    from oneiros.ranking.profile import Profile

__all__ = ["Trials"]

NDCG_DEPTH: Final = 10
_MOST_HELD: Final = 4
"""Engines held open."""


class _Engine(Engine):
    """An engine that is asked by the questions of a task."""

    def searched(self, asked: Asked, profile: Profile) -> list[str]:
        """Return what a search returns."""
        return self.search(
            asked.text,
            DEPTH,
            now=asked.now,
            where=asked.where,
            embedding=asked.embedding,
            profile=profile,
            reinforce=False,
        ).ids


class Trials:
    """Measures profiles on the answerable questions of some tasks. Links are not followed.

    Args:
        tasks: memories and questions.
        advance: called with 1 after each profile that was measured.
    """

    def __init__(self, tasks: Sequence[Task], advance: Callable[[int], None] | None = None) -> None:
        self._tasks = tasks
        self._advance = advance
        self.questions = tuple(
            (number, question)
            for number, task in enumerate(tasks)
            for question in task.questions
            if any(grade > 0 for grade in question.answers.values())
        )
        """Each with the number of its task."""
        self._figures: dict[Profile, tuple[float, ...]] = {}
        self._minds: OrderedDict[tuple[Any, ...], list[_Engine]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def count(self) -> int:
        """How many profiles were measured."""
        return len(self._figures)

    def close(self) -> None:
        """Close every engine."""
        for minds in self._minds.values():
            _close(minds)
        self._minds.clear()

    def figures(self, profile: Profile) -> tuple[float, ...]:
        """Return nDCG@10 of each question, in their order; a profile is measured once."""
        held = self._figures.get(profile)
        if held is None:
            held = self._figures[profile] = self._measured(profile)
            if self._advance is not None:
                self._advance(1)
        return held

    def _measured(self, profile: Profile) -> tuple[float, ...]:
        minds = self._minds_of(profile)
        rankings = [minds[number].searched(asked, profile) for number, asked in self.questions]
        return tuple(
            ndcg_at(ranking, asked.answers, NDCG_DEPTH)
            for (_, asked), ranking in zip(self.questions, rankings, strict=True)
        )

    def _minds_of(self, profile: Profile) -> list[_Engine]:
        """Return an engine a task that stores and indexes as the profile has it."""
        key = _stored_by(profile)
        if key not in self._minds:
            while len(self._minds) >= _MOST_HELD:
                _, minds = self._minds.popitem(last=False)
                _close(minds)
            minds = self._minds[key] = []
            for task in self._tasks:
                mind = _Engine(":memory:", profile=profile, vector_index="flat")
                minds.append(mind)
                mind.add_many(task.records)
        self._minds.move_to_end(key)
        return self._minds[key]


def _stored_by(profile: Profile) -> tuple[Any, ...]:
    """Return what of a profile makes a difference to a store that is made with it."""
    words = [one.bm25 for one in profile.channels if one.bm25 is not None]
    return (*words, profile.initial_stability, profile.ingest)


def _close(minds: Sequence[_Engine]) -> None:
    for mind in minds:
        mind.close()
