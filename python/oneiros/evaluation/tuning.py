"""Better numbers for a profile, found on judged queries and confirmed on others."""

from __future__ import annotations

import itertools
import math
import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from oneiros.engine import Engine
from oneiros.evaluation.metrics import Gain, mean, ndcg_at, paired_gain
from oneiros.evaluation.tasks import DEPTH
from oneiros.model.validation import count, require_choice, require_numbers
from oneiros.runtime.dataclasses import dataclass, replace

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from oneiros.evaluation.tasks import JudgedQuery, Task
    from oneiros.scoring.profile import Profile

__all__ = [
    "PARAMETERS",
    "Change",
    "Fold",
    "Method",
    "Parameter",
    "ProfileTrials",
    "Tuning",
    "fitting",
    "tune",
    "value_at",
    "values_at",
    "with_value",
    "with_values_of",
]


_ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a profile, and the values to be tried for it."""

    path: str
    values: tuple[float, ...]
    """At least one, finite."""

    def __post_init__(self) -> None:
        require_numbers(self.path, self.values, low=float("-inf"))


PARAMETERS: Final = (
    Parameter("channels.lexical.k1", (0.3, 0.6, 0.9, 1.2, 1.6, 2.0)),
    Parameter("channels.lexical.b", (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.75, 0.9)),
    Parameter("fusion.k", (5.0, 10.0, 20.0, 30.0, 60.0, 100.0)),
    Parameter("fusion.weight", (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)),
    Parameter("neighbours.share", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)),
    Parameter("neighbours.decay", (0.25, 0.5, 0.75)),
    Parameter("statements.damping", (0.0, 0.25, 0.5, 0.75)),
    Parameter("factors.*.damping", (0.0, 0.05, 0.1, 0.15, 0.25, 0.4)),
)
"""What is tuned unless other parameters are named: those of these that a profile has."""


def fitting(profile: Profile) -> tuple[Parameter, ...]:
    """Return those of :data:`PARAMETERS` that the profile has."""
    return tuple(one for one in PARAMETERS if _places(profile, one.path))


def value_at(profile: Profile, path: str) -> float:
    """Return the number at a path, of several the first.

    Raises:
        ValueError: the profile has no such number.
    """
    return values_at(profile, path)[0]


def values_at(profile: Profile, path: str) -> tuple[float, ...]:
    """Return the numbers at all places that a path names.

    Raises:
        ValueError: the profile has no such number.
    """
    field = path.rpartition(".")[2]
    return tuple(getattr(part, field) for _, part in _required(profile, path))


def with_value(profile: Profile, path: str, value: float) -> Profile:
    """Return the profile with another number at a path, at all places it names.

    Raises:
        ValueError: the profile has no such number, or the number is out of its range.
    """
    return _with_values(profile, path, [value] * len(_required(profile, path)))


def with_values_of(profile: Profile, path: str, other: Profile) -> Profile:
    """Return the profile with the numbers that another has there, whose parts are the same ones.

    Raises:
        ValueError: the profile has no such number.
    """
    return _with_values(profile, path, values_at(other, path))


def _with_values(profile: Profile, path: str, values: Sequence[float]) -> Profile:
    key, field = path.partition(".")[0], path.rpartition(".")[2]
    held = getattr(profile, key)
    changed = {
        index: replace(part, **{field: _as_held(part, field, value)})
        for (index, part), value in zip(_required(profile, path), values, strict=True)
    }
    if isinstance(held, tuple):
        parts = tuple(changed.get(index, part) for index, part in enumerate(held))
        return profile.replace(**{key: parts})
    return profile.replace(**{key: changed[0]})


def _as_held(part: Any, field: str, value: float) -> float:
    """Return a whole number as such where the part holds one."""
    is_whole = isinstance(getattr(part, field), int) and float(value).is_integer()
    return int(value) if is_whole else value


def _required(profile: Profile, path: str) -> Sequence[tuple[int, Any]]:
    places = _places(profile, path)
    if not places:
        known = ", ".join(one.path for one in fitting(profile))
        msg = f"{path}: profile {profile.name} has no such number; it has {known}, for example"
        raise ValueError(msg)
    return places


def _places(profile: Profile, path: str) -> Sequence[tuple[int, Any]]:
    """Return the parts that a path names, each with its place in its list."""
    key, *names, field = path.split(".") if "." in path else (path, "")
    held = getattr(profile, key, None) if key in profile.record() else None
    if isinstance(held, tuple) and len(names) == 1:
        return [
            (index, part)
            for index, part in enumerate(held)
            if names[0] in (_ALL, part.name) and _is_number(part, field)
        ]
    if held is not None and not names and _is_number(held, field):
        return [(0, held)]
    return []


def _is_number(part: Any, field: str) -> bool:
    value = getattr(part, field, None)
    is_declared = field in getattr(type(part), "__dataclass_fields__", {})
    return is_declared and isinstance(value, int | float) and not isinstance(value, bool)


NDCG_DEPTH: Final = 10
_MOST_HELD: Final = 4
"""Engines held open."""


class _Engine(Engine):
    """An engine that is asked by the questions of a task."""

    def searched(self, asked: JudgedQuery, profile: Profile) -> list[str]:
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


class ProfileTrials:
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


Method = Literal["ascent", "grid"]

_MOST_SWEEPS: Final = 5
_PATIENCE: Final = 2
"""Steps in one direction that may help nothing before it is given up."""
_LARGEST_GRID: Final = 5_000
_MOST_FOLDS: Final = 20

Figures = Callable[["Profile"], Sequence[float]]
"""A profile's figure of each question tuned on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One number of a profile, before and after; of several at its path the first that differs."""

    path: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What was found without some of the questions, and measured on them."""

    profile: Profile
    question_count: int
    """Of those it was measured on."""
    before: float
    """Mean nDCG@10 of these."""
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What :func:`tune` found."""

    profile: Profile
    """As it was."""
    found: Profile
    """What all questions together speak for."""
    gain: Gain
    """In nDCG@10, each question by what was found without it."""
    folds: tuple[Fold, ...]
    parameters: tuple[Parameter, ...]
    trial_count: int
    """Profiles measured."""

    @property
    def is_better(self) -> bool:
        """Whether there are changes, and their gain is beyond chance."""
        return self.found != self.profile and self.gain.is_significant

    @property
    def tuned(self) -> Profile:
        """The profile to use: what was found where that is better, else what was there."""
        return self.found if self.is_better else self.profile

    @property
    def changes(self) -> tuple[Change, ...]:
        """What differs in what was found."""
        changes = []
        for one in self.parameters:
            both = (values_at(profile, one.path) for profile in (self.profile, self.found))
            differing = [pair for pair in zip(*both, strict=True) if pair[0] != pair[1]]
            if differing:
                before, after = differing[0]
                changes.append(Change(path=one.path, before=before, after=after))
        return tuple(changes)


def tune(
    tasks: Sequence[Task],
    profile: Profile,
    parameters: Sequence[Parameter] | None = None,
    *,
    method: Method = "ascent",
    folds: int = 2,
    seed: int = 0,
    advance: Callable[[int], None] | None = None,
) -> Tuning:
    """Look for numbers that answer judged questions better.

    The questions are dealt into folds, each kind of question evenly. For each fold numbers are found
    on the others and measured on it; the gain is over all questions, each by numbers that were found
    without it. A number that is changed without a gain beyond chance, where it was found, is put
    back. What is found on all questions is worth using only where the gain is beyond chance, too:
    see :attr:`Tuning.tuned`. No question reinforces a memory.

    Args:
        tasks: memories and questions, at least one; every question weighs the same.
        profile: where to begin.
        parameters: which numbers, and the values to try; default: the usual ones that it has.
        method: "ascent" improves one number after the other, in rounds, until none helps; "grid"
            tries every combination.
        folds: 2 to 20.
        seed: of the dealing and of the bounds.
        advance: called with 1 after each profile that was measured.

    Raises:
        ValueError: no task, too few questions for the folds, a number that the profile has not or
            that is out of its range, a grid of over 5,000 combinations, or an argument out of range.
    """
    require_choice("method", method, ("ascent", "grid"))
    if not 2 <= count("folds", folds) <= _MOST_FOLDS:
        msg = f"folds: must be from 2 to {_MOST_FOLDS}, got {folds}"
        raise ValueError(msg)
    chosen = fitting(profile) if parameters is None else tuple(parameters)
    _require_tunable(profile, chosen, method)
    search = _by_grid if method == "grid" else _by_ascent
    with ProfileTrials(tasks, advance) as trials:
        parts = _dealt([question.type for _, question in trials.questions], folds, seed)

        def best_on(places: Sequence[int]) -> Profile:
            def figures(one: Profile) -> list[float]:
                every = trials.figures(one)
                return [every[place] for place in places]

            return _with_what_helps(
                search(profile, chosen, figures), profile, chosen, figures, seed
            )

        before = trials.figures(profile)
        after = list(before)
        done: list[Fold] = []
        for part in parts:
            held = set(part)
            found = best_on([place for place in range(len(before)) if place not in held])
            every = trials.figures(found)
            for place in part:
                after[place] = every[place]
            done.append(
                Fold(
                    profile=found,
                    question_count=len(part),
                    before=mean(before[place] for place in part),
                    after=mean(every[place] for place in part),
                )
            )
        return Tuning(
            profile=profile,
            found=best_on(range(len(before))),
            gain=paired_gain(before, after, seed=seed),
            folds=tuple(done),
            parameters=chosen,
            trial_count=trials.count,
        )


def _require_tunable(profile: Profile, parameters: Sequence[Parameter], method: Method) -> None:
    """Refuse what cannot be tried, before anything is measured."""
    if not parameters:
        msg = f"parameters: profile {profile.name} has none of the usual ones; name some"
        raise ValueError(msg)
    for one in parameters:
        value_at(profile, one.path)
        for value in one.values:
            with_value(profile, one.path, value)
    size = math.prod(len(one.values) for one in parameters)
    if method == "grid" and size > _LARGEST_GRID:
        msg = f"parameters: a grid of {size} combinations; at most {_LARGEST_GRID}"
        raise ValueError(msg)


def _dealt(types: Sequence[str], folds: int, seed: int) -> list[list[int]]:
    """Deal the places of questions into folds, those of each type evenly."""
    if len(types) < folds:
        msg = f"folds: {folds} need as many questions, got {len(types)}"
        raise ValueError(msg)
    places = list(range(len(types)))
    random.Random(seed).shuffle(places)
    places.sort(key=lambda place: types[place])  # keeps the order within a type
    return [sorted(places[first::folds]) for first in range(folds)]


def _by_ascent(start: Profile, parameters: Sequence[Parameter], figures: Figures) -> Profile:
    """Return the profile that no step of one number betters, or the best after some rounds."""
    best, score = start, mean(figures(start))
    for _ in range(_MOST_SWEEPS):
        before = best
        for one in parameters:
            for up in (False, True):
                climbed, figure = _climbed(best, score, one, figures, up=up)
                if figure > score:
                    best, score = climbed, figure
                    break  # the other way lies what was left behind
        if best == before:
            break
    return best


def _climbed(
    best: Profile, score: float, one: Parameter, figures: Figures, *, up: bool
) -> tuple[Profile, float]:
    """Step one number from value to value until some in a row help no more."""
    start, at, idle = best, value_at(best, one.path), 0
    rest = sorted(value for value in one.values if (value > at if up else value < at))
    for value in rest if up else reversed(rest):
        tried = with_value(start, one.path, value)
        if (figure := mean(figures(tried))) > score:
            best, score, idle = tried, figure, 0
        elif (idle := idle + 1) == _PATIENCE:
            break
    return best, score


def _by_grid(start: Profile, parameters: Sequence[Parameter], figures: Figures) -> Profile:
    """Return the best of all combinations; where none is better, what was there."""
    best, score = start, mean(figures(start))
    for values in itertools.product(*(one.values for one in parameters)):
        tried = start
        for one, value in zip(parameters, values, strict=True):
            tried = with_value(tried, one.path, value)
        if (figure := mean(figures(tried))) > score:
            best, score = tried, figure
    return best


def _with_what_helps(
    found: Profile,
    start: Profile,
    parameters: Sequence[Parameter],
    figures: Figures,
    seed: int,
) -> Profile:
    """Put back each number whose change gains nothing beyond chance, the least helpful first."""
    while True:
        changed = [
            one for one in parameters if values_at(found, one.path) != values_at(start, one.path)
        ]
        gains = []
        for one in changed:
            without = with_values_of(found, one.path, start)
            gain = paired_gain(figures(without), figures(found), seed=seed)
            gains.append((gain.mean, gain.is_significant, without))
        unsure = [(amount, without) for amount, is_sure, without in gains if not is_sure]
        if not unsure:
            return found
        found = min(unsure, key=lambda one: one[0])[1]
