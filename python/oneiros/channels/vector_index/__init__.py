"""Vector search by cosine: exact for few vectors, by an HNSW graph for many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.channels.vector_index import hnsw as hnsw
    from oneiros.channels.vector_index import index as index
else:  # the first loads FAISS's module, both load NumPy
    __getattr__ = door(__name__, ("hnsw", "index"))
