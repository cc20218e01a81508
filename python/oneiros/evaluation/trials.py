"""Many profiles measured on the same questions, each paying only for what is new in it.

What the channels answer depends on few parts of a profile; where these are the same, the answers of
before are fused and ranked anew, by the very path that a search takes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.engine import Engine
from oneiros.evaluation.metrics import ndcg_at
from oneiros.evaluation.tasks import DEPTH
from oneiros.gathering import Question, Stages
from oneiros.limiting import DeepLimits
from oneiros.query.asking import Asking
from oneiros.ranking.channels import LexicalChannel
from oneiros.recall import ask, respond

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from oneiros.channels import ChannelAnswer
    from oneiros.evaluation.tasks import Asked, Task
    from oneiros.projections import Visible
    from oneiros.ranking.profile import Profile

__all__ = ["Trials"]

NDCG_DEPTH: Final = 10
_MOST_HELD: Final = 4
"""Engines held open, and answers held of each."""


class _Heard(NamedTuple):
    """What the channels answered to one question."""

    question: Question
    visible: Visible
    answers: list[ChannelAnswer]


class _Mind(Engine):
    """An engine whose searches can stop after the channels, and go on from there."""

    def hear(self, asked: Asked, profile: Profile) -> _Heard:
        asking = Asking.checked(asked.where, None, None, None)
        moment = self._now(asked.now)
        question = self._question(
            asked.text, asked.embedding, DEPTH, moment, profile, False, "plain", asking
        )
        deep = DeepLimits(is_deep=False, includes_lapsed=False)
        selection, now = question.profile.selection, question.now
        limits = self._limits(selection, now, asked.where, None, False, None, deep)
        visible = self._visible(question, limits)
        answers = ask(question, self._parts.projections, visible, Stages())
        return _Heard(question, visible, answers)

    def go_on(self, heard: _Heard, profile: Profile) -> list[str]:
        """Return what a search by the profile returns, whose channels answered so."""
        question = replace(heard.question, profile=profile, profile_hash=profile.hash)
        projections, load = self._parts.projections, self._load_seen
        found = respond(question, projections, heard.visible, heard.answers, load, Stages())
        return found.ids

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
        self._minds: OrderedDict[tuple[Any, ...], list[_Mind]] = OrderedDict()
        self._heard: OrderedDict[tuple[Any, ...], list[_Heard]] = OrderedDict()

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
        self._heard.clear()

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
        if profile.understanding is not None:  # what is asked then depends on weights, too
            rankings = [minds[number].searched(asked, profile) for number, asked in self.questions]
        else:
            heard = self._heard_by(minds, profile)
            rankings = [
                minds[number].go_on(one, profile)
                for (number, _), one in zip(self.questions, heard, strict=True)
            ]
        return tuple(
            ndcg_at(ranking, asked.answers, NDCG_DEPTH)
            for (_, asked), ranking in zip(self.questions, rankings, strict=True)
        )

    def _minds_of(self, profile: Profile) -> list[_Mind]:
        """Return an engine a task that stores and indexes as the profile has it."""
        key = _stored_by(profile)
        if key not in self._minds:
            while len(self._minds) >= _MOST_HELD:
                oldest, minds = self._minds.popitem(last=False)
                for held in [one for one in self._heard if one[0] == oldest]:
                    del self._heard[held]
                _close(minds)
            minds = self._minds[key] = []
            for task in self._tasks:
                mind = _Mind(":memory:", profile=profile, vector_index="flat")
                minds.append(mind)
                mind.add_many(task.records)
        self._minds.move_to_end(key)
        return self._minds[key]

    def _heard_by(self, minds: list[_Mind], profile: Profile) -> list[_Heard]:
        key = (_stored_by(profile), *_asked_by(profile))
        if key not in self._heard:
            while len(self._heard) >= _MOST_HELD:
                self._heard.popitem(last=False)
            self._heard[key] = [
                minds[number].hear(asked, profile) for number, asked in self.questions
            ]
        self._heard.move_to_end(key)
        return self._heard[key]


def _stored_by(profile: Profile) -> tuple[Any, ...]:
    """Return what of a profile makes a difference to a store that is made with it."""
    words = [(one.k1, one.b) for one in profile.channels if isinstance(one, LexicalChannel)]
    return (*words, profile.initial_stability, profile.ingest)


def _asked_by(profile: Profile) -> tuple[Any, ...]:
    """Return what else of a profile makes a difference to a question and to the channels' answers."""
    parts = (*profile.factors, profile.named_time, profile.expansion, profile.rerank)
    kinds = tuple(type(part) for part in parts)
    return (profile.channels, profile.selection, profile.reads_texts, kinds)


def _close(minds: Sequence[_Mind]) -> None:
    for mind in minds:
        mind.close()
