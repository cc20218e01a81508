"""The check of the language of code and docs finds what it is for, and reads the files it should."""

from __future__ import annotations

import pytest

from tests.packaging.check_prose import ROOT, complaints, files


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""Return the k nearest rows."""', []),
        ('"""What is nearest."""', [(1, '"""What')]),
        ("x = 1\n# nobody reads it\n", [(2, "nobody")]),
        ("the caller is told\nor anew", [(1, "told"), (2, "anew")]),
        ("foretold, renewed", []),
    ],
)
def test_places_that_are_not_plain(text: str, found: list[tuple[int, str]]) -> None:
    assert list(complaints(text)) == found


def test_code_and_docs_are_read() -> None:
    names = {str(path.relative_to(ROOT)) for path in files()}
    assert {"README.md", "python/oneiros/engine/engine.py", "cpp/search/search_run.h"} <= names
    assert "docs/guide/search.md" in names
    assert not any(name.startswith("docs/systems") for name in names)
