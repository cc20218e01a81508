"""Display of scores and stored text: tables, trees, HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.display import notebook as notebook
    from oneiros.display import tables as tables
else:
    __getattr__ = door(__name__, ("notebook", "tables"))
