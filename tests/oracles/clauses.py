"""Structured queries the slow way: every document looked at, clause by clause, with BM25F.

After docs/query_syntax.md; BM25 as in ``bm25.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tests.oracles.bm25 import DEFAULT_DELTA, IDF, term_weight

TITLE, TEXT, TAGS = 1, 2, 4
K1, B = 1.2, 0.75


class Occurrence(NamedTuple):
    term: str
    field: int
    position: int
    is_counted: bool = True  # in the length of the text


Document = Sequence[Occurrence]


class Clause(NamedTuple):
    """Of a word several terms, of a phrase those at their positions, of a prefix any."""

    occur: str
    kind: str
    fields: int
    terms: Sequence[str]
    positions: Sequence[int]
    matches_nothing: bool


def weighted_count(
    document: Document, terms: Iterable[str], fields: int, weights: Mapping[int, float]
) -> float:
    sought = set(terms)
    return sum(weights[one.field] for one in document if one.term in sought and one.field & fields)


def phrase_count(document: Document, clause: Clause, weights: Mapping[int, float]) -> float:
    there = {one[:3] for one in document}
    total = 0.0
    for field in (TITLE, TEXT, TAGS):
        if field & clause.fields:
            for start in sorted({one.position for one in document if one.field == field}):
                places = zip(clause.terms, clause.positions, strict=True)
                if all((term, field, start + at) in there for term, at in places):
                    total += weights[field]
    return total


class Scorer:
    """BM25F over all documents."""

    def __init__(
        self,
        documents: Mapping[int, Document],
        variant: str,
        weights: Mapping[int, float],
        title_length: float = 1.0,
    ) -> None:
        self.documents = documents
        self.variant = variant
        self.weights = weights
        self.title_length = title_length
        lengths = [self.length(document) for document in documents.values()]
        self.average = sum(lengths) / len(lengths) if lengths else 0.0

    def length(self, document: Document) -> float:
        """Return the weighted count of words, a title's by its share; all where that is 0. H5."""
        weights = dict(self.weights)
        fields = [one.field for one in document if one.is_counted]
        whole = sum(weights[field] for field in fields)
        weights[TITLE] *= self.title_length
        return sum(weights[field] for field in fields) or whole

    def idf(self, terms: Iterable[str]) -> float:
        sought = set(terms)
        df = sum(any(one.term in sought for one in d) for d in self.documents.values())
        return IDF[self.variant](len(self.documents), df) if df else 0.0

    def earned(self, weight: float, tf: float, document: Document) -> float:
        norm = 1 - B + B * self.length(document) / self.average
        delta = DEFAULT_DELTA.get(self.variant, 0.0)
        return weight * term_weight(self.variant, tf, norm, K1, delta)

    def clause(self, clause: Clause, document: Document) -> float | None:
        """Return what a clause gives a document; None where it does not match."""
        if clause.matches_nothing:
            return None
        if clause.kind == "word":
            counts = [
                weighted_count(document, [term], clause.fields, self.weights)
                for term in clause.terms
            ]
            enough = any if clause.occur == "should" else all
            if not enough(counts):
                return None
            return sum(
                self.earned(self.idf([term]), tf, document)
                for term, tf in zip(clause.terms, counts, strict=True)
                if tf
            )
        if clause.kind == "phrase":
            tf = phrase_count(document, clause, self.weights)
            weight = sum(self.idf([term]) for term in clause.terms)
        else:
            tf = weighted_count(document, clause.terms, clause.fields, self.weights)
            weight = self.idf(clause.terms)
        return self.earned(weight, tf, document) if tf else None


def rank(
    documents: Mapping[int, Document],
    clauses: Sequence[Clause],
    *,
    variant: str,
    weights: Mapping[int, float],
    minimum_should_match: int,
    title_length: float = 1.0,
) -> dict[int, float]:
    """Return the score of every document that matches."""
    scorer = Scorer(documents, variant, weights, title_length)
    has_must = any(clause.occur == "must" for clause in clauses)
    minimum = max(minimum_should_match, 0 if has_must else 1)
    found = {}
    for row, document in documents.items():
        told = [(clause.occur, scorer.clause(clause, document)) for clause in clauses]
        if any(occur == "must" and score is None for occur, score in told):
            continue
        if any(occur == "must_not" and score is not None for occur, score in told):
            continue
        if sum(occur == "should" and score is not None for occur, score in told) < minimum:
            continue
        found[row] = sum(s for occur, s in told if occur != "must_not" and s is not None)
    return found
