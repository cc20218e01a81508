"""Which shard holds what: stable, whole scopes, and named values."""

from __future__ import annotations

from collections import Counter

import pytest

from oneiros.ray.routing import Layout, key_in


def test_shards_do_not_change_from_version_to_version() -> None:
    layout = Layout(16, "user")
    assert [layout.shard_of(name) for name in ("ada", "bob", "Zoë", "")] == [7, 2, 10, 4]


def test_users_spread_over_the_shards() -> None:
    layout = Layout(8, "user")
    counts = Counter(layout.shard_of(f"user {number}") for number in range(8_000))
    assert sorted(counts) == list(range(8))
    assert 850 < min(counts.values()) <= max(counts.values()) < 1_150


def test_a_namespace_lies_with_all_below_it() -> None:
    layout = Layout(64, "namespace")
    assert layout.shard_of("acme") == layout.shard_of("acme/support") == layout.shard_of("acme/a/b")
    assert layout.shard_of("acme") != layout.shard_of("acmes")
    assert Layout(64, "user").shard_of("acme/support") != Layout(64, "user").shard_of("acme")


def test_the_key_is_needed() -> None:
    layout = Layout(4, "user")
    assert key_in(layout, {"user": "ada", "project": "x"}, "add") == "ada"
    with pytest.raises(
        ValueError, match=r"add: needs user, by which the store is split into shards; got project"
    ):
        key_in(layout, {"project": "x"}, "add")
    with pytest.raises(ValueError, match=r"get: needs user, .*; got no field"):
        key_in(layout, {}, "get")
    with pytest.raises(TypeError, match="user: "):
        key_in(layout, {"user": 5}, "add")
