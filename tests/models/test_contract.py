"""What every embedder must give, and what it is called."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import oneiros
from oneiros.models.embedders import Embedder, check, name_of, vectors_of


def embed(texts: list[str]) -> np.ndarray:
    return np.ones((len(texts), 3))


class Named:
    name = "mine"

    def __call__(self, texts: list[str], /) -> np.ndarray:
        return embed(texts)


class Nameless:
    def __call__(self, texts: list[str], /) -> np.ndarray:
        return embed(texts)


def test_a_name_is_the_embedders_own_or_the_functions() -> None:
    assert name_of(Named()) == "mine"
    assert name_of(embed) == f"{embed.__module__}.embed"
    assert isinstance(Named(), Embedder)


@pytest.mark.parametrize(
    ("embedder", "error", "message"),
    [
        (Nameless(), ValueError, "embedder: give it a `name`; Nameless has none"),
        (functools.partial(embed), ValueError, "embedder: give it a `name`; partial has none"),
        ("mine", TypeError, "embedder: expected a callable"),
        (type("E", (Named,), {"name": ""})(), ValueError, "its name must be a text"),
        (type("E", (Named,), {"name": 3})(), ValueError, "its name must be a text"),
        (type("E", (Named,), {"name": "\ud800"})(), ValueError, "its name: holds a lone surrogate"),
    ],
)
def test_an_embedder_without_a_name_is_refused(
    embedder: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        name_of(embedder)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", "float16", "int64"])
def test_output_becomes_float32(dtype: str) -> None:
    checked = check(np.asfortranarray(np.arange(6).reshape(2, 3).astype(dtype)), 2)
    assert checked.dtype == np.float32
    assert checked.flags.c_contiguous
    np.testing.assert_array_equal(checked, [[0, 1, 2], [3, 4, 5]])
    assert check([[1, 2], [3, 4]], 2).shape == (2, 2)


@pytest.mark.parametrize(
    ("output", "count", "dimension", "error", "message"),
    [
        (np.ones((2, 3)), 1, None, ValueError, r"expected shape \(1, dimension\), got \(2, 3\)"),
        (np.ones(3), 1, None, ValueError, r"expected shape \(1, dimension\), got \(3,\)"),
        (np.ones((1, 0)), 1, None, ValueError, "expected shape"),
        (np.ones((1, 3)), 1, 4, ValueError, "expected vectors of 4 components, got 3"),
        ([["a"]], 1, None, TypeError, "expected an array of real numbers"),
        ([[True]], 1, None, TypeError, "expected an array of real numbers"),
        (None, 1, None, TypeError, "expected an array of real numbers, got None"),
        (
            [[1, 2], [3, np.nan]],
            2,
            None,
            ValueError,
            "vector 1 must be finite, got nan at comp.* 1",
        ),
        ([[1.0, 2.0], [1.0]], 2, None, ValueError, r"embedder: expected shape \(2, dimension\)"),
        ([[1e300]], 1, None, ValueError, r"vector 0 must be finite, got 1e\+300"),
    ],
)
def test_bad_output_is_refused(
    output: object, count: int, dimension: int | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check(output, count, dimension)  # type: ignore[arg-type]


async def awaited(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


def test_an_async_function_is_no_embedder() -> None:
    with pytest.raises(TypeError, match="embedder: expected a plain callable, got a coroutine fun"):
        oneiros.Engine(":memory:", embedder=awaited)  # type: ignore[arg-type]

    def hidden(texts: list[str]) -> object:
        return awaited(texts)

    with oneiros.Engine(":memory:", embedder=hidden) as mind, warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.simplefilter("error")  # such as "was never awaited"
        with pytest.raises(TypeError, match="got a coroutine: it must not be async"):
            mind.add("tea")


@pytest.mark.parametrize("call", ["add", "search"])
@pytest.mark.parametrize("rows", [0, 2])
def test_an_embedder_has_a_list_of_its_own(call: str, rows: int) -> None:
    def changing(texts: list[str]) -> np.ndarray:
        texts[:] = ["tea"] * rows
        return np.ones((rows, 3))

    with oneiros.Engine(":memory:", embedder=changing) as mind:
        message = rf"embedder: expected shape \(1, dimension\), got \({rows}, 3\)"
        with pytest.raises(ValueError, match=message):
            getattr(mind, call)("coffee")
        assert len(mind) == 0


def test_an_embedder_gets_at_most_256_texts_at_once() -> None:
    asked: list[list[str]] = []

    def noting(texts: list[str]) -> np.ndarray:
        asked.append(texts)
        return np.array([[float(text), 1.0] for text in texts])

    texts = [str(number) for number in range(600)]
    assert vectors_of(noting, texts)[:, 0].tolist() == list(range(600))
    assert [len(call) for call in asked] == [256, 256, 88]
    widths = iter([3, 4])
    with pytest.raises(ValueError, match="embedder: expected vectors of 3 components, got 4"):
        vectors_of(lambda texts: np.ones((len(texts), next(widths))), texts)


def test_an_embedder_may_use_its_array_again() -> None:
    buffer = np.zeros((1, 2), np.float32)

    def reusing(texts: list[str]) -> np.ndarray:
        buffer[0] = len(texts[0])
        return buffer

    first = vectors_of(reusing, ["a"])
    vectors_of(reusing, ["bb"])
    assert first.tolist() == [[1.0, 1.0]]
