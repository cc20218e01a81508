"""A factor that is a function of the user's own: what it gets, what it may answer, what it may not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oneiros import CallableFactor, Expression, Profile
from oneiros.scoring.callable_factor import signals_of

Array = np.ndarray[Any, Any]
DAY = 86_400.0
NOW = 1_750_000_000.0
KINDS = ("", "note", "fact")
COLUMNS: dict[str, Array] = {
    "kind": np.array([1, 2, 1], np.uint16),
    "status": np.array([0, 1, 2], np.uint8),
    "strength": np.array([0.5, 1.0, 0.25], np.float32),
    "created_at": np.array([NOW - DAY, NOW + DAY, np.nan]),
    "last_accessed_at": np.array([np.nan, np.nan, NOW - 2 * DAY]),
}


def double(strength: Array) -> Array:
    return strength * 2


class Weigh:
    """A callable object."""

    def __call__(self, strength: Array) -> Array:
        return strength


def signals(*factors: Any) -> dict[str, Array]:
    return signals_of(factors, COLUMNS.__getitem__, lambda: KINDS, NOW, 3)


def test_the_function_gets_one_array_a_column_and_gives_a_signal() -> None:
    seen: list[Array] = []

    def record(*arrays: Array) -> Array:
        seen.extend(arrays)
        return np.array([1, 2, 3])

    columns = ("kind", "strength", "age_days", "idle_hours", "status")
    got = signals(CallableFactor(record, "record", columns), Expression("strength"))
    assert list(got) == ["function:record"]
    assert (got["function:record"].dtype, got["function:record"].tolist()) == (
        np.float64,
        [1, 2, 3],
    )
    kind, strength, age, idle, status = seen
    assert kind.tolist() == ["note", "fact", "note"]
    assert status.tolist() == ["staged", "consolidated", "archived"]
    assert (strength.dtype, strength.tolist()) == (np.float64, [0.5, 1.0, 0.25])
    np.testing.assert_array_equal(age, [1.0, 0.0, np.nan])  # a time after now is age 0
    np.testing.assert_array_equal(idle, [24.0, 0.0, 48.0])


def test_what_the_function_writes_into_its_arrays_reaches_no_column() -> None:
    def spoil(strength: Array, kind: Array) -> Array:
        kind[:] = "spoilt"
        strength[:] = 7.0
        return strength

    before = {name: column.copy() for name, column in COLUMNS.items()}
    signals(CallableFactor(spoil, "spoil", ("strength", "kind")))
    for name, column in before.items():
        np.testing.assert_array_equal(COLUMNS[name], column)


def test_words_alone_are_enough() -> None:
    factor = CallableFactor(lambda kind: np.where(kind == "fact", 2.0, 1.0), "facts", ("kind",))
    assert signals(factor)["function:facts"].tolist() == [1.0, 2.0, 1.0]


def test_without_functions_nothing_is_read() -> None:
    def fail(_name: str) -> Array:
        raise AssertionError

    assert signals_of((Expression("strength"),), fail, lambda: KINDS, NOW, 3) == {}


def test_without_candidates_no_function_is_called() -> None:
    def fail(_strength: Array) -> Array:
        raise AssertionError

    factor = CallableFactor(fail, "fail", ("strength",))
    (values,) = signals_of(
        (factor,), lambda _: np.empty(0, np.float32), lambda: KINDS, NOW, 0
    ).values()
    assert (values.dtype, values.shape) == (np.float64, (0,))


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ([1.0, 2.0], ValueError, r"factor 'mine': expected shape \(3,\), got \(2,\)"),
        (1.0, ValueError, r"factor 'mine': expected shape \(3,\), got \(\)"),
        (np.ones((3, 1)), ValueError, r"factor 'mine': expected shape \(3,\), got \(3, 1\)"),
        (None, TypeError, "factor 'mine': expected an array of real numbers, got dtype object"),
        (["a"] * 3, TypeError, "factor 'mine': expected an array of real numbers, got dtype <U1"),
        ([1j] * 3, TypeError, "factor 'mine': expected an array of real numbers, got dtype comp"),
        ([1, np.nan, 1], ValueError, "factor 'mine': value 1 must be finite, got nan"),
        ([1, 1, -np.inf], ValueError, "factor 'mine': value 2 must be finite, got -inf"),
        (
            np.ma.masked_array([1, 2, 3], [False, True, False]),
            ValueError,
            "factor 'mine': value 1 must be finite, got nan",
        ),
    ],
)
def test_an_answer_that_is_none_is_refused_in_words(
    answer: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        signals(CallableFactor(lambda _: answer, "mine", ("strength",)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint64, np.bool_])
def test_any_real_numbers_will_do(dtype: type[Any]) -> None:
    factor = CallableFactor(lambda _: np.array([1, 0, 1], dtype), "mine", ("strength",))
    assert signals(factor)["function:mine"].tolist() == [1.0, 0.0, 1.0]


def test_what_the_function_raises_comes_through_with_a_note() -> None:
    def fail(strength: Array) -> Array:
        return strength / {}["no such key"]

    with pytest.raises(KeyError, match="no such key") as caught:
        signals(CallableFactor(fail, "mine", ("strength",)))
    (note,) = caught.value.__notes__
    assert note.endswith("fail, the function of factor 'mine'")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"function": 5}, TypeError, "function: expected a function, got int 5; .* not in TOML"),
        ({"name": "My factor"}, ValueError, "name: must match"),
        ({"columns": ()}, ValueError, "columns: at least one, got none"),
        ({"columns": "strength"}, TypeError, "columns: expected a tuple of names, got str"),
        (
            {"columns": ("strenght",)},
            ValueError,
            r"columns\[0\]: .* 'strenght'; did you mean stren",
        ),
        ({"columns": ("strength", 5)}, ValueError, r"columns\[1\]: nothing a function can read"),
        ({"columns": ("relevance",)}, ValueError, r"columns\[0\]: nothing a function can read"),
        (
            {"operation": "power"},
            ValueError,
            "operation: must be one of multiply, add, got 'power'",
        ),
        ({"is_lifecycle": None}, TypeError, "is_lifecycle: must be True or False"),
    ],
)
def test_declarations_say_what_is_wrong(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    whole = {"function": double, "name": "double", "columns": ("strength",)} | arguments
    with pytest.raises(error, match=message):
        CallableFactor(**whole)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (double, "test_callable_factor.double"),
        (Weigh(), "test_callable_factor.Weigh"),
        (functools.partial(double), "functools.partial"),
    ],
    ids=["function", "object", "partial"],
)
def test_functions_go_by_their_qualified_name(function: Callable[..., Any], name: str) -> None:
    assert CallableFactor(function, "f", ("strength",)).function_name.endswith(name)


def test_a_profile_with_a_function_has_a_hash_and_a_face_but_no_toml() -> None:
    first, second = (
        Profile(name="mine", factors=(CallableFactor(function, "mine", ("strength",)),))
        for function in (double, np.sqrt)
    )
    assert first == Profile(name="mine", factors=first.factors)
    assert first.hash != second.hash
    assert 'columns = ["strength"]' in str(first)
    with pytest.raises(ValueError, match="factors: TOML cannot hold a function, which mine is"):
        first.to_toml()
    with pytest.raises(TypeError, match=r"factors\[0\].function: .* in Python only, not in TOML"):
        Profile.from_toml(str(first))
