# ruff: noqa: T201 - a command
"""The weights of what memories are worth, fitted to later questions, and what forgetting by them costs.

::

    python -m bench.worth

reads five dated collections under ``ONEIROS_DATA``. Each life of a collection is looked at when a
quarter, half, three quarters and all of its memories have arrived. The memories that a later
question asks for are separated from the others by a logistic regression over the terms of the worth
(docs/systems/house.md H15), with a base rate for each life and moment, every collection weighing the
same. Age keeps its weight. The weights are then fitted without one collection, or two, and the lives
of that collection are lived with them (:mod:`oneiros.evaluation.forgetting`). About ten minutes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from oneiros import profiles
from oneiros.dream.changes import rows_of
from oneiros.dream.cycles import begin_draft
from oneiros.dream.phases.house import GIVEN, worth_terms
from oneiros.engine import Engine
from oneiros.evaluation.collection import read
from oneiros.evaluation.forgetting import measure_forgetting
from oneiros.evaluation.use import Arrival, Life, Search, lives_of
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.phases.house import Budget

__all__ = ["EVERY_DAYS", "FITTED", "LEFT_OUT", "Moment", "fitted", "moments"]

FITTED: Final = ("information", "person", "answer", "long_talk")
"""The weights that are fitted."""

EVERY_DAYS: Final[Mapping[str, float]] = {
    "locomo-dev": 7.0,
    "locomo-other": 7.0,
    "realmem-dev": 7.0,
    "gitlog-dev": 90.0,
    "beam-dev": 7.0,
}
"""The collections, and the days between two cycles."""

LEFT_OUT: Final[tuple[tuple[str, ...], ...]] = (
    *(("locomo-dev",), ("locomo-other",), ("locomo-dev", "locomo-other")),
    *(("realmem-dev",), ("gitlog-dev",), ("beam-dev",)),
)
_PARTS: Final = 4
_STEPS: Final = 50

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moment:
    """The memories of a life at one time."""

    values: Array
    """Terms of :data:`FITTED`, shape (memories, 4)."""
    given: Array
    """The sum of the other terms, shape (memories,)."""
    wanted: npt.NDArray[np.bool_]
    """Whether a later question asks for the memory."""


def moments(lives: Sequence[Life], budget: Budget) -> Iterator[Moment]:
    """Yield the moments of lives at which some memories will be asked for and others will not.

    Args:
        lives: of one collection.
        budget: has the weights that stay.
    """
    for life in lives:
        records = [
            one for event in life.events if isinstance(event, Arrival) for one in event.records
        ]
        last: dict[str, float] = {}
        for event in life.events:
            if isinstance(event, Search):
                for id, grade in event.question.answers.items():
                    if grade > 0:
                        last[id] = max(event.at, last.get(id, event.at))
        with Engine(":memory:", profile="oneiros", vector_index="flat") as engine:
            known = 0
            for part in range(1, _PARTS + 1):
                arrived = len(records) * part // _PARTS
                if arrived == known:
                    continue
                now = float(records[arrived - 1]["created_at"])
                engine.add_many(records[known:arrived], now=now)
                known = arrived
                scope = engine._scope
                draft, _ = begin_draft(scope.services, scope.services.profile, scope.now(now))
                rows = rows_of(draft.live)
                terms = worth_terms(draft, budget, rows)
                ids = draft.source.ids
                wanted = np.array([last.get(ids[row], now) > now for row in rows])
                if wanted.any() and not wanted.all():
                    yield Moment(
                        np.stack([terms[name] for name in FITTED], axis=1),
                        terms[GIVEN] + budget.age * terms["age"],
                        wanted,
                    )


def fitted(collections: Sequence[Sequence[Moment]], ridge: float = 1e-4) -> dict[str, float]:
    """Return the weights of a logistic regression in which each collection weighs the same.

    Newton's method; every moment has a constant of its own. A weight below 0 becomes 0.

    Args:
        collections: the moments of each, which share its weight by their number of memories.
        ridge: pull of each weight towards 0, in units of the spread of its term.
    """
    every = [moment for found in collections for moment in found]
    values = np.concatenate([moment.values for moment in every])
    given = np.concatenate([moment.given for moment in every])
    wanted = np.concatenate([moment.wanted for moment in every]).astype(np.float64)
    sizes = [len(moment.wanted) for moment in every]
    groups = np.repeat(np.arange(len(every)), sizes)
    shares = np.concatenate(
        [
            np.full(total, 1.0 / (total * len(collections)))
            for total in (sum(len(moment.wanted) for moment in found) for found in collections)
        ]
    )
    spread = values.std(axis=0) + 1e-9
    scaled = values / spread
    constants = np.zeros(len(every))
    weights = np.zeros(len(FITTED))
    for _ in range(_STEPS):
        raw = constants[groups] + scaled @ weights + given
        likely = 1.0 / (1.0 + np.exp(-np.clip(raw, -30.0, 30.0)))
        miss, bend = shares * (wanted - likely), shares * likely * (1.0 - likely) + 1e-15
        by_group = np.bincount(groups, bend)
        means = (
            np.stack([np.bincount(groups, bend * column) for column in scaled.T], axis=1)
            / by_group[:, None]
        )
        centred = scaled - means[groups]
        slope = centred.T @ miss - ridge * weights
        step = np.linalg.solve(
            (centred * bend[:, None]).T @ centred + ridge * np.eye(len(weights)), slope
        )
        constants += np.bincount(groups, miss) / by_group - means @ step
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return dict(zip(FITTED, np.maximum(weights / spread, 0.0).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", type=float, nargs="*", default=[0.5, 0.75], help="shares kept")
    parser.add_argument("--fit", action="store_true", help="fit only")
    asked = parser.parse_args()
    folder = Path(os.environ["ONEIROS_DATA"])
    default = profiles.get("oneiros")
    budget = next(phase for phase in default.phases if isinstance(phase, Budget))
    lives = {name: lives_of(read(folder / name), seed=0) for name in EVERY_DAYS}
    seen = {name: list(moments(found, budget)) for name, found in lives.items()}
    print("in use:", {name: getattr(budget, name) for name in FITTED})
    rows: list[tuple[tuple[str, ...], dict[str, float]]] = []
    for left_out in ((), *LEFT_OUT):
        weights = fitted([found for name, found in seen.items() if name not in left_out])
        rows.append((left_out, weights))
        shown = ", ".join(f"{name} {value:.2f}" for name, value in weights.items())
        print(f"without {', '.join(left_out) or 'none'}: {shown}", flush=True)
    print(
        "\n| left out of the fit | measured on | kept | R@10 | difference |\n|---|---|---|---|---|"
    )
    for left_out, weights in () if asked.fit else rows:
        phase = replace(budget, **weights)  # type: ignore[arg-type]
        profile = default.replace(phases=(phase,))
        for name in left_out:
            for share in asked.keep:
                (found,) = measure_forgetting(
                    lives[name],
                    profile,
                    share=share,
                    every_days=EVERY_DAYS[name],
                    policies=("worth",),
                )
                gain = found.recall_gain
                print(
                    f"| {', '.join(left_out)} | {name} | {share:.0%} | {found.recall:.3f}"
                    f" | {gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}] |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
