"""Modules of a package imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["door"]


def door(
    package: str, modules: tuple[str, ...], names: Mapping[str, str] = {}
) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package whose modules are imported on first use.

    Args:
        package: its ``__name__``.
        modules: that are reached by it.
        names: functions and classes that are reached by it, each with its module.
    """

    def find(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")
        module = names.get(name)
        if module is None:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        found: object = getattr(import_module(f"{package}.{module}"), name)
        return found

    return find
