"""Why a search does not return a memory: what is said agrees with the search, and leaks nothing."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.explain.why_not import WhyNot
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.expression import Expression
from oneiros.scoring.fusion import Blend
from oneiros.scoring.selection import FeedbackAbove
from tests.engine.embedders import LetterCounts
from tests.engine.test_explanations import HOSTILE, Page
from tests.engine.world import PROJECTS, QUESTIONS, Fields, queries, records

NOW = 1_750_000_000.0
DAY = 86_400.0
hiding = st.fixed_dictionaries(
    {},
    optional={
        "valid_until": st.sampled_from([NOW - DAY, NOW, NOW + DAY]),
        "valid_from": st.sampled_from([NOW - DAY, NOW + DAY]),
        "ttl": st.sampled_from([1.0, 1e12]),
        "superseded_by": st.just("other"),
    },
)
hideable = st.builds(lambda record, more: record | more, records, hiding)


# -- it agrees with the search ---------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    given=st.lists(hideable, max_size=10),
    query=queries,
    question=st.one_of(st.none(), st.sampled_from(QUESTIONS)),
    k=st.integers(0, 4),
    project=st.sampled_from(PROJECTS),
    status=st.sampled_from([None, "archived", ["staged", "archived"]]),
    profile=st.sampled_from(profiles.names()),
)
def test_it_says_returned_of_what_is_returned_and_only_that(
    given: list[Fields],
    query: str,
    question: tuple[float, ...] | None,
    k: int,
    project: str | None,
    status: str | list[str] | None,
    profile: str,
) -> None:
    where = None if project is None else oneiros.where(project=project)
    once = profiles.get(profile).replace(retry=None)  # how sure a search is depends on k (O28)
    if not k:  # who asks for nothing is told neither shares of the best nor that all is too far
        once = once.replace(normalisation=None, abstention=None)
    asked = {"k": k, "embedding": question, "where": where, "status": status, "profile": once}
    with oneiros.Engine(":memory:", profile=profile, analyzer="simple", clock=lambda: NOW) as mind:
        ids = mind.add_many(given).ids
        response = mind.search(query, **asked, explain=True)
        everything = mind.search(query, **{**asked, "k": 100}, explain=True)
        channels = profiles.get(profile).channels
        is_deep = all(channel.depth_for(k) >= len(ids) for channel in channels)
        for id in ids:
            told = mind.why_not(query, id, **asked)
            assert told.exists
            assert told.is_returned == (id in response.ids)
            if not is_deep:
                continue
            direct = [one.id for one in everything if not one.is_associative]
            if id in direct:
                place = direct.index(id) + 1
                result = everything.results[everything.ids.index(id)]
                assert (told.place, told.candidate_count) == (place, len(direct))
                assert (told.explanation, told.hidden) == (result.explanation, ())
                assert [c.rank for c in told.channels] == [
                    c.rank for c in result.explanation.channels
                ]
            else:
                assert told.hidden or told.place is None
            leaves_none_out = profiles.get(profile).duplicates is None  # for what is let in
            if told.hidden and told.place is not None and leaves_none_out:
                # What is let in brings the neighbours of its session with it (H4).
                has_neighbours = profiles.get(profile).neighbours is not None
                let_in = range(1, len(ids) + 1) if has_neighbours else (1,)
                assert told.candidate_count - len(direct) in let_in
            assert told.kth_score == (
                response.results[-1].score if 0 < k == len(response) else None
            )
            assert told.gap is None or told.gap == told.kth_score - told.score
            assert bool(told.lacked) != told.is_returned
            assert str(told)
            assert Page(told._repr_html_()).tags <= {
                *("p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td")
            }


def test_it_takes_what_search_takes() -> None:
    takes = set(inspect.signature(oneiros.Engine.why_not).parameters)
    assert takes == set(inspect.signature(oneiros.Engine.search).parameters) | {"id"}


def test_asking_changes_nothing(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    mind.add("ant bee", id="b")
    before = mind.list()
    for id in ("a", "b", "absent"):
        mind.why_not("ant", id, k=1, reinforce=True, session="s9")
    mind.flush()
    assert mind.list() == before


# -- what hides ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "reason", "words"),
    [
        ({"status": "archived"}, "archived", 'status is archived; status="archived" asks'),
        ({"superseded_by": "new"}, "superseded", "superseded by 'new'"),
        ({"valid_until": NOW - 1}, "expired", "valid until 2025-06-15T15:06:39Z, now is 2025-"),
        (
            {"created_at": NOW - 10, "ttl": 5},
            "expired",
            "its 5 seconds ended at 2025-06-15T15:06:3",
        ),
        ({"valid_from": NOW + DAY}, "not_yet_valid", "valid from 2025-06-16T15:06:40Z, now is"),
    ],
    ids=["archived", "superseded", "valid_until", "ttl", "valid_from"],
)
def test_a_hidden_memory_has_its_reason_and_the_place_it_would_have(
    mind: oneiros.Engine, fields: Fields, reason: str, words: str
) -> None:
    mind.add("ant bee", id="shown")
    mind.add("bee", id="new")
    mind.add("ant ant", id="a", **fields)
    told = mind.why_not("ant", "a")
    assert [one.reason for one in told.hidden] == [reason]
    assert words in told.hidden[0].detail
    assert told.hidden[0].detail in told.lacked
    assert "otherwise in place 1 of 2" in told.lacked
    assert (told.place, told.is_returned) == (1, False)
    assert told.verdict == f"hidden: {reason.replace('_', ' ')}"


def test_what_a_profile_does_not_hide_is_not_hidden(mind: oneiros.Engine) -> None:
    mind.add("bee", id="new")
    mind.add("ant", id="a", superseded_by="new", valid_until=NOW - 1)
    reverie = profiles.get("reverie")
    bare = reverie.replace(
        selection=type(reverie.selection)(hide_superseded=False, hide_expired=False)
    )
    assert [one.reason for one in mind.why_not("ant", "a").hidden] == ["superseded", "expired"]
    assert mind.why_not("ant", "a", profile=bare).is_returned


def test_a_deleted_memory_says_so_and_no_more(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a", status="archived")
    mind.delete("a")
    told = mind.why_not("ant", "a")
    assert [one.reason for one in told.hidden] == ["deleted"]
    assert told.lacked == "deleted at 2025-06-15T15:06:40Z"
    assert (told.exists, told.place, told.channels, told.factors) == (True, None, (), ())
    mind.forget("a")
    assert not mind.why_not("ant", "a").exists


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (oneiros.where(project="x"), ['{"project": "x"}: its project is "y"']),
        (oneiros.where(kind=["fact", "lesson"]), ['{"kind": ["fact", "lesson"]}: its kind is "note"']),
        (oneiros.where(tags="red"), ['{"tags": "red"}: its tags is ["blue"]']),
        (oneiros.where(tags_all=["blue", "red"]), ['its tags is ["blue"]']),
        (oneiros.where(metadata={"n": 2}), ['{"metadata": {"n": 2}}: its metadata "n" is 1']),
        (oneiros.where(metadata={"no": 2}), ['its metadata "no" is missing']),
        (oneiros.where(importance=(0.6, 1.0)), ['{"importance": [0.6, 1.0]}: its importance is 0.5']),
        (oneiros.where(occurred_at=(None, 5.0)), ['its created_at is 1750000000.0']),
        (~oneiros.where(project="y"), ['outside the filter {"not": {"project": "y"}}']),
        (
            oneiros.where(project="x") | oneiros.where(kind="fact"),
            ['{"any": [{"project": "x"}, {"kind": "fact"}]}'],
        ),
        (
            oneiros.where(project="x", kind="note") & oneiros.where(tags="red"),
            ['{"project": "x"}', '{"tags": "red"}'],
        ),
    ],
)  # fmt: skip
def test_a_filter_is_told_by_the_conditions_that_do_not_hold(
    mind: oneiros.Engine, where: oneiros.filters.Where, words: list[str]
) -> None:
    mind.add("ant", id="a", project="y", tags=["blue"], metadata={"n": 1})
    told = mind.why_not("ant", "a", where=where)
    assert [one.reason for one in told.hidden] == ["filter"] * len(words)
    for one, said in zip(told.hidden, words, strict=True):
        assert said in one.detail
    assert mind.why_not("ant", "a", where=oneiros.where(project="y")).is_returned


def test_a_status_that_is_not_asked_for_hides(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    told = mind.why_not("ant", "a", status=["archived", "consolidated"])
    assert [one.reason for one in told.hidden] == ["status"]
    assert told.lacked.startswith("its status is staged, asked is archived or consolidated")
    assert mind.why_not("ant", "a", status="staged").is_returned


# -- what the channels say -------------------------------------------------------------------------


def shallow(depth: int) -> oneiros.Profile:
    channels = (LexicalChannel(depth=depth), VectorChannel(depth=depth))
    return profiles.get("reverie").replace(channels=channels)


def test_beyond_a_channels_depth_the_raw_score_is_still_exact(mind: oneiros.Engine) -> None:
    mind.add("ant ant", id="a", embedding=[1.0, 0.0])
    mind.add("ant bee", id="b", embedding=[0.6, 0.8])
    told = mind.why_not("ant", "b", embedding=[1.0, 0.0], profile=shallow(1))
    assert [channel.detail for channel in told.channels] == ["not within the first 1"] * 2
    assert [channel.rank for channel in told.channels] == [None, None]
    assert told.channels[1].score == pytest.approx(0.8 * 0 + 0.6)
    assert (told.place, told.score, told.verdict) == (None, None, "no channel finds it")
    index = oneiros.LexicalIndex(analyzer="simple")
    index.add_many(["a", "b"], ["ant ant", "ant bee"])
    assert told.channels[0].score == index.score("ant", ["b"])[0]
    assert "vector: not within the first 1, score 0.60000" in told.lacked
    assert [factor.name for factor in told.factors][:2] == ["time_decay", "strength"]


def test_each_channel_says_why_it_has_no_rank(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    mind.add("bee", id="b", embedding=[1.0, 0.0])
    lexical, vector = mind.why_not("bee", "a", embedding=[1.0, 0.0]).channels
    assert (lexical.rank, lexical.detail) == (None, "no word of the query is in it")
    assert (vector.rank, vector.detail) == (None, "it has no embedding")
    vector = mind.why_not("bee", "b").channels[1]
    assert (vector.rank, vector.detail) == (None, "absent: no embedder, and no embedding given")
    assert str(vector) == "vector: absent: no embedder, and no embedding given"


def test_a_word_more_or_less_is_told_from_a_depth_too_small(mind: oneiros.Engine) -> None:
    mind.add_many([{"id": id, "text": text} for id, text in (("a", "ant"), ("b", "ant bee cat"))])
    mind.add("cat", id="c")
    asked = {"profile": shallow(1), "k": 1}
    assert mind.why_not("ant", "b", **asked).channels[0].detail == "not within the first 1"
    told = mind.why_not("ant", "c", **asked).channels[0]
    assert (told.detail, told.score) == ("no word of the query is in it", None)


def test_a_cosine_below_the_channels_least_is_told(mind: oneiros.Engine) -> None:
    near = profiles.get("reverie").replace(channels=(VectorChannel(minimum=0.9),))
    mind.add("ant", id="a", embedding=[1.0, 0.0])
    mind.add("ant", id="b", embedding=[0.6, 0.8])
    (vector,) = mind.why_not("ant", "b", embedding=[1.0, 0.0], profile=near).channels
    assert (vector.rank, vector.detail) == (None, "farther than the least cosine 0.9")
    assert vector.score == pytest.approx(0.6)


def test_a_fusion_of_raw_scores_gives_them_without_a_rank(mind: oneiros.Engine) -> None:
    blended = shallow(1).replace(fusion=Blend())
    mind.add("ant ant", id="words", embedding=[0.6, 0.8])
    mind.add("bee", id="near", embedding=[1.0, 0.0])
    mind.add("ant bee", id="neither", embedding=[0.0, 1.0])
    asked = {"embedding": [1.0, 0.0], "profile": blended}
    response = mind.search("ant", **asked, explain=True)
    told = mind.why_not("ant", "words", **asked)
    assert told.explanation == response.results[response.ids.index("words")].explanation
    assert told.explanation.evaluate() == told.score
    assert told.explanation.channels[1].rank is None
    assert told.explanation.channels[1].score == pytest.approx(0.6)
    assert str(told.channels[1]) == "vector: not within the first 1, score 0.60000"
    assert mind.why_not("ant", "neither", **asked).place is None


def test_an_embedder_is_asked_as_a_search_asks_it() -> None:
    with oneiros.Engine(":memory:", embedder=LetterCounts(), clock=lambda: NOW) as mind:
        mind.add("abba", id="a")
        mind.add("hhhh", id="h")
        assert [c.rank for c in mind.why_not("ab", "h").channels] == [None, 2, None]
        assert mind.why_not("ab", "h").channels[1].score == pytest.approx(0.0)


def test_a_rule_of_the_profile_that_leaves_it_out_is_named(mind: oneiros.Engine) -> None:
    strict = profiles.get("reverie").replace(keep=(FeedbackAbove(),))
    mind.add("ant", id="a")
    mind.add("ant bee", id="b", feedback=-4)
    told = mind.why_not("ant", "b", profile=strict)
    assert mind.search("ant", profile=strict, reinforce=False).ids == ["a"]
    assert [one.reason for one in told.hidden] == ["rule"]
    assert told.lacked == "left out by the profile's rule 'feedback'"
    assert (told.place, told.candidate_count, told.channels[0].rank) == (None, 1, 2)
    assert told.explanation is not None
    assert "score" in str(told)
    assert mind.why_not("ant", "b").is_returned


# -- what it lacked --------------------------------------------------------------------------------


def test_the_factor_that_costs_most_is_named(mind: oneiros.Engine) -> None:
    mind.add("ant", id="strong")
    mind.add("ant", id="weak", strength=0.25, depth=1)
    told = mind.why_not("ant", "weak", k=1)
    assert told.kth_id == "strong"
    assert told.gap == mind.search("ant", k=1, reinforce=False).results[0].score - told.score
    assert told.lacked == (
        f"needs +{told.gap:#.5g} to the {told.kth_score:#.5g} of place 1: "
        "its strength factor 0.25000 (there 1.0000) costs most"
    )
    assert told.verdict == "in place 2 of 2, k is 1"
    assert repr(told) == "<WhyNot 'weak': in place 2 of 2, k is 1>"


def test_relevance_may_cost_most(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a", embedding=[1.0, 0.0])
    mind.add("ant bee cat", id="b")
    told = mind.why_not("ant", "b", k=1, embedding=[1.0, 0.0])
    assert "its relevance 0.031250 (there 0.064516) costs most" in told.lacked


def test_a_tie_goes_to_the_earlier_memory(mind: oneiros.Engine) -> None:
    meaning = profiles.get("reverie").replace(channels=(VectorChannel(),), factors=())
    flat = meaning.replace(fusion=meaning.fusion.__class__(k=1e9, weights=(0.0,)))
    mind.add_many([{"id": id, "text": "ant", "embedding": [1.0, 0.0]} for id in "ab"])
    told = mind.why_not("ant", "b", k=1, embedding=[1.0, 0.0], profile=flat)
    assert (told.gap, told.lacked) == (0.0, "ties with place 1, which was added earlier")


def test_two_infinite_scores_tie() -> None:
    endless = profiles.get("bm25").replace(
        name="endless", factors=(Expression("1 / access_count", name="unused"),)
    )
    with oneiros.Engine(":memory:", profile=endless) as mind:
        mind.add_many([{"id": "a", "text": "tea"}, {"id": "b", "text": "tea tea"}])
        assert mind.search("tea", k=1).ids == ["a"]
        answer = mind.why_not("tea", "b", k=1)
    assert (answer.score, answer.kth_score) == (math.inf, math.inf)
    assert (answer.gap, answer.lacked) == (0.0, "ties with place 1, which was added earlier")


def test_k_of_none_and_fewer_than_k(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    assert mind.why_not("ant", "a", k=0).lacked == "k is 0"
    told = mind.why_not("ant", "a", k=2)
    assert (told.is_returned, told.kth, told.gap, told.lacked) == (True, None, None, "")
    assert told.verdict == "returned, in place 1"


def test_a_tree_and_a_table_show_it(mind: oneiros.Engine) -> None:
    mind.add("ant", id="strong")
    mind.add("ant", id="weak", strength=0.25)
    told = mind.why_not("ant", "weak", k=1)
    lines = str(told).splitlines()
    assert lines[0] == "'weak' for 'ant': in place 2 of 2, k is 1"
    assert lines[1].startswith("├─ needs +")
    assert lines[3:6] == [
        "   ├─ relevance 0.031250",
        "   │  ├─ lexical: rank 2, score 0.082873, gives 0.031250",
        "   │  └─ vector: absent: no embedder, and no embedding given",
    ]
    table = told.table()
    assert table.columns == ("part", "this memory", "place 1")
    assert ("strength", 0.25, 1.0) in table.rows
    assert ("lexical rank", 2, 1) in table.rows
    assert table.rows[-1] == ("score", told.score, told.kth_score)
    alone = mind.why_not("ant", "weak", k=5).table()
    assert alone.columns == ("part", "this memory")
    assert mind.why_not("ant", "absent", k=5).table().rows == ()


def test_the_parts_of_a_table_are_the_score() -> None:
    with oneiros.Engine(":memory:", profile="omega", clock=lambda: NOW) as mind:
        mind.add("green tea of bob", id="near")
        mind.add("green tea or coffee", id="far", kind="decision", priority=1)
        answer = mind.why_not("green tea of bob", "far", k=1)
    table = answer.table()
    names = [name for name, *_ in table.rows]
    assert names[-2:] == ["÷ the best", "score"]
    for place, score in ((1, answer.score), (2, answer.kth_score)):
        values = [row[place] for row in table.rows]
        relevance, *factors, best, last = values[names.index("relevance") :]
        assert math.prod(factors, start=relevance) / best == last == score


def test_a_factor_may_have_any_name(mind: oneiros.Engine) -> None:
    named = tuple(Expression("strength", name=name) for name in ("score", "relevance", "rank"))
    mine = profiles.get("reverie").replace(factors=named)
    mind.add("ant", id="strong")
    mind.add("ant", id="weak", strength=0.5)
    told = mind.why_not("ant", "weak", k=1, profile=mine)
    parts = [row[0] for row in told.table().rows]
    assert parts[-5:] == ["relevance", "score", "relevance", "rank", "score"]
    assert told.table().rows[-1] == ("score", told.score, told.kth_score)
    table = mind.search("ant", profile=mine, explain=True).table()
    own = ("score factor", "relevance factor", "rank factor")
    assert table.columns[-5:] == ("relevance", *own, "score")
    assert [row[-1] for row in table.rows] == [told.kth_score, told.score]


# -- what it must not say --------------------------------------------------------------------------


def outside(mind: oneiros.Engine) -> None:
    mind.add("canary theirs", id="theirs", project="y", embedding=[1.0, 0.0])
    mind.add("canary gone", id="gone", project="y")
    mind.delete("gone")
    mind.add("canary", id="moved", project="x")
    mind.update("moved", project="y")


@pytest.mark.parametrize("id", ["theirs", "gone", "moved"])
@pytest.mark.parametrize("where", [None, oneiros.where(project="y"), ~oneiros.where(kind="fact")])
def test_a_scope_says_of_what_lies_outside_what_it_says_of_nothing(
    mind: oneiros.Engine, id: str, where: oneiros.filters.Where | None
) -> None:
    outside(mind)
    mind.add("canary mine", id="mine", project="x", embedding=[1.0, 0.0])
    scope = mind.scope(project="x")
    asked = {"where": where, "embedding": [1.0, 0.0], "k": 1}
    told = scope.why_not("canary", id, **asked)
    nothing = scope.why_not("canary", "never", **asked)
    assert replace(told, id="never") == nothing
    shown: tuple[Callable[[WhyNot], str], ...] = (str, repr, WhyNot._repr_html_)
    for show in shown:
        assert show(told).replace(id, "never") == show(nothing)
    assert not told.exists
    assert mind.why_not("canary", id, **asked).exists


def test_a_scope_counts_and_compares_its_own_only(mind: oneiros.Engine) -> None:
    outside(mind)
    for id in ("one", "two"):
        mind.add("canary", id=id, project="x")
    told = mind.scope(project="x").why_not("canary", "two", k=1)
    assert (told.place, told.candidate_count, told.kth_id) == (2, 2, "one")


def test_hostile_ids_queries_and_fields_stay_text(mind: oneiros.Engine) -> None:
    mind.add("ant script", id=HOSTILE, project=HOSTILE, tags=[HOSTILE], superseded_by=HOSTILE)
    where = oneiros.where(project=f"{HOSTILE}!", tags=f"{HOSTILE}?")
    for id in (HOSTILE, f"{HOSTILE} absent"):
        told = mind.why_not(f"{HOSTILE} ant", id, where=where)
        page = Page(told._repr_html_())
        assert page.tags <= {"p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
        assert page.attributes <= {"style", "title"}
        for shown in (str(told), repr(told), told._repr_html_()):
            assert not {"\x1b", "\u202e", "\x9b"} & set(shown)
        assert "<script" not in told._repr_html_()


def test_arguments_are_checked_as_a_search_checks_them(mind: oneiros.Engine) -> None:
    with pytest.raises(TypeError, match="id: expected str"):
        mind.why_not("ant", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k: must be in"):
        mind.why_not("ant", "a", k=-1)
    with pytest.raises(TypeError, match="where: expected"):
        mind.why_not("ant", "a", where="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="session"):
        mind.why_not("ant", "a", session=3)  # type: ignore[arg-type]
    with pytest.raises(oneiros.QueryTooLarge):
        mind.why_not("ant " * 20_000, "absent")
    with pytest.raises(ValueError, match="status"):
        mind.why_not("ant", "absent", status="lost")


def test_a_filter_with_more_digits_than_python_prints(mind: oneiros.Engine) -> None:
    mind.add("ant", id="n", metadata={"n": 1})
    digits = oneiros.meta("n") == 10**5_000
    assert mind.search("ant", where=digits).ids == []
    assert mind.why_not("ant", "n", where=digits).lacked.startswith("outside the filter ")
    assert mind.why_not("ant", "n", where=~digits).is_returned
