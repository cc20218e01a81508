"""The diagrams of the concepts: ``python -m docs.site.diagrams`` writes them to ``docs/images``.

A diagram is boxes on a grid and arrows between them. On a code host its colours follow the system's
theme, by a style in the file. In the site the element stands in the page and follows the page's theme
(``images``, below): a page names the file as any image.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["DIAGRAMS", "Arrow", "Box", "drawn", "setup"]

FOLDER = Path(__file__).parents[1] / "images"
_WIDE, _TALL = 204, 74  # a cell of the grid
_GAP_X, _GAP_Y = 40, 26  # between boxes
_LINE = 17
_STYLE = """<style>
svg { color: #24292f; } .box { fill: #f6f8fa; stroke: #8c959f; } .strong { fill: #ddf4ff; stroke: #0969da; }
@media (prefers-color-scheme: dark) { svg { color: #d0d7de; } .box { fill: #21262d; stroke: #6e7681; }
.strong { fill: #0c2d4a; stroke: #58a6ff; } .quiet { fill: #8d96a0; } }
text { fill: currentColor; font: 14px system-ui, sans-serif; } .quiet { fill: #57606a; font-size: 12px; }
.line { fill: none; stroke: currentColor; stroke-width: 1.5; } .head { fill: currentColor; }
</style>"""
_OF_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)

Side = Literal["left", "right", "top", "bottom"]


@dataclass(frozen=True)
class Box:
    """A box on the grid: its first line is its name, the others explain."""

    column: float
    row: float
    words: str
    is_strong: bool = False
    width: float = 1.0
    """Columns."""

    def place(self, side: Side) -> tuple[float, float]:
        """Return the middle of a side."""
        x, y, wide = self.corner
        return {
            "left": (x, y + _TALL / 2),
            "right": (x + wide, y + _TALL / 2),
            "top": (x + wide / 2, y),
            "bottom": (x + wide / 2, y + _TALL),
        }[side]

    @property
    def corner(self) -> tuple[float, float, float]:
        """Left, top and width."""
        x = 2 + self.column * (_WIDE + _GAP_X)
        return x, 2 + self.row * (_TALL + _GAP_Y), _WIDE * self.width + _GAP_X * (self.width - 1)


@dataclass(frozen=True)
class Arrow:
    """An arrow from a side of one box to a side of another."""

    start: int
    end: int
    out: Side = "right"
    into: Side = "left"
    words: str = ""


def _lines(box: Box) -> Iterator[str]:
    x, y, wide = box.corner
    kind = "box strong" if box.is_strong else "box"
    yield f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{wide:g}" height="{_TALL}" rx="8"/>'
    lines = box.words.split("\n")
    top = y + _TALL / 2 - (len(lines) - 1) * _LINE / 2 + 5
    for number, line in enumerate(lines):
        kind = ' class="quiet"' if number else ""
        at = f'x="{x + wide / 2:g}" y="{top + number * _LINE:g}" text-anchor="middle"'
        yield f"<text{kind} {at}>{escape(line)}</text>"


def _path(arrow: Arrow, boxes: tuple[Box, ...]) -> Iterator[str]:
    (x, y), (to_x, to_y) = boxes[arrow.start].place(arrow.out), boxes[arrow.end].place(arrow.into)
    if arrow.out in ("left", "right"):
        middle = (x + to_x) / 2
        bends = (
            f"H{middle:g} V{to_y:g} H{to_x:g}"
            if arrow.into in ("left", "right")
            else f"H{to_x:g} V{to_y:g}"
        )
    elif arrow.into in ("top", "bottom"):
        middle = (y + to_y) / 2
        bends = f"V{middle:g} H{to_x:g} V{to_y:g}"
    else:
        bends = f"V{to_y:g} H{to_x:g}"
    yield f'<path class="line" d="M{x:g},{y:g} {bends}"/>'
    turn = {
        "left": (-7, -4, -7, 4),
        "right": (7, -4, 7, 4),
        "top": (-4, -7, 4, -7),
        "bottom": (-4, 7, 4, 7),
    }
    a, b, c, d = turn[arrow.into]
    yield f'<path class="head" d="M{to_x:g},{to_y:g} l{a},{b} L{to_x + c:g},{to_y + d:g} Z"/>'
    if arrow.words:
        at = f'x="{(x + to_x) / 2:g}" y="{y - 6:g}" text-anchor="middle"'
        if x == to_x:
            at = f'x="{x + 8:g}" y="{(y + to_y) / 2 + 4:g}"'
        yield f'<text class="quiet" {at}>{escape(arrow.words)}</text>'


def drawn(title: str, boxes: tuple[Box, ...], arrows: tuple[Arrow, ...]) -> str:
    """Return an SVG element.

    Args:
        title: what the diagram shows, for those who do not see it.
        boxes: in any order.
        arrows: by the places of boxes.
    """
    wide = max(box.corner[0] + box.corner[2] for box in boxes) + 2
    tall = max(box.corner[1] for box in boxes) + _TALL + 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" role="img" viewBox="0 0 {wide:g} {tall:g}">',
        f"<title>{escape(title)}</title>",
        _STYLE,
        *(line for arrow in arrows for line in _path(arrow, boxes)),
        *(line for box in boxes for line in _lines(box)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


DIAGRAMS = {
    "use": drawn(
        "Searches, feedback and restore count as use; reading does not.",
        (
            Box(0, 0, "search\nreturns memories", True),
            Box(0, 1, "feedback\nhelpful, unhelpful, outdated", True),
            Box(0, 2, "restore\nof a deleted memory", True),
            Box(1.25, 0, "access\ncount + 1, time, session"),
            Box(1.25, 1, "verdict\nof this memory"),
            Box(1.25, 2, "access time\nno count"),
            Box(2.5, 0, "stability, links"),
            Box(2.5, 1, "score"),
            Box(2.5, 2, "not stale\nat the next dream"),
            Box(
                0,
                3,
                "no use: get, list, count, export, explain=True, why_not, reinforce=False, dry runs\nnothing changes",
                width=3.5,
            ),
        ),
        tuple(Arrow(row, row + 3) for row in range(3))
        + tuple(Arrow(row + 3, row + 6) for row in range(3)),
    ),
    "life": drawn(
        "A memory is staged, then consolidated; it may be archived or deleted, and come back, until it is erased.",
        (
            Box(0, 0, "staged\nnew, or its text was revised", True),
            Box(1.25, 0, "consolidated\nused, or a day old", True),
            Box(2.5, 0, "archived\nnot found by default"),
            Box(1.25, 1.25, "superseded\nhidden by its successor"),
            Box(2.5, 1.25, "deleted\nsoftly, can be restored"),
            Box(2.5, 2.5, "erased\nno byte is left"),
            Box(0, 1.25, "quarantined\nwaits for a review"),
        ),
        (
            Arrow(0, 1, words="dream"),
            Arrow(1, 2, words="dream"),
            Arrow(1, 3, "bottom", "top"),
            Arrow(3, 4, words="dream"),
            Arrow(4, 5, "bottom", "top", "forget, purge"),
            Arrow(6, 0, "top", "bottom", "released"),
        ),
    ),
    "fusion": drawn(
        "Three channels find candidates; their scores are blended, adjusted, multiplied by factors, and the best are returned.",
        (
            Box(0, 0, "words\nBM25, top 100", True),
            Box(0, 1, "vectors\ncosine, top 100", True),
            Box(0, 2, "dates\nof a named time", True),
            Box(1.25, 1, "candidates\neach with both exact scores"),
            Box(2.5, 1, "relevance\n0.55 words + 0.45 vectors"),
            Box(2.5, 2.2, "adjusted\nneighbours, questions, times"),
            Box(1.25, 2.2, "× factors\nage, strength, feedback, trust"),
            Box(1.25, 3.2, "newer value first\nlinks, duplicates"),
            Box(2.5, 3.2, "the k best\nwith an explanation each", True),
        ),
        (
            Arrow(0, 3),
            Arrow(1, 3),
            Arrow(2, 3),
            Arrow(3, 4),
            Arrow(4, 5, "bottom", "top"),
            Arrow(5, 6, "left", "right"),
            Arrow(6, 7, "bottom", "top"),
            Arrow(7, 8),
        ),
    ),
    "dream": drawn(
        "A cycle copies the store's state, runs its phases into a plan, and applies the plan in one transaction, which can be undone.",
        (
            Box(0, 0, "store\nat one moment", True),
            Box(1.25, 0, "scan, consolidate\nwhat is used grows stronger"),
            Box(2.5, 0, "downscale, prune\nrepeats and superseded go"),
            Box(2.5, 1.2, "place, promote\nbudget"),
            Box(1.25, 1.2, "plan\neach change with its rule", True),
            Box(0, 1.2, "safety limits\nage, share a day"),
            Box(1.25, 2.4, "apply\none transaction"),
            Box(2.5, 2.4, "report\nundo_dream takes it back", True),
            Box(0, 2.4, "changed meanwhile\nleft alone and named"),
        ),
        (
            Arrow(0, 1),
            Arrow(1, 2),
            Arrow(2, 3, "bottom", "top"),
            Arrow(3, 4, "left", "right"),
            Arrow(5, 4),
            Arrow(4, 6, "bottom", "top"),
            Arrow(6, 7),
            Arrow(6, 8, "left", "right"),
        ),
    ),
    "durability": drawn(
        "A write is in the synced log before it returns; everything that searches read is derived from the store.",
        (
            Box(0, 0, "add, update, ...\nchecked and embedded first", True),
            Box(1.25, 0, "one transaction\nin the log, synced"),
            Box(2.5, 0, "the call returns\nnothing is lost from here on", True),
            Box(1.25, 1.2, "store file\nthe only truth"),
            Box(2.5, 1.2, "read model\nin memory, brought up to date"),
            Box(2.5, 2.4, "snapshot\nmapped at the next opening"),
            Box(0, 1.2, "use of searches\nwritten behind, 1 s at most"),
            Box(1.25, 2.4, "killed?\nthe log is replayed"),
        ),
        (
            Arrow(0, 1),
            Arrow(1, 2),
            Arrow(1, 3, "bottom", "top"),
            Arrow(3, 4),
            Arrow(4, 5, "bottom", "top", "close"),
            Arrow(6, 3),
            Arrow(7, 3, "top", "bottom"),
        ),
    ),
}


def _inline(app: Sphinx, document: nodes.document) -> None:
    """Put the diagrams of a page into it, where they follow its theme."""
    from docutils import nodes  # noqa: PLC0415 - so that diagrams are written without Sphinx

    for image in list(document.findall(nodes.image)):
        path = Path(image["uri"])
        if path.suffix == ".svg" and path.stem in DIAGRAMS and path.parent.name == "images":
            element = _OF_STYLE.sub("", DIAGRAMS[path.stem])
            image.replace_self(nodes.raw("", element, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the event of a page that was parsed."""
    app.connect("doctree-read", _inline)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main() -> None:
    """Write the files."""
    for name, element in DIAGRAMS.items():
        (FOLDER / f"{name}.svg").write_text(element, encoding="utf-8")


if __name__ == "__main__":
    main()
