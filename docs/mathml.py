"""Formulas as MathML, which browsers typeset themselves: no script and no network."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def inline(self, node):
    """Write a formula within a line."""
    self.body.append(convert(node.astext()))
    raise SkipNode


def block(self, node):
    """Write a formula of its own, which scrolls where it is wide."""
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app):
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
