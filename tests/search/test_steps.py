"""The stages after the factors: their order is the profile's, and each takes the last one's list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.stages import Reranking
from oneiros.search.callbacks import Callbacks

NOW = 1_750_000_000.0
COGNITIVE, OMEGA = profiles.get("cognitive"), profiles.get("omega")
FIRST, LAST = Reranking(top=10, after_links=False), Reranking(top=10, after_links=True)
ASKED = {"embedding": [1.0, 0.0, 0.0], "reinforce": False, "explain": True}


@pytest.fixture(scope="module")
def mind() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as opened:
        opened.add("ant one", id="a", embedding=[1.0, 0.0, 0.0])
        opened.add("ant two", id="b", embedding=[0.8, 0.6, 0.0])
        opened.add("ant three", id="c", embedding=[0.7, 0.0, 0.7])
        opened.add("a dog", id="dog", embedding=[0.6, -0.8, 0.0], tier="cold")
        opened.add("a DOG", id="other dog", embedding=[0.6, 0.0, -0.8], tier="cold")
        opened.link("a", "dog", 0.9)
        opened.link("b", "other dog", 0.9)
        yield opened


@pytest.mark.parametrize(
    ("profile", "order"),
    [
        (COGNITIVE, ["rerank", "associative_expansion", "graph_expansion"]),  # C8 to C10
        (
            OMEGA,
            [
                *("surfacing", "graph_expansion", "rerank", "duplicates", "abstention"),
                "adaptive_retry",
            ],
        ),  # O24 to O28
        (
            COGNITIVE.replace(rerank=LAST),
            ["associative_expansion", "graph_expansion", "rerank"],
        ),
        (
            OMEGA.replace(rerank=FIRST, abstention=None, retry=None),
            ["rerank", "graph_expansion", "duplicates"],
        ),
        (COGNITIVE.replace(rerank=None, expansion=None), []),
    ],
)
def test_the_order_of_stages_is_the_profiles(
    mind: oneiros.Engine, profile: oneiros.Profile, order: list[str]
) -> None:
    names = [one.name for one in mind.search("ant", profile=profile, **ASKED).trace.stages]
    assert names[names.index("scoring") + 1 :] == order


def test_what_links_bring_is_no_duplicate_either(mind: oneiros.Engine) -> None:
    alone = OMEGA.replace(duplicates=None)
    assert {"dog", "other dog"} <= set(mind.search("ant", profile=alone, **ASKED).ids)
    response = mind.search("ant", profile=OMEGA, **ASKED)
    assert [(one.id, one.of) for one in response.trace.duplicates] == [("other dog", "dog")]
    assert "other dog" not in response.ids


@settings(max_examples=25, deadline=None)
@given(
    order=st.permutations(["a", "b", "c"]),
    k=st.integers(3, 5),
    quota=st.sampled_from([0.0, 0.4]),
)
def test_the_order_of_a_reranker_before_links_is_kept(
    mind: oneiros.Engine, order: list[str], k: int, quota: float
) -> None:
    """C8: the direct results stay in its order; what links bring stands before what it beats."""

    words = {"a": "one", "b": "two", "c": "three"}

    def reranker(_: str, texts: list[str]) -> list[float]:
        return [
            -next(place for place, id in enumerate(order) if words[id] in text) for text in texts
        ]

    profile = COGNITIVE.replace(channels=COGNITIVE.channels[1:])  # words alone: a, b and c
    assert profile.expansion is not None
    profile = profile.replace(expansion=replace(profile.expansion, quota=quota))
    before = mind.search("ant", 3, profile=COGNITIVE.replace(expansion=None), **ASKED)
    assert set(before.ids) == {"a", "b", "c"}
    response = mind.search("ant", k, profile=profile, reranker=reranker, **ASKED)
    direct = [one for one in response if not one.is_associative]
    assert len(response) - len(direct) >= min(int(quota * k), 2)  # C14
    assert [one.id for one in direct] == order[: len(direct)]
    for place, one in enumerate(response):
        if one.is_associative:
            assert all(later.score <= one.score for later in response.results[place + 1 :])


@settings(max_examples=25, deadline=None)
@given(values=st.dictionaries(st.integers(0, 4), st.floats(0.5, 2.0), max_size=5))
def test_what_a_reranker_multiplies_is_explained_to_the_bit(
    mind: oneiros.Engine, values: dict[int, float]
) -> None:
    def judge(_: Callbacks, rows: list[int]) -> tuple[str, list[float], list[int], int, int]:
        return "", [values.get(row, math.nan) for row in rows], [], 0, 0

    profile = OMEGA.replace(duplicates=None, abstention=None, retry=None, normalisation=None)
    before = {one.id: one for one in mind.search("ant", profile=profile, **ASKED)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Callbacks, "judge", judge)
        response = mind.search("ant", profile=profile, reranker=lambda _, texts: texts, **ASKED)
    rows = {id: row for row, id in enumerate(["a", "b", "c", "dog", "other dog"])}
    want = {id: one.score * values.get(rows[id], 1.0) for id, one in before.items()}
    assert [one.id for one in response] == sorted(want, key=lambda id: (-want[id], rows[id]))
    for one in response:
        assert one.explanation is not None
        assert one.explanation.evaluate() == one.score == want[one.id]
        if rows[one.id] in values:
            told = [factor for factor in one.explanation.factors if factor.name == "rerank"]
            assert [factor.value for factor in told] == [values[rows[one.id]]]
