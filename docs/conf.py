"""Sphinx settings: ``make docs``."""

import sys
from pathlib import Path
from types import ModuleType

from sphinx.util.logging import getLogger
from sphinx_gallery.sorting import FileNameSortKey

import gopfast

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import reference  # noqa: E402

# Some names are loaded on first use, and autodoc sees only what has been.
vars(gopfast).update({name: getattr(gopfast, name) for name in gopfast.__all__})
reference.write(HERE)

project = "gopfast"
author = "the gopfast authors"
copyright = author
version = release = gopfast.__version__
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "mathml", "numpydoc", "sphinx_design",
    "sphinx_gallery.gen_gallery",
]  # fmt: skip
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "report", "sg_execution_times.rst", "gallery/GALLERY_HEADER.rst"]
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "gopfast"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_sourcelink = False
# Pages without pages below them have no navigation on the left.
html_sidebars = {
    name: [] for name in ("index", "install", "guide", "families", "choosing", "fits", "peers")
}
html_math_renderer = "mathml"
highlight_language = "text"  # what is printed is no Python
html_theme_options = {
    "header_links_before_dropdown": 9,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "within_subsection_order": FileNameSortKey,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "matplotlib_animations": False,
}

# Docstrings name things in single backticks: a link where there is such a thing, else code.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
linkcheck_timeout = 10


def escape(app, what, name, obj, options, lines):
    """Keep |I_c| and names that end in _ from being read as substitutions and targets."""
    literal = False
    for i, line in enumerate(lines):
        if literal and line.strip() and not line.startswith((" ", "\t")):
            literal = False
        if not literal and "``" not in line and not line.lstrip().startswith((">>>", ":", "..")):
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
