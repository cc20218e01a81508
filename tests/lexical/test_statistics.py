"""Statistics as a value: shards that are searched with their sum are one index, to the bit."""

from __future__ import annotations

import json
import os
import pickle
from typing import Any

import numpy as np
import pytest

import oneiros

LONG = int(os.environ.get("ONEIROS_LONG") or 0)
TEXTS = 150
QUERIES = max(LONG, 10_000) if LONG else 300
SETTINGS: dict[str, dict[str, Any]] = {
    "lucene": {"variant": "lucene"},
    "robertson": {"variant": "robertson", "k1": 0.9, "b": 0.4},
    "atire": {"variant": "atire", "analyzer": "simple"},
    "bm25plus with fields": {"variant": "bm25plus", "fields": True},
    "bm25l, weighed fields": {
        "variant": "bm25l",
        "fields": True,
        "title_weight": 4.0,
        "tags_weight": 0.5,
    },
    "titles without a length": {"fields": True, "title_weight": 3.0, "title_length": 0.0},
    "code": {"analyzer": "code", "fields": True},
    "half length": {"b": 1.0, "half_length": 6.0},
    "half length with fields": {"variant": "bm25l", "fields": True, "half_length": 6.0},
}
WORDS = [
    "run",
    "runs",
    "running",
    "runner",
    "study",
    "studies",
    "studying",
    "tea",
    "teas",
    "green",
    "black",
    "getUser",
    "HTTPServer",
    "server",
    "servers",
    "user",
    "users",
    "cat",
    "cats",
    "catalogue",
    "box",
    "boxes",
    "boxing",
    "the",
    "of",
]


def draw(random: np.random.Generator, most: int) -> str:
    return " ".join(
        WORDS[int(random.integers(len(WORDS)) * random.random() ** 2)]
        for _ in range(int(random.integers(most + 1)))
    )


def question(random: np.random.Generator, *, fields: bool) -> tuple[str, dict[str, Any]]:
    words = [draw(random, 1) or "tea" for _ in range(4)]
    choices: list[tuple[str, dict[str, Any]]] = [
        (" ".join(words), {}),
        (f"+{words[0]} -{words[1]} {words[2]}", {"syntax": "query"}),
        (f'"{words[0]} {words[1]}" {words[2]}', {"syntax": "query"}),
        (f"{words[0][:3]}* {words[1][:2]}* {words[2]}", {"syntax": "query"}),
        (" ".join(words), {"syntax": "query", "minimum_should_match": 2}),
    ]
    if fields:
        choices.append((f"title:{words[0]} tags:{words[1]} {words[2][:4]}*", {"syntax": "query"}))
    return choices[int(random.integers(len(choices)))]


def gathered(
    shards: list[oneiros.LexicalIndex], query: str, **options: Any
) -> oneiros.QueryStatistics:
    """Return the statistics of all shards, asked a second time where a prefix needs it."""

    def ask(known: oneiros.QueryStatistics | None) -> oneiros.QueryStatistics:
        first, *others = (shard.statistics(query, known=known, **options) for shard in shards)
        return sum(others, first)

    whole = ask(None)
    return whole if whole.is_complete else ask(whole)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("count", [1, 2, 7])
def test_shards_are_one_index(settings: str, count: int) -> None:
    options = SETTINGS[settings]
    has_fields = bool(options.get("fields"))
    random = np.random.default_rng(count)
    whole = oneiros.LexicalIndex(**options)
    shards = [oneiros.LexicalIndex(**options) for _ in range(count)]
    for id in range(TEXTS):
        fields: dict[str, Any] = {"text": draw(random, 12)}
        if has_fields:
            fields |= {"title": draw(random, 3), "tags": draw(random, 2).split()}
        for index in (whole, shards[int(random.integers(count))]):
            index.add(id, **fields)
    rounds = set()
    for _ in range(QUERIES // len(SETTINGS)):
        query, how = question(random, fields=has_fields)
        statistics = gathered(shards, query, **how)
        rounds.add(sum((s.statistics(query, **how) for s in shards[1:]),
                       shards[0].statistics(query, **how)).is_complete)  # fmt: skip
        found = {
            id: score
            for shard in shards
            for id, score in shard.search(query, TEXTS, statistics=statistics, **how)
        }
        assert found == dict(whole.search(query, TEXTS, **how)), query
        for shard in shards:
            some = [id for id in range(0, TEXTS, 9) if id in shard]
            scores = shard.score(query, some, statistics=statistics, **how)
            assert scores.tolist() == whole.score(query, some, **how).tolist()
            many = shard.search_many([query], 5, statistics=statistics, **how)[0]
            assert dict(many) == dict(shard.search(query, 5, statistics=statistics, **how))
    if count == 7 and options.get("analyzer", "english") == "english":
        assert rounds == {True, False}  # some prefixes need a second round


def test_one_value_serves_several_queries() -> None:
    index = oneiros.LexicalIndex()
    index.add_many(range(3), ["green tea", "black tea", "green grass"])
    both = index.statistics(["green", "tea"])
    assert both == oneiros.QueryStatistics.joined(map(index.statistics, ["green", "tea"]))
    found = index.search_many(["green", "tea"], 3, statistics=both)
    assert [dict(one) for one in found] == [
        dict(one) for one in index.search_many(["green", "tea"])
    ]
    again = oneiros.QueryStatistics.from_dict(json.loads(json.dumps(both.to_dict())))
    assert again == both == pickle.loads(pickle.dumps(both))


def test_what_does_not_fit_is_refused() -> None:
    index, other = oneiros.LexicalIndex(), oneiros.LexicalIndex(k1=0.9)
    longer = oneiros.LexicalIndex(half_length=6.0)
    index.add_many([1, 2], ["green tea", "black tea"])
    other.add(1, "green")
    green = index.statistics("green")
    with pytest.raises(ValueError, match=r"statistics: of an index with other settings \(k1\)"):
        green + other.statistics("green")
    with pytest.raises(ValueError, match=r"other settings \(half_length\)"):
        longer.search("green", statistics=green)
    with pytest.raises(ValueError, match=r"other settings \(k1\)"):
        other.search("green", statistics=green)
    with pytest.raises(ValueError, match='lack the term "tea"'):
        index.search("green tea", statistics=green)
    with pytest.raises(TypeError, match=r"expected oneiros.QueryStatistics, got dict"):
        index.search("green", statistics={})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"queries: expected at least one, got \[\]"):
        index.statistics([])
    with pytest.raises(ValueError, match="different texts"):
        oneiros.QueryStatistics.joined([green, (green + green)])
    impossible = oneiros.QueryStatistics.from_dict(green.to_dict() | {"frequencies": {"green": 9}})
    with pytest.raises(ValueError, match="'green' must be in 0 to 2 texts, got 9"):
        index.search("green", statistics=impossible)
    with pytest.raises(ValueError, match="lack the key 'texts'"):
        oneiros.QueryStatistics.from_dict({"settings": None})
    with pytest.raises(ValueError, match="texts: must be an int"):
        oneiros.QueryStatistics.from_dict(green.to_dict() | {"texts": -1})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("is_complete", "false", "is_complete: must be True or False, got 'false'"),
        ("is_complete", None, "is_complete: must be True or False, got None"),
        ("prefix_terms", {"gre": "green"}, r"prefix_terms\['gre'\]: expected a sequence of str"),
        (
            "prefix_terms",
            {"gre": ["green", 1]},
            r"prefix_terms\['gre'\]\[1\]: expected str, got int",
        ),
        (
            "prefix_terms",
            {"gre": ["\ud800"]},
            r"prefix_terms\['gre'\]\[0\]: holds a lone surrogate",
        ),
        ("prefix_terms", ["gre"], "prefix_terms: expected a dict, got list"),
        ("frequencies", None, "frequencies: expected a dict, got NoneType"),
        ("frequencies", {"\ud800": 1}, "frequencies: holds a lone surrogate"),
        ("settings", ["k1"], "settings: expected a dict, got list"),
        pytest.param("texts", 10**5000, "texts: must be an int", id="digits"),
    ],
)
def test_a_value_of_another_type_is_named(name: str, value: object, message: str) -> None:
    index = oneiros.LexicalIndex()
    index.add(1, "green tea")
    values = index.statistics("gre* tea", syntax="query").to_dict()
    with pytest.raises(ValueError, match=f"^{message}"):
        oneiros.QueryStatistics.from_dict(values | {name: value})
    with pytest.raises(ValueError, match=r"^values: expected a dict, got list"):
        oneiros.QueryStatistics.from_dict([])  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["gre*", "tea +gre*", "tea -gre*", "title:gre*"])
def test_statistics_without_a_prefix_of_the_query_are_refused(query: str) -> None:
    index = oneiros.LexicalIndex(fields=True)
    index.add_many([1, 2], ["green tea", "grey tea"], titles=["green", None])
    words = index.statistics("green grey tea")
    with pytest.raises(ValueError, match=r'lack the prefix "gre\*", which this index has'):
        index.search(query, syntax="query", statistics=words)
    with pytest.raises(ValueError, match=r'lack the prefix "gre\*"'):
        index.score(query, [1], syntax="query", statistics=words)
    other = oneiros.LexicalIndex(fields=True)
    other.add(1, "black tea")  # has no word of the prefix
    found = other.search("tea gre*", syntax="query", statistics=other.statistics("tea"))
    assert found.ids.tolist() == [1]


def test_terms_that_only_deleted_texts_had_are_left_out() -> None:
    index = oneiros.LexicalIndex(analyzer="simple")
    index.add_many([1, 2], ["secret tea", "green tea"])
    index.delete(1)
    counted = index.statistics("secret tea se*", syntax="query")
    assert (counted.texts, dict(counted.frequencies)) == (1, {"tea": 1})
    assert counted.prefix_terms == {"se": ()}


def test_stores_that_are_searched_by_their_sum_score_words_as_one() -> None:
    texts = ["green tea", "black tea", "a green hat", "the tea house", "tea, tea and tea"]
    queries = ["green tea", "tea house hat"]
    with oneiros.Engine(":memory:", profile="cognitive") as whole:
        stores = [oneiros.Engine(":memory:", profile="cognitive") for _ in range(2)]
        for place, text in enumerate(texts):
            for engine in (whole, stores[place % 2]):
                engine.add(text, id=str(place), created_at=1e9)
        statistics = stores[0].statistics(queries) + stores[1].statistics(queries)
        assert statistics == whole.statistics(queries)
        for query in queries:
            wanted = whole.search(query, explain=True, now=1e9)
            raw = {one.id: one.explanation.channels for one in wanted if one.explanation}
            for store in stores:
                found = store.search(query, explain=True, now=1e9, statistics=statistics)
                alone = store.search_many([query], now=1e9, statistics=statistics, reinforce=False)
                assert alone[0].ids == found.ids
                assert found
                for one in found:
                    assert one.explanation is not None
                    mine = {c.name: c.score for c in one.explanation.channels}
                    assert mine == {c.name: c.score for c in raw[one.id]}
        for store in stores:
            store.close()
