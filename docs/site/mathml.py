"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latex2mathml.converter import convert

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

__all__ = ["setup"]


def _visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    _skip(node)


def _visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    # A blank line begins a new formula, as in every other writer of Sphinx.
    for formula in node.astext().split("\n\n"):
        if formula.strip():
            translator.body.append(convert(formula, display="block") + "\n")
    translator.body.append("</div>\n")
    _skip(node)


def _skip(node: nodes.Node) -> None:
    from docutils import nodes  # noqa: PLC0415 - so that the module is read without Sphinx

    raise nodes.SkipNode(node)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer and choose it."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    app.connect("config-inited", _choose)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _choose(app: Sphinx, config: Any) -> None:
    config.html_math_renderer = "mathml"
