"""Figures of lives: shares over the months, means over the worlds."""

from __future__ import annotations

import math

import pytest

from oneiros.simulation.figures import Lives, grouped
from tests.simulation.courses import CHECKPOINT, course


def test_shares_are_means_over_the_months_that_asked() -> None:
    months = ({"found": 0.5}, {"found": 1.0}, {"found": 0.0, "questions": 0})
    assert course(months=months).over_time("found") == 0.75
    assert math.isnan(course(months=({"questions": 0},)).over_time("found"))


def test_lives_are_means_over_their_worlds() -> None:
    lives = Lives(
        [
            course(seed=0, months=({"found": 0.5, "active": 8}, {"day": 60.0, "found": 0.7})),
            course(seed=1, months=({"found": 0.9, "active": 4}, {"day": 62.0, "found": 0.9})),
        ]
    )
    assert lives.over_time("found") == pytest.approx((0.6 + 0.9) / 2)
    assert lives.at_the_end("found") == pytest.approx(0.8)
    assert lives.at_the_end("removed") == pytest.approx(0.4)
    assert lives.by_day("active") == [(30.0, 6.0), (61.0, 6.0)]


def test_courses_are_grouped_by_profile_and_by_dreaming() -> None:
    courses = [
        course(name, seed=seed, is_dreaming=is_dreaming)
        for seed in (0, 1)
        for name in ("oneiros", "omega")
        for is_dreaming in (False, True)
    ]
    found = [
        (one.profile, one.is_dreaming, [each.seed for each in one.courses])
        for one in grouped(courses)
    ]
    assert found == [
        ("oneiros", False, [0, 1]),
        ("oneiros", True, [0, 1]),
        ("omega", False, [0, 1]),
        ("omega", True, [0, 1]),
    ]


def test_a_document_holds_all_of_it() -> None:
    document = course(seed=7).to_document()
    assert (document["seed"], document["profile"]) == (7, "reverie")
    assert document["checkpoints"] == [CHECKPOINT | {"removed": 0.4}]
