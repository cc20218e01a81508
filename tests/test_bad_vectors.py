"""Odd vectors: converted where the meaning is plain, refused by name where it is not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import oneiros


def ids(response: oneiros.SearchResponse) -> list[str]:
    return [result.id for result in response.results]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_vector_refuses_what_is_not_finite_and_says_where(
    mind: oneiros.Engine, value: float
) -> None:
    vector = np.ones(8, np.float32)
    vector[5] = value
    with pytest.raises(ValueError, match=r"embedding.*\b5\b"):
        mind.add("text", embedding=vector)
    mind.add("text", embedding=np.ones(8, np.float32))
    with pytest.raises(ValueError, match=r"embedding.*\b5\b"):
        mind.search("text", embedding=vector)
    assert len(mind) == 1


def test_what_the_mask_of_a_vector_hides_is_missing(mind: oneiros.Engine) -> None:
    masked = np.ma.masked_array(np.ones((2, 8), np.float32))
    mind.add_many([{"text": "text", "embedding": vector} for vector in masked])
    masked[1, 3] = np.ma.masked
    records = [{"text": "text", "embedding": vector} for vector in masked]
    for call in (
        lambda: mind.add_many(records),
        lambda: mind.add("text", embedding=masked[1]),
        lambda: mind.search("text", embedding=masked[1]),
        lambda: mind.search_many(["text"] * 2, embeddings=masked),
    ):
        with pytest.raises(ValueError, match=r"embedding\[3\]: must be finite, got nan"):
            call()
    assert len(mind) == 2

    class Masked:
        name = "masked"

        def __call__(self, texts: list[str]) -> np.ndarray:  # noqa: ARG002
            return masked[1:]

    with (
        oneiros.Engine(":memory:", embedder=Masked()) as engine,
        pytest.raises(ValueError, match="vector 0 must be finite, got nan at component 3"),
    ):
        engine.search("text")


@pytest.mark.parametrize(
    "vector", [np.ones(3), np.ones(9), np.ones(0), np.ones((2, 8)), np.float32(1)]
)
def test_a_vector_refuses_another_shape(mind: oneiros.Engine, vector: np.ndarray) -> None:
    mind.add("text", embedding=np.ones(8, np.float32))
    with pytest.raises(ValueError, match="embedding"):
        mind.add("text", embedding=vector)
    with pytest.raises(ValueError, match="embedding"):
        mind.search("text", embedding=vector)
    assert len(mind) == 1


AXES = np.eye(4)


def test_a_vector_of_lists_of_several_lengths_is_refused_by_name(mind: oneiros.Engine) -> None:
    ragged = [[1.0], [1.0, 2.0]]
    with pytest.raises(ValueError, match=r"embedding: must be of shape \(n,\)"):
        mind.add("a", embedding=ragged)
    with pytest.raises(ValueError, match=r"embedding: must be of shape \(n,\)"):
        mind.search("a", embedding=ragged)


@pytest.mark.parametrize(
    "convert",
    [
        lambda axis: axis.tolist(),
        lambda axis: tuple(axis.tolist()),
        lambda axis: axis.astype(np.float16),
        lambda axis: axis.astype(np.float64),
        lambda axis: axis.astype(np.int32),
        lambda axis: axis.astype(">f4"),
        lambda axis: axis.astype(">f8"),
        lambda axis: np.repeat(axis.astype(np.float32), 3)[::3],
        lambda axis: axis.astype(np.float32)[::-1].copy()[::-1],
        lambda axis: axis.astype(np.float32) * np.float32(1e38),
        lambda axis: axis.astype(np.float32) * np.float32(1e-45),
    ],
    ids=[
        "list",
        "tuple",
        "f2",
        "f8",
        "i4",
        ">f4",
        ">f8",
        "strided",
        "reversed",
        "1e38",
        "denormal",
    ],
)
def test_a_vector_is_converted_whatever_its_layout(
    mind: oneiros.Engine, convert: Callable[[np.ndarray], object]
) -> None:
    for row, axis in enumerate(AXES):
        mind.add("text", id=f"axis {row}", embedding=convert(axis))
    for row, axis in enumerate(AXES):
        response = mind.search("", embedding=convert(axis), explain=True, reinforce=False)
        assert ids(response)[0] == f"axis {row}"
        scores = [channel.score for channel in response.results[0].explanation.channels]
        assert scores[-1] == pytest.approx(1.0, rel=1e-6)


def test_large_components_do_not_overflow_the_norm(mind: oneiros.Engine) -> None:
    mind.add("text", id="large", embedding=np.full(8, 3e38, np.float32))
    response = mind.search("", embedding=np.full(8, 1e-42, np.float32), explain=True)
    assert response.results[0].explanation.channels[-1].score == pytest.approx(1.0, rel=1e-6)


def test_a_norm_beyond_float32_is_refused(mind: oneiros.Engine) -> None:
    with pytest.raises(ValueError, match="embedding"):
        mind.add("text", embedding=np.full(8, 1e308))


def test_a_zero_vector_is_no_vector(mind: oneiros.Engine) -> None:
    mind.add("ant", id="zero", embedding=np.zeros(4))  # docs/systems/fields.md: zero vector = none
    mind.add("ant", id="axis", embedding=AXES[0])
    response = mind.search("ant", embedding=AXES[0], explain=True, reinforce=False)
    assert ids(response) == ["axis", "zero"]
    assert all(math.isfinite(result.score) for result in response.results)
    assert ids(mind.search("", embedding=AXES[1], reinforce=False)) == ["axis"]


def test_a_zero_question_vector_ranks_by_words(mind: oneiros.Engine) -> None:
    mind.add("ant", id="ant", embedding=AXES[0])
    mind.add("bee", id="bee", embedding=AXES[1])
    response = mind.search("bee", embedding=np.zeros(4), reinforce=False)
    assert ids(response)[0] == "bee"
    assert all(math.isfinite(result.score) for result in response.results)
