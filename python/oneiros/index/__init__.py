"""The read model of searches: columns, row sets, lexical index, vectors, texts and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.index import comparison as comparison
    from oneiros.index import stored_vectors as stored_vectors
    from oneiros.index.indexes import LexicalOptions as LexicalOptions
    from oneiros.index.read_model import ReadModel as ReadModel
    from oneiros.index.row_sets import Limits as Limits
    from oneiros.index.row_sets import Reach as Reach
    from oneiros.index.row_sets import Visible as Visible
else:
    __getattr__ = door(
        __name__,
        ("comparison", "stored_vectors"),
        {
            "LexicalOptions": "indexes",
            "Limits": "row_sets",
            "Reach": "row_sets",
            "ReadModel": "read_model",
            "Visible": "row_sets",
        },
    )

__all__ = ["LexicalOptions", "Limits", "Reach", "ReadModel", "Visible"]
