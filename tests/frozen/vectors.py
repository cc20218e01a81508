"""Vectors with exact inner products, which have the same bits on every machine.

The components are multiples of 1/256 and their squares add up to 1. Every product and every partial
sum is then a multiple of 1/65536 with a magnitude of at most 1, which float32 represents exactly.
The order of additions, fused multiply-adds and the library that computes them make no difference.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["MEANT_WIDTH", "SUBJECTS", "along_axes", "axis_of", "exact", "meaning_of", "nudged"]

Vector = npt.NDArray[np.float32]

_ONE = 256
_SQUARE = _ONE * _ONE
_MOST = 253
"""The length, in 256ths, before the last four components are added."""
MEANT_WIDTH = 60
_AXES = 256
_WORD = re.compile(r"\w+")

SUBJECTS: tuple[tuple[str, ...], ...] = (  # synonyms
    ("connection pool", "pool", "sockets"),
    ("deploy", "release", "rollout"),
    ("coffee", "espresso", "brew"),
    ("tea", "oolong", "infusion"),
    ("billing", "invoice", "payments"),
    ("cache", "memoization", "evictions"),
    ("scheduler", "cron", "queue"),
    ("login", "password", "credentials"),
    ("backup", "restore", "archive"),
    ("search index", "ranking", "relevance"),
    ("database", "postgres", "tables"),
    ("dashboard", "charts", "grafana"),
    ("holiday", "vacation", "leave"),
    ("meeting", "standup", "agenda"),
    ("bicycle", "bike", "cycling"),
    ("garden", "tomatoes", "seedlings"),
    ("piano", "sonata", "keys"),
    ("budget", "expenses", "spending"),
    ("laptop", "notebook", "keyboard"),
    ("train", "railway", "timetable"),
    ("doctor", "dentist", "appointment"),
    ("recipe", "baking", "sourdough"),
    ("migration", "schema", "upgrade"),
    ("parser", "grammar", "tokens"),
    ("logging", "telemetry", "traces"),
    ("timeout", "deadline", "latency"),
    ("memory leak", "heap", "allocations"),
    ("apartment", "flat", "rent"),
    ("birthday", "party", "presents"),
    ("marathon", "running", "training"),
    ("novel", "book", "chapter"),
    ("camera", "lens", "photographs"),
    ("allergy", "pollen", "sneezing"),
    ("encryption", "cipher", "certificates"),
    ("compiler", "linker", "toolchain"),
    ("firewall", "ports", "routing"),
    ("kitchen", "stove", "cupboard"),
    ("museum", "exhibition", "paintings"),
    ("weather", "rain", "forecast"),
    ("contract", "clause", "signature"),
    ("school", "homework", "teacher"),
    ("robot", "gripper", "actuator"),
    ("violin", "strings", "orchestra"),
    ("chess", "opening", "endgame"),
    ("hiking", "trail", "summit"),
    ("printer", "toner", "paper"),
    ("podcast", "episode", "microphone"),
    ("swimming", "lake", "lanes"),
)

_SUBJECT_OF = {
    word: number for number, names in enumerate(SUBJECTS) for name in names for word in name.split()
}


@lru_cache(maxsize=4_096)
def _four_squares(number: int) -> tuple[int, int, int, int]:
    """Return four integers whose squares add up to a number (Lagrange)."""
    for one in range(math.isqrt(number), -1, -1):
        for two in range(math.isqrt(number - one * one), -1, -1):
            left = number - one * one - two * two
            for three in range(math.isqrt(left), -1, -1):
                four = math.isqrt(left - three * three)
                if four * four == left - three * three:
                    return one, two, three, four
    raise AssertionError(number)


def exact(values: Iterable[float]) -> Vector:
    """Return the direction of some values as an exact vector, wider by four components."""
    given = [float(value) for value in values]
    length = math.sqrt(math.fsum(value * value for value in given))
    whole = [round(value * _MOST / length) for value in given]
    rest = _four_squares(_SQUARE - sum(value * value for value in whole))
    return np.array([*whole, *rest], np.float32) / np.float32(_ONE)


@lru_cache(maxsize=8_192)
def _direction_of(word: str) -> npt.NDArray[np.int64]:
    digest = hashlib.blake2b(word.encode(), digest_size=MEANT_WIDTH).digest()
    return np.frombuffer(digest, np.uint8).astype(np.int64) - 128


def meaning_of(text: str) -> Vector:
    """Return the vector of a text; words of one subject are near each other. Zeros without words."""
    found = np.zeros(MEANT_WIDTH, np.int64)
    for word in _WORD.findall(text.lower()):
        found += _direction_of(word)
        if (subject := _SUBJECT_OF.get(word)) is not None:
            found += 4 * _direction_of(f"subject {subject}")
    if not found.any():
        return np.zeros(MEANT_WIDTH + 4, np.float32)
    return exact(found.tolist())


def nudged(vector: Vector, place: int) -> Vector:
    """Return a near vector: the sign of one component is flipped."""
    near = vector.copy()
    near[place] = -near[place]
    return near


def axis_of(text: str) -> Vector:
    """Return a unit vector with a single component, chosen by the subject of a text."""
    axes = np.zeros(_AXES + 4, np.float32)
    axes[_axis(text)] = 1.0
    return axes


def along_axes(text: str) -> Vector:
    """Return the vector of a query, along the axes of the subjects that it names."""
    found = np.zeros(_AXES, np.int64)
    for word in _WORD.findall(text.lower()):
        if (subject := _SUBJECT_OF.get(word)) is not None:
            found[4 * subject : 4 * subject + 4] += (19, 13, 9, 4)
    if not found.any():
        found[_axis(text)] = 1
    return exact(found.tolist())


def _axis(text: str) -> int:
    number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=2).digest(), "little")
    for word in _WORD.findall(text.lower()):
        if (subject := _SUBJECT_OF.get(word)) is not None:
            return 4 * subject + number % 4
    return 4 * len(SUBJECTS) + number % (_AXES - 4 * len(SUBJECTS))
