"""The JSON API of the page: which request calls which method of the inspector, and with what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from oneiros.display.escaping import shortened
from oneiros.inspection.inspector import Inspector
from oneiros.model.fields import VERDICTS
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    Call = Callable[..., dict[str, Any]]

__all__ = ["READING", "WRITING", "Route"]

_SHOWN: Final = 80  # characters of a wrong value in a message
_MOST_RESULTS: Final = 100
_MOST_LISTED: Final = 200
_MOST_QUERIES: Final = 20
_LAST_PLACE: Final = 2**31 - 1

Parameter = Callable[[str, list[Any]], Any]
"""A function from a parameter's name and its values, in order, to the argument."""


class Route(NamedTuple):
    """A method of the inspector, and the parameters of a request for it."""

    call: Call
    parameters: Mapping[str, Parameter]
    required: tuple[str, ...] = ()

    def arguments(self, given: Mapping[str, list[str]]) -> dict[str, Any]:
        """Return the arguments of the query of an address. Blank values are left out.

        Args:
            given: the values of each parameter.

        Raises:
            ValueError: an unknown parameter, a required one is missing, or a value breaks its rule.
        """
        self._require_known(given)
        found = {
            name: self.parameters[name](name, values)
            for name, values in given.items()
            if any(values) or name in self.required
        }
        self._require_all(found)
        return found

    def values(self, given: object) -> dict[str, Any]:
        """Return the arguments of the body of a request.

        Args:
            given: the value of its JSON.

        Raises:
            ValueError: no object, an unknown name, a missing one, or a value breaks its rule.
        """
        if not isinstance(given, dict):
            msg = "body: must be a JSON object"
            raise ValueError(msg)  # noqa: TRY004 - a request is wrong, not the program
        self._require_known(given)
        self._require_all(given)
        return {name: self.parameters[name](name, [value]) for name, value in given.items()}

    def _require_known(self, given: Mapping[str, object]) -> None:
        for name in given:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                msg = f"{shortened(name, _SHOWN)}: unknown parameter; known: {known}"
                raise ValueError(msg)

    def _require_all(self, given: Mapping[str, object]) -> None:
        for name in self.required:
            if name not in given:
                msg = f"{name}: is required"
                raise ValueError(msg)


def _text(name: str, values: list[Any]) -> str:
    (value,) = _one(name, values)
    if not isinstance(value, str):
        msg = f"{name}: must be a text"
        raise ValueError(msg)  # noqa: TRY004 - a request is wrong, not the program
    return value


def _texts(name: str, values: list[str]) -> list[str]:
    if len(values) > _MOST_QUERIES:
        msg = f"{name}: must be at most {_MOST_QUERIES}, got {len(values)}"
        raise ValueError(msg)
    return [value for value in values if value]


def _whole(low: int, high: int) -> Parameter:
    def parse(name: str, values: list[str]) -> int:
        value = _text(name, values)
        is_whole = value.isascii() and value.isdecimal() and len(value) < 12
        if not is_whole or not low <= int(value) <= high:
            msg = f"{name}: must be a whole number from {low} to {high}, got {_quoted(value)}"
            raise ValueError(msg)
        return int(value)

    return parse


def _share_or_count(name: str, values: list[str]) -> float | int:
    value = _text(name, values)
    try:
        return int(value) if value.isdecimal() else float(value)
    except ValueError:
        msg = f"{name}: must be a share as 0.5 or a number as 10000, got {_quoted(value)}"
        raise ValueError(msg) from None


def _flag(name: str, values: list[str]) -> bool:
    value = _text(name, values)
    if value not in ("1", "0"):
        msg = f"{name}: must be 1 or 0, got {_quoted(value)}"
        raise ValueError(msg)
    return value == "1"


def _truth(name: str, values: list[Any]) -> bool:
    (value,) = values
    if not isinstance(value, bool):
        msg = f"{name}: must be true or false"
        raise ValueError(msg)  # noqa: TRY004 - a request is wrong, not the program
    return value


def _verdict(name: str, values: list[str]) -> str:
    value = _text(name, values)
    if value not in VERDICTS:
        msg = f"{name}: must be one of {', '.join(VERDICTS)}, got {_quoted(value)}"
        raise ValueError(msg)
    return value


def _one(name: str, values: list[Any]) -> list[Any]:
    if len(values) != 1:
        msg = f"{name}: must be given once"
        raise ValueError(msg)
    return values


def _quoted(value: object) -> str:
    return repr(shortened(str(value), _SHOWN))


_FILTERS: Final[Mapping[str, Parameter]] = dict.fromkeys(
    ("kind", "session", "user", "project", "status"), _text
)
_SEARCH: Final[Mapping[str, Parameter]] = {
    "q": _text,
    "k": _whole(1, _MOST_RESULTS),
    "profile": _text,
    "deep_recall": _flag,
    "include_expired": _flag,
    **_FILTERS,
}
_ID: Final[Mapping[str, Parameter]] = {"id": _text}
_PLAN: Final[Mapping[str, Parameter]] = {"profile": _text, "keep": _share_or_count}

READING: Final[Mapping[str, Route]] = {
    "store": Route(Inspector.store, {}),
    "check": Route(Inspector.check, {"deep": _flag}),
    "search": Route(Inspector.search, _SEARCH, ("q",)),
    "why_not": Route(Inspector.why_not, {**_SEARCH, **_ID}, ("q", "id")),
    "list": Route(
        Inspector.listing,
        {**_FILTERS, "limit": _whole(1, _MOST_LISTED), "offset": _whole(0, _LAST_PLACE)},
    ),
    "memory": Route(Inspector.memory, _ID, ("id",)),
    "text": Route(Inspector.text, {**_ID, "start": _whole(0, _LAST_PLACE)}, ("id",)),
    "history": Route(Inspector.history, _ID, ("id",)),
    "graph": Route(Inspector.graph, _ID, ("id",)),
    "fate": Route(Inspector.fate, _ID, ("id",)),
    "plan": Route(Inspector.plan, {**_PLAN, "fresh": _flag}),
    "impact": Route(
        Inspector.impact, {**_PLAN, "q": _texts, "k": _whole(1, _MOST_RESULTS)}, ("q",)
    ),
    "cycles": Route(Inspector.cycles, {}),
    "cycle": Route(Inspector.cycle, _ID, ("id",)),
}
"""The requests that read, by the last part of their address."""

WRITING: Final[Mapping[str, Route]] = {
    "pin": Route(Inspector.pin, {**_ID, "pinned": _truth}, ("id", "pinned")),
    "delete": Route(Inspector.delete, _ID, ("id",)),
    "restore": Route(Inspector.restore, _ID, ("id",)),
    "feedback": Route(
        Inspector.feedback, {**_ID, "verdict": _verdict, "q": _text}, ("id", "verdict")
    ),
    "undo": Route(Inspector.undo, _ID, ("id",)),
}
"""The requests that change something, which are POST."""
