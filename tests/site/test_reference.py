"""The reference has every public name."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

import pytest

import oneiros
from docs.site.outside_pages import DOCS
from oneiros import errors

PAGES = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.rst"))
DIRECTIVES = re.findall(r"^\.\. auto(\w+):: (\S+)$", PAGES, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(set(oneiros.__all__) - {"__version__"}))
def test_every_public_name_has_a_place(name: str) -> None:
    value = getattr(oneiros, name)
    if isinstance(value, ModuleType):
        places = [place for _, place in DIRECTIVES if f"{place}.".startswith(f"oneiros.{name}.")]
        assert places
    elif isinstance(value, type) and issubclass(value, Exception):
        assert ("module", "oneiros.errors") in DIRECTIVES
        assert value.__name__ in errors.__all__
    else:
        kind = "class" if isinstance(value, type) else "function"
        assert (kind, f"oneiros.{name}") in DIRECTIVES


def test_no_name_has_two_places() -> None:
    assert len(set(DIRECTIVES)) == len(DIRECTIVES)


@pytest.mark.parametrize(("kind", "place"), DIRECTIVES, ids=[place for _, place in DIRECTIVES])
def test_what_the_pages_name_exists(kind: str, place: str) -> None:
    if kind == "module":
        assert importlib.import_module(place).__all__
        return
    module, _, name = place.rpartition(".")
    value = getattr(importlib.import_module(module), name)
    assert isinstance(value, type) is (kind == "class")
