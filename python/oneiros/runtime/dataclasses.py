"""Dataclasses, named tuples and typed dicts of :mod:`oneiros.runtime.declaring`.

Type checkers see the standard ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, replace
    from typing import NamedTuple, TypedDict
else:
    from oneiros.runtime.declaring import (
        MISSING,
        NamedTuple,
        TypedDict,
        asdict,
        dataclass,
        field,
        fields,
        replace,
    )

__all__ = [
    "MISSING",
    "NamedTuple",
    "TypedDict",
    "asdict",
    "dataclass",
    "field",
    "fields",
    "replace",
]
