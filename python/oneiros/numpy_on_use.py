"""NumPy, imported when something of it is first needed.

It takes longer to import than all of Oneiros, and neither an add nor a search by words needs it:
``from oneiros.numpy_on_use import np`` costs nothing until then, and afterwards no more than the
module itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.whole_import import import_whole

__all__ = ["np"]


class _NumpyOnUse:
    """Stands for the module, whose names become its own as they are asked for."""

    def __getattr__(self, name: str) -> object:
        value: object = getattr(import_whole("numpy"), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = _NumpyOnUse()
