"""The plots of the report page, as inline SVG.

Stored text never passes through matplotlib, which would look up its glyphs and parse formulas
between dollar signs: placeholders of the same width are drawn and replaced in the finished SVG.
Colours are CSS variables of the page, so that they follow its dark mode.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import needed
from oneiros.display.escaping import shortened, visible
from oneiros.display.pages import markup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oneiros.dream.report import DecayCurve, Distribution

__all__ = ["COLOURS", "VARIABLES", "WORDS", "before_and_after", "decay", "lines"]

COLOURS: Final = 6
"""Number of line colours."""

_DASH: Final = 4.0  # in line widths
_LABEL: Final = 24  # characters of a word on an axis
_INK: Final = "#010203"
_LINE: Final = "#010204"
_BEFORE: Final = "#010205"
_AFTER: Final = "#010206"
_KINDS: Final = tuple(f"#0203{number:02x}" for number in range(COLOURS))
VARIABLES: Final = tuple(f"--kind-{number}" for number in range(COLOURS))
"""CSS variables of the colours of lines."""

_VARIABLE_OF: Final = {
    _INK: "--ink",
    _LINE: "--line",
    _BEFORE: "--before",
    _AFTER: "--after",
    **dict(zip(_KINDS, VARIABLES, strict=True)),
}
_MARKS: Final = "os^DvP"
_STYLE: Final = {
    "svg.fonttype": "none",
    "svg.hashsalt": "oneiros",
    "font.size": 9.0,
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor"), _INK
    ),
    **dict.fromkeys(("axes.edgecolor", "grid.color"), _LINE),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}
WORDS: Final = {"age_days": "age in days"}
_STYLE_SHEET: Final = re.compile(r"<style.*?</style>", re.DOTALL)
_WIDE: Final = re.compile(r"[\u1100-\U0010ffff]")  # characters up to two letters wide


class _Drawing:
    """One figure, and the placeholders for stored text in it.

    Args:
        name: unique on the page.
        width: inches.
        height: inches.
    """

    def __init__(self, name: str, width: float, height: float) -> None:
        # Not pyplot: it keeps a list of figures and looks for a display.
        figures = needed("matplotlib.figure", "plots")
        self.figure = figures.Figure(figsize=(width, height), layout="constrained")
        self._name = name
        self._texts: dict[str, str] = {}

    def placeholder(self, text: str) -> str:
        """Return a placeholder to draw for a stored text."""
        shown = shortened(text, _LABEL)
        width = len(shown) + len(_WIDE.findall(shown))
        word = f"q{len(self._texts):03d}".ljust(width, "n")
        self._texts[word] = shown
        return word

    def svg(self, label: str) -> str:
        """Return the figure as SVG.

        Args:
            label: a description for screen readers.
        """
        out = StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self.figure.savefig(out, format="svg", metadata=nothing)
        drawn = out.getvalue()
        # Without its style sheet, which would apply to the whole page.
        drawn = _STYLE_SHEET.sub("", drawn[drawn.index("<svg") :])
        for colour, variable in _VARIABLE_OF.items():
            drawn = drawn.replace(colour, f"var({variable})")
        drawn = re.sub(
            r' id="(?!\w*[0-9a-f]{10}")[^"]*"', "", drawn
        )  # keep only ids that are referenced
        drawn = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{self._name}-", drawn)
        drawn = re.sub(r' (width|height)="[\d.]+pt"', "", drawn, count=2)
        for word, text in self._texts.items():  # last, so that no step above changes stored text
            drawn = drawn.replace(word, f"<tspan>{escape(visible(text))}</tspan>")
        return markup(drawn.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1))


@contextmanager
def _drawing(name: str, width: float = 5.6, height: float = 2.6) -> Iterator[_Drawing]:
    matplotlib = needed("matplotlib", "plots")
    with matplotlib.rc_context(_STYLE):
        yield _Drawing(name, width, height)


def before_and_after(distribution: Distribution) -> str:
    """Return a bar chart of a distribution, with bars before and after the cycle."""
    name, names = distribution.name, distribution.places
    before, after = distribution.before, distribution.after
    is_of_words = name == "kind"
    height = max(2.6, 0.6 + 0.26 * len(names)) if is_of_words else 2.6
    with _drawing(f"d-{name}", height=height) as drawing:
        axis = drawing.figure.subplots()
        places = range(len(names))
        draw = axis.barh if is_of_words else axis.bar
        for counts, offset, colour in ((before, -0.2, _BEFORE), (after, 0.2, _AFTER)):
            draw([place + offset for place in places], counts, 0.4, color=colour)
        if is_of_words:
            axis.set_yticks(places, list(map(drawing.placeholder, names)))
            axis.invert_yaxis()
            axis.set_xlabel("memories")
            axis.grid(axis="x")
        else:
            axis.set_xticks(places, [*names[:-1], f"≥ {names[-1]}"])
            axis.set_xlabel(f"{WORDS.get(name, name)}, each from its number to the next")
            axis.set_ylabel("memories")
            axis.grid(axis="y")
        _count_axis(axis.xaxis if is_of_words else axis.yaxis, max((*before, *after, 1)))
        return drawing.svg(
            f"memories by {WORDS.get(name, name)}: {sum(before)} before the cycle, "
            f"{sum(after)} after it"
        )


def decay(curves: Sequence[DecayCurve]) -> str:
    """Return the decay curves, one colour per kind, with marks for groups of stored memories.

    The size of a mark grows with the number of memories.
    """
    with _drawing("decay", 9.0, 3.8) as drawing:
        axis = drawing.figure.subplots()
        most = max((group.memories for curve in curves for group in curve.standing), default=1)
        for place, curve in enumerate(curves):
            colour = _KINDS[place % COLOURS]
            dashes = _dashes([other.values for other in curves], place)
            axis.plot(curve.days, curve.values, color=colour, linestyle=dashes, linewidth=1.6)
            axis.scatter(
                [group.days for group in curve.standing],
                [group.value for group in curve.standing],
                [12.0 + 160.0 * group.memories / most for group in curve.standing],
                color=colour,
                alpha=0.55,
                linewidths=0,
                marker=_MARKS[place % len(_MARKS)],
            )
        axis.set_xscale("symlog", linthresh=7.0)
        ticks = (0, 1, 3, 7, 30, 90, 180, 365, 1095)
        axis.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axis.minorticks_off()
        axis.set_xlim(left=0.0)
        axis.set_ylim(bottom=0.0)
        axis.set_xlabel("days since the last use")
        axis.set_ylabel("what the factors make of 1")
        axis.grid()
        return drawing.svg(
            f"decay of {len(curves)} kinds over three years, and the memories at their ages"
        )


def lines(
    name: str, label: str, series: Sequence[Sequence[float | None]], *, is_share: bool
) -> str:
    """Return a line chart over cycles, the oldest first, with gaps for missing values.

    Args:
        name: unique on the page.
        label: a description for screen readers.
        series: the lines, each with one value per cycle.
        is_share: whether the values are shares, 0 to 1.
    """
    with _drawing(name) as drawing:
        axis = drawing.figure.subplots()
        for place, values in enumerate(series):
            numbers = range(1, len(values) + 1)
            shown = [float("nan") if value is None else value for value in values]
            colour, mark = _KINDS[place % COLOURS], _MARKS[place % len(_MARKS)]
            axis.plot(numbers, shown, color=colour, marker=mark, markersize=4)
        axis.margins(y=0.1)
        axis.set_ylim(0.0, 1.05 if is_share else None)
        axis.set_xlabel("cycle, the oldest first")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid()
        return drawing.svg(label)


def _dashes(lines: Sequence[Sequence[float]], place: int) -> Any:
    """Return a dash pattern with gaps for the dashes of identical lines in other colours."""
    same = [other for other, line in enumerate(lines) if line == lines[place]]
    if len(same) == 1:
        return "-"
    return (-_DASH * same.index(place), (_DASH, _DASH * (len(same) - 1)))


def _count_axis(axis: Any, most: int) -> None:
    """Show whole numbers, from 0 to at least 1."""
    axis.get_major_locator().set_params(integer=True)
    if most == 1:
        axis.axes.set(**{f"{axis.axis_name}lim": (0, 1)})
