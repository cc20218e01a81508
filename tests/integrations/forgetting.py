"""Memories that another caller erases between a search and the reading of its results."""

from __future__ import annotations

from typing import Any

import pytest

import oneiros

__all__ = ["forgets_after_searches"]


def forgets_after_searches(
    engine: oneiros.Engine, id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the next search of an engine be followed by the erasure of a memory."""
    search = engine.search

    def searched(*args: Any, **options: Any) -> oneiros.SearchResponse:
        response = search(*args, **options)
        assert id in response.ids
        engine.forget(id)
        return response

    monkeypatch.setattr(engine, "search", searched)
