"""Search options: the keywords of ``search``, ``search_many`` and ``why_not``, checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from oneiros import lexical, models
from oneiros.filters import require_where
from oneiros.index.row_sets import of_status
from oneiros.lexical.options import checked_syntax
from oneiros.model.calls import unexpected
from oneiros.model.fields import FIELDS, FLOAT64_MAX
from oneiros.model.validation import (
    count,
    moment,
    number,
    require_choice,
    require_flag,
    require_instance,
    require_number,
    require_seconds,
    statuses,
    texts,
)
from oneiros.model.validation import text as text_check
from oneiros.runtime.dataclasses import TypedDict, dataclass, fields
from oneiros.scoring.profile import Profile
from oneiros.scoring.profiles import get, names, resolved
from oneiros.search.query.context import Context
from oneiros.search.query.dates import given_range
from oneiros.search.query.parsed import asks_times

if TYPE_CHECKING:
    from datetime import timedelta

    import numpy.typing as npt

    from oneiros.clock import Time
    from oneiros.filters import Where
    from oneiros.lexical.statistics import QueryStatistics
    from oneiros.models.rerankers import Reranker
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
Returned = TypeVar("Returned")


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
    least_trust: float | None
    syntax: str
    hint: str | None
    date_range: TimePair | None
    soft_range: bool
    context: Context | None
    reranker: Reranker | None
    deadline: float | timedelta | None
    statistics: str | QueryStatistics
    offset: int
    min_score: float | None
    exclude: Iterable[str]
    exclude_newer: float | timedelta | None
    as_of: Time | None


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
    """The checked keywords of one call; later code does not check them again.

    An instance holds the given values. The rest are defaults of the class.
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
    least_trust: float | None = None
    syntax: str = "plain"
    hint: str | None = None
    time: TimeRange | None = None
    """From ``date_range`` and ``soft_range``; replaces the time that the query names."""
    context: Context | None = None
    reranker: Reranker | None = None
    """Replaces the engine's reranker."""
    statistics: str | QueryStatistics = "scope"
    """Whose statistics weigh words: "scope", "store", or given ones."""
    until: float | None = None
    """From ``deadline``: when user code is no longer waited for, by ``time.monotonic``."""
    offset: int = 0
    min_score: float | None = None
    exclude: frozenset[str] = frozenset()
    exclude_newer: float | None = None
    """Seconds before ``now``."""

    @classmethod
    def checked(cls, given: Mapping[str, Any], method: Callable[..., Any]) -> SearchOptions:
        """Check the keywords of a call and start its deadline.

        Raises:
            TypeError, ValueError: an argument breaks its rule; the message names both.
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
        """Check that the profile reads the given arguments.

        Raises:
            ValueError: it does not; the message names the argument, the profile and the profiles
                that read it.
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
        """Check that the profile reinforces memories if ``reinforce=True``.

        Raises:
            ValueError: it does not; the message names the profile.
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
    if value is not None:
        require_where(value)
    return value


def _status(value: str | Sequence[str]) -> Sequence[str] | None:
    checked = statuses(value)
    if checked is not None:
        of_status(checked)  # raises ValueError for an unknown status
    return checked


def _context(value: Context) -> Context:
    require_instance("context", value, (Context,), "an oneiros.Context")
    return value


def _reranker(value: Reranker) -> Reranker:
    models.rerankers.require_reranker("reranker", value)
    return value


def _least_trust(value: float) -> float:
    return require_number("least_trust", value, low=0.0, high=1.0)


def _deadline(value: float | timedelta) -> float:
    return require_seconds("deadline", value, above_low=True, finite=False)


def _offset(value: int) -> int:
    return count("offset", value)


_min_score: Final = number("min_score", low=-FLOAT64_MAX, high=FLOAT64_MAX, rule="a finite number")


def _exclude(value: Iterable[str]) -> frozenset[str]:
    return frozenset(texts("exclude", value))


def _exclude_newer(value: float | timedelta) -> float:
    return require_seconds("exclude_newer", value)


def _statistics(value: object) -> object:
    if isinstance(value, str):
        require_choice("statistics", value, ("scope", "store"))
        return value
    kinds = (lexical.statistics.QueryStatistics,)
    require_instance("statistics", value, kinds, "a str or oneiros.QueryStatistics")
    return value


_CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "where": _where,
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
    "least_trust": _or_none(_least_trust),
    "syntax": checked_syntax,
    "hint": _or_none(_check_hint),
    "date_range": lambda value: value,  # checked with soft_range
    "soft_range": lambda value: value,
    "context": _or_none(_context),
    "reranker": _or_none(_reranker),
    "deadline": _or_none(_deadline),
    "statistics": _statistics,
    "offset": _offset,
    "min_score": _or_none(_min_score),
    "exclude": _exclude,
    "exclude_newer": _or_none(_exclude_newer),
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
"""By argument: whether a profile reads it."""


def _unread(name: str, profile: Profile) -> ValueError:
    readers = [known for known in names() if _READERS[name](get(known))]
    msg = (
        f"{name}: must be left out, since the profile {profile.name!r} does not read it; "
        f"{', '.join(readers)} do"
    )
    return ValueError(msg)


def taking(
    keywords: type, **others: object
) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Return a decorator that makes ``help`` show all keywords of a method with ``**options``.

    Messages about wrong calls list them too.

    Args:
        keywords: the ``TypedDict`` of ``**options``.
        others: defaults of the keywords that :class:`SearchOptions` does not have.
    """
    defaults = {field.name: field.default for field in fields(SearchOptions)}
    defaults |= {"date_range": None, "soft_range": False, "deadline": None, "exclude": ()}
    defaults |= {"as_of": None, **others}

    def decorate(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
        assert isinstance(method, FunctionType)
        method.__wrapped__ = _documented(method, keywords, defaults)  # type: ignore[attr-defined]
        method.takes_keywords = True  # type: ignore[attr-defined]
        return method

    return decorate


def _documented(
    method: FunctionType, keywords: type, defaults: Mapping[str, object]
) -> FunctionType:
    """Return a function with a method's parameters and ``keywords`` in place of ``**options``.

    The function is never called: ``inspect.signature`` follows a method's ``__wrapped__`` and reads
    the parameters there. An ``inspect.Signature`` would do too, but importing ``inspect`` takes as
    long as a search.
    """
    source = method.__code__
    parameters = (*source.co_varnames[: source.co_argcount], *keywords.__annotations__)
    code = _blank.__code__.replace(
        co_argcount=source.co_argcount,
        co_posonlyargcount=source.co_posonlyargcount,
        co_kwonlyargcount=len(keywords.__annotations__),
        co_nlocals=len(parameters),
        co_varnames=parameters,
        co_filename=source.co_filename,
        co_firstlineno=source.co_firstlineno,
    )
    documented = FunctionType(code, method.__globals__, method.__name__, method.__defaults__)
    documented.__kwdefaults__ = {name: defaults[name] for name in keywords.__annotations__}
    documented.__annotations__ = {
        **method.__annotations__,
        **keywords.__annotations__,
    }
    documented.__doc__, documented.__qualname__ = method.__doc__, method.__qualname__
    return documented


def _blank() -> None:
    """Lend its code object to :func:`_documented`."""
