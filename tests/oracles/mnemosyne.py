"""Mnemosyne, one memory at a time: docs/systems/mnemosyne.md M1 to M8."""

from __future__ import annotations

import math

from tests.oracles.ieee import divide, exp, has_nan, not_negative, power
from tests.oracles.records import Record, age_hours, value
from tests.oracles.texts import normal, share

TAU_HOURS = 168.0
VECTOR, TEXT, IMPORTANCE = 0.5, 0.3, 0.2  # M4
VERACITY = {"stated": 1.0, "unknown": 0.8, "inferred": 0.7, "imported": 0.6, "tool": 0.5}  # M8
STOP_WORDS = frozenset(  # M8, as docs/systems/mnemosyne.md lists them
    [
        "a",
        "again",
        "an",
        "and",
        "are",
        "as",
        "ask",
        "asking",
        "at",
        "be",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "in",
        "into",
        "is",
        "it",
        "its",
        "me",
        "my",
        "not",
        "of",
        "on",
        "or",
        "our",
        "please",
        "query",
        "question",
        "questions",
        "recall",
        "related",
        "retrieve",
        "search",
        "should",
        "somewhere",
        "supposed",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "to",
        "totally",
        "unrelated",
        "use",
        "uses",
        "was",
        "we",
        "what",
        "whatever",
        "when",
        "where",
        "which",
        "who",
        "why",
        "with",
        "you",
        "your",
    ]
)
WEIBULL = {  # kind: (shape, eta hours). M8
    "profile": (0.3, 8760.0),
    "preference": (0.4, 4380.0),
    "relationship": (0.35, 8760.0),
    "learning": (0.7, 1440.0),
    "fact": (0.8, 720.0),
    "entity": (0.5, 4380.0),
    "setup": (0.6, 2160.0),
    "pattern": (0.6, 1680.0),
    "context": (0.85, 360.0),
    "observation": (0.9, 480.0),
    "artifact": (0.75, 2160.0),
    "project": (0.85, 1080.0),
    "goal": (0.9, 720.0),
    "decision": (1.0, 336.0),
    "commitment": (1.0, 240.0),
    "event": (1.2, 168.0),
    "instruction": (0.9, 480.0),
    "error": (1.1, 336.0),
    "issue": (1.1, 336.0),
    "request": (1.5, 72.0),
    "general": (1.0, 168.0),
}


def recency_blend(age_hours: float, tau_hours: float = TAU_HOURS, weight: float = 0.3) -> float:
    """Return 0.7 + 0.3 exp(-age_hours / 168); a missing time counts 0.5 for the exponential. M5."""
    if has_nan(tau_hours, weight):
        return math.nan
    decay = 0.5 if math.isnan(age_hours) else exp(-not_negative(age_hours) / tau_hours)
    return (1 - weight) + weight * decay


def base_score(vector: float, text: float, importance: float) -> float:
    """Return 0.5 vector + 0.3 text + 0.2 importance; a missing channel is 0. M4."""
    return VECTOR * vector + TEXT * text + IMPORTANCE * importance


def weibull_retention(age_hours: float, shape: float, eta_hours: float) -> float:
    """Return exp(-(age / eta) ** shape), eta > 0; an age below 0 counts as 0; NaN stays NaN. M8."""
    if has_nan(age_hours, shape, eta_hours):
        return math.nan
    return exp(-power(divide(not_negative(age_hours), eta_hours), shape))


def tier(age_days: float) -> float:
    """Return 1.0, 0.5 after 30 days, 0.25 after 180 days; 1 without a timestamp. M8."""
    return 0.25 if age_days > 180 else 0.5 if age_days > 30 else 1.0


def gate_words(query: str) -> list[str]:
    """Return the query words of the gate, each time they stand there. M8."""
    text, found = query.lower() + " ", []
    run = ""
    for character in text:
        if character.isalnum() or character in "_.:/+-":
            run += character
            continue
        places = [place for place, one in enumerate(run) if one.isalnum()]
        if places:
            tail = run[places[-1] + 1 :]
            underscores = tail[: len(tail) - len(tail.lstrip("_"))]
            found.append(run[places[0] : places[-1] + 1] + underscores)
        run = ""
    return [
        word for word in found if len(word) >= 3 and word not in STOP_WORDS and not word.isdigit()
    ][:1024]


def lexical_share(query: str, text: str) -> float:
    """Return the share of the gate's words that are a part of a text. M8."""
    return share([normal(word) for word in gate_words(query)], normal(text))


def passes_gate(lexical_share: float, query_words: int, cosine: float) -> bool:
    """Tell whether a memory is relevant enough: words by their count, or cosine >= 0.65. M8."""
    needed = 0.15 if query_words <= 2 else 0.5 if query_words == 3 else 0.3
    return lexical_share >= needed or cosine >= 0.65


def recency(record: Record, now: float) -> float:
    """Return the recency factor of a memory, age from created_at. M5."""
    return recency_blend(age_hours(record, now, "created_at"))


def weibull_of(record: Record, now: float) -> float:
    """Return the Weibull retention of a memory by its kind, age from created_at. M8."""
    shape, eta_hours = WEIBULL.get(str(value(record, "kind")), WEIBULL["general"])
    return weibull_retention(age_hours(record, now, "created_at"), shape, eta_hours)


def weibull_recency(record: Record, now: float) -> float:
    """Return M5's blend with the Weibull retention for its exponential; no time counts 0.5. M8."""
    retention = weibull_of(record, now)
    return 0.7 + 0.3 * (0.5 if math.isnan(retention) else retention)
