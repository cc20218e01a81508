"""Weights of what memories are worth, fitted to the use of synthetic stores."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import oneiros
from oneiros.evaluation.worth import FITTED, WorthFit, fit_worth
from oneiros.runtime.dataclasses import fields, replace
from oneiros.scoring.phases.house import Budget

DAY = 86_400.0
NOW = 1_750_000_000.0
HOUSE = oneiros.profiles.get("oneiros")
SIZE = 200

Record = dict[str, Any]


def used(
    is_wanted: Callable[[Record], bool], *, budget: Budget | None = None, seed: int = 0
) -> oneiros.Engine:
    """Return an engine of memories in 40 sessions, of which some got positive feedback.

    Half of them speak of the speaker, half are long, independently, and all are equally old.
    """
    chance = random.Random(seed)
    records = []
    for row in range(SIZE):
        speaker = chance.choice(["I", "you"])
        said = [f"word{chance.randrange(400)}" for _ in range(chance.choice([4, 25]))]
        records.append(
            {
                "id": f"m{row}",
                "text": " ".join([speaker, *said]),
                "session": f"s{row % 40}",
                "created_at": NOW - 100 * DAY,
            }
        )
    for record in records:
        record["feedback"] = int(is_wanted(record))
    phases = (budget or Budget(),)
    profile = HOUSE.replace(name="fitting", phases=phases)
    engine = oneiros.Engine(":memory:", profile=profile, analyzer="simple", vector_index="flat")
    engine.add_many(records, now=NOW - 100 * DAY)
    return engine


def fitted(is_wanted: Callable[[Record], bool], **options: Any) -> WorthFit:
    with used(is_wanted, **options) as engine:
        return fit_worth(engine, now=NOW)


def is_long(record: Record) -> bool:
    return len(record["text"].split()) > 20


def is_of_speaker(record: Record) -> bool:
    return str(record["text"]).startswith("I ")


def pairs_in_order(engine: oneiros.Engine, budget: Budget) -> float:
    """Return the share of pairs that a budget's worth orders rightly, seen through what it keeps."""
    wanted = [f"m{row}" for row in range(SIZE) if engine.get(f"m{row}").feedback > 0]
    profile = HOUSE.replace(name="judged", phases=(replace(budget, feedback=0.0),))
    plan = engine.dream(NOW, keep=len(wanted), profile=profile, dry_run=True)
    gone = {change.id for change in plan.changes(["status"])}
    return sum(id not in gone for id in wanted) / len(wanted)


@pytest.mark.parametrize(
    ("is_wanted", "without", "raised"),
    [(is_long, "information", "information"), (is_of_speaker, "person", "person")],
)
def test_weights_learn_which_memories_are_wanted(
    is_wanted: Callable[[Record], bool], without: str, raised: str
) -> None:
    start = Budget(**{without: 0.0})  # type: ignore[arg-type]
    found = fitted(is_wanted, budget=start)
    assert found.is_better
    assert found.auc > 0.9 > found.auc_before
    assert found.gain.mean == pytest.approx(found.auc - found.auc_before)
    assert getattr(found.fitted, raised) > getattr(found.before, raised) == 0.0
    assert found.before == start
    assert found.wanted + found.others == SIZE
    # Memories of another store, which the weights were not fitted to.
    with used(is_wanted, budget=start, seed=1) as other:
        assert pairs_in_order(other, found.fitted) > pairs_in_order(other, start) + 0.1


@pytest.mark.parametrize("seed", range(4))
def test_weights_learn_nothing_from_chance(seed: int) -> None:
    chance = random.Random(seed)
    found = fitted(lambda _: chance.random() < 0.5, seed=seed)
    assert not found.is_better


def test_only_the_fitted_weights_change() -> None:
    found = fitted(is_long, budget=Budget(information=0.0, share=0.5, feedback=0.3))
    for field in fields(Budget):
        if field.name not in FITTED:
            assert getattr(found.fitted, field.name) == getattr(found.before, field.name)


def test_a_strong_ridge_keeps_the_weights() -> None:
    with used(is_long, budget=Budget(information=1.0)) as engine:
        tight = fit_worth(engine, now=NOW, ridge=1e9).fitted
        loose = fit_worth(engine, now=NOW, ridge=0.1).fitted
        none = fit_worth(
            engine, now=NOW, ridge=0.0
        ).fitted  # the store can be split without an error
    assert tight.information == pytest.approx(1.0, abs=1e-3)
    assert loose.information > 2.0
    assert none.information > 2.0


def test_fitting_changes_nothing_in_the_store_and_gives_the_same_each_time() -> None:
    with used(is_long) as engine:
        before = [engine.get(f"m{row}").to_record() for row in range(SIZE)]
        first, second = (fit_worth(engine, now=NOW, seed=3) for _ in range(2))
        assert first == second
        assert [engine.get(f"m{row}").to_record() for row in range(SIZE)] == before


def test_memories_that_two_sessions_recalled_count_as_wanted() -> None:
    with used(lambda _: False) as engine:
        for row in range(25):
            id = f"m{row}"
            engine.update(id, sessions=["a", "b"], now=NOW - DAY)
            if row < 5:  # what was found and did not help
                engine.feedback(id, "unhelpful", now=NOW - DAY)
        found = fit_worth(engine, now=NOW)
    assert found.wanted == 20


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (19, "engine: at least 20 memories must be wanted, got 19"),
        (SIZE - 19, "engine: at least 20 memories must be not wanted, got 19"),
        (0, "engine: at least 20 memories must be wanted, got 0"),
    ],
)
def test_too_little_use_is_refused(wanted: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(lambda record: int(record["id"][1:]) < wanted)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"folds": 1}, ValueError, "folds: must be"),
        ({"folds": 21}, ValueError, "folds: must be"),
        ({"folds": 2.5}, TypeError, "folds"),
        ({"seed": -1}, ValueError, "seed: must be"),
        ({"ridge": -1.0}, ValueError, "ridge: must be"),
        ({"ridge": float("nan")}, ValueError, "ridge: must be"),
        ({"ridge": "much"}, TypeError, "ridge"),
    ],
)
def test_what_is_out_of_range_is_refused(
    options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with used(is_long) as engine, pytest.raises(kind, match=message):
        fit_worth(engine, now=NOW, **options)
