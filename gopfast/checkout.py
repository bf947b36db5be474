"""
Importing the package in its source folder, where Python finds the sources before the installed package.

Sources without a compiled core hand over to the installed package, so that one program means the same everywhere.
"""

import sys
from importlib.machinery import PathFinder
from pathlib import Path

CORE = "gopfast.search.search"
ADVICE = "run `pip install .` in the source folder, or `pip install -e .` to work on the sources"


def package_path(sources):
    """
    Where to import the package's modules from.

    Parameters
    ----------
    sources : list of str
        The ``__path__`` of the package whose ``__init__`` asks.

    Returns
    -------
    list of str
        `sources` where the compiled core is among them, or where no installed package has one either; else the
        installed package's.

    Raises
    ------
    ImportError
        If the installed package was made from another ``__init__`` than the one that asks.
    """
    if _has_core(sources):
        return sources
    here = Path(sources[0]).resolve()
    elsewhere = [entry for entry in sys.path if Path(entry).resolve() != here.parent]
    installed = PathFinder.find_spec(CORE.partition(".")[0], elsewhere)
    path = list(installed.submodule_search_locations or ()) if installed is not None else []
    if not _has_core(path):
        return sources
    if Path(installed.origin).read_bytes() != (here / "__init__.py").read_bytes():
        raise ImportError(f"the gopfast in {path[0]} was installed from other sources than those in {here}: {ADVICE}")
    return path


def _has_core(path):
    """Whether the compiled core is in a package with this ``__path__``."""
    _, *rooms, _ = CORE.split(".")
    return PathFinder.find_spec(CORE, [str(Path(entry, *rooms)) for entry in path]) is not None
