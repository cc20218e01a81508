"""Memory: defaults, ranges, times, and the words of every refusal (docs/systems/fields.md)."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oneiros.errors import TextEncodingError
from oneiros.model.fields import FIELDS
from oneiros.model.memory import Memory, validate_changes

NOW = 1_780_000_000.0
_TIME_FORMS = "a number of seconds, an aware datetime or ISO 8601 with an offset"
TABLE = Path(__file__).parents[2] / "docs" / "systems" / "fields.md"


def make(**fields: object) -> Memory:
    return Memory.from_record({"text": "x", **fields}, now=NOW)


def test_the_fields_are_those_of_the_published_table() -> None:
    rows = [line.split("|")[1] for line in TABLE.read_text().splitlines() if line.startswith("| ")]
    named = [name.strip() for row in rows[1:] for name in row.split(",")]
    assert list(FIELDS) == named
    assert [field.name for field in dataclasses.fields(Memory)] == named


def test_a_memory_of_a_text_alone_has_the_published_defaults() -> None:
    memory = Memory.from_record({"text": "Ada likes her coffee black"}, now=NOW)
    assert re.fullmatch("[0-9A-HJKMNP-TV-Z]{26}", memory.id)
    assert (memory.kind, memory.category, memory.veracity) == ("note", "semantic", "unknown")
    assert (memory.importance, memory.certainty, memory.impact) == (0.5, 1.0, 0.5)
    assert (memory.created_at, memory.updated_at, memory.last_accessed_at) == (NOW, NOW, None)
    assert (memory.priority, memory.session_spread, memory.strength) == (3, 1, 1.0)
    assert (memory.depth, memory.canonical_layer, memory.stability) == (2, "intermediate", 1.0)
    assert (memory.status, memory.tier, memory.importance_tag) == ("staged", "hot", "none")
    assert (memory.title, memory.tags, memory.metadata) == ("", [], {})
    assert (memory.sessions, memory.embedding, memory.superseded_by) == (frozenset(), None, None)


@pytest.mark.parametrize(
    ("kind", "priority"),
    [("constraint", 5), ("decision", 4), ("note", 3), ("session_summary", 2), ("code_chunk", 1)],
)
def test_priority_follows_the_kind(kind: str, priority: int) -> None:
    assert make(kind=kind).priority == priority  # docs/systems/omega.md O13
    assert make(kind=kind, priority=1).priority == 1


@pytest.mark.parametrize(
    ("depth", "layer"), [(1, "episodic"), (2, "intermediate"), (3, "semantic")]
)
def test_the_layer_follows_the_depth(depth: int, layer: str) -> None:
    assert make(depth=depth).canonical_layer == layer
    assert make(depth=depth, canonical_layer="semantic").canonical_layer == "semantic"


def test_the_adding_session_is_the_first_of_its_sessions() -> None:
    memory = make(session="s1")
    assert (memory.session, memory.sessions, memory.session_spread) == ("s1", {"s1"}, 1)
    assert make(sessions=["a", "b", "a"]).session_spread == 2
    assert make(session_spread=7).session_spread == 7


def test_updated_at_is_created_at_unless_given() -> None:
    assert make(created_at=5.0).updated_at == 5.0
    assert make(created_at=5.0, updated_at=6.0).updated_at == 6.0


def test_now_has_the_forms_of_a_time() -> None:
    noon = datetime(2025, 6, 1, 12, tzinfo=UTC)
    for now in (noon, noon.isoformat(), int(noon.timestamp())):
        assert Memory.from_record({"text": "x"}, now=now).created_at == noon.timestamp()
    for wrong in ("noon", math.nan, datetime(2025, 6, 1)):
        with pytest.raises(ValueError, match="now: must be"):
            Memory.from_record({"text": "x"}, now=wrong)


def test_none_in_a_record_means_not_given() -> None:
    assert make(importance=None, kind=None, id=None, created_at=None).importance == 0.5


ONE_HOUR = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("given_time", "seconds"),
    [
        (0, 0.0),
        (1.5, 1.5),
        (np.float64(2.5), 2.5),
        (np.int64(3), 3.0),
        (-1e14, -1e14),  # a million years and more ago
        (datetime(1970, 1, 1, 1, tzinfo=ONE_HOUR), 0.0),
        (datetime(1, 1, 2, tzinfo=UTC), -62135510400.0),
        (datetime(9999, 12, 31, tzinfo=UTC), 253402214400.0),
        ("1970-01-01T00:00:01+00:00", 1.0),
        ("1970-01-01T00:00:01Z", 1.0),
    ],
    ids=str,
)
def test_times_are_understood(given_time: object, seconds: float) -> None:
    memory = make(created_at=given_time, event_at=given_time)
    assert memory.created_at == memory.event_at == seconds
    again = Memory.from_record(json.loads(json.dumps(memory.to_record())), now=0.0)
    assert again == memory


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        ("created_at", datetime(2025, 1, 1), ValueError, "created_at: must be aware"),
        ("created_at", "2025-01-01", ValueError, "created_at: must be aware"),
        ("created_at", "yesterday", ValueError, "created_at: must be ISO 8601"),
        ("created_at", 1_780_000_000_000, ValueError, r"created_at: .*milliseconds by mistake\?"),
        ("created_at", math.nan, ValueError, "created_at: must be finite, got nan"),
        ("event_at", -math.inf, ValueError, "event_at: must be finite, got -inf"),
        ("event_at", 10**400, ValueError, "event_at: must be a finite number"),
        ("valid_from", True, TypeError, f"valid_from: must be {_TIME_FORMS}, got True"),
        ("created_at", date(2025, 1, 1), TypeError, f"created_at: must be {_TIME_FORMS}, got "),
        ("ttl", -1.0, ValueError, "ttl: must be a finite number of seconds >= 0, got -1.0"),
        ("importance", 1.5, ValueError, r"importance: must be a number in \[0, 1\], got 1.5"),
        ("importance", math.nan, ValueError, r"importance: must be a number in \[0, 1\], got nan"),
        ("importance", "high", TypeError, "importance: must be a number, got 'high'"),
        ("stability", math.inf, ValueError, "stability: must be a finite float32 >= 0, got inf"),
        ("stability", 4e38, ValueError, "stability: must be a finite float32 >= 0, got 4e"),
        ("priority", 6, ValueError, r"priority: must be an int in \[1, 5\], got 6"),
        ("priority", 2.0, TypeError, "priority: must be an int, got 2.0"),
        ("priority", True, TypeError, "priority: must be an int, got True"),
        ("access_count", -1, ValueError, r"access_count: must be an int in \[0, 4294967295\]"),
        ("access_count", 2**32, ValueError, r"access_count: must be an int in \[0, 4294967295\]"),
        ("feedback", 40_000, ValueError, r"feedback: must be an int in \[-32768, 32767\]"),
        ("pinned", 1, TypeError, "pinned: must be True or False, got 1"),
        ("category", "dream", ValueError, "category: must be one of episodic, semantic"),
        ("category", ["semantic"], ValueError, "category: must be one of episodic, semantic"),
        ("kind", "", ValueError, "kind: must be 1 to 64 bytes of UTF-8, not 0"),
        ("kind", "ä" * 33, ValueError, "kind: must be 1 to 64 bytes of UTF-8, not 66"),
        ("id", "", ValueError, "id: must be 1 to 256 bytes of UTF-8, not 0"),
        ("id", "é" * 129, ValueError, "id: must be 1 to 256 bytes of UTF-8, not 258"),
        ("id", 7, TypeError, "id: must be a str, got 7"),
        ("text", b"bytes", TypeError, "text: must be a str, got b'bytes'"),
        ("text", "a" * (2**24 + 1), ValueError, "text: must be 0 to 16777216 bytes of UTF-8"),
        ("text", "ok \ud800", TextEncodingError, "text: holds a lone surrogate at position 3"),
        ("id", "\udfff", TextEncodingError, "id: holds a lone surrogate at position 0"),
        ("tags", "one", TypeError, "tags: must be a list of str, got 'one'"),
        ("tags", ["a", 3], TypeError, r"tags\[1\]: must be a str, got 3"),
        ("tags", ["\ud800"], TextEncodingError, "tags: holds a lone surrogate"),
        ("tags", ["x" * 2**20], ValueError, "tags: must be at most 1048576 bytes"),
        ("metadata", [], TypeError, "metadata: must be a JSON object"),
        ("metadata", {1: 2}, TypeError, "metadata: must be a JSON object with str keys, got 1"),
        ("metadata", {"a": math.nan}, ValueError, "metadata.a: must be a finite number, got nan"),
        ("metadata", {"a": [{}, {"b": {3}}]}, TypeError, r"metadata.a\[1\].b: must be JSON"),
        ("metadata", {"a": "\ud800"}, TextEncodingError, "metadata: holds a lone surrogate"),
        ("metadata", {"a": "x" * 2**20}, ValueError, "metadata: must be at most 1048576 bytes"),
        ("metadata", {"a": 10**5000}, ValueError, "metadata: must be JSON"),
        ("session_spread", 0, ValueError, r"session_spread: must be an int in \[1"),
        ("importence", 0.5, ValueError, r"importence: no field .*did you mean 'importance'\?"),
        ("wxyz", "red", ValueError, "wxyz: no field .*; free values go into metadata"),
    ],
)
def test_a_refusal_names_field_rule_and_value(
    field: str, value: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(**{field: value})
    if field != "id":
        with pytest.raises(error, match=message):
            validate_changes({field: value})


def test_a_spread_below_the_number_of_sessions_is_refused() -> None:
    with pytest.raises(ValueError, match="session_spread: must be at least the number of sessions"):
        make(sessions=["a", "b"], session_spread=1)


@pytest.mark.parametrize("record", [5, "text", [("text", "x")], None])
def test_a_record_is_a_mapping(record: object) -> None:
    with pytest.raises(TypeError, match="record: must be a mapping of fields or a Memory"):
        Memory.from_record(record, now=NOW)  # type: ignore[arg-type]


def test_a_record_without_text_is_refused_and_an_empty_text_is_not() -> None:
    with pytest.raises(ValueError, match="text: required"):
        Memory.from_record({"id": "a"}, now=NOW)
    assert Memory.from_record({"text": ""}, now=NOW).text == ""


def test_texts_at_their_limits_are_taken() -> None:
    assert len(make(text="é" * 2**23).text) == 2**23
    assert make(id="é" * 128, kind="ä" * 32).kind == "ä" * 32


def test_nul_is_a_character_like_any_other() -> None:
    memory = make(id="a\0b", text="\0", metadata={"\0": "\0"}, tags=["\0"])
    assert (memory.id, memory.text, memory.metadata) == ("a\0b", "\0", {"\0": "\0"})


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def test_metadata_is_at_most_32_levels_deep() -> None:
    assert make(metadata=nested(32)).metadata == nested(32)
    with pytest.raises(ValueError, match="at most 32 levels deep"):
        make(metadata=nested(33))
    circle: dict[str, object] = {}
    circle["again"] = [circle]
    with pytest.raises(ValueError, match="at most 32 levels deep"):
        make(metadata=circle)


def test_metadata_and_tags_are_copies() -> None:
    inner, tags = [1, 2], ["a"]
    memory = make(metadata={"list": inner, "tuple": (1, np.float64(2.0), True)}, tags=tags)
    inner.append(3)
    tags.append("b")
    assert memory.metadata == {"list": [1, 2], "tuple": [1, 2.0, True]}
    assert memory.tags == ["a"]


def test_changes_are_checked_like_a_record_but_for_id_and_none() -> None:
    assert validate_changes({"importance": 1, "topic": None, "event_at": 5}) == {
        "importance": 1.0,
        "topic": None,
        "event_at": 5.0,
    }
    with pytest.raises(ValueError, match="id: cannot be changed, got 'b'"):
        validate_changes({"id": "b"})
    with pytest.raises(ValueError, match="text: always has a value, got None"):
        validate_changes({"text": None})


def test_a_memory_cannot_be_written_to() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().text = "y"  # type: ignore[misc]


def test_a_hand_made_memory_is_completed_and_checked_by_from_record() -> None:
    memory = Memory.from_record(Memory(text="x", kind="decision", session="s"), now=NOW)
    assert (memory.created_at, memory.priority, memory.sessions) == (NOW, 4, {"s"})
    assert memory.id
    assert Memory.from_record(memory, now=0.0) == memory
    with pytest.raises(ValueError, match="importance: must be a number"):
        Memory.from_record(Memory(text="x", importance=2.0), now=NOW)


@pytest.mark.parametrize(
    "given",
    [
        {"event_at": "2025-06-02T00:00:00Z"},
        {"created_at": datetime(2025, 6, 2, tzinfo=UTC), "valid_until": 7},
        {"ttl": timedelta(days=1), "embedding": [3, 4]},
    ],
)
def test_a_hand_made_memory_may_have_what_a_record_may(given: dict[str, Any]) -> None:
    record = {"id": "a", "text": "ant", **given}
    made = Memory(**record)  # type: ignore[arg-type]
    assert Memory.from_record(made, now=5.0) == Memory.from_record(record, now=5.0)
    assert made == Memory(**record)  # type: ignore[arg-type]
    assert Memory.from_record(made.to_record(), now=5.0) == Memory.from_record(made, now=5.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"event_at": "soon"}, "event_at: must be ISO 8601"),
        ({"created_at": [1.0]}, "created_at: must be a number"),
        ({"priority": np.array([1, 2])}, "priority: must be an int"),
        ({"id": np.array(["a", "b"])}, "id: must be a str"),
    ],
)
def test_what_is_wrong_in_a_hand_made_memory_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Memory.from_record(Memory(text="ant", **given), now=5.0)


def test_iso_times_are_for_people_and_round_to_microseconds() -> None:
    record = make(created_at=0.25).to_record(iso=True)
    assert record["created_at"] == "1970-01-01T00:00:00.250000+00:00"
    assert record["deleted_at"] is None


@pytest.mark.parametrize("seconds", [-1e14, -1e17, -1e19, -1e300])
def test_a_time_that_no_calendar_reaches_stays_a_number(seconds: float) -> None:
    assert make(event_at=seconds).to_record(iso=True)["event_at"] == seconds


def test_memories_differ_by_their_embeddings() -> None:
    one, other = make(id="a", embedding=[1, 0]), make(id="a", embedding=[0, 1])
    assert one != other
    assert one != make(id="a")
    assert one == make(id="a", embedding=[2, 0])
    assert hash(one) == hash(other)
    assert one != "a"


def test_memories_that_were_not_added_yet_are_compared_by_their_fields() -> None:
    one = Memory(text="x", tags=["a"])
    assert one == one  # noqa: PLR0124
    assert one == Memory(text="x", tags=["a"]) == pickle.loads(pickle.dumps(one))
    assert one != Memory(text="x")
    assert one != dataclasses.replace(one, created_at=0.0)


def test_a_hand_made_memory_shows_what_no_check_has_seen() -> None:
    assert repr(Memory(text="x", kind=None)) == "<Memory '' (None): 'x'>"  # type: ignore[arg-type]
    assert repr(Memory(text=3, id=5)) == "<Memory '5' (note): '3'>"  # type: ignore[arg-type]


def test_a_record_that_is_changed_leaves_its_memory() -> None:
    memory = make(tags=["a"], metadata={"run": {"by": ["ci"]}})
    record: Any = memory.to_record()
    record["tags"].append("b")
    record["metadata"]["run"]["by"].append("Ada")
    assert memory == make(id=memory.id, tags=["a"], metadata={"run": {"by": ["ci"]}})


@pytest.mark.parametrize("iso", [False, True])
def test_the_record_of_a_memory_that_was_not_added_yet_can_be_read(iso: bool) -> None:
    memory = Memory(text="x", session="s", valid_until=2e11)
    record = memory.to_record(iso=iso)
    assert list(record) == list(FIELDS)
    blank = ["id", "created_at", "priority", "session_spread", "sessions", "canonical_layer"]
    assert [record[name] for name in blank] == [None] * len(blank)
    written = json.loads(json.dumps(record, allow_nan=False))
    read, added = (Memory.from_record(given, now=NOW) for given in (written, memory))
    assert dataclasses.replace(read, id=added.id) == added


def test_a_memory_shows_itself_on_one_line_and_whole_as_a_record() -> None:
    memory = make(
        id="a\nb",
        text="the first words\n\x1b[2J" + "and so on " * 99,
        kind="fact",
        embedding=np.ones(300),
    )
    shown = repr(memory)
    assert shown == (
        "<Memory 'a␊b' (fact): 'the first words␊␛[2Jand so on and so on and so on and so on…'>"
    )
    assert str(memory) == shown
    assert repr(dataclasses.replace(memory, id="c", text="short", deleted_at=NOW)) == (
        "<Memory 'c' (fact, deleted): 'short'>"
    )
    assert len(str(memory.to_record()["text"])) > 900
