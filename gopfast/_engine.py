"""Builds what the compiled core runs on from a problem object."""

import os
import weakref

import numpy as np

from gopfast import _checks, _summary
from gopfast._gaussian import GaussianFamily
from gopfast._samples import Samples
from gopfast.errors import InputError

# The columns as the kernel wants them, once per problem; an entry goes with its problem.
_families = weakref.WeakKeyDictionary()

# After a fork the OpenMP pool of the parent is gone, and waking it would hang the child.
_state = {"forked": False}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _state.update(forked=True))


def family(problem):
    """Return the core's copy of a mixture problem (a Family with its samples), made on first use."""
    found = _families.get(problem)
    if found is None:
        found = _families[problem] = _gaussian(problem)
    return found


def _gaussian(problem):
    low, high = problem.prior_variance_bounds if problem.prior == "empirical" else (problem.prior,) * 2
    precision = None if problem.prior is None else (1.0 / high, 1.0 / low)
    data = Samples(problem.X, problem.sample_weight, np.sqrt(problem.noise_variance))
    for level in _summary.levels(*data.arrays()):
        data.add_level(*level)
    return GaussianFamily(data, problem.n_components, precision, problem.posterior == "gaussian")


def start_parameters(problem, start):
    """Validate a start (means, or anything with a solution) and return the core's parameters of it, or None."""
    if start is None:
        return None
    start = getattr(start, "solution", start)
    means = _checks.real_array("start", getattr(start, "means", start))
    if problem.n_features == 1 and means.ndim == 1:
        means = means[:, None]
    shape = (problem.n_components, problem.n_features)
    if means.shape != shape:
        raise InputError(f"start must hold means of shape {shape}; got {means.shape}")
    return family(problem).pack(means)


def n_threads(requested):
    """Return the number of threads to use: as requested, or one per processor this process may run on."""
    if _state["forked"]:
        return 1
    if requested is not None:
        return requested
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
