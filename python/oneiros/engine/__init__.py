"""The engine: memories in one file, and views of a part of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.engine import feed as feed
    from oneiros.engine import history as history
    from oneiros.engine import listing as listing
    from oneiros.engine import maintenance as maintenance
    from oneiros.engine import observers as observers
    from oneiros.engine.engine import Engine as Engine
    from oneiros.engine.engine import QuietEngine as QuietEngine
else:
    __getattr__ = door(
        __name__,
        ("feed", "history", "listing", "maintenance", "observers"),
        {"Engine": "engine", "QuietEngine": "engine"},
    )

__all__ = ["Engine", "QuietEngine"]
