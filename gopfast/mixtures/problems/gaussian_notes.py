"""What a reader of a Gaussian mixture's result should know: estimates on their bounds, constant columns."""

import numpy as np

from gopfast.mixtures import floor_components
from gopfast.mixtures.data.squares import weighted_squares
from gopfast.mixtures.problems.covariance import Diagonal, Tied
from gopfast.mixtures.problems.tuning import MOST_COLUMNS_CLOSED, MOST_COLUMNS_SHOWN, MOST_SPREAD, ON_BOUND, ON_FLOOR


def notes(problem, solution, proved) -> list[str]:
    """
    Return the notes on a solution.

    Parameters
    ----------
    problem : GaussianMixture
    solution : MixtureSolution
    proved : bool
        Whether it is proved optimal.
    """
    found = []
    if problem.prior == "empirical":
        for name, bound in zip(("lower", "upper"), problem.prior_variance_bounds, strict=True):
            if abs(solution.prior_variance - bound) <= ON_BOUND * bound:
                found.append(f"prior_variance sits on its {name} bound {bound:g}; see prior_variance_bounds")
                break
    found += _on_floor(problem, solution, proved) if problem.kind.estimated else _absurd_unit(problem, solution)
    return found + _constant_columns(problem)


def _on_floor(problem, solution, proved):
    """Note free variances on the floor, and matrices that are seldom proved."""
    found, kind = [], problem.kind
    on_floor = np.flatnonzero(floor_components.floors(problem, solution.covariances) <= 1.0 + ON_FLOOR)
    if on_floor.size and kind.shared:
        found.append(f"the shared covariance sits on variance_floor{_smaller(problem, solution)}")
    elif on_floor.size:
        which = f"component{'s' * (on_floor.size > 1)} {', '.join(map(str, on_floor))}"
        found.append(f"on variance_floor: the variances of {which}{_smaller(problem, solution)}")
    if kind.free_form and not kind.shared and problem.n_features > MOST_COLUMNS_CLOSED and not proved:
        found.append(
            f"covariance={kind.name!r} with more than two columns: the bound holds, but comes near the objective "
            "only of many rows in three or four columns, of clusters far apart; "
            f"{Tied.name!r} and {Diagonal.name!r} can be proved"
        )
    return found


def _smaller(problem, solution):
    """Tell what a floor smaller than the one given would give; of the default one the caution tells."""
    if problem._default_floor or problem.noise is not None:
        return ""
    gain = floor_components.smaller_floor_gain(problem, solution)
    return f"; one {floor_components.SMALLER} times smaller gives {gain:.3g} nats or more"


def _absurd_unit(problem, solution):
    """Note a known variance that has nothing to do with the spread of the data, as in another unit."""
    share, known = problem.sample_weight / problem.total_weight, problem.noise_variance
    total = weighted_squares(problem.X, share, share @ problem.X)
    # the squares about the components' means are part of all: responsibilities are seldom asked for
    if not ((total > MOST_SPREAD * known) | (total * MOST_SPREAD < known)).any():
        return []
    within = sum(
        weighted_squares(problem.X, share * tau, mean)
        for tau, mean in zip(solution.responsibilities.T[: problem.n_components], solution.means, strict=True)
    )
    for j, v in enumerate(known):
        if within[j] > MOST_SPREAD * v:
            what = f"the samples' variance about the fitted means is {within[j]:.3g}"
        elif 0.0 < total[j] * MOST_SPREAD < v:
            what = f"the whole column has a variance of {total[j]:.3g}"
        else:
            continue
        column = f" of column {j}" * (problem.n_features > 1)
        return [
            f"the known variance{column} is {v:g}, but {what}: give noise_variance in squared units of X, or estimate "
            f"it with covariance={Diagonal.name!r}"
        ]
    return []


def _constant_columns(problem):
    """Return a note on columns that do not vary beside others that do."""
    constant = problem._constant_columns()
    if not constant.size or (constant.size == problem.n_features and not problem._default_floor):
        return []
    which = ", ".join(map(str, constant[:MOST_COLUMNS_SHOWN])) + ", ..." * (constant.size > MOST_COLUMNS_SHOWN)
    note = f"constant in X: column{'s' * (constant.size > 1)} {which}; nothing is learnt from constant columns"
    if problem._default_floor and np.ndim(problem.variance_floor):
        floors = np.unique(problem.variance_floor[constant])
        shown = f"{floors[0]:.3g}" if len(floors) == 1 else f"{floors[0]:.3g} to {floors[-1]:.3g}"
        note += f", and their variance_floor, {shown} by default, moves the likelihood but not the fit"
    return [note]
