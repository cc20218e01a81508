"""How a search is asked: every keyword of ``search``, ``search_many`` and ``why_not``, checked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypedDict, TypeVar

from oneiros import _core
from oneiros.filters import require_where
from oneiros.model.calls import unexpected
from oneiros.model.fields import FIELDS
from oneiros.model.validation import (
    moment,
    require_flag,
    require_instance,
    require_number,
    require_utf8,
    statuses,
)
from oneiros.model.validation import text as text_check
from oneiros.runtime.dataclasses import dataclass, fields
from oneiros.scoring.profile import Profile
from oneiros.scoring.profiles import resolved
from oneiros.search.query.dates import given_range
from oneiros.search.query.parsed import asks_times

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.clock import Time
    from oneiros.filters import Where
    from oneiros.models.rerankers import Reranker
    from oneiros.search.query.context import Context
    from oneiros.search.query.dates import TimeRange

    TimePair = tuple[Time | None, Time | None]

__all__ = [
    "BatchKeywords",
    "SearchKeywords",
    "SearchOptions",
    "SharedKeywords",
    "WhyNotKeywords",
    "taking",
]

Given = ParamSpec("Given")
Told = TypeVar("Told")


class SharedKeywords(TypedDict, total=False):
    """The keywords of all searches."""

    where: Where | None
    session: str | None
    now: Time | None
    profile: Profile | str | None
    reinforce: bool | None
    explain: bool
    include_expired: bool
    deep_recall: bool
    include_expired_in_deep_recall: bool
    valid_at: Time | None
    status: str | Sequence[str] | None
    syntax: str
    hint: str | None
    date_range: TimePair | None
    soft_range: bool
    context: Context | None
    reranker: Reranker | None
    deadline: float | None


class SearchKeywords(SharedKeywords, total=False):
    """The keywords of ``search``."""

    embedding: npt.ArrayLike | None


class BatchKeywords(SharedKeywords, total=False):
    """The keywords of ``search_many``."""

    embeddings: Sequence[npt.ArrayLike | None] | npt.NDArray[Any] | None
    threads: int | None


class WhyNotKeywords(SearchKeywords, total=False):
    """The keywords of ``why_not``."""

    k: int


_check_hint: Final = text_check("hint", low=1, high=64)
_check_now: Final = moment("now")
_check_valid_at: Final = moment("valid_at")


@dataclass(frozen=True)
class SearchOptions:
    """The keywords of one call, checked; what follows never checks them again.

    An instance holds what was given; all else are the defaults of the class.
    """

    where: Where | None = None
    session: str | None = None
    now: float | None = None
    profile: Profile | None = None
    reinforce: bool | None = None
    explain: bool = False
    include_expired: bool = False
    deep_recall: bool = False
    include_expired_in_deep_recall: bool = False
    valid_at: float | None = None
    status: Sequence[str] | None = None
    syntax: str = "plain"
    hint: str | None = None
    time: TimeRange | None = None
    """Of ``date_range`` and ``soft_range``: in place of the time that the words name."""
    context: Context | None = None
    reranker: Reranker | None = None
    """In place of the engine's."""
    until: float | None = None
    """Of ``deadline``: by ``time.monotonic``, when nobody is waited for any longer."""

    @classmethod
    def checked(cls, given: Mapping[str, Any], method: Callable[..., Any]) -> SearchOptions:
        """Return the options of a call, whose time begins now.

        Args:
            given: keywords of :class:`SharedKeywords`, those not given left out.
            method: that was called with them.

        Raises:
            TypeError, ValueError: names the argument and its rule.
        """
        if not given:
            return _DEFAULT
        values: dict[str, Any] = {}
        for name, value in given.items():
            check = _CHECKS.get(name)
            if check is None:
                raise unexpected(method, name)
            values[name] = check(value)
        if "date_range" in values or "soft_range" in values:
            pair, is_soft = values.pop("date_range", None), values.pop("soft_range", False)
            values["time"] = given_range(pair, is_soft)
        if (deadline := values.pop("deadline", None)) is not None:
            values["until"] = monotonic() + deadline
        if values.get("include_expired_in_deep_recall") and not values.get("deep_recall"):
            msg = "include_expired_in_deep_recall: needs deep_recall, got True without it"
            raise ValueError(msg)
        options = cls.__new__(cls)
        options.__dict__.update(values)
        return options

    def require_read(self, profile: Profile) -> None:
        """Refuse arguments that the profile does not read.

        Raises:
            ValueError: names the argument, the profile and the profiles that read it.
        """
        if self.hint is None and self.time is None and self.context is None:
            return
        given = {
            "hint": self.hint is not None,
            "date_range": self.time is not None,
            "soft_range": self.time is not None and self.time.certainty == "soft",
            "context": self.context is not None,
        }
        for name, is_given in given.items():
            if is_given and not _READERS[name](profile):
                raise _unread(name, profile)

    def require_reinforcement(self, profile: Profile) -> None:
        """Refuse ``reinforce=True`` under a profile that reinforces nothing.

        Raises:
            ValueError: names the profile.
        """
        if self.reinforce and profile.reinforcement is None:
            msg = (
                f"reinforce: must not be True, since the profile {profile.name!r} has no "
                "reinforcement"
            )
            raise ValueError(msg)


_DEFAULT: Final = SearchOptions()


def _or_none(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a check that lets None through."""
    return lambda value: None if value is None else check(value)


def _flag(name: str) -> Callable[[Any], bool]:
    return lambda value: require_flag(name, value)


def _where(value: object) -> object:
    require_where(value)
    return value


def _syntax(value: str) -> str:
    require_utf8("syntax", value)
    if value != "plain":
        _core.parse_query(text="", syntax=value)  # refuses what is no syntax
    return value


def _status(value: str | Sequence[str]) -> Sequence[str] | None:
    from oneiros.index.row_sets import of_status  # noqa: PLC0415 - few searches give one

    asked = statuses(value)
    if asked is not None:
        of_status(asked)  # refuses what is no status
    return asked


def _context(value: Context) -> Context:
    from oneiros.search.query.context import Context  # noqa: PLC0415 - few searches give one

    require_instance("context", value, (Context,), "an oneiros.Context")
    return value


def _reranker(value: Reranker) -> Reranker:
    from oneiros.models.rerankers import require_reranker  # noqa: PLC0415 - few searches give one

    require_reranker("reranker", value)
    return value


def _deadline(value: float) -> float:
    return require_number("deadline", value, low=0.0, above_low=True, finite=False)


_CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "where": _or_none(_where),
    "session": _or_none(FIELDS["session"].check),
    "now": _or_none(_check_now),
    "profile": _or_none(resolved),
    "reinforce": _or_none(_flag("reinforce")),
    "explain": _flag("explain"),
    "include_expired": _flag("include_expired"),
    "deep_recall": _flag("deep_recall"),
    "include_expired_in_deep_recall": _flag("include_expired_in_deep_recall"),
    "valid_at": _or_none(_check_valid_at),
    "status": _or_none(_status),
    "syntax": _syntax,
    "hint": _or_none(_check_hint),
    "date_range": lambda value: value,  # checked with soft_range
    "soft_range": lambda value: value,
    "context": _or_none(_context),
    "reranker": _or_none(_reranker),
    "deadline": _or_none(_deadline),
}


def _reads_hints(profile: Profile) -> bool:
    return profile.understanding is not None and bool(profile.understanding.hints)


def _reads_softness(profile: Profile) -> bool:
    return profile.named_time is not None or _has_factor(profile, "temporal")


def _reads_contexts(profile: Profile) -> bool:
    reader = profile.understanding
    return (reader is not None and bool(reader.situations)) or _has_factor(profile, "context")


def _has_factor(profile: Profile, name: str) -> bool:
    return any(factor.name == name for factor in profile.factors)


_READERS: Final[Mapping[str, Callable[[Profile], bool]]] = {
    "hint": _reads_hints,
    "date_range": asks_times,
    "soft_range": _reads_softness,
    "context": _reads_contexts,
}
"""Whether a profile reads an argument."""


def _unread(name: str, profile: Profile) -> ValueError:
    from oneiros.scoring.profiles import get, names  # noqa: PLC0415 - only for the message

    readers = [known for known in names() if _READERS[name](get(known))]
    msg = (
        f"{name}: must be left out, since the profile {profile.name!r} does not read it; "
        f"{', '.join(readers)} do"
    )
    return ValueError(msg)


def taking(
    keywords: type, **others: object
) -> Callable[[Callable[Given, Told]], Callable[Given, Told]]:
    """Return a decorator: ``help`` and messages of wrong calls show all keywords of the method.

    Args:
        keywords: the ``TypedDict`` that its ``**options`` take.
        others: defaults of those keywords that :class:`SearchOptions` does not hold.
    """
    defaults = {field.name: field.default for field in fields(SearchOptions)}
    defaults |= {"date_range": None, "soft_range": False, "deadline": None, **others}

    def decorate(method: Callable[Given, Told]) -> Callable[Given, Told]:
        assert isinstance(method, FunctionType)
        method.__wrapped__ = _shown(method, keywords, defaults)  # type: ignore[attr-defined]
        method.takes_keywords = True  # type: ignore[attr-defined]
        return method

    return decorate


def _shown(method: FunctionType, keywords: type, defaults: Mapping[str, object]) -> FunctionType:
    """Return a function that has a method's parameters, and ``keywords`` in place of ``**options``.

    It is never called: ``inspect.signature`` follows a method's ``__wrapped__`` and reads the
    parameters of what it finds there. An ``inspect.Signature`` would say the same, but importing
    ``inspect`` takes as long as a search.
    """
    own = method.__code__
    parameters = (*own.co_varnames[: own.co_argcount], *keywords.__annotations__)
    code = _blank.__code__.replace(
        co_argcount=own.co_argcount,
        co_posonlyargcount=own.co_posonlyargcount,
        co_kwonlyargcount=len(keywords.__annotations__),
        co_nlocals=len(parameters),
        co_varnames=parameters,
        co_filename=own.co_filename,
        co_firstlineno=own.co_firstlineno,
    )
    shown = FunctionType(code, method.__globals__, method.__name__, method.__defaults__)
    shown.__kwdefaults__ = {name: defaults[name] for name in keywords.__annotations__}
    shown.__annotations__ = {
        **method.__annotations__,
        **{
            name: annotation if isinstance(annotation, str) else annotation.__forward_arg__
            for name, annotation in keywords.__annotations__.items()
        },
    }
    shown.__doc__, shown.__qualname__ = method.__doc__, method.__qualname__
    return shown


def _blank() -> None:
    """Do nothing."""
