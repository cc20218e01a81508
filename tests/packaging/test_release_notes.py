"""The notes of a release are the changelog's section of its version."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import oneiros
from tests.packaging.release_notes import CHANGELOG, notes

TEXT = """# Changelog

## Unreleased

- New.
  More of it.

## 0.10.0 (2026-11-27)

## 0.1.0

- First.

### Fixed

- `## 9.9.9` in a line is no heading.
"""


def test_notes_are_all_below_a_heading_until_the_next() -> None:
    assert notes(TEXT, "unreleased") == "- New.\n  More of it."
    want = "- First.\n\n### Fixed\n\n- `## 9.9.9` in a line is no heading."
    assert notes(TEXT, "0.1.0") == want


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.10.0", "version: the changelog's section 0.10.0 is empty"),
        ("0.1", "version: expected one of Unreleased, 0.10.0, 0.1.0, got '0.1'"),
        ("9.9.9", "version: expected one of Unreleased, 0.10.0, 0.1.0, got '9.9.9'"),
    ],
)
def test_a_version_without_notes_is_refused(version: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        notes(TEXT, version)


def test_the_changelog_has_notes_for_the_version_of_the_package() -> None:
    text = notes(CHANGELOG.read_text("utf-8"), oneiros.__version__)
    assert re.search("^- ", text, re.MULTILINE)
    assert "\n## " not in text


@pytest.mark.parametrize(("version", "code"), [(oneiros.__version__, 0), ("none", 2)])
def test_the_command_prints_notes_alone(version: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.packaging.release_notes", version],
        capture_output=True,
        text=True,
        check=False,
        cwd=CHANGELOG.parent,
    )
    assert done.returncode == code
    if code:
        assert done.stdout == ""
        assert done.stderr.startswith("error: version: expected one of ")
    else:
        assert done.stdout == f"{notes(CHANGELOG.read_text('utf-8'), version)}\n"
