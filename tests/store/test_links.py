"""A link read from a damaged page is refused by the error that everybody knows how to go on after."""

from __future__ import annotations

import math
from typing import Any

import pytest

from oneiros.errors import StoreCorrupt
from oneiros.store.links import StoredLink, stored_link

SOUND = ("a", "b", 2, 0.5, 1.0, None)


def test_a_sound_link_is_returned() -> None:
    assert stored_link("mind.db", SOUND) == StoredLink(*SOUND)
    assert stored_link("mind.db", (*SOUND[:5], 2.0)).co_retrieved_at == 2.0


@pytest.mark.parametrize("place", range(1, len(SOUND)))
@pytest.mark.parametrize("value", [None, "x", b"x", -1, 9e9, math.inf, math.nan])
def test_what_makes_no_sense_is_told(place: int, value: Any) -> None:
    row = [*SOUND]
    row[place] = "a" if place == 1 else value
    is_sound = place > 3 and value in (-1, 9e9)  # any finite time does
    is_sound |= place == 5 and value is None
    if is_sound:
        assert stored_link("mind.db", row) == StoredLink(*row)
        return
    with pytest.raises(StoreCorrupt, match=r"mind\.db: a link of 'a' makes no sense"):
        stored_link("mind.db", row)
