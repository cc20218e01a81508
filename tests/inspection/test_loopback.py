"""The token and the names of loopback, which every server of this machine checks."""

from __future__ import annotations

import pytest

from oneiros.runtime.loopback import checked_token, is_token, local_names, require_reachable


def test_a_token_is_made_or_checked() -> None:
    made = {checked_token(None) for _ in range(20)}
    assert len(made) == 20
    assert all(checked_token(token) == token and len(token) == 43 for token in made)
    assert checked_token("0123456789abcdef") == "0123456789abcdef"


@pytest.mark.parametrize("token", ["", "0123456789abcde", "0123456789 abcdef", "ä" * 16, "a\n" * 9])
def test_a_weak_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(ValueError, match="token: must have at least 16 characters") as refused:
        checked_token(token)
    assert not token or token not in str(refused.value)


def test_only_the_whole_token_is_the_token() -> None:
    assert is_token(b"0123456789abcdef", b"0123456789abcdef")
    for given in (b"", b"0123456789abcde", b"0123456789abcdefg", b"0123456789abcdeF", b"\xff" * 16):
        assert not is_token(given, b"0123456789abcdef")


def test_hosts_beyond_loopback_need_names() -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        require_reachable(host, [])
    require_reachable("0.0.0.0", ["memory.example"])
    for host in ("0.0.0.0", "", "127.0.0.1.example", "192.168.1.2"):
        with pytest.raises(ValueError, match="is not loopback"):
            require_reachable(host, [])
    assert "localhost" in local_names(80)
    assert "localhost" not in local_names(8080)
    assert local_names("*") == ["127.0.0.1:*", "localhost:*", "[::1]:*"]
