"""Counts in words, and the texts that have some."""

from __future__ import annotations

import pytest

import oneiros
from oneiros.display.counts import count_of


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "memory", "0 memories"),
        (1, "memory", "1 memory"),
        (2, "memory", "2 memories"),
        (1, "day", "1 day"),
        (3, "day", "3 days"),
        (12_345, "row", "12345 rows"),
    ],
)
def test_a_noun_has_the_number_of_its_count(count: int, noun: str, words: str) -> None:
    assert count_of(count, noun) == words


def test_thousands_are_grouped_where_asked() -> None:
    assert count_of(12_345, "memory", grouped=True) == "12,345 memories"


def test_one_memory_is_never_1_memories() -> None:
    with oneiros.Engine(":memory:", clock=lambda: 1.7e9) as engine:
        engine.add("Ada likes her coffee black", id="coffee", kind="session_summary")
        shown = [
            repr(engine),
            repr(engine.scope(user="ada")),
            repr(engine.changes()),
            repr(engine.rescore("ciar")),
            str(plan := engine.dream(1.8e9, dry_run=True, profile="reverie")),
            plan.report.removal_words(),
            plan.report._repr_html_(),
            repr(engine.forget("coffee")),
        ]
    assert plan.report.live_after in (0, 1)
    for words in shown:
        assert "1 memories" not in words
        assert "1 fields" not in words
