"""Pages of a search, a least score, and memories that the caller leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from tests.engine.embedders import LetterCounts

NOW = 1_750_000_000.0
NAMES = profiles.names()
PLAIN = ("bm25", "cosine", "rrf")
FIXED_DEPTH = (*PLAIN, "reverie", "ciar")
COUNT = 40

offsets, ks = st.integers(0, 45), st.integers(0, 45)


@pytest.fixture(scope="module")
def engine() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", embedder=LetterCounts(), clock=lambda: NOW) as engine:
        engine.add_many(
            [
                {
                    "id": f"m{n}",
                    "text": f"ant {'bee ' * (n % 5)}{'dace ' * (n % 3)}{n}",
                    "created_at": NOW - n * 86_400,
                    "kind": ("note", "decision")[n % 2],
                    "project": ("x", "y")[n % 4 == 0],
                }
                for n in range(COUNT)
            ]
        )
        for n in range(0, COUNT - 1, 6):
            engine.link(f"m{n}", f"m{n + 1}", 0.9)
        yield engine


def found(engine: oneiros.Engine, query: str, k: int, **options: Any) -> list[tuple[str, float]]:
    response = engine.search(query, k, reinforce=False, now=NOW, **options)
    assert len(response) == len(response.ids) == len(response.results)
    assert [result.id for result in response] == response.ids
    assert [result.score for result in response] == response.scores
    return list(zip(response.ids, response.scores, strict=True))


@given(name=st.sampled_from(NAMES), offset=offsets, k=ks)
def test_a_page_is_the_slice_of_the_longer_search(
    engine: oneiros.Engine, name: str, offset: int, k: int
) -> None:
    whole = found(engine, "ant bee", offset + k, profile=name)
    expected = whole[offset:] if k else []
    assert found(engine, "ant bee", k, profile=name, offset=offset) == expected


@given(name=st.sampled_from(FIXED_DEPTH), size=st.integers(1, 12))
def test_pages_put_together_are_one_long_search(
    engine: oneiros.Engine, name: str, size: int
) -> None:
    pages = [
        found(engine, "ant bee", size, profile=name, offset=offset)
        for offset in range(0, COUNT + size, size)
    ]
    assert [hit for page in pages for hit in page] == found(engine, "ant bee", COUNT, profile=name)
    assert pages[-1] == []


@given(name=st.sampled_from(NAMES), data=st.data(), offset=st.integers(0, 10))
def test_a_least_score_keeps_what_reaches_it(
    engine: oneiros.Engine, name: str, data: st.DataObject, offset: int
) -> None:
    whole = found(engine, "ant bee", offset + 20, profile=name)
    least = data.draw(st.sampled_from([score for _, score in whole]) | st.floats(-1, 3))
    expected = [hit for hit in whole[offset:] if hit[1] >= least]
    assert found(engine, "ant bee", 20, profile=name, offset=offset, min_score=least) == expected


@given(name=st.sampled_from(NAMES), left_out=st.sets(st.integers(0, COUNT + 5)))
def test_what_is_excluded_is_filtered_inside_every_channel(
    engine: oneiros.Engine, name: str, left_out: set[int]
) -> None:
    ids = {f"m{n}" for n in left_out}
    expected = found(engine, "ant bee", 8, profile=name, where=~oneiros.where(id=list(ids)))
    assert found(engine, "ant bee", 8, profile=name, exclude=ids) == expected
    assert found(engine, "ant bee", 8, profile=name, exclude=[*ids, "unknown"]) == expected


@given(name=st.sampled_from(NAMES), data=st.data())
def test_why_not_agrees_with_the_search(
    engine: oneiros.Engine, name: str, data: st.DataObject
) -> None:
    options: dict[str, Any] = {
        "offset": data.draw(st.integers(0, 12)),
        "exclude": [f"m{n}" for n in data.draw(st.sets(st.integers(0, COUNT), max_size=4))],
        "min_score": data.draw(st.none() | st.floats(0, 1)),
    }
    id = f"m{data.draw(st.integers(0, COUNT - 1))}"
    k = data.draw(st.integers(0, 12))
    ids = [id for id, _ in found(engine, "ant bee", k, profile=name, **options)]
    why = engine.why_not("ant bee", id, k=k, profile=name, now=NOW, **options)
    assert why.is_returned == (id in ids), why.verdict
    assert why.verdict.startswith("returned") == (id in ids)
    assert (why.k, why.offset) == (k, options["offset"])
    str(why)


def test_why_not_names_what_leaves_a_memory_out(engine: oneiros.Engine) -> None:
    def verdict(id: str, **options: Any) -> str:
        return engine.why_not("ant", id, profile="bm25", now=NOW, **options).verdict

    first, second, *_ = engine.search("ant", 5, profile="bm25").ids
    assert verdict(first, exclude=[first]) == "hidden: excluded"
    assert verdict(first, offset=1) == "hidden: offset"
    assert verdict(second, offset=1) == "returned, in place 2"
    assert verdict(first, min_score=99.0) == "hidden: min score"
    assert verdict(first, exclude_newer=1) == "hidden: too new"
    worst = engine.search("ant", COUNT, profile="bm25").ids[-1]
    assert verdict(worst, k=3, offset=2) == "in place 40 of 40, k is 3 after an offset of 2"


def test_the_trace_counts_the_window(engine: oneiros.Engine) -> None:
    response = engine.search("ant", 5, offset=7, min_score=0.0, profile="bm25")
    stage = response.trace.stages[-1]
    assert (stage.name, stage.candidate_count, stage.survivor_count) == ("window", 12, 5)
    assert stage.note == "offset 7, min_score 0"
    assert "window" not in [stage.name for stage in engine.search("ant", 5).trace.stages]


def test_only_the_page_is_reinforced() -> None:
    for profile in ("oneiros", "cognitive"):
        with oneiros.Engine(":memory:", profile=profile, embedder=LetterCounts()) as engine:
            engine.add_many([{"id": str(n), "text": f"ant bee {n}"} for n in range(9)])
            engine.link("0", "8", 0.9)
            page = engine.search("ant bee", 3, offset=3, reinforce=True).ids
            few = engine.search("ant bee", 9, min_score=1e9, reinforce=True).ids
            engine.flush()
            used = [m.id for m in engine.list() if m.access_count]
            assert sorted(used) == sorted(page) != []
            assert few == []


def test_a_batch_has_the_pages_of_single_searches(engine: oneiros.Engine) -> None:
    options: dict[str, Any] = {
        "offset": 3, "min_score": 0.001, "exclude": ("m1", "m2"), "profile": "bm25", "now": NOW
    }  # fmt: skip
    batch = engine.search_many(["ant", "bee"], 4, **options)
    for query, response in zip(("ant", "bee"), batch, strict=True):
        assert response.ids == engine.search(query, 4, **options).ids != []


def test_pages_of_a_compound_query_are_slices_of_its_merged_results() -> None:
    query = "when is the launch of the rocket and also what about the garden"
    with oneiros.Engine(":memory:", profile="omega") as engine:
        for n in range(6):
            engine.add(f"the launch of the rocket is in month {n}", id=f"l{n}")
            engine.add(f"the garden has {n} apple trees and a gate", id=f"g{n}")
        whole = engine.search(query, 6, reinforce=False, now=NOW)
        assert whole.parts
        page = engine.search(query, 3, offset=3, reinforce=False, now=NOW)
        assert page.ids == whole.ids[3:] != []
        assert page.trace.stages[-1].name == "window"
        least = engine.search(query, 6, min_score=whole.scores[2], reinforce=False, now=NOW)
        assert least.ids == [
            i for i, s in zip(whole.ids, whole.scores, strict=True) if s >= whole.scores[2]
        ]


def test_cached_responses_are_kept_by_page() -> None:
    with oneiros.Engine(":memory:", profile="omega") as engine:
        engine.add_many([{"id": str(n), "text": f"the ant number {n}"} for n in range(6)])
        pages = [engine.search("ant", 2, offset=n, reinforce=False).ids for n in (0, 2, 0, 2)]
        assert pages[0] == pages[2] != pages[1] == pages[3]
        others = [engine.search("ant", 2, exclude=left).ids for left in ((), pages[0], ())]
        assert others[0] == others[2] == pages[0]
        assert set(others[1]).isdisjoint(pages[0])


def test_what_was_just_added_is_left_out() -> None:
    now = [NOW]
    with oneiros.Engine(":memory:", clock=lambda: now[0]) as engine:
        engine.add("ant", id="old", created_at=NOW - 1e6)
        now[0] += 100
        engine.add("ant", id="import", created_at=NOW - 1e6)
        now[0] += 100
        assert set(engine.search("ant").ids) == {"old", "import"}
        assert engine.search("ant", exclude_newer=150).ids == ["old"]
        assert engine.search("ant", exclude_newer=timedelta(seconds=150)).ids == ["old"]
        assert set(engine.search("ant", exclude_newer=50).ids) == {"old", "import"}
        assert engine.search("ant", exclude_newer=1e9).ids == []
        assert engine.search("ant", exclude_newer=0, now=now[0] - 150).ids == ["old"]
        assert set(engine.search("ant", exclude_newer=None).ids) == {"old", "import"}


def test_links_do_not_lead_to_what_is_left_out() -> None:
    with oneiros.Engine(":memory:", profile="cognitive", embedder=LetterCounts()) as engine:
        engine.add("ant", id="ant")
        engine.add("heron", id="heron")
        engine.link("ant", "heron", 1.0)
        assert set(engine.search("ant").ids) == {"ant", "heron"}
        assert engine.search("ant", exclude=["heron"]).ids == ["ant"]


def test_a_scope_excludes_within_itself(engine: oneiros.Engine) -> None:
    scope = engine.scope(project="y")
    inside = scope.search("ant", 3, profile="bm25").ids
    assert scope.search("ant", 3, profile="bm25", exclude=inside[:1]).ids[:2] == inside[1:]
    assert scope.search("ant", 2, profile="bm25", offset=1).ids == inside[1:]


def test_deleted_and_excluded_without_other_filters() -> None:
    with oneiros.Engine(":memory:", profile="bm25") as engine:
        engine.add_many([{"id": str(n), "text": "ant"} for n in range(20)])
        engine.delete("3")
        response = engine.search("ant", 20, exclude=["0", "3", "19"])
        assert response.ids == [str(n) for n in range(20) if n not in (0, 3, 19)]
        assert response.trace.stages[0].survivor_count == 17


def test_responses_are_sequences(engine: oneiros.Engine) -> None:
    response = engine.search("ant", 5, profile="bm25")
    assert response[0] is response.results[0]
    assert response[-1] is response.results[-1]
    assert response[1:3] == response.results[1:3]
    assert [result.id for result in response] == response.ids
    assert len(response) == 5
    with pytest.raises(IndexError):
        response[5]
    assert not engine.search("nothing of this", profile="bm25")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"offset": -1}, ValueError, "offset: must be in 0 to 2147483647, got -1"),
        ({"offset": 1.0}, TypeError, "offset: expected an integer, got float 1.0"),
        ({"min_score": "high"}, TypeError, "min_score: must be a number, got .high."),
        ({"min_score": float("nan")}, ValueError, "min_score: must be a finite number, got nan"),
        ({"exclude": "m1"}, TypeError, "exclude: expected a sequence of str, got str"),
        ({"exclude": [1]}, TypeError, r"exclude\[0\]: expected str, got int"),
        ({"exclude_newer": -1}, ValueError, "exclude_newer: must be >= 0 and finite, got -1"),
        ({"exclude_newer": timedelta(-1)}, ValueError, "exclude_newer: must be >= 0"),
        ({"exclude_newer": "1h"}, TypeError, "exclude_newer: expected a number, got str '1h'"),
    ],
)
def test_wrong_values_are_named(
    engine: oneiros.Engine, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    for call in (
        lambda: engine.search("ant", **options),
        lambda: engine.search_many(["ant"], **options),
        lambda: engine.why_not("ant", "m1", **options),
    ):
        with pytest.raises(error, match=message):
            call()
