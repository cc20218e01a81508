"""A page as a document that needs nothing else."""

from __future__ import annotations

from typing import Final

from oneiros.dream.page.markup import element
from oneiros.dream.page.style import STYLE

__all__ = ["document"]

# Nothing is loaded and nothing runs, whatever a stored text holds.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, *body: str) -> str:
    """Return an HTML document in the page's style, which loads nothing.

    Args:
        title: of the document, as text.
        *body: what stands in it, HTML or text.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", STYLE),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *body), lang='en')}\n"
