"""A memory as a record and back."""

from __future__ import annotations

import json
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.memory import Memory

NOW = 1_780_000_000.0


def make(**fields: object) -> Memory:
    return Memory.from_record({"text": "x", **fields}, now=NOW)


WORD = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=8,
)
TIME = st.floats(-1e15, 1e11) | st.datetimes(timezones=st.just(UTC))
UNIT = st.floats(0, 1)
COUNT = st.integers(0, 2**32 - 1)
VECTOR = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8)
RECORDS = st.fixed_dictionaries(
    {"text": WORD},
    optional={
        "id": WORD.filter(bool),
        "title": WORD,
        "embedding": VECTOR,
        "kind": WORD.filter(bool),
        "topic": WORD,
        "project": WORD,
        "session": WORD,
        "user": WORD.filter(bool),
        "agent": WORD.filter(bool),
        "namespace": st.lists(
            WORD.filter(lambda word: word and "/" not in word), min_size=1, max_size=16
        ).map("/".join),
        "sessions": st.sets(WORD, max_size=3),
        "tags": st.lists(WORD, max_size=3),
        "labels": st.lists(WORD, max_size=3),
        "source": st.sampled_from(["user", "tool", "agent", "document"]),
        "source_ref": WORD.filter(bool),
        "derived_from": st.lists(WORD.filter(bool), max_size=3),
        "metadata": st.dictionaries(WORD, JSON, max_size=3),
        "ttl": st.floats(0, 1e300),
        "priority": st.integers(1, 5),
        "pinned": st.booleans(),
        "core": st.booleans(),
        "feedback": st.integers(-32768, 32767),
        "session_spread": st.integers(3, 2**32 - 1),
        "depth": st.integers(1, 3),
        "stability": st.floats(0, 3e38),
        "superseded_by": WORD.filter(bool),
    }
    | {name: TIME for name, field in FIELDS.items() if field.kind == "time"}
    | dict.fromkeys(("importance", "certainty", "impact", "strength", "trust"), UNIT)
    | dict.fromkeys(("access_count", "revision_count", "duplicate_count"), COUNT)
    | {name: st.sampled_from(words) for name, words in ENUMS.items()},
)


@given(RECORDS)
def test_a_record_comes_back_as_the_same_memory(record: dict[str, object]) -> None:
    memory = Memory.from_record(record, now=NOW)
    line = json.dumps(memory.to_record(), allow_nan=False)
    assert Memory.from_record(json.loads(line), now=0.0) == memory
    assert Memory.from_record(memory, now=0.0) == memory
