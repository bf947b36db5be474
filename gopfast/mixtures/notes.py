"""What a reader of a mixture's result should know, of any model."""

import numpy as np

from gopfast.mixtures.tuning import NOTES_SAME as SAME, UNUSED
from gopfast.result import Status


def notes_of(problem, solution, status):
    """Return what a reader of the result should know."""
    notes = problem._notes(solution, status == Status.OPTIMAL)
    flat = problem.prior in problem._flat_priors
    used = np.flatnonzero(solution.weights[: problem.n_components] >= UNUSED)
    if len(used) < problem.n_components:
        what = "mean is" if problem.parameter_names[0] == "means" else f"{problem.parameter_names[0]} are"
        which = "arbitrary" if flat or problem.prior == "empirical" else "the prior's alone"
        notes.append(f"a component has no weight: its {what} {which}, and fewer components fit as well")
    if _equal_components(solution, used):
        notes.append("components are equal: how their weight is divided is arbitrary, and fewer components fit as well")
    needed = problem._n_columns_to_identify
    if flat and problem.n_components > 1 and np.count_nonzero(np.ptp(problem.X, axis=0)) < needed:
        notes.append(
            f"fewer than {needed} columns that vary: the {problem.parameter_names[0]} need not be unique, even up to "
            "the components' order; the value is proved nevertheless"
        )
    return notes


def _equal_components(solution, used):
    """Whether two of the components `used` have equal parameters."""
    if len(used) < 2:
        return False
    values = [solution.parameters[name] for name in solution.problem._own_names()]
    arrays = [array for value in values for array in (value if isinstance(value, tuple) else (value,))]
    arrays = [np.reshape(array, (len(array), -1))[used] for array in arrays if array is not None]
    scaled = np.hstack([array / np.maximum(np.abs(array).max(axis=0), 1e-300) for array in arrays])
    apart = np.abs(scaled[:, np.newaxis] - scaled).max(axis=2)
    np.fill_diagonal(apart, np.inf)
    return bool((apart <= SAME).any())
