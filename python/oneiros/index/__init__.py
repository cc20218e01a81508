"""The read model of searches: columns, row sets, lexical index, vectors, texts and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.index.indexes import LexicalOptions as LexicalOptions
    from oneiros.index.read_model import Projections as Projections
    from oneiros.index.visibility import Limits as Limits
    from oneiros.index.visibility import Visible as Visible
else:
    __getattr__ = door(
        __name__,
        (),
        {
            "LexicalOptions": "indexes",
            "Limits": "visibility",
            "Projections": "read_model",
            "Visible": "visibility",
        },
    )

__all__ = ["LexicalOptions", "Limits", "Projections", "Visible"]
