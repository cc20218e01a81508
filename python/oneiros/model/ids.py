"""New ids: ULIDs, 48 bits of time and 80 random bits in 26 characters that sort by time."""

from __future__ import annotations

import os
from functools import lru_cache

__all__ = ["new_ulid"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_LAST_MILLISECOND = 2**48 - 1
# The low five bits of a random byte choose a character, so all are equally likely.
_BYTE_TO_CHARACTER = "".join(_ALPHABET[byte & 31] for byte in range(256)).encode("ascii")


def new_ulid(now: float) -> str:
    """Return a new ULID.

    Ids of the same millisecond are in no particular order; the store's sequence orders memories.

    Args:
        now: seconds since the Unix epoch, clamped to 1970 and to the end of the 48 bits (year
            10889).

    Returns:
        26 characters of Crockford's base 32: 10 of time, 16 random.
    """
    return _time_part(int(now * 1000.0)) + _random_part()


@lru_cache(maxsize=64)  # a batch shares one `now`
def _time_part(milliseconds: int) -> str:
    left = min(max(milliseconds, 0), _LAST_MILLISECOND)
    return "".join(_ALPHABET[(left >> shift) & 31] for shift in range(45, -1, -5))


def _random_part() -> str:
    while True:
        try:
            return _drawn.pop()  # atomic: no two threads get the same
        except IndexError:
            drawn = os.urandom(16 * _DRAWN_AT_ONCE).translate(_BYTE_TO_CHARACTER).decode("ascii")
            _drawn.extend(drawn[at : at + 16] for at in range(0, len(drawn), 16))


_DRAWN_AT_ONCE = 64  # a system call per id would cost more than everything else here
_drawn: list[str] = []
os.register_at_fork(after_in_child=_drawn.clear)  # the parent uses them up
