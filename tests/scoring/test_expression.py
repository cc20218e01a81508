"""Expressions: what they compute, how they join a profile, and the words of each mistake."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from oneiros import Engine, Expression, Profile
from oneiros.scoring.channels import ChannelDeclaration, LexicalChannel, VectorChannel
from oneiros.scoring.expression import LONGEST_TEXT, MOST_NODES
from oneiros.scoring.program import ProgramBuilder
from tests.oracles.expression import evaluate

Array = np.ndarray[Any, Any]
KINDS = ("", "note", "fact", "decision")
NUMBERS: dict[str, Array] = {
    "strength": np.array([0.1, 0.5, 1.0, 0.0]),
    "access_count": np.array([0.0, 1.0, 5.0, 3.0]),
    "age_days": np.array([1.0, 29.5, 300.0, math.nan]),
    "depth": np.array([1.0, 2.0, 3.0, 2.0]),
}
CODES: dict[str, Array] = {
    "kind": np.array([1.0, 2.0, 3.0, 0.0]),
    "status": np.array([0.0, 1, 2, 0]),
}
WORDS: dict[str, Array] = {
    "kind": np.array(["note", "fact", "decision", ""]),
    "status": np.array(["staged", "consolidated", "archived", "staged"]),
}


def values(text: str) -> Array:
    expression = Expression(text)
    known = NUMBERS | CODES
    return expression.values({name: known[name] for name in expression.names}, KINDS)


def test_kinds_that_no_memory_has_are_no_input() -> None:
    text = "1.5 if kind in ('decision', 'constraint') and strength < 90 else 1.0"
    arrays = {"kind": np.zeros(2), "strength": np.ones(2)}
    assert Expression(text).values(arrays, ("note",)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        "strength * exp(-age_days / 30) * (1 + 0.1 * log1p(access_count))",
        "1.5 if kind in ('decision', 'fact', 'unheard of') and age_days < 90 else 1.0",
        "0 < strength <= 1",
        "1 < depth < 3 < access_count",
        "not strength",
        "-strength ** 2 + access_count ** 0.5",
        "'fact' != kind",
        'kind == "note"',
        "status not in ['staged', 'archived']",
        "clip(strength, .2, 4e-1)",
        "min(strength, access_count, 0.3) - max(depth, age_days)",
        "strength / (depth - 2)",
        "access_count in (1, 3)",
        "access_count not in (1, 3)",
        "strength or access_count",
        "strength and access_count and depth",
        "where(isnan(age_days), 7, floor(age_days))",
        "age_days ** nan",
        "sqrt(strength - 0.5)",
        "abs(strength - 1_0.5)",
        "log(strength) + log2(strength) + pow(depth, -1.5)",
        "  strength  \t+ depth\n",
        "+strength",
        "inf - strength",
        "depth == True",
        "(2 if 1 < 2 else strength) * depth",
    ],
)
def test_values_are_those_of_numpy(text: str) -> None:
    np.testing.assert_allclose(values(text), evaluate(text, NUMBERS | WORDS), rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 ** 2", 19.0),
        ("-1 / 0", -math.inf),
        ("0 / 0", math.nan),
        ("(-8) ** (1 / 3)", math.nan),
        ("exp(1000)", math.inf),
        ("1 / -0.0", -math.inf),
        ("nan and 2", 2.0),
        ("nan == nan", 0.0),
        ("not nan", 0.0),
        ("min(1, nan)", math.nan),
    ],
)
def test_constants_are_folded(text: str, value: float) -> None:
    builder = ProgramBuilder()
    register = Expression(text).emit(builder)
    program = builder.build()
    assert (len(program.inputs), len(program.instructions)) == (1, 0)
    assert register == 0
    assert program.inputs[0][2] == pytest.approx(value, rel=1e-15, nan_ok=True)


def test_equal_parts_are_computed_once() -> None:
    text = "exp(-age_days / 30) + exp(-age_days / 30) * strength + exp(-age_days / (15 * 2))"
    builder = ProgramBuilder()
    Expression(text).emit(builder)
    assert [kernel for kernel, _, _ in builder.build().instructions].count("exp") == 1


def test_what_no_value_needs_is_not_computed() -> None:
    assert Expression("where(1 > 2, exp(importance), strength)").names == ("strength",)


def test_lines_may_be_broken_anywhere() -> None:
    assert values("\n  strength\n\t+ depth\n").tolist() == [1.1, 2.5, 4.0, 2.0]


def test_names_are_what_is_read() -> None:
    assert Expression("strength * (kind == 'fact') + relevance - strength").names == (
        "strength",
        "kind",
        "relevance",
    )


def test_float32_stays_float32() -> None:
    arrays = {name: NUMBERS[name].astype(np.float32) for name in ("strength", "depth")}
    got = Expression("strength / 3 + depth").values(arrays)
    assert got.dtype == np.float32
    want = NUMBERS["strength"] / 3 + NUMBERS["depth"]
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text: an expression must not be empty"),
        (" \n ", "text: an expression must not be empty"),
        ("(", "column 1: '\\(' was never closed"),
        ("strength)", "column 9: unmatched '\\)'"),
        ("1 +", "column 3: invalid syntax"),
        ("1 2", "column 3: invalid syntax"),
        ("1 if strength", "column 1: expected 'else' after 'if' expression"),
        ("strenght", "column 1: no field is called strenght; did you mean strength\\?"),
        ("2 * zzz", "column 5: no field is called zzz; known: access_count, .* veracity$"),
        ("2 * text", "column 5: no field is called text"),
        ("sqr(1)", "column 1: no function is called sqr; did you mean sqrt\\?"),
        ("__import__('os')", "column 1: no function is called __import__; known: abs, .* where$"),
        ("exp", "column 1: exp is a function: write exp\\(...\\)"),
        ("exp()", "column 1: exp takes 1 argument, got 0"),
        ("1 + clip(1, 2)", "column 5: clip takes 3 arguments, got 2"),
        ("max(1)", "column 1: max takes at least 2 arguments, got 1"),
        ("max(*strength)", "column 5: this is not part of the language"),
        ("exp(x=1)", "column 6: nothing is assigned here; equality is ==, got '='"),
        ("exp(1)(2)", "column 1: no function is called exp\\(1\\)"),
        ("(strength, 1)", "column 1: a list stands only after in"),
        ("strength in ()", "column 13: a list must not be empty"),
        ("strength in 5", "column 13: after in stands a list: depth in \\(2, 3\\)"),
        ("strength[0]", "column 1: this is not part of the language"),
        ("strength.real", "column 9: attributes are not part of the language, got '.'"),
        ("strength is 1", "column 10: is is not part of the language"),
        ("lambda: 1", "column 1: lambda is not part of the language"),
        ("[x for x in y]", "column 4: for is not part of the language"),
        ("await x", "column 1: await is not part of the language"),
        ("None", "column 1: None is not part of the language"),
        ("...", "column 1: attributes are not part of the language"),
        ("(x := 1)", "column 4: nothing is assigned here; equality is ==, got ':='"),
        ("strength = 1", "column 10: nothing is assigned here; equality is ==, got '='"),
        ("strength += 1", "column 10: nothing is assigned here; equality is ==, got '\\+='"),
        ("5 // 2", "column 3: write floor\\(a / b\\), got '//'"),
        ("5 % 2", "column 3: this sign is not part of the language, got '%'"),
        ("depth ^ 2", "column 7: this sign is not part of the language"),
        ("{1}", "column 1: lists stand in \\( \\) or \\[ \\]"),
        ("1 # one", "column 3: this sign is not part of the language, got '#'"),
        ("1; 2", "column 2: this sign is not part of the language, got ';'"),
        ("\\", "column 1: this sign is not part of the language"),
        ("stärke", "column 3: this sign is not part of the language, got 'ä'"),
        ("\x00", "column 1: this sign is not part of the language"),
        ("\ufeff1", "column 1: this sign is not part of the language"),
        ("'\ud800' == kind", "column 2: a lone surrogate is no text"),
        ("1j", "column 1: this is no decimal number, got '1j'"),
        ("0x10", "column 1: this is no decimal number, got '0x10'"),
        ("007", "column 1: leading zeros in decimal integer literals"),
        ("1if 2 else 3", "column 1: this is no decimal number, got '1if'"),
        ("1e999", "column 1: no float64 is so large; infinity is written inf"),
        ("9" * 400, "column 1: no float64 is so large; infinity is written inf"),
        ("f'{strength}'", 'column 1: a quoted word takes no prefix, got "f\'"'),
        ("b'a' == kind", "column 1: a quoted word takes no prefix"),
        ("kind == 'a", "column 9: a quoted word ends on its line and holds no backslash"),
        ("kind == 'a\\x41'", "column 9: a quoted word ends on its line and holds no backslash"),
        ("'a'", "column 1: a word stands only beside kind, category, "),
        ("strength == 'a'", "column 13: a word stands only beside kind, category, "),
        ("kind + 1", "column 1: kind holds words: compare it with == or in"),
        ("1 < kind", "column 5: kind holds words: compare it with == or in"),
        ("kind < 'a'", "column 1: kind holds words: compare it with == or in"),
        ("kind == category", "column 1: kind holds words: compare it with == or in"),
        ("kind in (1, 2)", "column 1: kind holds words: compare it with == or in"),
        ("kind in 'fact'", "column 1: after in stands a list: kind in"),
        ("kind == ('fact', 'note')", "column 1: a list stands only after in: kind in"),
        ("status == 'stagged'", "column 1: status is never 'stagged'; known: staged, "),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^text: ({message})" if text.strip() else message):
        Expression(text)


HOSTILE = {
    "brackets": ("(" * 65 + "1" + ")" * 65, "column 65: brackets are nested deeper than 64"),
    "open brackets": ("(" * 4000, "column 65: brackets are nested deeper than 64"),
    "lists": ("[" * 4000, "column 65: brackets are nested deeper than 64"),
    "minus": ("-" * 4000 + "1", "column 513: an expression has at most 256 nodes"),
    "many minus": ("-" * 100_000 + "1", f"at most {LONGEST_TEXT} bytes, got 100001"),
    "not": ("not " * 1000 + "1", "column 2049: an expression has at most 256 nodes"),
    "powers": ("2**" * 1000 + "1", "column 769: an expression has at most 256 nodes"),
    "choices": ("1 if 1 else " * 300 + "1", "an expression has at most 256 nodes"),
    "sum": ("+".join(["depth"] * 129), "column 769: an expression has at most 256 nodes"),
    "comparisons": ("<".join(["1"] * 500), "an expression has at most 256 nodes"),
    "arguments": ("max(" + "1," * 400 + "1)", "an expression has at most 256 nodes"),
    "digits": ("9" * 4096, "no float64 is so large"),
    "long": ("depth" + " " * 5000, f"at most {LONGEST_TEXT} bytes"),
    "long in bytes": ("kind == '" + "\U0001f600" * 1100 + "'", f"at most {LONGEST_TEXT} bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_refused_in_words(name: str) -> None:
    text, message = HOSTILE[name]
    with pytest.raises(ValueError, match=f"^text: .*{message}"):
        Expression(text)


def test_hostile_texts_are_refused_at_the_end_of_a_deep_stack() -> None:
    def deep(levels: int) -> None:
        if levels:
            deep(levels - 1)
        else:
            Expression("-" * 200 + "strength")

    for levels in range(700, 1000, 10):
        try:
            deep(levels)
        except RecursionError:  # our own frames no longer fit: the caller's affair
            continue
        except ValueError as error:
            assert str(error) == "text: nested too deeply"  # noqa: PT017


@pytest.mark.parametrize(
    "text",
    [
        "(" * 64 + "depth" + ")" * 64,
        "-" * 255 + "depth",
        "+".join(["depth"] * 128),
        " and ".join(["depth"] * 255),
        "**".join(["depth"] * 128),
    ],
)
def test_the_largest_expressions_are_taken(text: str) -> None:
    assert Expression(text).names == ("depth",)
    assert len(text) <= LONGEST_TEXT
    assert MOST_NODES == 256


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"text": 5}, TypeError, "text: expected str, got int 5"),
        ({"name": 5}, TypeError, "name: expected str, got int 5"),
        ({"name": "A b"}, ValueError, "name: must match .*, got 'A b'"),
        ({"operation": "divide"}, ValueError, "operation: must be one of multiply, add, got"),
        ({"is_lifecycle": 1}, TypeError, "is_lifecycle: must be True or False, got 1"),
    ],
)
def test_other_fields_say_what_is_wrong(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Expression(**({"text": "1"} | arguments))


@pytest.mark.parametrize(
    ("channels", "score"), [((LexicalChannel(),), 1.0), ((LexicalChannel(), VectorChannel()), 0.0)]
)
def test_a_raw_score_is_one_without_its_channel_and_zero_without_a_vector(
    channels: tuple[ChannelDeclaration, ...], score: float
) -> None:
    profile = Profile(name="near", channels=channels, factors=(Expression("cosine", name="near"),))
    with Engine(":memory:", profile=profile) as engine:
        engine.add("tea")
        (result,) = engine.search("tea", explain=True)
    assert result.explanation is not None
    assert [factor.value for factor in result.explanation.factors] == [score]


def test_what_a_mask_hides_is_no_number() -> None:
    depths = np.ma.array([1.0, 2.0], mask=[False, True])
    np.testing.assert_array_equal(Expression("1 + depth").values({"depth": depths}), [2.0, np.nan])


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ({}, ValueError, "names: expected strength, depth, got none"),
        ({"strength": np.zeros(2)}, ValueError, "names: expected strength, depth, got strength"),
        (
            {"strength": np.zeros(2), "depth": np.zeros(2, np.float32)},
            TypeError,
            "depth: expected float32 or float64, all alike, got float32",
        ),
        (
            {"strength": np.zeros(2), "depth": np.zeros(3)},
            ValueError,
            r"depth: expected shape \(n,\), all alike, got \(3,\)",
        ),
        (
            {"strength": np.zeros(2), "depth": np.zeros(4)[::2]},
            ValueError,
            "^depth: must be contiguous",
        ),
        (
            {"strength": [0.0, 0.0], "depth": np.zeros(2)},
            TypeError,
            "strength: expected an array, got list",
        ),
    ],
)
def test_values_says_what_is_wrong(
    arrays: dict[str, Array], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Expression("strength * depth").values(arrays)


# --- in a profile -----------------------------------------------------------------------------

MINE = Profile(
    name="mine",
    factors=(
        Expression("0.5 + strength", name="alive", is_lifecycle=True),
        Expression("0.1 if kind in ('fact', '\U0001f600\"') else 0", "facts", "add"),
    ),
)


def test_a_profile_with_expressions_goes_through_toml() -> None:
    again = Profile.from_toml(MINE.to_toml())
    assert again == MINE
    assert again.hash == MINE.hash
    assert [factor.name for factor in again.factors] == ["alive", "facts"]
    assert 'text = "0.5 + strength"' in str(MINE)


def test_toml_may_leave_out_all_but_the_text() -> None:
    (factor,) = Profile.from_toml('name = "a"\n[[factors]]\ntext = "strength"').factors
    assert factor == Expression("strength")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('text = "strenght"', r"factors\[0\].text: column 1: no field is called strenght"),
        ('text = "1"\nboost = 2', r"factors\[0\]: unknown key 'boost'; known: name, text"),
        ('function = "os.system"\nname = "f"', r"factors\[0\].function: .*in Python only"),
    ],
)
def test_mistakes_in_toml_name_the_place(table: str, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Profile.from_toml(f'name = "a"\n[[factors]]\n{table}')


def test_another_text_is_another_profile() -> None:
    other = MINE.replace(factors=(Expression("0.6 + strength", name="alive"), *MINE.factors[1:]))
    assert other.hash != MINE.hash
    assert other != MINE


def test_two_expressions_need_two_names() -> None:
    with pytest.raises(ValueError, match=r"factors\[1\]: expression stands there twice"):
        Profile(name="a", factors=(Expression("1"), Expression("2")))
