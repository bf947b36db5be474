"""
The compiled core as problems see it: samples in its form, and the modules of its families by name.

A problem object is handed this module when its family is wanted (``MixtureProblem._family``), so that problems load
nothing compiled and no list of families is kept: ``core.normal.NormalFamily`` is that of `families.normal`.
"""

import importlib

from gopfast.mixtures.core_axes import canonical_axes, component_axes
from gopfast.mixtures.data import summary
from gopfast.mixtures.data.samples import Samples

__all__ = ["canonical_axes", "component_axes", "samples", "summarised"]


def samples(X, weights, scale, squares=False):
    """
    Make the core's copy of samples, with summaries where they are many.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    weights : ndarray, shape (n,)
    scale : ndarray, shape (d,)
        Unit of each column, such as the standard deviation of a component.
    squares : bool
        Whether the squares of the coordinates are statistics too.

    Returns
    -------
    Samples
    """
    return summarised(Samples(X, weights, scale, squares=squares))


def summarised(data):
    """Attach the summaries of many samples."""
    for level in summary.levels(*data.arrays()):
        data.add_level(*level)
    return data


def __getattr__(name):
    """Return a module of the families."""
    try:
        return importlib.import_module(f"gopfast.mixtures.families.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"there is no family module {name!r}") from error
