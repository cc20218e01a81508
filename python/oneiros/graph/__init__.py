"""Links between memories, and where they lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door
from oneiros.graph.graph import Associations, Link

if TYPE_CHECKING:
    from oneiros.graph import linking as linking
else:
    __getattr__ = door(__name__, ("linking",))

__all__ = ["Associations", "Link"]
