"""What every way of fusing takes, checked: weights and words, one a channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from oneiros.ranking.declaration import LARGEST_WEIGHT, require_numbers

__all__ = ["Terms", "require_one_each", "require_word", "weights_of"]

Terms: TypeAlias = tuple[tuple[str, int], ...]
"""What a fusion adds to the relevance beyond its channels, in order: names and registers."""


def weights_of(value: object) -> tuple[float, ...]:
    """Return weights as they are kept, each 0 to 1e6."""
    return require_numbers("weights", value, low=0.0, high=LARGEST_WEIGHT)


def require_word(field: str, value: object, known: Sequence[str]) -> None:
    """Refuse what is none of the known words."""
    if not isinstance(value, str) or value not in known:
        msg = f"{field}: must be one of {', '.join(known)}, got {value!r}"
        raise ValueError(msg)


def require_one_each(field: str, values: Sequence[object], names: Sequence[str]) -> None:
    """Refuse values that are not one a channel."""
    if len(values) != len(names):
        msg = f"fusion.{field}: one a channel ({len(names)}), got {tuple(values)!r}"
        raise ValueError(msg)
