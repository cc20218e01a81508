"""What the scope tests share: records, their columns, and a plain reading of a filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from oneiros.filters import Where, where
from oneiros.filters.conditions import (
    AllOf,
    And,
    AnyOf,
    Everything,
    Measured,
    Not,
    OnMetadata,
    Or,
    Within,
)
from oneiros.model.fields import ENUMS, SOURCES
from tests.filters.metadata_oracle import METADATA, ON_METADATA, holds

FLOATS = ("importance", "strength", "trust")
WHOLE = {"depth": np.uint8, "pinned": np.uint8, "feedback": np.int16, "access_count": np.uint32}
TIMES = ("created_at", "last_accessed_at", "event_at")


@dataclass(frozen=True)
class Record:
    id: str
    kind: str = "note"
    project: str | None = None
    session: str | None = None
    topic: str | None = None
    user: str | None = None
    agent: str | None = None
    namespace: str | None = None
    source: str | None = None
    source_ref: str | None = None
    labels: Sequence[str] = ()
    tags: Sequence[str] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    status: str = "staged"
    category: str = "semantic"
    created_at: float = 0.0
    last_accessed_at: float | None = None
    event_at: float | None = None
    importance: float = 0.5
    strength: float = 1.0
    trust: float = 1.0
    depth: int = 2
    pinned: bool = False
    feedback: int = 0
    access_count: int = 0


def columns_of(records: Sequence[Record]) -> Callable[[str], np.ndarray]:
    """Return the columns as the engine holds them: codes, float32, NaN for no time."""

    def column(name: str) -> np.ndarray:
        values = [getattr(record, name) for record in records]
        if name in ENUMS:
            return np.array([ENUMS[name].index(value) for value in values], np.uint8)
        if name in TIMES:
            return np.array([np.nan if v is None else v for v in values], np.float64)
        return np.array(values, np.float32 if name in FLOATS else WHOLE[name])

    return column


def matches(condition: Where, record: Record) -> bool:
    """Tell whether a record meets a condition, by the words of `where`'s docstring."""
    match condition:
        case Everything():
            return True
        case And(parts=parts):
            return all(matches(part, record) for part in parts)
        case Or(parts=parts):
            return any(matches(part, record) for part in parts)
        case Not(part=part):
            return not matches(part, record)
        case AnyOf(name="tags" | "labels" as name, values=values):
            return any(word in values for word in getattr(record, name))
        case AnyOf(name="namespace", values=values):
            segments = [] if record.namespace is None else record.namespace.split("/")
            above = [value.split("/") for value in values]
            return any(wanted == segments[: len(wanted)] for wanted in above)
        case AnyOf(name=name, values=values):
            return getattr(record, name) in values
        case AllOf(name=name, values=values):
            return set(values) <= set(getattr(record, name))
        case OnMetadata():
            return holds(condition, record.metadata)
        case Within(name=name, start=start, end=end):
            return inside(time_of(name, record), start, end)
        case Measured(name=name, low=low, high=high):
            round_off = np.float32 if name in FLOATS else float
            got = round_off(getattr(record, name))
            return (low is None or got >= round_off(low)) and (
                high is None or got <= round_off(high)
            )
    raise AssertionError(condition)


def time_of(name: str, record: Record) -> float | None:
    if name == "occurred_at":
        return record.created_at if record.event_at is None else record.event_at
    got: float | None = getattr(record, name)
    return got


def inside(time: float | None, start: float | None, end: float | None) -> bool:
    if time is None:
        return False
    return (start is None or time >= start) and (end is None or time < end)


WORDS = st.sampled_from(["a", "b", "c", "naïve", "", "x\0y"])
NAMESPACES = st.sampled_from(["a", "a/b", "a/b/c", "a/bc", "ab", "b/a", "é/x\0"])
TIME = st.integers(-3, 3).map(float)
MEASURE = st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0])

RECORDS = st.builds(
    Record,
    id=st.uuids().map(str),
    kind=WORDS,
    project=st.none() | WORDS,
    session=st.none() | WORDS,
    topic=st.none() | WORDS,
    user=st.none() | WORDS,
    agent=st.none() | WORDS,
    namespace=st.none() | NAMESPACES,
    source=st.none() | st.sampled_from(SOURCES),
    source_ref=st.none() | WORDS,
    labels=st.lists(WORDS, max_size=3),
    tags=st.lists(WORDS, max_size=3),
    metadata=METADATA,
    status=st.sampled_from(ENUMS["status"]),
    category=st.sampled_from(ENUMS["category"]),
    created_at=TIME,
    last_accessed_at=st.none() | TIME,
    event_at=st.none() | TIME,
    importance=MEASURE,
    strength=MEASURE,
    trust=MEASURE,
    depth=st.integers(1, 3),
    pinned=st.booleans(),
    feedback=st.integers(-2, 2),
    access_count=st.sampled_from([0, 1, 2**32 - 1]),
)


def ranges(bound: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[object, object]]:
    ordered = st.tuples(bound, bound).map(lambda pair: tuple(sorted(pair)))
    return (
        ordered | st.tuples(st.none(), bound) | st.tuples(bound, st.none()) | st.just((None, None))
    )


def one_of_names(
    names: Sequence[str], values: st.SearchStrategy[object]
) -> st.SearchStrategy[Where]:
    return st.builds(lambda name, value: where(**{name: value}), st.sampled_from(names), values)


LEAVES = st.one_of(
    st.just(where()),
    one_of_names(
        ["kind", "project", "session", "topic", "tags", "tags_all"],
        WORDS | st.lists(WORDS, max_size=3),
    ),
    one_of_names(
        ["user", "agent", "source_ref", "labels", "labels_all"],
        WORDS | st.lists(WORDS, max_size=3),
    ),
    one_of_names(["namespace"], NAMESPACES | st.lists(NAMESPACES, max_size=3)),
    st.lists(st.sampled_from(SOURCES), max_size=2).map(lambda v: where(source=v)),
    st.lists(st.sampled_from(ENUMS["status"]), max_size=2).map(lambda v: where(status=v)),
    st.sampled_from(ENUMS["category"]).map(lambda v: where(category=v)),
    ON_METADATA,
    one_of_names([*TIMES, "occurred_at"], ranges(TIME)),
    one_of_names(FLOATS, ranges(MEASURE) | MEASURE),
    one_of_names(["depth", "feedback"], ranges(st.integers(-2, 3).map(float)) | st.integers(-3, 3)),
    one_of_names(["access_count"], ranges(st.sampled_from([-1.0, 0.5, 1.0, 2.0**32 - 1, 2.0**40]))),
    st.booleans().map(lambda v: where(pinned=v)),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda a: ~a),
    ),
    max_leaves=8,
)
