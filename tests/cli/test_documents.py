"""The JSON documents: plain values, ASCII, nothing a terminal obeys."""

from __future__ import annotations

import json

import numpy as np
import pytest

from oneiros.cli.terminal import plain, write


def test_a_document_is_one_json_value_in_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        "get",
        None,
        {"text": "\x1b[2J\u202e\x9b naïve", "score": np.float64(0.5), "missing": float("nan")},
    )
    out = capsys.readouterr().out
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out) == {
        "command": "get",
        "store": None,
        "text": "\x1b[2J\u202e\x9b naïve",
        "score": 0.5,
        "missing": None,
    }


def test_plain_turns_what_json_lacks_into_what_it_has() -> None:
    got = plain({"a": np.arange(2, dtype=np.uint32), "b": {"y", "x"}, "c": (1, np.inf), 3: True})
    assert got == {"a": [0, 1], "b": ["x", "y"], "c": [1, None], "3": True}


def test_plain_refuses_what_has_no_json_form() -> None:
    with pytest.raises(TypeError, match="no JSON form of bytes"):
        plain({"a": b"x"})


def test_times_are_in_iso_8601(capsys: pytest.CaptureFixture[str]) -> None:
    times = {"now": 0, "created_at": 1.5, "undone_at": None, "seconds": 2.0}
    write(
        "stats", "a.db", {**times, "parts": [{"erased_at": 1, "counts": {"last_accessed_at": 3}}]}
    )
    assert json.loads(capsys.readouterr().out) == {
        "command": "stats",
        "store": "a.db",
        "now": "1970-01-01T00:00:00+00:00",
        "created_at": "1970-01-01T00:00:01.500000+00:00",
        "undone_at": None,
        "seconds": 2.0,
        "parts": [{"erased_at": "1970-01-01T00:00:01+00:00", "counts": {"last_accessed_at": 3}}],
    }
