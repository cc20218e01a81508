"""The plan's fusions against tests/oracles/fusion.py, over any lists that channels might give."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import _core
from tests.oracles import fusion

ROWS = 12
MANY = settings(max_examples=5_000 if os.environ.get("ONEIROS_LONG") else 60, deadline=None)
Hits = list[tuple[int, float]]
NAMES = ("lexical", "vector")
SUMS = ("reciprocal_rank", "weighted_sum", "blend")


def plan(kind: str, parameters: Mapping[str, Any]) -> _core.Plan:
    """A plan that is nothing but its fusion: score = relevance."""
    inputs = [("value", name, 0.0) for name in ("relevance", *(f"part:{one}" for one in NAMES))]
    program = _core.Program(inputs=inputs, instructions=[])
    return _core.Plan(
        fusion=kind,
        fusion_parameters=dict(parameters),
        channels=list(NAMES),
        program=program,
        relevance=0,
        score=0,
        retention=0,
        keep=None,
        factors=[],
        parts=[1, 2],
    )


def fused(
    kind: str,
    parameters: Mapping[str, Any],
    hits: Sequence[Hits],
    raw: Sequence[Mapping[int, float]] | None = None,
) -> dict[int, float]:
    """Return the relevance of each row, after what the channels lack was filled in from ``raw``."""
    made = plan(kind, parameters)
    candidates = made.candidates(
        hits=[
            (
                np.array([row for row, _ in channel], np.uint32),
                np.array([score for _, score in channel], np.float64),
            )
            for channel in hits
        ]
    )
    order = fusion.union(dict(zip(NAMES, hits, strict=True)))
    assert candidates.rows.tolist() == order  # first appearance
    for place, scores in enumerate(raw or ()):
        missing = candidates.missing(channel=place).tolist()
        assert missing == [row for row in order if row not in dict(hits[place])]
        values = [scores.get(row, math.nan) for row in missing]
        candidates.fill(channel=place, scores=np.array(values, np.float64))
    columns = _core.Columns()
    columns.append(count=ROWS)
    got = made.rank(
        columns=columns, candidates=candidates, now_seconds=0.0, k=ROWS, signals=None, explain=True
    )
    assert got.parts is not None
    parts = (0.0 + got.parts[0]) + got.parts[1]
    is_sum = kind in SUMS and parameters.get("normalise") != "channel"
    assert np.array_equal(parts, got.relevance if is_sum else np.zeros(len(parts)))
    scores = dict(zip(got.rows.tolist(), got.relevance.tolist(), strict=True))
    assert got.rows.tolist() == sorted(scores, key=lambda row: (-scores[row], row))
    return scores


def close(got: dict[int, float], want: Mapping[int, float]) -> None:
    assert got == pytest.approx(dict(want), rel=1e-12, abs=1e-300)


@st.composite
def channels(draw: st.DrawFn, low: float, high: float) -> Hits:
    """A channel's list: best first, often with equal scores, sometimes with an id twice."""
    rows = draw(st.lists(st.integers(0, ROWS - 1), max_size=ROWS))
    some = st.one_of(st.sampled_from([low, high, (low + high) / 2]), st.floats(low, high))
    scores = sorted(draw(st.lists(some, min_size=len(rows), max_size=len(rows))), reverse=True)
    return list(zip(rows, scores, strict=True))


bm25 = channels(0.0, 30.0)
cosine = channels(-1.0, 1.0)
weights = st.tuples(st.floats(0, 3), st.floats(0, 3))


def named(hits: Sequence[Hits]) -> dict[str, Hits]:
    return dict(zip(NAMES, hits, strict=True))


@MANY
@given(bm25, cosine, weights, st.floats(0, 100), st.sampled_from(["none", "channel"]))
def test_reciprocal_rank(
    words: Hits, near: Hits, weight: tuple[float, float], k: float, normalise: str
) -> None:
    parameters = {"k": k, "weights": list(weight), "normalise": normalise}
    got = fused("reciprocal_rank", parameters, [words, near])
    by_name = dict(zip(NAMES, weight, strict=True))
    close(got, fusion.reciprocal_rank(named([words, near]), by_name, k, normalise))


KINDS = st.sampled_from(["none", "max", "clamp", "minmax_floor"])


@MANY
@given(bm25, cosine, weights, KINDS, KINDS, st.sampled_from(["weighted_sum", "weighted_mean"]))
def test_weighted_sum_and_mean(
    words: Hits, near: Hits, weight: tuple[float, float], first: str, second: str, kind: str
) -> None:
    parameters = {"weights": list(weight), "normalise": [first, second], "low": 0.1}
    got = fused(kind, parameters, [words, near])
    by_name = dict(zip(NAMES, weight, strict=True))
    kinds = dict(zip(NAMES, (first, second), strict=True))
    close(got, getattr(fusion, kind)(named([words, near]), by_name, kinds, 0.1))


some_rows = st.dictionaries(st.integers(0, ROWS - 1), st.floats(-1, 1), max_size=ROWS)


@MANY
@given(bm25, cosine, some_rows)
def test_retention_weighted_union(words: Hits, near: Hits, others: dict[int, float]) -> None:
    raw = {**others, **fusion.best_of(near)}
    got = fused("retention_weighted_union", {}, [words, near], [{}, raw])
    close(got, fusion.retention_weighted_union(named([words, near]), raw))


@MANY
@given(bm25, cosine, some_rows, st.floats(0, 1), st.sampled_from([None, "best", "coverage"]))
def test_blend(
    words: Hits, near: Hits, others: dict[int, float], weight: float, scale: str | None
) -> None:
    # What the words allow is unknown to candidates made here, so that the scale is the best.
    raw_near = {**others, **fusion.best_of(near)}
    raw_words = {row: abs(score) * 9 for row, score in others.items()} | fusion.best_of(words)
    parameters = {"weight": weight} if scale is None else {"weight": weight, "scale": scale}
    got = fused("blend", parameters, [words, near], [raw_words, raw_near])
    close(got, fusion.blend(named([words, near]), raw_words, raw_near, weight))
