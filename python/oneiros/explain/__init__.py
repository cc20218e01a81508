"""Explanations of scores, and of why a search does not return a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.explain import explanation as explanation
    from oneiros.explain import why_not as why_not
else:
    __getattr__ = door(__name__, ("explanation", "why_not"))
