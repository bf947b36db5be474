"""Builds what the compiled core runs on from a problem object."""

import os
import weakref

from gopfast import _checks, _summary
from gopfast._mixture import MixtureData
from gopfast.errors import InputError

# The columns as the kernel wants them, once per problem; an entry goes with its problem.
_data = weakref.WeakKeyDictionary()

# After a fork the OpenMP pool of the parent is gone, and waking it would hang the child.
_state = {"forked": False}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _state.update(forked=True))


def mixture_data(problem):
    """Return the core's copy of a mixture problem (MixtureData), made on first use."""
    data = _data.get(problem)
    if data is None:
        low, high = problem.prior_variance_bounds if problem.prior == "empirical" else (problem.prior,) * 2
        precision = None if problem.prior is None else (1.0 / high, 1.0 / low)
        data = _data[problem] = MixtureData(
            problem.X, problem.sample_weight, problem.n_components, problem.noise_variance, precision
        )
        for level in _summary.levels(*data.arrays()):
            data.add_level(*level)
    return data


def start_means(problem, start):
    """Validate a start (means, or anything with a solution) and return its means (K, d), or None."""
    if start is None:
        return None
    start = getattr(start, "solution", start)
    means = _checks.real_array("start", getattr(start, "means", start))
    if problem.n_features == 1 and means.ndim == 1:
        means = means[:, None]
    shape = (problem.n_components, problem.n_features)
    if means.shape != shape:
        raise InputError(f"start must hold means of shape {shape}; got {means.shape}")
    return means


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
