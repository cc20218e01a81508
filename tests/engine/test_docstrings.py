"""The examples in the docstrings of the engine run, and each public method has one."""

from __future__ import annotations

import doctest
import inspect

import pytest

import oneiros
from oneiros.engine import async_engine, engine, memories


@pytest.mark.parametrize("module", [engine, memories, async_engine], ids=lambda m: m.__name__)
def test_examples_run(module: object) -> None:
    results = doctest.testmod(module)  # type: ignore[arg-type]
    assert results.attempted
    assert not results.failed


METHODS = [
    (name, method)
    for name, method in inspect.getmembers(oneiros.Engine, inspect.isfunction)
    if not name.startswith("_")
]


@pytest.mark.parametrize(("name", "method"), METHODS, ids=[name for name, _ in METHODS])
def test_each_public_method_has_an_example(name: str, method: object) -> None:
    assert ">>>" in (inspect.getdoc(method) or ""), name
