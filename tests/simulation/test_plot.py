"""Simulated lives as pictures; needs matplotlib."""

from __future__ import annotations

import pytest

from oneiros.simulation.plot import drawn
from oneiros.simulation.run import simulate
from oneiros.simulation.workload import Workload

pytest.importorskip("matplotlib")
WORLD = Workload(days=60.0, memories=40).world()


def test_the_same_courses_are_the_same_picture() -> None:
    courses = [simulate(WORLD, "ciar", dream_every_days=None)]
    picture = drawn(courses)
    assert picture.startswith(b"<?xml")
    assert b"<svg" in picture
    assert picture == drawn(courses)
    assert drawn(courses, "png").startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_named() -> None:
    with pytest.raises(ValueError, match="format: must be one of svg, png, got 'gif'"):
        drawn([], "gif")
    with pytest.raises(ValueError, match="courses: at least one, got none"):
        drawn([])
