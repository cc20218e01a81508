"""Messages of wrong calls name the class and method that the caller used.

The methods of an engine are spread over classes that no caller knows. Python names the class that a
function was written in; the decorator here puts the public name in its place, and suggests a
parameter where the name of an unexpected one is near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["named_calls", "nearest", "plain_function", "unexpected"]

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

_LEAST = 0.65  # of difflib's similarity: "kk" is near to "k", "filter" is not near to "profile"
_UNEXPECTED = r"unexpected keyword argument '(\w+)'"
_COROUTINE = 0x80  # inspect.CO_COROUTINE; importing inspect takes as long as a search


def named_calls(name: str) -> Callable[[Class], Class]:
    """Return a class decorator: public methods, inherited ones too, call themselves ``name.method``.

    The constructor, where the class has its own, calls itself ``name``.

    Only calls that do not fit a method's signature are renamed. A ``TypeError`` from within passes.
    """

    def decorate(cls: Class) -> Class:
        members: dict[str, object] = {}
        for base in reversed(cls.__mro__):
            members |= vars(base)
        for attribute, held in members.items():
            if not isinstance(held, FunctionType) or attribute.startswith("_"):
                continue
            if getattr(held, "takes_keywords", False) and not _is_coroutine(held):
                setattr(cls, attribute, _renamed(held, f"{name}.{attribute}"))
            else:
                setattr(cls, attribute, _named(plain_function(held), f"{name}.{attribute}"))
        own = cls.__dict__.get("__init__")
        if own is not None:
            setattr(cls, "__init__", _named(own, name))  # noqa: B010 - mypy refuses to assign it
        return cls

    return decorate


def unexpected(method: Callable[..., Any], name: str) -> TypeError:
    """Return the error of a call with a keyword that a method does not take.

    Args:
        method: as the caller named it.
        name: of the keyword.
    """
    from inspect import signature  # noqa: PLC0415 - for messages only

    near = nearest(name, [*signature(method).parameters])
    suggestion = f"; did you mean {near!r}?" if near else ""
    return TypeError(
        f"{method.__qualname__}() got an unexpected keyword argument {name!r}{suggestion}"
    )


def plain_function(method: Function) -> Function:
    """Return a method as it was before :func:`named_calls` wrapped it."""
    found: Function = getattr(method, "_plain", method)
    return found


def nearest(name: str, known: Iterable[str], least: float = _LEAST) -> str | None:
    """Return the known name that ``name`` was likely meant to be: a near one, or one of its words.

    Args:
        name: a wrong name.
        known: the right ones.
        least: how near it must be, 0 to 1.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - for messages only

    names = list(known)
    words = name.split("_")
    near = get_close_matches(name, names, 1, least) or [one for one in names if one in words]
    return near[0] if near else None


def _renamed(function: FunctionType, shown: str) -> FunctionType:
    """Return the same function by another name, which Python gives where a call does not fit."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    copy.__annotations__ = function.__annotations__
    copy.__doc__, copy.__module__ = function.__doc__, function.__module__
    copy.__qualname__ = shown
    return copy


def _is_coroutine(function: Callable[..., Any]) -> bool:
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & _COROUTINE)


def _named(function: Callable[..., Any], shown: str) -> Callable[..., Any]:
    if _is_coroutine(function):

        @wraps(function)
        async def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except TypeError as error:
                message = _message(error, function, shown, args, kwargs)
                if message is None:
                    raise
            raise TypeError(message)

    else:

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                message = _message(error, function, shown, args, kwargs)
                if message is None:
                    raise
            raise TypeError(message)

    call.__qualname__ = shown
    call._plain = function  # type: ignore[attr-defined]
    return call


def _message(
    error: TypeError,
    function: Callable[..., Any],
    shown: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str | None:
    """Return what a call that does not fit is to say; None where it fits, so that ``error`` is another."""
    import inspect  # noqa: PLC0415 - for messages only
    import re  # noqa: PLC0415

    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        _, _, problem = str(error).partition("()")
        problem, _, _ = problem.partition("; did you mean")
    else:
        return None
    unexpected = re.search(_UNEXPECTED, problem)
    near = nearest(unexpected[1], [*signature.parameters][1:]) if unexpected else None
    return f"{shown}(){problem}" + (f"; did you mean {near!r}?" if near else "")
