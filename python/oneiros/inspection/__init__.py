"""A web page that looks into a store, served on loopback: ``oneiros inspect``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.inspection.server import InspectionServer, serve
else:
    __getattr__ = door(
        __name__, ("inspector", "server"), {"InspectionServer": "server", "serve": "server"}
    )

__all__ = ["InspectionServer", "serve"]
