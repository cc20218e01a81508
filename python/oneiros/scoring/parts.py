"""The parts of a profile, and the classes allowed for each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from oneiros.scoring import factors
from oneiros.scoring.profile_record import read_declaration, require_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "KEYS",
    "LISTS",
    "NUMBERS",
    "OPTIONAL_PARTS",
    "PARTS",
    "checked_parts",
    "kinds_of",
    "read_fields",
    "require_part",
]

LISTS = ("channels", "factors", "keep", "phases")
"""Fields that hold several parts each."""
PARTS: Final[dict[str, tuple[str, str]]] = {
    "fusion": ("fusion", "FUSIONS"),
    "query_words": ("understanding", "QueryWords"),
    "hot_set": ("relevance_adjustments", "HotSet"),
    "neighbours": ("relevance_adjustments", "Neighbours"),
    "statements": ("relevance_adjustments", "Statements"),
    "named_time": ("relevance_adjustments", "NamedTime"),
    "asked_time": ("relevance_adjustments", "AskedTime"),
    "fast_path": ("stages", "FastPath"),
    "strong_signal": ("stages", "StrongSignal"),
    "selection": ("selection", "Selection"),
    "newer_first": ("stages", "NewerFirst"),
    "expansion": ("link_expansion", "EXPANSIONS"),
    "rerank": ("stages", "Reranking"),
    "duplicates": ("stages", "Duplicates"),
    "abstention": ("stages", "ABSTENTIONS"),
    "retry": ("stages", "AdaptiveRetry"),
    "normalisation": ("stages", "ByBest"),
    "reinforcement": ("reinforcement", "REINFORCEMENTS"),
    "promotion": ("promotion", "Promotion"),
    "initial_stability": ("ingest", "InitialStability"),
    "ingest": ("ingest", "IngestAssociation"),
    "understanding": ("understanding", "Understanding"),
    "cache": ("stages", "ResponseCache"),
    "rails": ("safety_limits", "SafetyRails"),
}
"""Fields that hold one part -> module of ``oneiros.scoring`` and the name of the part's class or
classes in it. A module is imported for the first profile that has the part."""
_KINDS_OF_LISTS: Final = {
    "channels": ("channels", "CHANNELS"),
    "keep": ("selection", "KEEP_RULES"),
    "phases": ("phases", "PHASES"),
}
OPTIONAL_PARTS = tuple(key for key in PARTS if key not in ("fusion", "selection"))
"""Fields that may be None."""
NUMBERS = ("deep_recall_penalty",)
"""Fields that hold one number."""
KEYS = ("name", *LISTS, *PARTS, *NUMBERS)
"""All fields of a profile except its hash."""

Part = TypeVar("Part")


def kinds_of(key: str) -> tuple[type[Any], ...]:
    """Return the classes allowed for a field, importing them if necessary."""
    if key == "factors":
        return (*factors.FACTORS, *factors.USER_FACTORS)
    file, name = _KINDS_OF_LISTS.get(key) or PARTS[key]
    kinds: Any = getattr(import_module(f"oneiros.scoring.{file}"), name)
    return kinds if isinstance(kinds, tuple) else (kinds,)


def require_part(where: str, part: object, *kinds: type) -> None:
    """Check that ``part`` is an instance of one of ``kinds``.

    Raises:
        TypeError: names the place.
    """
    if isinstance(part, type) or not isinstance(part, kinds):
        known = " or ".join(kind.__name__ for kind in kinds)
        msg = f"{where}: expected {known}, got {type(part).__name__} {part!r}"
        raise TypeError(msg)


def checked_parts(where: str, parts: object, *kinds: type) -> tuple[Any, ...]:
    """Return the parts of a field that holds several, checked, as a tuple.

    Raises:
        TypeError: not a tuple or list, or a part of another class.
        ValueError: two parts of the same name.
    """
    if not isinstance(parts, tuple | list):
        msg = f"{where}: expected a tuple, got {type(parts).__name__} {parts!r}"
        raise TypeError(msg)
    seen: set[str] = set()
    for index, part in enumerate(parts):
        require_part(f"{where}[{index}]", part, *kinds)
        if part.name in seen:
            msg = f"{where}[{index}]: {part.name} stands there twice"
            raise ValueError(msg)
        seen.add(part.name)
    return tuple(parts)


def read_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a profile that a record holds.

    Raises:
        TypeError, ValueError: names the place.
    """
    require_keys(record, KEYS, "profile")
    if "name" not in record:
        msg = "name: a profile must have one"
        raise ValueError(msg)
    values: dict[str, Any] = {key: record[key] for key in ("name", *NUMBERS) if key in record}
    for key in LISTS:
        if key in record:
            values[key] = _read_parts(record[key], kinds_of(key), key)
    for key in PARTS:
        if key in record:
            part, kinds = record[key], kinds_of(key)
            if key in OPTIONAL_PARTS and part is False:
                values[key] = None
            else:
                values[key] = read_declaration(part, kinds, key, has_default=True)
    return values


def _read_parts(records: object, kinds: tuple[type[Part], ...], where: str) -> tuple[Part, ...]:
    if not isinstance(records, list):
        msg = f"{where}: expected a list of tables, got {type(records).__name__} {records!r}"
        raise TypeError(msg)
    return tuple(
        read_declaration(record, kinds, f"{where}[{index}]") for index, record in enumerate(records)
    )
