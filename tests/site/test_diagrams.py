"""The diagrams in the repository are those that the script draws."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from docs.site.diagrams import DIAGRAMS, FOLDER

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_file_is_what_the_script_draws(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == DIAGRAMS[name]


@pytest.mark.parametrize("name", DIAGRAMS)
def test_words_fit_into_their_boxes(name: str) -> None:
    root = ET.fromstring(DIAGRAMS[name])
    assert root.findtext(f"{SVG}title")
    boxes = [
        tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        for box in root.iter(f"{SVG}rect")
    ]
    for place, (x, y, wide, tall) in enumerate(boxes):
        for other_x, other_y, other_wide, other_tall in boxes[:place]:
            apart = x >= other_x + other_wide or other_x >= x + wide
            assert apart or y >= other_y + other_tall or other_y >= y + tall
    for text in root.iter(f"{SVG}text"):
        if text.attrib.get("text-anchor") != "middle" or not text.text:
            continue
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        size = 6.3 if "class" in text.attrib else 7.4  # of a letter, on average
        for left, top, wide, tall in boxes:
            if left <= x <= left + wide and top <= y <= top + tall:
                assert len(text.text) * size <= wide - 4, text.text
