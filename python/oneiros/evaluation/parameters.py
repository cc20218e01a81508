"""Numbers of a profile by where they stand, to be read and changed.

A path is a part's field, as ``fusion.weight``; of a list, the part's name stands between, as in
``channels.lexical.k1``, or ``*`` for all that have the field: ``factors.*.damping``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from oneiros.dataclasses_on_use import dataclass, replace
from oneiros.ranking.declaration import require_numbers

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile

__all__ = [
    "PARAMETERS",
    "Parameter",
    "fitting",
    "value_at",
    "values_at",
    "with_value",
    "with_values_of",
]

_ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a profile, and the values to be tried for it."""

    path: str
    values: tuple[float, ...]
    """At least one, finite."""

    def __post_init__(self) -> None:
        require_numbers(self.path, self.values, low=float("-inf"))


PARAMETERS: Final = (
    Parameter("channels.lexical.k1", (0.3, 0.6, 0.9, 1.2, 1.6, 2.0)),
    Parameter("channels.lexical.b", (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.75, 0.9)),
    Parameter("fusion.k", (5.0, 10.0, 20.0, 30.0, 60.0, 100.0)),
    Parameter("fusion.weight", (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)),
    Parameter("neighbours.share", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)),
    Parameter("neighbours.decay", (0.25, 0.5, 0.75)),
    Parameter("statements.damping", (0.0, 0.25, 0.5, 0.75)),
    Parameter("factors.*.damping", (0.0, 0.05, 0.1, 0.15, 0.25, 0.4)),
)
"""What is tuned unless other parameters are named: those of these that a profile has."""


def fitting(profile: Profile) -> tuple[Parameter, ...]:
    """Return those of :data:`PARAMETERS` that the profile has."""
    return tuple(one for one in PARAMETERS if _places(profile, one.path))


def value_at(profile: Profile, path: str) -> float:
    """Return the number at a path, of several the first.

    Raises:
        ValueError: the profile has no such number.
    """
    return values_at(profile, path)[0]


def values_at(profile: Profile, path: str) -> tuple[float, ...]:
    """Return the numbers at all places that a path names.

    Raises:
        ValueError: the profile has no such number.
    """
    field = path.rpartition(".")[2]
    return tuple(getattr(part, field) for _, part in _required(profile, path))


def with_value(profile: Profile, path: str, value: float) -> Profile:
    """Return the profile with another number at a path, at all places it names.

    Raises:
        ValueError: the profile has no such number, or the number is out of its range.
    """
    return _with_values(profile, path, [value] * len(_required(profile, path)))


def with_values_of(profile: Profile, path: str, other: Profile) -> Profile:
    """Return the profile with the numbers that another has there, whose parts are the same ones.

    Raises:
        ValueError: the profile has no such number.
    """
    return _with_values(profile, path, values_at(other, path))


def _with_values(profile: Profile, path: str, values: Sequence[float]) -> Profile:
    key, field = path.partition(".")[0], path.rpartition(".")[2]
    held = getattr(profile, key)
    changed = {
        index: replace(part, **{field: _as_held(part, field, value)})
        for (index, part), value in zip(_required(profile, path), values, strict=True)
    }
    if isinstance(held, tuple):
        parts = tuple(changed.get(index, part) for index, part in enumerate(held))
        return profile.replace(**{key: parts})
    return profile.replace(**{key: changed[0]})


def _as_held(part: Any, field: str, value: float) -> float:
    """Return a whole number as such where the part holds one."""
    is_whole = isinstance(getattr(part, field), int) and float(value).is_integer()
    return int(value) if is_whole else value


def _required(profile: Profile, path: str) -> Sequence[tuple[int, Any]]:
    places = _places(profile, path)
    if not places:
        known = ", ".join(one.path for one in fitting(profile))
        msg = f"{path}: profile {profile.name} has no such number; it has {known}, for example"
        raise ValueError(msg)
    return places


def _places(profile: Profile, path: str) -> Sequence[tuple[int, Any]]:
    """Return the parts that a path names, each with its place in its list."""
    key, *names, field = path.split(".") if "." in path else (path, "")
    held = getattr(profile, key, None) if key in profile.record() else None
    if isinstance(held, tuple) and len(names) == 1:
        return [
            (index, part)
            for index, part in enumerate(held)
            if names[0] in (_ALL, part.name) and _is_number(part, field)
        ]
    if held is not None and not names and _is_number(held, field):
        return [(0, held)]
    return []


def _is_number(part: Any, field: str) -> bool:
    value = getattr(part, field, None)
    is_declared = field in getattr(type(part), "__dataclass_fields__", {})
    return is_declared and isinstance(value, int | float) and not isinstance(value, bool)
