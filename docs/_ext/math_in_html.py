"""Render formulas as MathML, which needs no external script."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def inline_formula(writer: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def displayed_formula(writer: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    writer.body.append(writer.starttag(node, "div", CLASS="formula"))
    writer.body.append(_mathml(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        LOGGER.warning("a formula must be LaTeX that docutils knows: %s", error, location=node)
        return ""


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer that ``html_math_renderer`` names."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
