"""Figures that are computed while the site is built: the directives ``run`` and ``plot``.

``run`` shows a piece of Python and what it prints. ``plot`` shows what a piece of Python draws on
``axes``; its argument is the caption. The pieces of one page share their names, in order. An error in
one fails the build. Plots stand in the page as SVG whose lines and words have the colour of the text.
"""

from __future__ import annotations

import contextlib
import io
import re
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from sphinx.application import Sphinx

__all__ = ["COLOURS", "drawn", "setup"]

COLOURS = ("#0a7d91", "#d1642e", "#8a63b8", "#5b8c2a", "#c2408c", "#a07a12")
"""Readable on a light and on a dark page."""
_TEXT = "#010203"  # stands for the colour of the text
_NAMES = re.compile(r'(id="|href="#|url\(#)')


def drawn(draw: Callable[[Axes], object], prefix: str, *, height: float = 2.9) -> str:
    """Return an SVG element with what ``draw`` draws on the axes it gets.

    Args:
        draw: draws on the axes.
        prefix: makes the ids of the element its own in the page.
        height: inches; the width is 7.
    """
    import matplotlib as mpl  # noqa: PLC0415 - pages without plots need none
    from matplotlib.figure import Figure  # noqa: PLC0415

    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": "oneiros",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": mpl.cycler(color=COLOURS),
        "legend.frameon": False,
        **dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _TEXT
        ),
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(7, height), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        if legend := axes.get_legend():  # above the lines, never over them
            legend.set_loc("lower left")
            legend.set_bbox_to_anchor((0, 1, 1, 0.1))
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :].replace(_TEXT, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = _NAMES.sub(rf"\1{prefix}-", svg)
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', 'class="plot" role="img"', svg, count=1)


class _Computed(SphinxDirective):
    has_content = True

    def namespace(self) -> dict[str, Any]:
        """Return the names of the page's pieces so far."""
        pages: dict[str, dict[str, Any]] = self.env.temp_data.setdefault("computed", {})
        return pages.setdefault(self.env.docname, {"__name__": "page"})

    def execute(self, namespace: dict[str, Any]) -> str:
        """Run the content, and return what it printed."""
        path, line = self.get_source_info()
        code = compile("\n" * line + "\n".join(self.content), path, "exec")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, namespace)  # noqa: S102 - the site's own pages
        return out.getvalue()


class Run(_Computed):
    """Python, and what it prints."""

    def run(self) -> list[nodes.Node]:
        """Return the two blocks."""
        code = "\n".join(self.content)
        blocks = [nodes.literal_block(code, code, language="python")]
        printed = self.execute(self.namespace()).rstrip()
        if printed:
            blocks.append(nodes.literal_block(printed, printed, language="text"))
        return list(blocks)


class Plot(_Computed):
    """Plots that Python draws."""

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = {"height": float}

    def run(self) -> list[nodes.Node]:
        """Return a figure with its caption."""
        namespace = self.namespace()
        caption = self.arguments[0] if self.arguments else ""

        def draw(axes: Axes) -> None:
            namespace["axes"] = axes
            self.execute(namespace)

        prefix = f"plot{self.env.new_serialno('plot')}"
        svg = drawn(draw, prefix, height=self.options.get("height", 2.9))
        figure = nodes.figure("", nodes.raw("", svg, format="html"), classes=["computed"])
        if caption:
            words, _ = self.state.inline_text(caption, self.lineno)
            figure += nodes.caption("", "", *words)
        return [figure]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("run", Run)
    app.add_directive("plot", Plot)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
