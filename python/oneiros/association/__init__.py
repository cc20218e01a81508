"""What memories have to do with each other: links that fade, and where they lead."""

from __future__ import annotations

from oneiros.association.associations import Associations
from oneiros.association.link import Link

__all__ = ["Associations", "Link"]
