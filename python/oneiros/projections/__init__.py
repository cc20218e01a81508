"""What searches read, projected from the store: columns, row sets, lexical index, vectors."""

from __future__ import annotations

from oneiros.projections.indexes import LexicalOptions
from oneiros.projections.limits import Limits
from oneiros.projections.projections import Projections
from oneiros.projections.visible import Visible

__all__ = ["LexicalOptions", "Limits", "Projections", "Visible"]
