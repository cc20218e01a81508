"""Every package that CI tests and checks with is pinned to files by their hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PINS = ROOT / ".ci/requirements.txt"
pytestmark = pytest.mark.skipif(
    not PINS.exists(), reason="no .ci/requirements.txt: an unpacked archive"
)


def pins() -> dict[str, tuple[str, int]]:
    """Return the version of each package for this Python, and how many hashes it has."""
    found: dict[str, tuple[str, int]] = {}
    whole = PINS.read_text().replace("\\\n", " ")
    for line in whole.splitlines():
        if line.startswith("#"):
            continue
        words, *hashes = re.split(r"\s+--hash=", line.strip())
        requirement = Requirement(words)
        if requirement.marker is None or requirement.marker.evaluate():
            (one,) = requirement.specifier
            assert one.operator == "==", line
            assert all(re.fullmatch("sha256:[0-9a-f]{64}", known) for known in hashes), line
            found[canonicalize_name(requirement.name)] = one.version, len(hashes)
    return found


def wanted(extra: str, project: dict[str, object]) -> list[Requirement]:
    """Return the requirements of an extra, with those of the extras that it names."""
    extras: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]
    found: list[Requirement] = []
    for requirement in map(Requirement, extras[extra]):
        if requirement.name == "oneiros":
            found += [one for name in sorted(requirement.extras) for one in wanted(name, project)]
        elif requirement.marker is None or requirement.marker.evaluate():
            found.append(requirement)
    return found


def test_each_requirement_has_a_pin_that_satisfies_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = pins()
    every = wanted("dev", project) + wanted("docs", project)
    every += map(Requirement, project["dependencies"])
    assert len(every) > 30
    for requirement in every:
        version, hashes = known[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement
        assert hashes > 0, requirement


def test_no_pin_names_a_place() -> None:
    assert "://" not in PINS.read_text()


def test_ci_installs_nothing_else_into_its_environment() -> None:
    script = (ROOT / ".ci/run").read_text()
    (step,) = re.findall(r"^step_environment\(\) \{\n(.*?)^\}", script, re.DOTALL | re.MULTILINE)
    installs = [line for line in step.splitlines() if "pip install" in line]
    assert len(installs) == 2
    assert "--require-hashes --requirement .ci/requirements.txt" in installs[0]
    assert "--no-build-isolation --no-deps" in installs[1]
