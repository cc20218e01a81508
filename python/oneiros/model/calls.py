"""Error messages of wrong calls that name the public class and method.

Python's messages name the class in which a function was defined, which may be internal. The
decorator here replaces it by the public name and suggests the parameter closest to an unexpected
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["is_coroutine", "named_calls", "nearest", "plain_function", "unexpected"]

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

_LEAST = 0.65  # similarity by difflib: "kk" is close to "k", "filter" is not close to "profile"
_UNEXPECTED = r"unexpected keyword argument '(\w+)'"
_COROUTINE = 0x80  # inspect.CO_COROUTINE; importing inspect takes as long as a search


def named_calls(name: str) -> Callable[[Class], Class]:
    """Return a class decorator that makes messages of wrong calls say ``name.method()``.

    It applies to public methods, inherited ones included. Messages of the constructor, if the class
    defines one, say ``name()``. A ``TypeError`` raised inside a method is not changed.
    """

    def decorate(cls: Class) -> Class:
        members: dict[str, object] = {}
        for base in reversed(cls.__mro__):
            members |= vars(base)
        for attribute, member in members.items():
            if not isinstance(member, FunctionType) or attribute.startswith("_"):
                continue
            if getattr(member, "takes_keywords", False) and not is_coroutine(member):
                setattr(cls, attribute, _renamed(member, f"{name}.{attribute}"))
            else:
                setattr(cls, attribute, _named(plain_function(member), f"{name}.{attribute}"))
        constructor = cls.__dict__.get("__init__")
        if constructor is not None:
            setattr(cls, "__init__", _named(constructor, name))  # noqa: B010 - for mypy
        return cls

    return decorate


def unexpected(method: Callable[..., Any], name: str) -> TypeError:
    """Return the error for a keyword that a method does not take.

    Args:
        method: the public method.
        name: the keyword.
    """
    from inspect import signature  # noqa: PLC0415 - for messages only

    near = nearest(name, [*signature(method).parameters])
    suggestion = f"; did you mean {near!r}?" if near else ""
    return TypeError(
        f"{method.__qualname__}() got an unexpected keyword argument {name!r}{suggestion}"
    )


def plain_function(method: Function) -> Function:
    """Return the function that :func:`named_calls` wrapped."""
    found: Function = getattr(method, "_plain", method)
    return found


def nearest(name: str, known: Iterable[str], least: float = _LEAST) -> str | None:
    """Return the known name closest to ``name``, else one that is a word of it, else None.

    Args:
        name: an unknown name.
        known: the known names.
        least: the minimum similarity, 0 to 1.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - for messages only

    names = list(known)
    words = name.split("_")
    near = get_close_matches(name, names, 1, least) or [word for word in names if word in words]
    return near[0] if near else None


def _renamed(function: FunctionType, shown: str) -> FunctionType:
    """Return a copy of the function with another name, which Python uses in its messages."""
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


def is_coroutine(function: object) -> bool:
    """Return whether a callable is a coroutine function, or an object whose call is one."""
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return code is not None and bool(code.co_flags & _COROUTINE)


def _named(function: Callable[..., Any], shown: str) -> Callable[..., Any]:
    if is_coroutine(function):

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
    """Return the message of a call that does not fit the signature; None if the call fits it."""
    import inspect  # noqa: PLC0415 - for messages only
    import re  # noqa: PLC0415

    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        _, _, problem = str(error).partition("()")
        problem, _, _ = problem.partition("; did you mean")
        problem, _, _ = problem.partition(". Did you mean")  # Python 3.13 and newer
    else:
        return None
    unexpected = re.search(_UNEXPECTED, problem)
    near = nearest(unexpected[1], [*signature.parameters][1:]) if unexpected else None
    return f"{shown}(){problem}" + (f"; did you mean {near!r}?" if near else "")
