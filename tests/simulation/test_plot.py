"""Simulated lives as pictures; needs matplotlib."""

from __future__ import annotations

import pytest

from oneiros.simulation.figures import grouped
from oneiros.simulation.plots import drawn
from tests.simulation.courses import course

pytest.importorskip("matplotlib", reason="plots need it: pip install 'oneiros[plots]'")
LIVES = grouped(
    course(name, is_dreaming=is_dreaming, months=({}, {"day": 60.0}))
    for name in ("oneiros", "ciar")
    for is_dreaming in (False, True)
)


def test_the_same_lives_are_the_same_picture() -> None:
    picture = drawn(LIVES)
    assert picture.startswith(b"<?xml")
    assert b"<svg" in picture
    assert picture == drawn(LIVES)
    assert picture != drawn(LIVES[:1])
    assert drawn(LIVES, "png").startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_named() -> None:
    with pytest.raises(ValueError, match="format: must be one of svg, png, got 'gif'"):
        drawn([], "gif")
    with pytest.raises(ValueError, match="lives: at least one, got none"):
        drawn([])
