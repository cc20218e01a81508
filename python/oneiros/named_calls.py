"""Messages of wrong calls name the class and method that the caller used.

The methods of an engine are spread over classes that no caller knows. Python names the class that a
function was written in; the decorator here puts the public name in its place, and suggests a
parameter where the name of an unexpected one is near.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["named_calls", "nearest", "plain_function"]

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

_LEAST = 0.65  # of difflib's similarity: "kk" is near to "k", "filter" is not near to "profile"
_COROUTINE = 0x80  # inspect.CO_COROUTINE; importing inspect takes 4 ms
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def named_calls(name: str) -> Callable[[Class], Class]:
    """Return a class decorator: public methods, inherited ones too, call themselves ``name.method``.

    The constructor, where the class has its own, calls itself ``name``.

    Only calls that do not fit a method's signature are renamed. A ``TypeError`` from within passes.
    """

    def decorate(cls: Class) -> Class:
        for attribute in dir(cls):
            held = next(base.__dict__[attribute] for base in cls.__mro__ if attribute in vars(base))
            if isinstance(held, FunctionType) and not attribute.startswith("_"):
                setattr(cls, attribute, _named(plain_function(held), f"{name}.{attribute}"))
        own = cls.__dict__.get("__init__")
        if own is not None:
            setattr(cls, "__init__", _named(own, name))  # noqa: B010 - mypy refuses to assign it
        return cls

    return decorate


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


def _named(function: Callable[..., Any], shown: str) -> Callable[..., Any]:
    if function.__code__.co_flags & _COROUTINE:

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

    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        _, _, problem = str(error).partition("()")
    else:
        return None
    unexpected = _UNEXPECTED.search(problem)
    near = nearest(unexpected[1], [*signature.parameters][1:]) if unexpected else None
    return f"{shown}(){problem}" + (f"; did you mean {near!r}?" if near else "")
