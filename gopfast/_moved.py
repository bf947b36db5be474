"""
Modules under the names that they had before they were sorted into rooms.

Pickles name the module of each class, so those written before must find it: `sys.modules` gets the old name for the new
module when it is first asked for. Nothing in the package imports an old name.
"""

import importlib
import importlib.abc
import importlib.util
import sys

# Old name -> new name, both within gopfast.
MODULES = {
    "_alternating": "biconvex.alternating",
    "_arguments": "arguments",
    "_axes": "mixtures.families.axes",
    "_basin": "mixtures.bounds.basin",
    "_biconvex": "biconvex.data",
    "_biconvex_result": "biconvex.result",
    "_biconvex_solve": "biconvex.solve",
    "_bilinear": "biconvex.bilinear",
    "_ceiling": "mixtures.bounds.ceiling",
    "_checkout": "checkout",
    "_checks": "checks",
    "_columns": "mixtures.families.columns",
    "_csv_header": "reading.header",
    "_csv_numbers": "reading.numbers",
    "_csv_rows": "reading.rows",
    "_csv_text": "reading.text",
    "_cvxpy": "biconvex.cvxpy",
    "_em": "mixtures.bounds.em",
    "_engine": "mixtures.engine",
    "_entropic": "mixtures.bounds.entropic",
    "_exponential": "mixtures.families.exponential",
    "_family": "mixtures.families.family",
    "_fits": "mixtures.fits",
    "_full": "mixtures.families.full",
    "_gaussian": "mixtures.families.gaussian",
    "_grid": "mixtures.data.grid",
    "_grouping": "biconvex.grouping",
    "_highs": "lp.highs",
    "_hitting": "mixtures.bounds.hitting",
    "_lifting": "biconvex.lifting",
    "_linear": "mixtures.bounds.linear",
    "_log_gamma": "mixtures.problems.log_gamma",
    "_lp": "lp.lp",
    "_matrices": "mixtures.families.matrices",
    "_matrix": "mixtures.families.matrix",
    "_milp": "lp.milp",
    "_mixing": "mixtures.bounds.mixing",
    "_nonparametric": "mixtures.bounds.nonparametric",
    "_normal": "mixtures.families.normal",
    "_partition": "biconvex.partition",
    "_passes": "mixtures.data.passes",
    "_recession": "biconvex.recession",
    "_refinement": "mixtures.bounds.refinement",
    "_relaxation": "search.relaxation",
    "_representation": "mixtures.representation",
    "_restart": "restart",
    "_samples": "mixtures.data.samples",
    "_scatter": "mixtures.families.scatter",
    "_search": "search.search",
    "_single": "mixtures.bounds.single",
    "_spikes": "mixtures.spikes",
    "_stop": "search.stop",
    "_summary": "mixtures.data.summary",
    "_table": "reading.table",
    "_tied": "mixtures.families.tied",
    "_ties": "mixtures.data.ties",
    "_tightening": "biconvex.tightening",
    "_tree": "search.tree",
    "_weights": "mixtures.bounds.weights",
    "_words": "words",
    "local._anneal": "mixtures.local._anneal",
    "local._cavi": "mixtures.local._cavi",
    "local._conjugate_gradient": "mixtures.local._conjugate_gradient",
    "local._coordinates": "mixtures.local._coordinates",
    "local._em": "mixtures.local._em",
    "local._embedding": "mixtures.local._embedding",
    "local._kmeans": "mixtures.local._kmeans",
    "local._quasi_newton": "mixtures.local._quasi_newton",
    "local._result": "mixtures.local._result",
    "local._state": "mixtures.local._state",
    "local.starts": "mixtures.local.starts",
    "candidates": "inference.candidates",
    "clusterer": "estimators.kmeans",
    "counts_and_labels": "estimators.counts_and_labels",
    "estimation": "estimators.base",
    "estimator": "estimators.gaussian",
    "landscape": "inference.landscape",
    "models._base": "mixtures.problems.base",
    "models._floors": "mixtures.problems.floors",
    "models._gamma": "mixtures.problems.priors",
    "models.bernoulli": "mixtures.problems.bernoulli",
    "models.biconvex": "biconvex.problem",
    "models.categorical": "mixtures.problems.categorical",
    "models.exponential": "mixtures.problems.exponential",
    "models.gaussian": "mixtures.problems.gaussian",
    "models.poisson": "mixtures.problems.poisson",
    "profiles": "inference.profiles",
    "resampling": "inference.resampling",
    "selection": "inference.selection",
    "solution": "mixtures.solution",
}
# Classes that went from a module that is still there to another, likewise.
NAMES = {"result.MixtureSolution": "mixtures.solution", "result.Result": "mixtures.result"}
# Functions under the names that they had: old name -> module and new name.
FUNCTIONS = dict.fromkeys(
    ("select_components", "inference.selection.select_components"), ("inference.selection", "select")
)
PACKAGE = __name__.partition(".")[0]


class Moved(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of `MODULES` under their old names."""

    def find_spec(self, fullname, path=None, target=None):
        """Return a spec that loads the module from its new place, or None for what has not moved."""
        package, _, old = fullname.partition(".")
        if package != PACKAGE or old not in MODULES:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec):
        """Return the module from its new place."""
        module = importlib.import_module(f"{PACKAGE}.{MODULES[spec.name.partition('.')[2]]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        """Give the module back its own spec, which the import system has replaced; it was executed in its new place."""
        module.__spec__ = module.__spec__.loader_state


def attribute(module, name):
    """Return the module or class that a module had under a name; for the ``__getattr__`` of modules."""
    place = f"{module}.{name}"
    old = place.partition(".")[2]
    if old in MODULES:
        return importlib.import_module(place)
    if old in FUNCTIONS:
        where, now = FUNCTIONS[old]
        return getattr(importlib.import_module(f"{PACKAGE}.{where}"), now)
    if old in NAMES:
        return getattr(importlib.import_module(f"{PACKAGE}.{NAMES[old]}"), name)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def install():
    """Let old names be imported; last in line, so that it costs nothing until a name is found nowhere else."""
    if not any(isinstance(finder, Moved) for finder in sys.meta_path):
        sys.meta_path.append(Moved())
