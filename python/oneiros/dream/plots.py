"""The plots of the page, as SVG that stands in it.

What the store says never goes through matplotlib, which would look for its glyphs and read formulas
between dollar signs: a word of the same width stands in its place until the SVG is written. Colours
are the page's own, which are others in the dark.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import needed
from oneiros.display.escaping import shortened
from oneiros.display.html import Html, element

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oneiros.dream.report import DecayCurve, Distribution

__all__ = ["COLOURS", "before_and_after", "decay", "lines", "require"]

COLOURS: Final = 6
"""How many lines have a colour of their own: that of the page's ``--kind-0`` and so on."""

_DASH: Final = 4.0  # widths of the line
_LABEL: Final = 24  # characters of a word on an axis
_INK: Final = "#010203"
_LINE: Final = "#010204"
_BEFORE: Final = "#010205"
_AFTER: Final = "#010206"
_KINDS: Final = tuple(f"#0203{number:02x}" for number in range(COLOURS))
_VARIABLES: Final = {
    _INK: "--ink",
    _LINE: "--line",
    _BEFORE: "--before",
    _AFTER: "--after",
    **{colour: f"--kind-{number}" for number, colour in enumerate(_KINDS)},
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
_WORDS: Final = {"age_days": "age in days"}
_STYLE_SHEET: Final = re.compile(r"<style.*?</style>", re.DOTALL)
_BEYOND_WIDE: Final = re.compile(r"[\u1100-\U0010ffff]")  # takes the room of two letters, at most


def require() -> None:
    """Raise unless plots can be drawn.

    Raises:
        ImportError: matplotlib is not installed; the message says what to install.
    """
    needed("matplotlib", "plots")


class _Drawing:
    """One figure, and the words that stand in for what the store says.

    Args:
        name: unlike those of the other figures of the page.
        width: inches.
        height: inches.
    """

    def __init__(self, name: str, width: float, height: float) -> None:
        # Not pyplot: it keeps figures, and looks for a screen.
        figures = needed("matplotlib.figure", "plots")
        self.figure = figures.Figure(figsize=(width, height), layout="constrained")
        self._name = name
        self._told: dict[str, str] = {}

    def stands_for(self, text: str) -> str:
        """Return a word to draw in the place of a stored text."""
        shown = shortened(text, _LABEL)
        width = len(shown) + len(_BEYOND_WIDE.findall(shown))
        word = f"q{len(self._told):03d}".ljust(width, "n")
        self._told[word] = shown
        return word

    def svg(self, said: str) -> Html:
        """Return the figure.

        Args:
            said: what it shows, for those who cannot see it.
        """
        out = StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self.figure.savefig(out, format="svg", metadata=nothing)
        drawn = out.getvalue()
        drawn = _STYLE_SHEET.sub("", drawn[drawn.index("<svg") :])  # it would be the page's
        for colour, variable in _VARIABLES.items():
            drawn = drawn.replace(colour, f"var({variable})")
        drawn = re.sub(r' id="(?!\w*[0-9a-f]{10}")[^"]*"', "", drawn)  # none but those referred to
        drawn = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{self._name}-", drawn)
        drawn = re.sub(r' (width|height)="[\d.]+pt"', "", drawn, count=2)
        for word, text in self._told.items():  # the last: nothing looks into these
            drawn = drawn.replace(word, element("tspan", text))
        label = element("svg", role="img", aria_label=said).removesuffix("></svg>")
        head, _, rest = drawn.partition(">")
        return Html(f"{head.replace('<svg', label, 1)}>{rest}")


@contextmanager
def _drawing(name: str, width: float = 5.6, height: float = 2.6) -> Iterator[_Drawing]:
    matplotlib = needed("matplotlib", "plots")
    with matplotlib.rc_context(_STYLE):
        yield _Drawing(name, width, height)


def before_and_after(one: Distribution) -> Html:
    """Return bars of how many memories lie where, before the cycle beside after it."""
    is_of_words = one.name == "kind"
    height = max(2.6, 0.6 + 0.26 * len(one.places)) if is_of_words else 2.6
    with _drawing(f"d-{one.name}", height=height) as drawing:
        axis = drawing.figure.subplots()
        places = range(len(one.places))
        draw = axis.barh if is_of_words else axis.bar
        for counts, offset, colour in ((one.before, -0.2, _BEFORE), (one.after, 0.2, _AFTER)):
            draw([place + offset for place in places], counts, 0.4, color=colour)
        if is_of_words:
            axis.set_yticks(places, [drawing.stands_for(place) for place in one.places])
            axis.invert_yaxis()
            axis.set_xlabel("memories")
            axis.grid(axis="x")
        else:
            axis.set_xticks(places, [*one.places[:-1], f"≥ {one.places[-1]}"])
            axis.set_xlabel(f"{_WORDS.get(one.name, one.name)}, each from its number to the next")
            axis.set_ylabel("memories")
            axis.grid(axis="y")
        _count_axis(axis.xaxis if is_of_words else axis.yaxis, max((*one.before, *one.after, 1)))
        return drawing.svg(_said(one))


def decay(curves: Sequence[DecayCurve]) -> Html:
    """Return the curves, a colour a kind, and marks where memories stand, as large as they are many."""
    with _drawing("decay", 9.0, 3.8) as drawing:
        axis = drawing.figure.subplots()
        most = max((one.memories for curve in curves for one in curve.standing), default=1)
        for place, curve in enumerate(curves):
            colour = _KINDS[place % COLOURS]
            dashes = _dashes([one.values for one in curves], place)
            axis.plot(curve.days, curve.values, color=colour, linestyle=dashes, linewidth=1.6)
            axis.scatter(
                [one.days for one in curve.standing],
                [one.value for one in curve.standing],
                [12.0 + 160.0 * one.memories / most for one in curve.standing],
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
        said = f"decay of {len(curves)} kinds over three years, and the memories at their ages"
        return drawing.svg(said)


def lines(
    name: str, said: str, series: Mapping[int, Sequence[float | None]], *, is_share: bool
) -> Html:
    """Return lines over cycles, the oldest first, a colour a line; gaps where there is no value.

    Args:
        name: unlike those of the other figures of the page.
        said: what they show.
        series: by the number of the colour, a value a cycle.
        is_share: whether the values are shares, 0 to 1.
    """
    with _drawing(name) as drawing:
        axis = drawing.figure.subplots()
        for place, values in series.items():
            numbers = range(1, len(values) + 1)
            shown = [float("nan") if value is None else value for value in values]
            colour, mark = _KINDS[place % COLOURS], _MARKS[place % len(_MARKS)]
            axis.plot(numbers, shown, color=colour, marker=mark, markersize=4)
        axis.margins(y=0.1)
        axis.set_ylim(0.0, 1.05 if is_share else None)
        axis.set_xlabel("cycle, the oldest first")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid()
        return drawing.svg(said)


def _dashes(lines: Sequence[Sequence[float]], place: int) -> Any:
    """Return dashes between which those of the same line in other colours are seen."""
    same = [other for other, line in enumerate(lines) if line == lines[place]]
    if len(same) == 1:
        return "-"
    return (-_DASH * same.index(place), (_DASH, _DASH * (len(same) - 1)))


def _count_axis(axis: Any, most: int) -> None:
    """Whole numbers, and room for at least one."""
    axis.get_major_locator().set_params(integer=True)
    if most == 1:
        axis.axes.set(**{f"{axis.axis_name}lim": (0, 1)})


def _said(one: Distribution) -> str:
    what = _WORDS.get(one.name, one.name)
    before, after = sum(one.before), sum(one.after)
    return f"memories by {what}: {before} before the cycle, {after} after it"
