"""What each channel finds: BM25F, cosine and nearness in time over everything, one memory at a time."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tests.oracles.bm25 import IDF, length_strength, possible, term_weight
from tests.oracles.finishing import cosine_of
from tests.oracles.house import pair_score, pair_weights, respelled
from tests.oracles.ieee import as_float32
from tests.oracles.omega import temporal_proximity
from tests.oracles.records import Record, time_of
from tests.oracles.whole.doubt import ordered

__all__ = [
    "HOUSE_TITLE",
    "TITLE",
    "allowed_by_words",
    "bm25f",
    "cosines",
    "first",
    "in_time",
    "lengths",
    "pairs",
]

TITLE = (2.0, 1.0)
"""The weight of a title's word, and the share of it that counts in the length."""
HOUSE_TITLE = (3.0, 0.0)  # H5
FIELD_WEIGHTS = {"text": 1.0, "tags": 1.5}  # DESIGN.md section 4


def fields_of(record: Record) -> dict[str, list[str]]:
    """Return the words of each field; tags are of one word."""
    return {
        "title": record.get("title", "").split(),
        "text": record["text"].translate(str.maketrans("?*>", "   ")).split(),
        "tags": list(record.get("tags", ())),
    }


def apart(record: Record) -> list[list[str]]:
    """Return the words that may stand near each other: of a field, and of one tag."""
    fields = fields_of(record)
    return [fields["title"], fields["text"], *([tag] for tag in fields["tags"])]


def counted(
    records: Mapping[str, Record], title_weight: float = TITLE[0]
) -> dict[str, dict[str, float]]:
    """Return the words of every memory that is not deleted, counted by the weights of the fields."""
    weights = FIELD_WEIGHTS | {"title": title_weight}
    documents = {}
    for id, record in records.items():
        if not record.get("is_deleted"):
            counts: dict[str, float] = {}
            for name, held in fields_of(record).items():
                for word in held:
                    counts[word] = counts.get(word, 0.0) + weights[name]
            documents[id] = counts
    return documents


def lengths(records: Mapping[str, Record], title: tuple[float, float] = TITLE) -> dict[str, float]:
    """Return the length of every memory that is not deleted, in words by weight.

    A word of the title counts by the share of its weight; by all of it where nothing else is there
    and the share is 0. H5.
    """
    weight, share = title
    found = {}
    for id, counts in counted(records, weight).items():
        whole = sum(counts.values())
        missing = (1 - share) * weight * len(fields_of(records[id])["title"])
        found[id] = whole - missing or whole
    return found


def terms(words: str) -> list[str]:
    """Return the words of a question."""
    return words.replace('"', " ").replace(",", " ").split()


@dataclass(frozen=True, slots=True)
class Asked:
    """The terms that are searched for a question. H20."""

    terms: list[str]
    shares: dict[str, float]
    """By term that stands for a misspelt one, its share of the weight."""
    held: dict[str, int]
    """By term, the number of memories that hold it."""
    left: float
    """The number of replaced words, each by the share of its weight that is missing still."""


def asked_for(records: Mapping[str, Record], words: str, typos: float = 0.0) -> Asked:
    """Return the terms of a question, with those one slip away that stand for missing ones."""
    documents, asked = counted(records), terms(words)
    held: dict[str, int] = {}
    for counts in documents.values():
        for word in counts:
            held[word] = held.get(word, 0) + 1
    read = respelled(asked, held) if typos else {}
    return Asked(
        terms=[read.get(word, word) for word in asked],
        shares=dict.fromkeys(read.values(), typos),
        held=held,
        left=len(read) * (1 - typos),
    )


def allowed_by_words(records: Mapping[str, Record], words: str, typos: float = 0.0) -> float:
    """Return the BM25 that no memory exceeds. H3."""
    count, asked = len(counted(records)), asked_for(records, words, typos)
    left = asked.left * IDF["lucene"](count, 1) if count else 0.0
    return possible(count, asked.held, asked.terms, asked.shares) + left


def pairs(
    records: Mapping[str, Record], words: str, typos: float = 0.0
) -> tuple[dict[str, float], float]:
    """Return the weight of the pairs of words that each memory has, and that of all. H14."""
    documents, asked = counted(records), asked_for(records, words, typos)
    weighed = {
        term: asked.shares.get(term, 1.0) * IDF["lucene"](len(documents), asked.held[term])
        for term in asked.terms
        if asked.held.get(term)
    }
    weights = pair_weights(asked.terms, weighed)
    found = {id: pair_score(weights, apart(records[id])) for id in documents}
    return found, sum(weights.values())


def bm25f(
    records: Mapping[str, Record],
    words: str,
    k1: float,
    b: float,
    half_length: float = 0.0,
    title: tuple[float, float] = TITLE,
    typos: float = 0.0,
) -> dict[str, float]:
    """Return Lucene's BM25F of every memory that holds a word. Statistics: all not deleted."""
    documents, length = counted(records, title[0]), lengths(records, title)
    average = sum(length.values()) / len(documents) if documents else 0.0
    strength = length_strength(b, average, half_length) if average else b
    asked = asked_for(records, words, typos)
    found: dict[str, float] = {}
    for term in dict.fromkeys(asked.terms):
        holding = [id for id, counts in documents.items() if term in counts]
        for id in holding:
            norm = 1 - strength + strength * length[id] / average
            weight = term_weight("lucene", documents[id][term], norm, k1, 0.0)  # type: ignore[arg-type]
            count = asked.shares.get(term, 1.0) * asked.terms.count(term)
            gain = count * IDF["lucene"](len(documents), len(holding)) * weight
            found[id] = found.get(id, 0.0) + gain
    return found


def unit(vector: Collection[float]) -> list[float]:
    """Return the direction as it is kept: of length 1, float32."""
    length = math.hypot(*vector)
    return [as_float32(number / length) for number in vector]


def cosines(records: Mapping[str, Record], vector: Collection[float]) -> dict[str, float]:
    """Return the cosine of every memory that has an embedding."""
    asked = unit(vector)
    return {
        id: cosine_of(asked, unit(record["embedding"]))
        for id, record in records.items()
        if record.get("embedding") is not None
    }


def in_time(
    records: Mapping[str, Record], now: float, start: float, end: float
) -> dict[str, float]:
    """Return O4's nearness of all in the range or within one range of it."""
    found = {}
    for id, record in records.items():
        moment = time_of(record, now, "event_at", "created_at")
        near = temporal_proximity(moment, start, end)
        if near > 0 and not (math.isinf(end - start) and not start <= moment <= end):
            found[id] = near
    return found


def first(
    scores: Mapping[str, float], shown: Collection[str], place: Mapping[str, int], depth: int
) -> list[tuple[str, float]]:
    """Return a channel's best hits of what is shown, best first."""
    seen = {id: score for id, score in scores.items() if id in shown}
    return [(id, seen[id]) for id in ordered(seen, place)[:depth]]
