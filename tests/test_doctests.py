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
MODULES = sorted(
    ".".join(("oneiros", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    profiles.names()  # reads them all, so that only those an example registers go again
    monkeypatch.setattr(profiles, "_profiles", dict(profiles._profiles))
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if not name.startswith("oneiros.integrations."):
            raise
        pytest.skip(str(error))  # tests/integrations runs them where the framework is installed
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testmod(module, optionflags=flags)
    assert outcome.failed == 0
    assert outcome.attempted > 0


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
