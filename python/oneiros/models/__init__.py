"""Embedders and rerankers, with adapters for the libraries that run models.

:class:`HashingEmbedder` needs no library and no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.models import named as named
    from oneiros.models import rerankers as rerankers
    from oneiros.models.hashing import HashingEmbedder as HashingEmbedder

__all__ = ["HashingEmbedder", "named", "rerankers"]

__getattr__ = door(__name__, ("named", "rerankers"), {"HashingEmbedder": "hashing"})
