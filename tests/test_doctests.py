"""The examples in docstrings do what they show, and every public class and function has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import oneiros
from oneiros import profiles

ROOT = Path(oneiros.__file__).parent


def modules_with_examples() -> list[str]:
    """Return the names of the modules that have an example."""
    return sorted(
        ".".join(("oneiros", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        for path in ROOT.rglob("*.py")
        if ">>> " in path.read_text(encoding="utf-8")
    )


def check_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the examples of a module, with profiles that they register until the test ends."""
    profiles.names()  # reads them all, so that only those an example registers go again
    monkeypatch.setattr(profiles, "_profiles", dict(profiles._profiles))
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert outcome.failed == 0
    assert outcome.attempted > 0


# tests/integrations/test_every_integration.py runs those of the integrations, tests/ray those of Ray.
ELSEWHERE = ("oneiros.integrations.", "oneiros.ray.")
MODULES = [name for name in modules_with_examples() if not name.startswith(ELSEWHERE)]


@pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_examples(name, monkeypatch)


def public() -> list[str]:
    """Return the public classes and functions that are no errors and no warnings."""
    named = ((name, getattr(oneiros, name)) for name in oneiros.__all__)
    return [
        name
        for name, value in named
        if not isinstance(value, ModuleType | str)
        and not (inspect.isclass(value) and issubclass(value, Exception))
    ]


@pytest.mark.parametrize("name", public())
def test_public_names_have_an_example(name: str) -> None:
    value = getattr(oneiros, name)
    owner = type(value) if not (inspect.isclass(value) or inspect.isroutine(value)) else value
    assert ">>> " in (inspect.getdoc(owner) or "")
