"""Links between memories, and where they lead."""

from __future__ import annotations

from oneiros.graph.graph import Associations
from oneiros.graph.link import Link

__all__ = ["Associations", "Link"]
