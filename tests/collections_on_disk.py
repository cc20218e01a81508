"""Real collections, which stand outside the repository: ONEIROS_DATA names their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oneiros.evaluation.collection import Collection, read
from oneiros.runtime.dataclasses import replace

__all__ = ["DATA", "folder_of", "one_conversation"]

DATA = Path(os.environ.get("ONEIROS_DATA") or Path(__file__).parents[2] / "shared" / "data")


def folder_of(name: str) -> Path:
    """Return the folder of a collection; skip the test where it is missing."""
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"NO DATA: {folder} is missing; set ONEIROS_DATA to test with real collections")
    return folder


def one_conversation() -> Collection:
    """Return the documents and questions of one group of locomo-dev, without vectors."""
    whole = read(folder_of("locomo-dev"), vectors=None)
    group = whole.queries[0].metadata["group"]
    return replace(
        whole,
        documents=[each for each in whole.documents if each.metadata["group"] == group],
        queries=[each for each in whole.queries if each.metadata["group"] == group],
    )
