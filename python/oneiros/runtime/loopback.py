"""Checks of servers on this machine: the token of clients, the host and the origin of requests."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from typing import Final

from oneiros.model.validation import require_utf8

__all__ = [
    "LOOPBACK",
    "checked_token",
    "is_token",
    "local_names",
    "require_reachable",
]

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
"""The hosts that a server listens on without ``allowed_hosts``."""

_LEAST_TOKEN: Final = 16


def checked_token(token: str | None) -> str:
    """Return a token that clients must present; None: a new one.

    Raises:
        ValueError: shorter than 16 characters, or not printable ASCII.
    """
    if token is None:
        return secrets.token_urlsafe(32)
    require_utf8("token", token)
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        msg = f"token: must have at least {_LEAST_TOKEN} characters, printable ASCII without spaces"
        raise ValueError(msg)
    return token


def is_token(given: bytes, expected: bytes) -> bool:
    """Return whether a client presents the token; takes as long for every wrong one."""
    return hmac.compare_digest(given, expected)


def require_reachable(host: str, allowed_hosts: Sequence[str]) -> None:
    """Raise a ValueError if a host is not loopback and no name is allowed in requests for it."""
    if host not in LOOPBACK and not allowed_hosts:
        msg = f"host: {host!r} is not loopback, so the allowed hosts must be named"
        raise ValueError(msg)


def local_names(port: int | str) -> list[str]:
    """Return the values of a ``Host`` header that name loopback and a port; clients leave out 80.

    A page of another machine whose name leads to loopback (DNS rebinding) sends its own name.

    >>> from oneiros.runtime.loopback import local_names
    >>> local_names(8080)
    ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080']
    """
    names = ["127.0.0.1", "localhost", "[::1]"]
    return [f"{name}:{port}" for name in names] + (names if port == 80 else [])
