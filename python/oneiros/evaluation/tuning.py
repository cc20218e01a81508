"""Search for better parameters of a profile on judged queries, cross-validated on others."""

from __future__ import annotations

import itertools
import math
import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from oneiros.engine import Engine
from oneiros.evaluation.metrics import Gain, mean, ndcg_at, paired_gain
from oneiros.evaluation.tasks import engine_in_memory, ranked
from oneiros.model.validation import count, require_choice, require_numbers
from oneiros.runtime.dataclasses import dataclass, replace

if TYPE_CHECKING:
    from typing import Self

    from oneiros.evaluation.tasks import Task
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
    "require_tunable",
    "tune",
    "value_at",
    "values_at",
    "with_value",
    "with_values_of",
]


_ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a profile, and the values to try for it."""

    path: str
    values: tuple[float, ...]
    """At least one, finite."""

    def __post_init__(self) -> None:
        require_numbers(self.path, self.values, low=float("-inf"))


PARAMETERS: Final = (
    Parameter("channels.lexical.k1", (0.3, 0.6, 0.9, 1.2, 1.6, 2.0)),
    Parameter("channels.lexical.b", (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.75, 0.9, 1.0)),
    Parameter("channels.lexical.half_length", (30.0, 45.0, 65.0, 90.0, 130.0)),
    Parameter("fusion.k", (5.0, 10.0, 20.0, 30.0, 60.0, 100.0)),
    Parameter("fusion.weight", (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)),
    Parameter("neighbours.share", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)),
    Parameter("neighbours.decay", (0.25, 0.5, 0.75)),
    Parameter("neighbours.whole_length", (20.0, 30.0, 60.0, 120.0)),
    Parameter("statements.damping", (0.0, 0.25, 0.5, 0.75)),
    Parameter("factors.*.damping", (0.0, 0.05, 0.1, 0.15, 0.25, 0.4)),
)
"""Parameters tuned by default, as far as the profile has them."""


def fitting(profile: Profile) -> tuple[Parameter, ...]:
    """Return the parameters of :data:`PARAMETERS` that the profile has."""
    return tuple(parameter for parameter in PARAMETERS if _places(profile, parameter.path))


def value_at(profile: Profile, path: str) -> float:
    """Return the number at a path; the first if the path matches several.

    Raises:
        ValueError: the profile has no such number.
    """
    return values_at(profile, path)[0]


def values_at(profile: Profile, path: str) -> tuple[float, ...]:
    """Return the numbers at all places that a path matches.

    Raises:
        ValueError: the profile has no such number.
    """
    field = path.rpartition(".")[2]
    return tuple(getattr(part, field) for _, part in _required(profile, path))


def with_value(profile: Profile, path: str, value: float) -> Profile:
    """Return the profile with another number at all places that a path matches.

    Raises:
        ValueError: the profile has no such number, or the number is out of its range.
    """
    return _with_values(profile, path, [value] * len(_required(profile, path)))


def with_values_of(profile: Profile, path: str, other: Profile) -> Profile:
    """Return the profile with the numbers at a path taken from another profile of the same parts.

    Raises:
        ValueError: the profile has no such number.
    """
    return _with_values(profile, path, values_at(other, path))


def _with_values(profile: Profile, path: str, values: Sequence[float]) -> Profile:
    key, field = path.partition(".")[0], path.rpartition(".")[2]
    existing = getattr(profile, key)
    changed = {
        index: replace(part, **{field: _in_type_of(part, field, value)})
        for (index, part), value in zip(_required(profile, path), values, strict=True)
    }
    if isinstance(existing, tuple):
        parts = tuple(changed.get(index, part) for index, part in enumerate(existing))
        return profile.replace(**{key: parts})
    return profile.replace(**{key: changed[0]})


def _in_type_of(part: Any, field: str, value: float) -> float:
    """Return a whole number as int if the field is an int, else unchanged."""
    is_whole = isinstance(getattr(part, field), int) and float(value).is_integer()
    return int(value) if is_whole else value


def _required(profile: Profile, path: str) -> Sequence[tuple[int, Any]]:
    places = _places(profile, path)
    if not places:
        known = ", ".join(parameter.path for parameter in fitting(profile))
        msg = f"{path}: profile {profile.name} has no such number; it has {known}, for example"
        raise ValueError(msg)
    return places


def _places(profile: Profile, path: str) -> Sequence[tuple[int, Any]]:
    """Return the parts that a path matches, each with its index."""
    key, *names, field = path.split(".") if "." in path else (path, "")
    value = getattr(profile, key, None) if key in profile.record() else None
    if isinstance(value, tuple) and len(names) == 1:
        return [
            (index, part)
            for index, part in enumerate(value)
            if names[0] in (_ALL, part.name) and _is_number(part, field)
        ]
    if value is not None and not names and _is_number(value, field):
        return [(0, value)]
    return []


def _is_number(part: Any, field: str) -> bool:
    value = getattr(part, field, None)
    is_declared = field in getattr(type(part), "__dataclass_fields__", {})
    return is_declared and isinstance(value, int | float) and not isinstance(value, bool)


NDCG_DEPTH: Final = 10
_MOST_OPEN: Final = 4
"""Maximum number of stores, as lists of engines, that are open at once."""


class ProfileTrials:
    """Measures profiles on the answerable questions of tasks, without following links.

    Args:
        tasks: memories and questions.
        advance: called with 1 after each profile measured.
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
        """Each with the index of its task."""
        self._figures: dict[Profile, tuple[float, ...]] = {}
        self._engines: OrderedDict[tuple[Any, ...], list[Engine]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def count(self) -> int:
        """The number of profiles measured."""
        return len(self._figures)

    def close(self) -> None:
        """Close every engine."""
        for engines in self._engines.values():
            _close(engines)
        self._engines.clear()

    def figures(self, profile: Profile) -> tuple[float, ...]:
        """Return nDCG@10 of each question, in order; a profile is measured once."""
        figures = self._figures.get(profile)
        if figures is None:
            figures = self._figures[profile] = self._measured(profile)
            if self._advance is not None:
                self._advance(1)
        return figures

    def _measured(self, profile: Profile) -> tuple[float, ...]:
        engines = self._engines_of(profile)
        return tuple(
            ndcg_at(ranked(engines[number], query, profile), query.answers, NDCG_DEPTH)
            for number, query in self.questions
        )

    def _engines_of(self, profile: Profile) -> list[Engine]:
        """Return an engine per task that stores and indexes as the profile requires."""
        key = _stored_by(profile)
        if key not in self._engines:
            while len(self._engines) >= _MOST_OPEN:
                _, oldest = self._engines.popitem(last=False)
                _close(oldest)
            engines = self._engines[key] = []
            for task in self._tasks:
                engine = engine_in_memory(profile, task.analyzer, task.embedder)
                engines.append(engine)
                engine.add_many(task.records)
        self._engines.move_to_end(key)
        return self._engines[key]


def _stored_by(profile: Profile) -> tuple[Any, ...]:
    """Return the settings of a profile that affect what a store contains."""
    words = [tuple(channel.bm25.items()) for channel in profile.channels if channel.bm25]
    return (*words, profile.initial_stability, profile.ingest)


def _close(engines: Sequence[Engine]) -> None:
    for engine in engines:
        engine.close()


Method = Literal["ascent", "grid"]

_MOST_SWEEPS: Final = 5
_PATIENCE: Final = 2
"""Steps without an improvement after which a direction is abandoned."""
_LARGEST_GRID: Final = 5_000
_MOST_FOLDS: Final = 20

Figures = Callable[["Profile"], Sequence[float]]
"""Returns a profile's figure for each tuned question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A changed number of a profile; if its path matches several, the first that differs."""

    path: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Parameters found without some of the questions, and measured on those."""

    profile: Profile
    question_count: int
    """Number of questions measured."""
    before: float
    """Mean nDCG@10 of these questions."""
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The result of :func:`tune`."""

    profile: Profile
    """The original profile."""
    found: Profile
    """The best profile on all questions together."""
    gain: Gain
    """Gain in nDCG@10; each question is measured with parameters found without it."""
    folds: tuple[Fold, ...]
    parameters: tuple[Parameter, ...]
    trial_count: int
    """Number of profiles measured."""

    @property
    def is_better(self) -> bool:
        """Whether there are changes and their gain is significant."""
        return self.found != self.profile and self.gain.is_significant

    @property
    def tuned(self) -> Profile:
        """The profile to use: ``found`` if it is better, else ``profile``."""
        return self.found if self.is_better else self.profile

    @property
    def changes(self) -> tuple[Change, ...]:
        """Differences between ``profile`` and ``found``."""
        changes = []
        for parameter in self.parameters:
            both = (values_at(profile, parameter.path) for profile in (self.profile, self.found))
            differing = [pair for pair in zip(*both, strict=True) if pair[0] != pair[1]]
            if differing:
                before, after = differing[0]
                changes.append(Change(path=parameter.path, before=before, after=after))
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
    """Search for parameters that improve nDCG@10 on judged questions.

    The questions are split into folds, stratified by type. For each fold, parameters are found on
    the others and measured on it; the gain is over all questions, each measured with parameters
    found without it. A change without a significant gain on the questions it was found on is
    reverted. Use the result on all questions only if the gain is significant: see
    :attr:`Tuning.tuned`. Searches do not reinforce memories.

    Args:
        tasks: memories and questions, at least one; all questions have equal weight.
        profile: the starting point.
        parameters: the numbers to tune, with values to try; default: the usual ones it has.
        method: "ascent" improves one number after the other, in rounds, until none helps; "grid"
            tries every combination.
        folds: 2 to 20.
        seed: for the split and the bootstrap.
        advance: called with 1 after each profile measured.

    Raises:
        ValueError: no task, too few questions for the folds, a number that the profile lacks or
            that is out of range, a number named twice, a grid of over 5,000 combinations, or an argument out of range.
    """
    require_choice("method", method, ("ascent", "grid"))
    if not 2 <= count("folds", folds) <= _MOST_FOLDS:
        msg = f"folds: must be from 2 to {_MOST_FOLDS}, got {folds}"
        raise ValueError(msg)
    chosen = fitting(profile) if parameters is None else tuple(parameters)
    require_tunable(profile, chosen, method)
    search = _by_grid if method == "grid" else _by_ascent
    with ProfileTrials(tasks, advance) as trials:
        parts = _dealt([question.type for _, question in trials.questions], folds, seed)

        def best_on(places: Sequence[int]) -> Profile:
            def figures(tried: Profile) -> list[float]:
                every = trials.figures(tried)
                return [every[place] for place in places]

            return _with_what_helps(
                search(profile, chosen, figures), profile, chosen, figures, seed
            )

        before = trials.figures(profile)
        after = list(before)
        done: list[Fold] = []
        for part in parts:
            measured = set(part)
            found = best_on([place for place in range(len(before)) if place not in measured])
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


def require_tunable(profile: Profile, parameters: Sequence[Parameter], method: Method) -> None:
    """Raise for parameters that cannot be tried, before anything is measured."""
    paths = [parameter.path for parameter in parameters]
    for path in paths:
        if paths.count(path) > 1:
            msg = f"parameters: must name each path once, got {path!r} twice"
            raise ValueError(msg)
    if not parameters:
        msg = f"parameters: profile {profile.name} has none of the usual ones; name some"
        raise ValueError(msg)
    for parameter in parameters:
        value_at(profile, parameter.path)
        for value in parameter.values:
            with_value(profile, parameter.path, value)
    size = math.prod(len(parameter.values) for parameter in parameters)
    if method == "grid" and size > _LARGEST_GRID:
        msg = f"parameters: a grid of {size} combinations; at most {_LARGEST_GRID}"
        raise ValueError(msg)


def _dealt(types: Sequence[str], folds: int, seed: int) -> list[list[int]]:
    """Split question indices into folds, stratified by type."""
    if len(types) < folds:
        msg = f"folds: {folds} need as many questions, got {len(types)}"
        raise ValueError(msg)
    places = list(range(len(types)))
    random.Random(seed).shuffle(places)
    places.sort(key=lambda place: types[place])  # stable: keeps the shuffled order within a type
    return [sorted(places[first::folds]) for first in range(folds)]


def _by_ascent(start: Profile, parameters: Sequence[Parameter], figures: Figures) -> Profile:
    """Change one number at a time until no step improves the mean, or after some rounds."""
    best, score = start, mean(figures(start))
    for _ in range(_MOST_SWEEPS):
        before = best
        for parameter in parameters:
            for up in (False, True):
                climbed, figure = _climbed(best, score, parameter, figures, up=up)
                if figure > score:
                    best, score = climbed, figure
                    break  # values in the other direction were already passed
        if best == before:
            break
    return best


def _climbed(
    best: Profile, score: float, parameter: Parameter, figures: Figures, *, up: bool
) -> tuple[Profile, float]:
    """Step one number through its values until several in a row bring no improvement."""
    start, at, idle = best, value_at(best, parameter.path), 0
    rest = sorted(value for value in parameter.values if (value > at if up else value < at))
    for value in rest if up else reversed(rest):
        tried = with_value(start, parameter.path, value)
        if (figure := mean(figures(tried))) > score:
            best, score, idle = tried, figure, 0
        elif (idle := idle + 1) == _PATIENCE:
            break
    return best, score


def _by_grid(start: Profile, parameters: Sequence[Parameter], figures: Figures) -> Profile:
    """Return the best of all combinations, or ``start`` if none is better."""
    best, score = start, mean(figures(start))
    for values in itertools.product(*(parameter.values for parameter in parameters)):
        tried = start
        for parameter, value in zip(parameters, values, strict=True):
            tried = with_value(tried, parameter.path, value)
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
    """Revert changes without a significant gain, one by one, the least helpful first."""
    while True:
        changed = [
            parameter
            for parameter in parameters
            if values_at(found, parameter.path) != values_at(start, parameter.path)
        ]
        gains = []
        for parameter in changed:
            without = with_values_of(found, parameter.path, start)
            gain = paired_gain(figures(without), figures(found), seed=seed)
            gains.append((gain.mean, gain.is_significant, without))
        unsure = [(amount, without) for amount, is_sure, without in gains if not is_sure]
        if not unsure:
            return found
        found = min(unsure, key=lambda pair: pair[0])[1]
