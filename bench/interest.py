# ruff: noqa: T201 - a command
"""The law of the simulator's interest, fitted to what people came back to in dated collections.

A question of a dated collection that cites documents is a choice among all documents of its group that
are older than it. The chance of a document is taken to be proportional to w(age), and the parameters of w
are those under which the choices made are most likely::

    python -m bench.interest

reads gitlog-dev and realmem-dev under ``ONEIROS_DATA`` and prints, for several forms of w, the gain in
log likelihood over a w that is the same for all ages, and the parameters. It then prints the ages of the
questions of simulated lives, and the times after which topics and documents come up again.

Source of the simulator's numbers: docs/simulation.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from oneiros.evaluation.collection import Collection, read
from oneiros.evaluation.tasks import task_of
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.simulation.workload import Workload
from oneiros.simulation.world import World

__all__ = ["FORMS", "Choice", "Fit", "choices", "fitted", "question_ages"]

_DAY: Final = 86_400.0
_SMALLEST_STEP: Final = 2e-3

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Choice:
    """A question's documents."""

    cited: Array
    """Age of each cited document in days."""
    older: Array
    """Age of each document that it could cite, those included."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The parameters of a form under which the choices are most likely."""

    gain: float
    """Log likelihood of all choices beyond that of a constant."""
    parameters: tuple[float, ...]


def _exponential(age: Array, days: float) -> Array:
    return -age / days


def _power(age: Array, days: float, tail: float) -> Array:
    return -tail * np.log1p(age / days)


def _stretched(age: Array, days: float, shape: float) -> Array:
    return -((age / days) ** shape)


def _power_and_recent(
    age: Array, days: float, tail: float, recent: float, half_life: float
) -> Array:
    return np.log(recent * 2.0 ** (-age / half_life) + np.exp(_power(age, days, tail)))


FORMS: Final[dict[str, tuple[Callable[..., Array], tuple[float, ...]]]] = {
    "exp(-age / days)": (_exponential, (100.0,)),
    "exp(-(age / days)^shape)": (_stretched, (50.0, 0.5)),
    "(1 + age / days)^-tail": (_power, (30.0, 1.0)),
    "the same + recent 2^(-age / half-life)": (_power_and_recent, (30.0, 1.0, 1.0, 3.0)),
}
"""Logarithms of w by name, with the parameters from which the fit starts."""


def choices(collection: Collection) -> Iterator[Choice]:
    """Yield the choices of the questions that cite older documents."""
    task = task_of(collection)
    created = {record["id"]: float(record["created_at"]) for record in task.records}
    groups: dict[str | None, list[float]] = {}
    for record in task.records:
        groups.setdefault(record.get("project"), []).append(float(record["created_at"]))
    for question in task.questions:
        now = float(question.now)
        cited = [created[id] for id, grade in question.answers.items() if grade > 0.0]
        older = np.array(groups[question.group])
        ages = (now - np.array([at for at in cited if at < now])) / _DAY
        if len(ages):
            yield Choice(ages, (now - older[older < now]) / _DAY)


def fitted(made: list[Choice], form: Callable[..., Array], start: tuple[float, ...]) -> Fit:
    """Return the most likely parameters, by steps along each axis that get shorter.

    Args:
        made: the choices.
        form: logarithm of w, of ages and positive parameters.
        start: the first parameters.
    """

    def likelihood(logarithms: Array) -> float:
        parameters = np.exp(logarithms)
        total = 0.0
        for choice in made:
            weights = form(choice.older, *parameters)
            top = weights.max()
            whole = top + np.log(np.exp(weights - top).sum())
            total += float(form(choice.cited, *parameters).sum()) - len(choice.cited) * float(whole)
        return total

    place, steps = np.log(np.array(start)), 1.0
    best = likelihood(place)
    while steps > _SMALLEST_STEP:
        is_better = False
        for axis in range(len(place)):
            for direction in (steps, -steps):
                tried = place.copy()
                tried[axis] += direction
                found = likelihood(tried)
                if found > best + 1e-4:
                    place, best, is_better = tried, found, True
                    break
        if not is_better:
            steps /= 2.0
    constant = -sum(len(choice.cited) * np.log(len(choice.older)) for choice in made)
    return Fit(best - float(constant), tuple(np.exp(place).tolist()))


def question_ages(world: World) -> Array:
    """Return the days between each question and the first statement of its fact."""
    stated: dict[int, float] = {}
    ages = []
    for session in world.sessions:
        ages += [query.at - stated[query.fact] for query in session.asked]
        for telling in session.tellings:
            if telling.fact is not None:
                stated.setdefault(telling.fact, session.ends)
    return np.array(ages)


def _returns(collection: Collection) -> Array:
    """Return the days between two citations of a document, at least a day apart."""
    times: dict[str, list[float]] = {}
    for question in task_of(collection).questions:
        for id in question.answers:
            times.setdefault(id, []).append(float(question.now) / _DAY)
    gaps = np.concatenate([np.diff(sorted(of_one)) for of_one in times.values()])
    return gaps[gaps >= 1.0]


def _quantiles(values: Array) -> str:
    shares = (0.1, 0.25, 0.5, 0.75, 0.9)
    return ", ".join(f"{value:.0f}" for value in np.quantile(values, shares))


def main() -> None:
    """Print the fits, and quantiles of ages."""
    home = Path(os.environ["ONEIROS_DATA"])
    for name in ("gitlog-dev", "realmem-dev"):
        collection = read(home / name, vectors=None)
        made = list(choices(collection))
        ages = np.concatenate([choice.cited for choice in made])
        youngest = np.array([choice.cited.min() for choice in made])
        print(f"\n{name}: {len(made)} questions, {len(ages)} citations")
        print(f"days to what is cited, 10, 25, 50, 75, 90 %: {_quantiles(ages)}")
        print(f"median of the youngest cited: {np.median(youngest):.0f}")
        print(f"days until a document is cited again: {_quantiles(_returns(collection))}")
        for form, (logarithm, start) in FORMS.items():
            fit = fitted(made, logarithm, start)
            numbers = ", ".join(f"{value:.3g}" for value in fit.parameters)
            print(f"  {form:40} +{fit.gain:.0f}   {numbers}", flush=True)
    for workload in (Workload(), Workload(days=5_844.0, memories=6_275, recent=0.0)):
        ages = np.concatenate(
            [question_ages(replace(workload, seed=seed).world()) for seed in range(5)]
        )
        print(f"\nsimulated, {workload.days:g} days, {workload.recent:g} of the questions recent")
        print(f"days to the fact's first statement: {_quantiles(ages)}")


if __name__ == "__main__":
    main()
