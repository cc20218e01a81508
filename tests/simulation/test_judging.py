"""Answers judged by hand."""

from __future__ import annotations

import pytest

from oneiros.simulation.world import Outcome, Shown, judged

CURRENT = {"new": "the port is 81", "again": "the port is 81, still"}
STALE = {"old": "the port is 80", "wrong": "the port is 99"}
NEW, OLD = Shown("new", CURRENT["new"], False), Shown("old", STALE["old"], False)
OTHER = Shown("other", "the port is 81", False)
"""Told of something else, in the same words."""

STUB, OLD_STUB = Shown("new", "the por", False), Shown("old", "the por", False)
MADE_OF_BOTH = Shown("made", "the port is 80. the port is 81.", True)
MADE_OF_OLD = Shown("made", "so: the port is 80", True)


@pytest.mark.parametrize(
    ("results", "found", "stale_at_rank_1", "stale_in_top_k"),
    [
        ([], False, False, False),
        ([OTHER], False, False, False),
        ([OTHER, NEW], True, False, False),
        ([NEW, OLD], True, False, True),
        ([OLD, NEW], True, True, True),
        ([OTHER, OLD], False, True, True),
        ([STUB, OLD], False, True, True),
        ([OLD_STUB, NEW], True, False, False),
        ([MADE_OF_BOTH], True, False, False),
        ([MADE_OF_OLD, NEW], True, True, True),
    ],
)
def test_what_stands_first_decides(
    results: list[Shown], found: bool, stale_at_rank_1: bool, stale_in_top_k: bool
) -> None:
    assert judged(results, CURRENT, STALE) == Outcome(found, stale_at_rank_1, stale_in_top_k)
