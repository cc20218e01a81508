"""Explanations: they are the score to the bit, made late, never an access, and shown harmlessly."""

from __future__ import annotations

import math
import threading
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.display.tables import DisplayTable
from oneiros.explain.explanation import (
    ChannelScore,
    Explanation,
    FactorValue,
    combined,
    explanations_table,
)
from tests.engine.world import QUESTIONS, Fields, queries, records

NOW = 1_750_000_000.0
HOSTILE = "m\x1b[2J\u202e<script>alert('&amp;')</script>\" onload=\"x"

SUMS = {name for name in profiles.names() if not name.startswith(("omega", "cognitive"))}
OWN_PARTS = {
    "mnemosyne": ("importance",),
    "mnemosyne-3": ("importance",),
    "oneiros": ("word_pairs", "neighbours", "statements", "named_time", "asked_time"),
}

TOLD = Explanation(
    channels=(ChannelScore("lexical", 2, 3.5), ChannelScore("vector", None, None)),
    relevance=0.5,
    factors=(FactorValue("strength", 0.5), FactorValue("importance", 0.25, "add")),
    score=0.5,
)


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.text += data


def hybrid(mind: oneiros.Engine) -> oneiros.SearchResponse:
    mind.add("ant bee", id="a", strength=0.7, depth=3, embedding=[1.0, 0.0])
    mind.add("ant", id="b")
    mind.add("cat", id="c", embedding=[0.8, 0.6])
    return mind.search("ant bee", embedding=[1.0, 0.0], explain=True)


# -- what they say ---------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    given=st.lists(records, max_size=8),
    query=queries,
    question=st.one_of(st.none(), st.sampled_from(QUESTIONS)),
    profile=st.sampled_from(profiles.names()),
)
def test_every_explanation_evaluates_to_its_score(
    given: list[Fields], query: str, question: tuple[float, ...] | None, profile: str
) -> None:
    options = {"profile": profile, "analyzer": "simple", "clock": lambda: NOW}
    with oneiros.Engine(":memory:", **options) as mind:
        mind.add_many(given)
        plain = mind.search(query, embedding=question, reinforce=False)
        told = mind.search(query, embedding=question, explain=True)
        assert [(one.id, one.score) for one in told] == [(one.id, one.score) for one in plain]
        for result in told:
            explanation = result.explanation
            assert explanation is not None
            assert explanation.evaluate() == explanation.score == result.score
            assert explanation.relevance == result.relevance_score
            parts = [part.name for part in explanation.parts]
            channels = [channel.name for channel in explanation.channels]
            adding = [name for name in channels if name != "temporal"]  # it adds to no sum
            own = OWN_PARTS.get(profile, ())
            if profile.startswith(
                "omega"
            ):  # a hot memory joins what is no sum, or words decide alone
                assert parts in (["fusion", "hot_set"], [])
                own = tuple(parts)
            else:
                assert parts == ([*adding, *own] if profile in SUMS else [])
            assert len(str(explanation).splitlines()) == (
                2
                + len(channels)
                + len(own)
                + len(explanation.factors)
                + (explanation.divided_by is not None)
            )


def test_a_relevance_of_fused_ranks_follows_from_the_ranks_it_shows(mind: oneiros.Engine) -> None:
    for result in hybrid(mind):
        fused = sum(1 / (30 + c.rank) for c in result.explanation.channels if c.rank)
        assert result.explanation.relevance == pytest.approx(fused)


def test_a_weighted_sum_shows_what_each_part_adds(mind: oneiros.Engine) -> None:
    mind.add("ant bee", id="a", importance=0.9, embedding=[1.0, 0.0])
    mind.add("ant", id="b", importance=0.25)
    response = mind.search("ant bee", embedding=[0.6, 0.8], profile="mnemosyne", explain=True)
    told = {result.id: result.explanation for result in response}
    scores = {id: {c.name: c.score for c in one.channels} for id, one in told.items()}
    best = max(score["lexical"] for score in scores.values())
    for id, importance in (("a", 0.9), ("b", 0.25)):  # M1 to M4
        parts = {part.name: part.value for part in told[id].parts}
        assert parts["importance"] == pytest.approx(0.2 * importance)
        assert parts["lexical"] == pytest.approx(0.3 * scores[id]["lexical"] / best)
        assert parts["vector"] == pytest.approx(0.5 * (scores[id]["vector"] or 0.0))
    assert "importance gives 0.18000" in str(told["a"])
    assert "score 0.60000, gives 0.30000" in str(told["a"])
    assert "vector: not found\n" in str(told["b"])
    (row,) = (row for row in told["a"].table().rows if row[0] == "+ importance part")
    assert row[2:] == (told["a"].parts[-1].value, told["a"].relevance)
    assert "+ importance part" in Page(told["a"]._repr_html_()).text
    whole = response.table()
    assert "importance part" in whole.columns
    assert whole.rows[0][whole.columns.index("importance part")] == told["a"].parts[-1].value


def test_a_blend_shows_what_words_and_meaning_add(mind: oneiros.Engine) -> None:
    mind.add("ant bee", id="a", embedding=[1.0, 0.0])
    mind.add("cat", id="c", embedding=[0.8, 0.6])
    response = mind.search("ant", embedding=[1.0, 0.0], profile="oneiros", explain=True)
    parts = {result.id: [part.value for part in result.explanation.parts] for result in response}
    # H3: of the one word's idf a gets 1 / (1 + k1 norm), where k1 is 1.2 and the norm of two words,
    # with b 0.75 and 1.5 on average, 1.25. Its root, as a is the best. Nothing by H4, H9, H10, H13, H14.
    words, nothing = math.sqrt(1 / 2.5), [0.0] * 5
    assert parts["a"] == pytest.approx([0.55 * words, 0.45, *nothing])
    assert parts["c"] == pytest.approx([0.0, 0.45 * 0.8, *nothing])
    alone = mind.search("ant", profile="oneiros", explain=True).results[0].explanation
    assert [part.value for part in alone.parts] == pytest.approx([words, 0.0, *nothing])


def test_each_channel_has_its_rank_and_raw_score(mind: oneiros.Engine) -> None:
    channels = {result.id: result.explanation.channels for result in hybrid(mind)}
    assert [(c.name, c.rank) for c in channels["a"]] == [("lexical", 1), ("vector", 1)]
    assert channels["a"][1].score == pytest.approx(1.0)
    assert channels["b"][1] == ChannelScore("vector", None, None)
    assert channels["c"][0] == ChannelScore("lexical", None, None)
    assert channels["c"][1].rank == 2
    assert channels["c"][1].score == pytest.approx(0.8)
    index = oneiros.LexicalIndex(analyzer="simple")
    index.add_many(["a", "b", "c"], ["ant bee", "ant", "cat"])
    hits = index.search("ant bee")
    for place, (id, score) in enumerate(zip(hits.ids, hits.scores.tolist(), strict=True), start=1):
        assert channels[id][0] == ChannelScore("lexical", place, score)


def test_factors_are_multiplied_or_added_in_order() -> None:
    assert TOLD.evaluate() == TOLD.score == 0.5 * 0.5 + 0.25
    assert combined(0.5, reversed(TOLD.factors)) == (0.5 + 0.25) * 0.5
    assert combined(0.1, ()) == 0.1


def test_a_batch_is_explained_as_single_searches_are(mind: oneiros.Engine) -> None:
    single = hybrid(mind)
    (batch,) = mind.search_many(["ant bee"], embeddings=[[1.0, 0.0]], explain=True, threads=2)
    assert [result.explanation for result in batch] == [result.explanation for result in single]


# -- when they are made ----------------------------------------------------------------------------


def test_an_explanation_is_made_once_and_late(mind: oneiros.Engine) -> None:
    first = hybrid(mind).results[0]
    mind.update("a", strength=0.1)
    mind.forget("a")
    told = first.explanation
    assert told is first.explanation
    assert told.evaluate() == first.score
    assert all(result.explanation is None for result in mind.search("ant"))


def test_many_threads_touch_one_explanation(mind: oneiros.Engine) -> None:
    result = hybrid(mind).results[0]
    gate, seen = threading.Barrier(4), []

    def touch() -> None:
        gate.wait()
        seen.append(result.explanation)

    threads = [threading.Thread(target=touch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    # Equal, not the same: each thread may have made its own.
    assert all(explanation == result.explanation for explanation in seen)
    assert result.explanation is result.explanation


def test_explaining_is_no_access_unless_the_search_is_said_to_be_one(mind: oneiros.Engine) -> None:
    response = hybrid(mind)
    assert len(response) == 3
    mind.search_many(["ant", "bee"], explain=True)
    assert "reinforcement" not in [stage.name for stage in response.trace.stages]
    assert [memory.access_count for memory in mind.list()] == [0, 0, 0]
    mind.search("cat", embedding=[0.0, 1.0], k=1, explain=True, reinforce=True)
    assert mind.get("c").access_count == 1


# -- how they are shown ----------------------------------------------------------------------------


def test_a_tree_shows_what_the_score_was_made_of() -> None:
    assert str(TOLD).splitlines() == [
        "score 0.50000",
        "├─ relevance 0.50000",
        "│  ├─ lexical: rank 2, score 3.5000",
        "│  └─ vector: not found",
        "├─ × 0.50000 strength = 0.25000",
        "└─ + 0.25000 importance = 0.50000",
    ]
    assert repr(TOLD) == "<Explanation 0.50000 = 0.50000 × 0.50000 + 0.25000>"
    assert str(ChannelScore("vector", None, 0.5)) == "vector: not ranked, score 0.50000"


# The tags of what notebooks show.
NOTEBOOK = {
    *("div", "style", "p", "b", "ol", "ul", "li", "bdi", "span", "i", "code", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def test_a_notebook_shows_the_same_as_a_table() -> None:
    page = Page(TOLD._repr_html_())
    assert {"table", "thead", "tbody", "tr", "th", "td"} <= page.tags <= NOTEBOOK
    assert "× strength" in page.text
    assert "+ importance" in page.text
    assert TOLD.table().rows[-1] == ("+ importance", None, 0.25, 0.5)


def test_the_table_of_a_response_has_every_figure(mind: oneiros.Engine) -> None:
    response = hybrid(mind)
    table = response.table()
    assert table.columns == (
        *("rank", "id", "lexical rank", "lexical score", "vector rank", "vector score"),
        *("lexical part", "vector part"),
        *("relevance", "time_decay", "strength", "depth", "spread", "stability", "score"),
    )
    for place, (result, row) in enumerate(zip(response, table.rows, strict=True), start=1):
        told = result.explanation
        channels = [value for c in told.channels for value in (c.rank, c.score)]
        factors = [factor.value for factor in told.factors]
        parts = [part.value for part in told.parts]
        assert row == (place, result.id, *channels, *parts, told.relevance, *factors, result.score)
    headline, *lines = str(response).splitlines()
    assert headline == "3 results for 'ant bee', profile reverie"
    assert lines[0].split() == ["rank", "text", "kind", "date", "score", "id"]
    assert lines[4] == ""
    assert lines[5].split()[:2] == ["rank", "id"]
    assert [line.split()[1] for line in lines[6:]] == response.ids
    assert "-" in lines[7].split()


def test_a_response_shows_the_texts_and_the_ids_last(mind: oneiros.Engine) -> None:
    mind.add("the ant\n  works", id="a", kind="fact", created_at=NOW - 86_400.0)
    mind.add("an ant " * 30, id="b", title="Ants", event_at=0.0, strength=0.5)
    response = mind.search("ant", reinforce=False)
    best, second = (f"{result.score:#.5g}" for result in response)
    width = max(len(best), len(second))
    ants = "Ants: " + "an ant " * 5 + "an ant…"
    assert str(response).splitlines() == [
        "2 results for 'ant', profile reverie",
        f"rank  text{' ' * 44}  kind  date{' ' * 6}  {'score':>{width}}  id",
        f"   1  {'the ant works':48}  fact  2025-06-14  {best:>{width}}  a",
        f"   2  {ants}  note  1970-01-01  {second:>{width}}  b",
    ]
    page = Page(response._repr_html_()).text
    assert page.index("the ant\n  works") < page.index("fact") < page.index("2025-06-14")
    assert page.index("2025-06-14") < page.index(best)
    assert response.table().columns == ("rank", "id", "relevance", "retention", "score")
    assert response.table().rows[0][:2] == (1, "a")
    assert repr(response) == (
        f"<SearchResponse: 2 results for 'ant', profile reverie, best score {response.results[0].score:.5g}>"
    )
    assert repr(response.results[0]) == (
        f"SearchResult(score={response.results[0].score:.5g}, text='the ant works', kind='fact', "
        "date='2025-06-14', id='a')"
    )


def test_texts_are_read_when_they_are_printed_and_not_before(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    response, other = (mind.search("ant", reinforce=False) for _ in range(2))
    assert "ant" in repr(response)
    assert response.ids == ["a"]
    mind.update("a", text="ant and bee")
    assert "ant and bee" in str(response)
    assert "ant and bee" in repr(other.results[0])


def test_what_cannot_be_read_any_more_is_shown_all_the_same(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    forgotten, closed = (mind.search("ant", reinforce=False) for _ in range(2))
    mind.forget("a")
    assert "(id: 'a' was forgotten after the search)" in str(forgotten)
    mind.close()
    for shown in (str(closed), repr(closed.results[0]), closed._repr_html_()):
        assert "the engine is closed" in shown


def test_without_results_the_headline_is_all(mind: oneiros.Engine) -> None:
    mind.add("ant", id="a")
    empty = mind.search("unheard", explain=True)
    assert str(empty) == "0 results for 'unheard', profile reverie"
    assert Page(empty._repr_html_()).tags == {"div", "style", "p", "b"}


def test_a_factor_that_is_added_has_a_plus_in_the_table() -> None:
    table = explanations_table(["a"], [TOLD])
    assert table.columns[-3:] == ("strength", "+ importance", "score")
    assert table.rows[0][-3:] == (0.5, 0.25, 0.5)


def test_profiles_of_other_factors_have_other_columns(mind: oneiros.Engine) -> None:
    mind.add("ant")
    plain = profiles.get("reverie", lifecycle=False)
    table = mind.search("ant", profile=plain, explain=True).table()
    assert table.columns[-3:] == ("relevance", "time_decay", "score")


def test_hostile_ids_and_queries_stay_text(mind: oneiros.Engine) -> None:
    mind.add(f"ant script {HOSTILE}", id=HOSTILE, kind=HOSTILE, title=HOSTILE)
    for explain in (True, False):
        response = mind.search(f"{HOSTILE} ant", explain=explain, reinforce=False)
        page = Page(response._repr_html_())
        assert page.tags <= NOTEBOOK
        assert page.attributes <= {"class", "style", "title", "role", "aria-label"}
        assert "<script>alert" in page.text
        parts = (str(response), repr(response), repr(response.results), response._repr_html_())
        for shown in parts:
            assert not {"\x1b", "\u202e", "\x9b"} & set(shown)


@given(name=st.text(max_size=60), value=st.floats())
def test_no_name_and_no_value_breaks_a_table(name: str, value: float) -> None:
    table = DisplayTable((name, "id", "value"), ((1, name, value), (None, name, None)))
    assert len(str(table).splitlines()) == 3
    page = Page(table._repr_html_())
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.attributes <= {"style", "title"}


def test_long_ids_are_cut_in_tables_only() -> None:
    table = DisplayTable(("rank", "id"), ((1, "x" * 256),))
    assert max(map(len, str(table).splitlines())) < 60
    assert table.rows[0][1] == "x" * 256


def test_a_table_has_every_hop_of_the_links_that_found_a_memory() -> None:
    with oneiros.Engine(":memory:", profile="omega", clock=lambda: 1_750_000_000.0) as mind:
        for id, text in (("a", "zebra green tea"), ("b", "black horse"), ("c", "yellow house")):
            mind.add(text, id=id)
        mind.link("a", "b", 1.0)
        mind.link("b", "c", 0.9)
        answer = mind.search("zebra green tea", explain=True)
    assert answer.ids == ["a", "b", "c"]
    table = answer.table()
    (*_, far) = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    hops = [far[name] for name in ("graph", "hop", "link", "hop 2", "link 2")]
    assert hops == [1.0, 0.4, 1.0, 0.4, pytest.approx(0.9)]
    assert math.prod(hops, start=far["relevance"]) / far["÷ the best"] == far["score"]
