"""Programs as text: what a builder collects, and what it refuses."""

from __future__ import annotations

import math

import pytest

from oneiros import _core, profiles
from oneiros.model.fields import COLUMN_DEFAULTS, ENUMS, FIELDS
from oneiros.model.memory import Memory
from oneiros.scoring.factors import Depth, Strength, TimeDecay
from oneiros.scoring.profile import Profile
from oneiros.scoring.program import ProgramBuilder
from oneiros.scoring.selection import FeedbackAbove


def test_inputs_come_first_and_instructions_write_what_follows() -> None:
    program = ProgramBuilder()
    strength = program.column("strength")
    double = program.call("add", strength, strength)
    age = program.age("last_accessed_at", "created_at", unit="hours")
    shrunk = program.call("multiply", double, age)
    text = program.build()
    assert text.inputs == (
        ("value", "strength", 1.0),
        ("age", ["last_accessed_at", "created_at"], 3600.0),
    )
    assert text.instructions == (("add", [0, 0], {}), ("multiply", [2, 1], {}))
    assert program.numbers([strength, age, double, shrunk]) == [0, 1, 2, 3]


def test_equal_parts_are_one_register() -> None:
    program = ProgramBuilder()
    first = program.call("clip", program.column("feedback"), low=0, high=1.0)
    again = program.call("clip", program.column("feedback"), high=1, low=0.0)
    other = program.call("clip", program.column("feedback"), low=0, high=2.0)
    assert first == again != other
    assert program.constant(2) == program.constant(2.0)
    assert program.constant(0.0) != program.constant(-0.0)
    assert program.column("depth") == program.column("depth", default=2.0)
    assert program.column("depth") != program.column("depth", default=1.0)


def test_a_table_is_by_code_and_no_longer_than_it_must_be() -> None:
    program = ProgramBuilder(("", "note", "decision", "plan"))
    register = program.by_kind({"decision": 2.0, "unheard": 9.0}, otherwise=1.0)
    text = program.build()
    assert text.inputs == (("value", "kind", 0.0),)
    assert text.instructions == (("lookup", [0], {"table": [1.0, 1.0, 2.0], "otherwise": 1.0}),)
    assert program.numbers([register]) == [1]
    assert ProgramBuilder(("", "note")).by_kind({"plan": 2.0}, otherwise=1.0) == 0  # a constant


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda p: p.column("text"), "column: none is called 'text'; known: kind, "),
        (lambda p: p.column("colour"), "column: none is called 'colour'"),
        (lambda p: p.signal("depth", 1.0), "signal: 'depth' is a column"),
        (lambda p: p.age(), r"age: expected columns of times \(created_at, "),
        (lambda p: p.age("ttl"), "age: expected columns of times"),
        (lambda p: p.age("created_at", unit="weeks"), "unit: must be days or hours, got 'weeks'"),
        (lambda p: p.call("clip", 0, low=math.nan), "parameters: NaN is no parameter"),
    ],
)
def test_what_no_program_can_hold_is_refused(wrong: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong(ProgramBuilder())  # type: ignore[operator]


def test_the_defaults_of_columns_are_those_of_the_core_and_of_a_memory() -> None:
    columns = _core.Columns()
    columns.append(count=1)
    memory = Memory.from_record({"text": "", "created_at": 0.0}, now=0.0)
    for name, default in COLUMN_DEFAULTS.items():
        held = float(columns.view(name=name)[0])
        assert held == default or (math.isnan(held) and math.isnan(default))
        if name in FIELDS and FIELDS[name].kind not in ("time", "text"):
            value = getattr(memory, name)
            if name in ENUMS:
                value = ENUMS[name].index(value)
            assert (math.nan if value is None else value) == pytest.approx(default, nan_ok=True)


def test_a_profile_folds_its_factors_in_order() -> None:
    profile = Profile(
        name="mine", factors=(TimeDecay(), Strength(), Depth()), keep=(FeedbackAbove(),)
    )
    compiled = profile.compile()
    assert [entry[1] for entry in compiled.text.inputs] == [
        "relevance",
        ["updated_at"],
        "strength",
        "depth",
        "feedback",
        "constant -3.0",
        "part:lexical",
        "part:vector",
    ]
    assert [(name, inputs) for name, inputs, _ in compiled.text.instructions] == [
        ("time_decay_boost", [1]),
        ("multiply", [0, 8]),
        ("multiply", [9, 2]),
        ("depth_weight", [3]),
        ("multiply", [10, 11]),
        ("multiply", [2, 11]),  # retention: the lifecycle factors alone
        ("greater", [4, 5]),
    ]
    assert compiled.names == ("time_decay", "strength", "depth")
    assert compiled.operations == ("multiply",) * 3
    assert compiled.parts == ("lexical", "vector")
    assert compiled.factors == (8, 2, 11)
    assert (compiled.relevance, compiled.score, compiled.retention, compiled.keep) == (
        0,
        12,
        13,
        14,
    )


def test_equal_profiles_and_kinds_share_what_was_compiled() -> None:
    profile = profiles.get("reverie")
    again = Profile.from_toml(profile.to_toml())
    assert profile.compile() is again.compile()
    assert profile.compile(("", "note")) is again.compile(("", "note"))
    assert profile.compile(("", "note")) is not profile.compile()
    assert profile.compile().keep is None
