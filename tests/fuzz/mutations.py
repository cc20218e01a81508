"""Changes of an input: bytes, numbers, and words of the target's language."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Final

__all__ = ["mutated"]

_ODD: Final = (
    *(b"", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\xcc\x81"),
    *(b"\r\n", b"\n", b"\t", b" ", b'"', b"'", b"\\", b"{", b"}", b"[", b"]", b"(", b")", b","),
)
_NUMBERS: Final = (
    *(b"0", b"-0", b"-1", b"1", b"2", b"31", b"32", b"255", b"256", b"65536", b"4294967295"),
    *(b"9223372036854775807", b"-9223372036854775809", b"1e308", b"1e-320", b"1e999", b"nan"),
    *(b"inf", b"-inf", b"0.1", b"1_0", b"0x10", b"253402300799", b"-62135596800", b"9" * 400),
)
_WORD: Final = re.compile(rb"[A-Za-z_]+|[0-9.]+|[^A-Za-z0-9_.]")
_LONGEST: Final = 4_096


def mutated(
    parents: Sequence[bytes], words: Sequence[bytes], rng: random.Random, longest: int = _LONGEST
) -> bytes:
    """Return one of the parents with one to six changes.

    Args:
        parents: the inputs to begin with, at least one.
        words: pieces that the target's language has.
        rng: chooses.
        longest: the most bytes of the result.
    """
    data = rng.choice(parents)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        data = _changed(data, parents, words, rng)
    return data[:longest]


def _changed(
    data: bytes, parents: Sequence[bytes], words: Sequence[bytes], rng: random.Random
) -> bytes:
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 1, 1, 2, 4, 16, 64)))
    match rng.randrange(9):
        case 0:  # a bit
            if start == len(data):
                return data
            return data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:end] + data[start:end] * rng.choice((1, 1, 2, 9, 70)) + data[end:]
        case 3:
            return data[:start] + rng.choice(_ODD) + data[end:]
        case 4:  # the end of another
            other = rng.choice(parents)
            return data[:start] + other[rng.randrange(len(other) + 1) :]
        case 5:
            return data[:start] + rng.choice(words or _ODD) + data[start:]
        case _:  # one word becomes another, or a number
            found = list(_WORD.finditer(data))
            if not found:
                return rng.choice(words or _ODD)
            word = rng.choice(found)
            is_number = word.group()[:1].isdigit() and rng.random() < 0.7
            new = rng.choice(_NUMBERS if is_number else words or _NUMBERS)
            return data[: word.start()] + new + data[word.end() :]
