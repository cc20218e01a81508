"""The targets that Python reads from outside: profiles, expressions, questions, dates, filters, imported files.

Each check takes bytes. It ends normally when they are refused with an error of a documented type, or
accepted and then hold what is promised; any other error is a finding.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

import oneiros
from oneiros.cli import sources
from oneiros.cli.failures import CommandError
from oneiros.errors import QueryTooLarge, TextEncodingError
from oneiros.filters import Where
from oneiros.filters.metadata_times import read_time, time_text
from oneiros.model.memory import iso_time
from oneiros.model.validation import time as time_check
from oneiros.scoring.expression import Expression
from oneiros.search.query.date_grammar import first_range
from oneiros.search.query.dates import TimeRange
from tests.folders import IN_MEMORY
from tests.fuzz.campaign import Target

__all__ = ["TARGETS"]

NOW: Final = 1_780_000_000.0
REFUSED: Final = (ValueError, TypeError)
"""Errors of the package derive from one of them where an argument is refused."""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@cache
def _engine() -> oneiros.Engine:
    """Return a small store of everything that a filter, a profile or a question reads."""
    engine = oneiros.Engine(":memory:", embedder="hashing", clock=lambda: NOW)
    engine.add_many([_record(number) for number in range(24)])
    engine.link("m1", "m2")
    engine.supersede("m3", "m4", "newer")
    return engine


def _record(number: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": f"m{number}",
        "text": f"letter {number} about topic{number % 5} from the harbour, moved to Oslo in May 2024",
        "kind": ("note", "fact", "decision")[number % 3],
        "tags": [f"tag{number % 4}", "all"],
        "session": f"s{number % 6}",
        "created_at": NOW - number * 86_400.0 * 9,
        "importance": number % 7 / 7,
        "metadata": {"a": {"b": number, "c": f"v{number % 3}"}, "when": "2025-03-01T00:00:00Z"},
    }
    if number % 4 == 0:
        record |= {"project": "x", "valid_until": NOW + 86_400.0}
    return record


def check_profile(data: bytes) -> None:
    """A profile in TOML is refused, or reads back equal from its own TOML and ranks."""
    try:
        profile = oneiros.Profile.from_toml(_text(data))
    except REFUSED:
        return
    again = oneiros.Profile.from_toml(profile.to_toml())
    assert again == profile
    assert again.to_toml() == profile.to_toml()
    with suppress(*REFUSED):  # what it needs, the engine may not have
        found = _engine().search("letter topic3 Oslo", profile=profile, reinforce=False)
        assert not any(math.isnan(result.score) for result in found.results)
        assert len(set(found.ids)) == len(found.ids)


def check_expression(data: bytes) -> None:
    """An expression is refused, or gives a value for each memory, the same twice and when renamed."""
    try:
        made = Expression(_text(data))
    except ValueError:
        return
    rng = np.random.default_rng(3)
    values = {name: rng.choice([0.0, 1.0, 0.5, -2.0, 1e9], 9) for name in made.names}
    values |= {name: np.zeros(9) for name in made.names if name in _word_fields()}
    if not values:
        return
    kinds = ("note", "fact")
    first = made.values(values, kinds)
    assert first.shape == (9,)
    np.testing.assert_array_equal(first, Expression(made.text).values(values, kinds))
    profile = oneiros.Profile(name="fuzz", factors=(made,))
    assert oneiros.Profile.from_toml(profile.to_toml()) == profile


@cache
def _word_fields() -> frozenset[str]:
    from oneiros.scoring.expression import WORD_FIELDS  # noqa: PLC0415 - beside its use

    return frozenset(WORD_FIELDS)


def check_question(data: bytes) -> None:
    """A question in either syntax is refused as too large or not UTF-8, or gets at most k results."""
    text = _text(data)
    profile = ("oneiros", "omega", "reverie")[len(data) % 3]
    for syntax in ("plain", "query"):
        try:
            found = _engine().search(text, k=5, syntax=syntax, profile=profile, explain=True)
        except (QueryTooLarge, TextEncodingError):
            continue
        assert len(found.results) <= 5
        assert all(math.isfinite(result.score) for result in found.results)
        assert sorted(set(found.ids)) == sorted(found.ids)
        str(found.trace)


def check_date(data: bytes) -> None:
    """A time in a question is a range or none; a written time is refused or reads back as itself."""
    text = _text(data)
    found = first_range(text, NOW)
    if found is not None:
        assert isinstance(found, TimeRange)
        assert found.start <= found.end
        assert not any(map(math.isnan, (found.start, found.end)))
        assert found.words in text
        str(found)
    with suppress(*REFUSED):
        seconds = read_time("when", text)
        assert read_time("when", time_text(seconds)) == seconds
    with suppress(*REFUSED):
        seconds = time_check("created_at")(text)
        written = iso_time(seconds)
        assert abs(float(time_check("created_at")(written)) - seconds) < 1e-3


def check_filter(data: bytes) -> None:
    """A filter in JSON is refused, or reads back equal, and parts the memories in two."""
    try:
        condition = Where.from_json(_text(data))
    except (*REFUSED, QueryTooLarge):
        return
    again = Where.from_json(json.dumps(condition.to_json()))
    assert again == condition
    assert hash(again) == hash(condition)
    engine = _engine()
    assert engine.count(condition) + engine.count(~condition) == engine.count()
    repr(condition)


def check_import(data: bytes) -> None:
    """A file's rows are refused one by one, or stored; what is stored is exported and taken again."""
    kind, _, content = data.partition(b"\n")
    suffix = ".csv" if kind == b"csv" else ".jsonl"
    path = Path(IN_MEMORY or "/tmp") / f"oneiros-fuzz-{os.getpid()}{suffix}"
    path.write_bytes(content)
    try:
        rows = list(sources.open_file(path, extra_to_metadata=kind != b"strict"))
    except CommandError:
        return
    finally:
        path.unlink()
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        for row in rows[:20]:
            assert (row.record is None) == bool(row.problem)
            if row.record is not None:
                with suppress(*REFUSED, oneiros.OneirosError):
                    engine.add_many([row.record])
        exported = [json.loads(json.dumps(memory.to_record(iso=True))) for memory in engine.list()]
    with oneiros.Engine(":memory:", clock=lambda: NOW) as other:
        for record in exported:
            other.add_many([record])
        taken = [memory.to_record(iso=True) for memory in other.list()]
    assert {str(one["id"]) for one in taken} == {str(one["id"]) for one in exported}
    assert {one["text"] for one in taken} == {one["text"] for one in exported}


def _published() -> list[bytes]:
    return [oneiros.profiles.get(name).to_toml().encode() for name in oneiros.profiles.names()]


def _words(text: str) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in text.split())


TARGETS: Final[dict[str, Target]] = {
    "profile": Target(
        check_profile,
        ("scoring/profile.py", "profile_record.py", "profile_settings.py", "scoring/parts.py"),
        _words(
            "name [[factors]] [fusion] kind text operation channels weights = true false [] {} # . "
            '"house" "bm25" "cosine" "rrf" "multiply" "add" half_life depth k extends [[phases]]'
        ),
        _published,
    ),
    "expression": Target(
        check_expression,
        ("scoring/expression.py", "scoring/expression_steps.py"),
        _words(
            "age_days idle_hours relevance bm25 cosine access_count importance kind tier status "
            "exp( log( where( clip( min( max( isnan( pow( ) ( , + - * / ** // % < <= == != in not "
            "and or if else inf nan 'fact' 'hot' True None lambda : [ ] f'' 1j ... is @ := ~ ^"
        ),
    ),
    "question": Target(
        check_question,
        ("oneiros/search/", "oneiros/explain/"),
        _words(
            'what when did and or but then yesterday last week letter topic3 Oslo + - " * title: '
            "tags: text: ? harbour's m1 May 2024 src/net/pool.py who's before after , ; ."
        ),
    ),
    "date": Target(
        check_date,
        ("query/date_grammar.py", "query/dates.py", "model/validation.py", "metadata_times.py"),
        _words(
            "last next this week month year day days ago in on since until before after between and "
            "from to - / early mid late May march Tuesday 2024 2024-03-01 T00:00:00Z +14:00 -23:59 "
            "3 three a an the of around yesterday today tomorrow weekend noon 31st 12/31/9999 0001 "
            "quarter Q3 spring century decade 1990s fortnight"
        ),
    ),
    "filter": Target(
        check_filter,
        ("filters/conditions.py", "filters/fields.py", "filters/metadata.py", "metadata_times.py"),
        _words(
            '"all" "any" "not" "kind" "tags" "tags_all" "project" "metadata" "created_at" "importance" '
            '"a" "b" "exists" "in" "range" "prefix" "contains" null true false [ ] { } , : 1.5 -1 '
            '"2025-03-01T00:00:00Z" "note" "x" "a.b" "status" "topic" "session"'
        ),
    ),
    "import": Target(
        check_import,
        ("cli/sources.py", "model/validation.py", "model/fields.py", "model/memory.py"),
        _words(
            'csv jsonl strict "id" "text" "kind" "tags" "metadata" "created_at" "embedding" text id kind '
            'tags created_at importance ttl valid_until [1,2] {"a":1} null true ; , : "x" '
            '"2025-03-01T00:00:00+14:00" 9999-12-31T23:59:59-14:00 0001-01-01 1e300 "trust" "pinned"'
        ),
    ),
}
"""Every target in Python by name."""
