"""Exhaustive BM25 over documents that are lists of tokens.

The variants are those of Kamphuis, de Vries, Boytsov and Lin, "Which BM25 do you mean?" (ECIR 2020),
table 1; docs/systems/reverie.md R1 and docs/systems/README.md say where they are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

DEFAULT_DELTA = {"bm25plus": 1.0, "bm25l": 0.5}

IDF: dict[str, Callable[[int, int], float]] = {
    "lucene": lambda n, df: math.log(1 + (n - df + 0.5) / (df + 0.5)),
    "robertson": lambda n, df: math.log((n - df + 0.5) / (df + 0.5)),
    "atire": lambda n, df: math.log(n / df),
    "bm25plus": lambda n, df: math.log((n + 1) / df),
    "bm25l": lambda n, df: math.log((n + 1) / (df + 0.5)),
}


def term_weight(variant: str, tf: int, norm: float, k1: float, delta: float) -> float:
    """Return what one term gives before idf; ``norm`` is 1 - b + b dl/avgdl. Kamphuis, table 1.

    A term that the document does not hold gives 0, also where a delta is added (Lv and Zhai).
    """
    if tf == 0:
        return 0.0
    if variant in {"lucene", "robertson"}:  # the constant k1 + 1 is left out
        return tf / (tf + k1 * norm)
    if variant == "atire":
        return (k1 + 1) * tf / (tf + k1 * norm)
    if variant == "bm25plus":
        return delta + (k1 + 1) * tf / (tf + k1 * norm)
    if variant == "bm25l":
        c = tf / norm
        return (k1 + 1) * (c + delta) / (k1 + c + delta)
    msg = f"variant: unknown {variant!r}"
    raise ValueError(msg)


def length_strength(b: float, average: float, half_length: float) -> float:
    """Return b L^2 / (L^2 + half length^2), L being the average length in words. house.md H5."""
    squared = average * average
    return b * squared / (squared + half_length * half_length) if half_length else b


def possible(
    n: int,
    frequencies: Mapping[str, int],
    query: Sequence[str],
    shares: Mapping[str, float] | None = None,
) -> float:
    """Return the BM25 that no text exceeds, by Lucene's idf. house.md H3.

    The sum of count x idf over the distinct words; a word that none of the ``n`` texts holds counts
    once, with the idf of a word that one text holds. ``frequencies``: how many texts hold a word.
    ``shares``: of the weight of a word, as for :func:`rank`.
    """
    total = 0.0
    for word in dict.fromkeys(query) if n else ():
        df = frequencies.get(word, 0)
        count = list(query).count(word) if df else 1
        total += (shares or {}).get(word, 1.0) * count * IDF["lucene"](n, df or 1)
    return total


def rank(
    documents: Mapping[int, Sequence[str]],
    query: Sequence[str],
    k: int,
    variant: str = "lucene",
    k1: float = 1.2,
    b: float = 0.75,
    delta: float | None = None,
    allowed: Collection[int] | None = None,
    half_length: float = 0.0,
    shares: Mapping[str, float] | None = None,
) -> list[tuple[int, float]]:
    """Return the best ``k`` (row, score), score descending, then row ascending. Kamphuis, table 1.

    The score is summed over the distinct terms of the query in order of first appearance; a term
    asked for twice counts twice. Statistics (N, df, average length) are over all ``documents``,
    ``allowed`` only hides (docs/systems/reverie.md R1). A document without any term is no hit.
    ``half_length``: see :func:`length_strength`. ``shares``: what a word of the query has of its
    weight, 1 if it is not named (house.md H17, H18).
    """
    delta = DEFAULT_DELTA.get(variant, 0.0) if delta is None else delta
    n = len(documents)
    asked = {term: list(query).count(term) for term in query}  # dict keeps first appearance
    df = {term: sum(term in tokens for tokens in documents.values()) for term in asked}
    total_length = sum(len(tokens) for tokens in documents.values())
    strength = length_strength(b, total_length / n, half_length) if total_length else b
    hits = []
    for row, tokens in documents.items():
        if allowed is not None and row not in allowed:
            continue
        if not any(term in tokens for term in asked):
            continue
        norm = 1 - strength + strength * len(tokens) / (total_length / n)
        score = 0.0
        for term, times in asked.items():
            tf = list(tokens).count(term)
            if tf:
                weight = term_weight(variant, tf, norm, k1, delta)
                score += (shares or {}).get(term, 1.0) * times * IDF[variant](n, df[term]) * weight
        hits.append((row, score))
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]
