"""The rules of a memory's user, agent, namespace, labels, source and trust."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.model.fields import is_below, levels_of
from oneiros.model.memory import Memory, validate_changes

SEGMENT = st.text(min_size=1, max_size=5).filter(
    lambda text: "/" not in text and text.isprintable()
)
NAMESPACES = st.lists(SEGMENT, min_size=1, max_size=16).map("/".join)


def made(**fields: object) -> Memory:
    return Memory.from_record({"text": "t", **fields}, now=0.0)


def test_all_are_left_out_by_default() -> None:
    memory = made()
    assert (memory.user, memory.agent, memory.namespace) == (None, None, None)
    assert (memory.source, memory.source_ref) == (None, None)
    assert (memory.labels, memory.derived_from, memory.trust) == ([], (), 1.0)


@pytest.mark.parametrize(
    ("field", "value", "error", "rule"),
    [
        ("user", "", ValueError, "user: must be 1 to 1024 bytes"),
        ("user", 7, TypeError, "user: must be a str"),
        ("agent", "x" * 1_025, ValueError, "agent: must be 1 to 1024 bytes"),
        ("namespace", "", ValueError, "namespace: must be 1 to 1024 bytes"),
        ("namespace", "/a", ValueError, "namespace: must be segments joined by single slashes"),
        ("namespace", "a/", ValueError, "namespace: must be segments joined by single slashes"),
        ("namespace", "a//b", ValueError, "namespace: must be segments joined by single slashes"),
        ("namespace", "/", ValueError, "namespace: must be segments joined by single slashes"),
        ("namespace", "/".join("x" * 17), ValueError, "namespace: must be at most 16 segments"),
        ("namespace", ["a", "b"], TypeError, "namespace: must be a str"),
        ("labels", "x", TypeError, "labels: must be a list of str"),
        ("labels", ["x", 1], TypeError, r"labels\[1\]: must be a str"),
        ("source", "human", ValueError, "source: must be one of user, tool, agent, document"),
        ("source", 0, ValueError, "source: must be one of user, tool, agent, document"),
        ("source_ref", "", ValueError, "source_ref: must be 1 to 65536 bytes"),
        ("derived_from", "m1", TypeError, "derived_from: must be a list of str"),
        ("derived_from", [""], ValueError, "derived_from: must be 1 to 256 bytes"),
        ("derived_from", ["x" * 257], ValueError, "derived_from: must be 1 to 256 bytes"),
        ("trust", 1.01, ValueError, r"trust: must be a number in \[0, 1\]"),
        ("trust", -0.1, ValueError, r"trust: must be a number in \[0, 1\]"),
        ("trust", float("nan"), ValueError, r"trust: must be a number in \[0, 1\]"),
        ("trust", True, TypeError, "trust: must be a number"),
        ("status", "quarantine", ValueError, "status: must be one of .*quarantined"),
    ],
)
def test_each_field_names_its_rule(
    field: str, value: object, error: type[Exception], rule: str
) -> None:
    with pytest.raises(error, match=rule):
        made(**{field: value})
    with pytest.raises(error, match=rule):
        validate_changes({field: value})


def test_those_without_a_value_can_be_cleared_and_the_others_not() -> None:
    for name in ("user", "agent", "namespace", "source", "source_ref"):
        assert validate_changes({name: None}) == {name: None}
    for name in ("labels", "derived_from", "trust"):
        with pytest.raises(ValueError, match=f"{name}: always has a value"):
            validate_changes({name: None})


def test_a_memory_is_derived_from_each_other_once_in_order() -> None:
    assert made(derived_from=["b", "a", "b"]).derived_from == ("b", "a")


@given(NAMESPACES)
def test_the_levels_of_a_namespace_are_all_those_it_lies_below(namespace: str) -> None:
    levels = levels_of(namespace)
    assert made(namespace=namespace).namespace == levels[-1] == namespace
    segments = namespace.split("/")
    assert list(levels) == ["/".join(segments[:end]) for end in range(1, len(segments) + 1)]
    assert all(is_below(namespace, level) for level in levels)


@given(NAMESPACES, NAMESPACES)
def test_one_lies_below_another_by_whole_segments(one: str, other: str) -> None:
    segments, above = one.split("/"), other.split("/")
    assert is_below(one, other) == (segments[: len(above)] == above) == (other in levels_of(one))
    assert not is_below(None, other)
