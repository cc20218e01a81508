"""Better numbers for a profile, found on judged questions and believed only on others.

Source: docs/systems/house.md H5.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from oneiros.argument_checks import count, require_choice
from oneiros.dataclasses_on_use import dataclass
from oneiros.evaluation.metrics import mean
from oneiros.evaluation.parameters import (
    Parameter,
    fitting,
    value_at,
    values_at,
    with_value,
    with_values_of,
)
from oneiros.evaluation.significance import Gain, paired_gain
from oneiros.evaluation.trials import Trials

if TYPE_CHECKING:
    from oneiros.evaluation.tasks import Task
    from oneiros.ranking.profile import Profile

__all__ = ["Change", "Fold", "Method", "Tuning", "tune"]

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
    with Trials(tasks, advance) as trials:
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
