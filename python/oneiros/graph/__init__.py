"""Links between memories, and where they lead."""

from __future__ import annotations

from oneiros.graph.graph import Associations, Link

__all__ = ["Associations", "Link"]
