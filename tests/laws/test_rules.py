"""Every rule of docs/systems is held by a test that exists, or is said to wait."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from oneiros import kernels
from tests.kernels.cases import CASES
from tests.laws.rules import KERNELS, TESTS, WAITING

ROOT = Path(__file__).parents[1]
PAGES = ROOT.parent / "docs" / "systems"
RULE = re.compile(r"^\| ([RCMOAHP]\d+) \|(.*)$", re.MULTILINE)
ROWS = {
    number: row
    for page in sorted(PAGES.glob("*.md"))
    for number, row in RULE.findall(page.read_text(encoding="utf-8"))
}
WAITS = [rule for rules in WAITING.values() for rule in rules.split()]


@cache
def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def test_each_rule_has_its_place_and_no_other_has() -> None:
    assert len(ROWS) > 90
    placed = {*KERNELS, *TESTS, *WAITS}
    assert not set(ROWS) - placed, "name the tests that hold these rules in tests/laws/rules.py"
    assert not placed - set(ROWS), "tests/laws/rules.py has rules that docs/systems lacks"
    assert not {*KERNELS, *TESTS}.intersection(WAITS)
    assert max(Counter(WAITS).values(), default=1) == 1


@pytest.mark.parametrize("rule", ROWS)
def test_a_kernel_that_a_rule_prints_is_held_to_its_oracle(rule: str) -> None:
    printed = {name for name in re.findall(r"`([a-z_]+)\(", ROWS[rule]) if hasattr(kernels, name)}
    held = set(KERNELS.get(rule, ()))
    assert printed - {"rrf"} <= held  # rrf takes lists: it is held with the fusions
    whole = functions_of(ROOT / "kernels" / "test_whole_arrays.py")
    assert all(name in CASES or f"test_{name}" in whole for name in held)


@pytest.mark.parametrize("rule", TESTS)
def test_a_test_that_holds_a_rule_exists(rule: str) -> None:
    for named in TESTS[rule]:
        file, _, function = named.partition("::")
        assert function.startswith("test_")
        assert function in functions_of(ROOT / file), named
