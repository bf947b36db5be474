"""Sphinx settings: ``make docs``."""

from types import ModuleType

from sphinx.util.logging import getLogger

import gopfast

# Some names are loaded on first use, and autodoc sees only what has been.
vars(gopfast).update({name: getattr(gopfast, name) for name in gopfast.__all__})

project = "gopfast"
author = "the gopfast authors"
version = release = gopfast.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Mixture models with a proof", "fixed_sidebar": True}
html_show_sourcelink = False

# Docstrings name things in single backticks: a link where there is such a thing, else code.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
linkcheck_timeout = 10


def escape(app, what, name, obj, options, lines):
    """Keep |I_c| and names that end in _ from being read as substitutions and targets."""
    literal = False
    for i, line in enumerate(lines):
        if literal and line.strip() and not line.startswith((" ", "\t")):
            literal = False
        if not literal and "``" not in line and not line.lstrip().startswith(">>>"):
            lines[i] = line.replace("|", "\\|")
        literal = literal or line.rstrip().endswith("::")


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds to an estimator: its texts refer to its own pages."""
    added = (getattr(obj, "__module__", None) or "").startswith("sklearn.") or name.endswith("_request")
    return True if added else None


def check_reference(app, env):
    """Warn of public names that the reference lacks."""
    described = env.get_domain("py").objects
    for name in gopfast.__all__:
        if f"gopfast.{name}" not in described and not isinstance(getattr(gopfast, name), ModuleType):
            getLogger(__name__).warning("gopfast.%s is not in the reference", name)


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("env-check-consistency", check_reference)
    app.connect("autodoc-process-docstring", escape)
