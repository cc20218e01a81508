"""Benchmarks import what is there; most of them need packages that tests do without."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
OWN = ("bench", "oneiros")


@pytest.mark.parametrize("path", sorted(BENCH.rglob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_imports_what_is_there(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
            names: list[str] = []
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules, names = [node.module or ""], [alias.name for alias in node.names]
        else:
            continue
        for module in modules:
            if module.split(".")[0] not in OWN:
                continue
            assert find_spec(module), module
            if module.split(".")[0] == "oneiros":
                try:
                    found = import_module(module)
                except ModuleNotFoundError as error:
                    if str(error.name).split(".")[0] in OWN:
                        raise
                    continue
                for name in names:
                    assert hasattr(found, name) or find_spec(f"{module}.{name}"), (module, name)
