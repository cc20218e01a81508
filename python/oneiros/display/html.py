"""HTML elements that escape text, and self-contained pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from oneiros.display.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["STYLE", "Html", "cells", "document", "element", "stored"]


_VOID: Final = frozenset({"meta"})


class Html(str):
    """A string that is HTML and is not escaped again."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """Return an element.

    Args:
        name: name of the element; must be trusted.
        *children: HTML, or text, which is escaped and whose control characters become visible.
        **attributes: values are escaped. In names, a trailing underscore is removed, and any other
            becomes a dash.
    """
    given = "".join(
        f' {name.removesuffix("_").replace("_", "-")}="{_escaped(value)}"'
        for name, value in attributes.items()
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    inner = "".join(map(_escaped, children))
    return Html(f"<{name}{given}>{inner}</{name}>")


def stored(text: str) -> Html:
    """Return an element with stored text, escaped and isolated from the direction around it."""
    return element("bdi", text)


def cells(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()
) -> Html:
    """Return a table.

    Args:
        heads: column headers.
        rows: HTML or text, one cell per column.
        numbers: headers of the columns of numbers, which are right-aligned.
    """
    sides = [{"class_": "number"} if head in numbers else {} for head in heads]
    top = element(
        "tr",
        *(
            element("th", head, scope="col", **side)
            for head, side in zip(heads, sides, strict=True)
        ),
    )
    body = (
        element("tr", *(element("td", cell, **side) for cell, side in zip(row, sides, strict=True)))
        for row in rows
    )
    table = element("table", element("thead", top), element("tbody", *body))
    return element("div", table, class_="wide")


def _escaped(given: str) -> str:
    return given if isinstance(given, Html) else escape(visible(given))


STYLE: Final = Html("""
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f5f6f8; --ink: #1b1f24; --faint: #5b6470; --line: #d5d9df;
  --before: #a3abb6; --after: #1f6fb5;
  --kind-0: #0072b2; --kind-1: #c4570a; --kind-2: #00805c;
  --kind-3: #b0558a; --kind-4: #9a6a00; --kind-5: #5a6472;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --panel: #1e2228; --ink: #e6e9ee; --faint: #a2abb8; --line: #383f49;
    --before: #6b7480; --after: #62b0f0;
    --kind-0: #58b1ea; --kind-1: #f0894a; --kind-2: #3fc39a;
    --kind-3: #dd93bd; --kind-4: #e3b341; --kind-5: #b4bdc9;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 70rem;
  background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
}
h1 { font-size: 1.5rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
p { margin: .25rem 0 .75rem; max-width: 46rem; }
.faint, figcaption, caption { color: var(--faint); }
nav { margin: .75rem 0 0; } nav a { margin-right: 1rem; }
a { color: var(--after); }
dl { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0 0; }
dl div { background: var(--panel); border-radius: .5rem; padding: .5rem .9rem; }
dt { color: var(--faint); font-size: .85rem; } dd { margin: 0; font-size: 1.25rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem; }
figure { margin: 0; background: var(--panel); border-radius: .5rem; padding: .75rem; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; }
section > figure { overflow-x: auto; } section > figure svg { min-width: 36rem; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figure svg text { font-family: inherit !important; }
figcaption { font-size: .9rem; margin-bottom: .25rem; }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; margin: .5rem 0; }
.key span { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .4rem; }
.wide { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem 0; }
th { color: var(--faint); font-weight: 600; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { border-bottom: 1px solid var(--line); }
bdi { overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--faint); }
@media print { body { max-width: none; } details > * { display: block; } }
""")


# Nothing is loaded and no script runs, whatever a stored text contains.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, *body: str) -> str:
    """Return a self-contained HTML document with the style :data:`STYLE`.

    Args:
        title: title of the document, as text.
        *body: its content, HTML or text.
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
