"""What the local methods share: arguments are checked, a start is made, the method runs, and its end is reported."""

from gopfast.mixtures.local._coordinates import Coordinates
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local._state import check_stopping
from gopfast.mixtures.local.starts import initial_state


def fit(problem, start, run, tol, max_iter, random_state) -> LocalResult:
    """
    Run a local method from what its user gave as a start, to which it returns if one was given that is better.

    Parameters
    ----------
    problem : MixtureProblem
    start : array_like, dict, or anything with a solution, or None
    run : callable
        ``run(problem, state, tol, max_iter)`` returns the last state, the objectives before the first step and after
        each step, and whether it has converged.
    tol, max_iter, random_state
        As of `gopfast.local.em`.
    """
    tol, max_iter = check_stopping(tol, max_iter)
    state = initial_state(problem, start, random_state)
    end, objectives, converged = run(problem, state, tol, max_iter)
    if start is not None and not objectives[-1] <= objectives[0] + tol:
        end, objectives = state, [*objectives, objectives[0]]
    return LocalResult.from_state(problem, end, objectives, converged)


def in_coordinates(minimize):
    """
    Make of a minimiser over a box of vectors what `fit` runs.

    Parameters
    ----------
    minimize : callable
        ``minimize(coordinates, vector, tol, max_iter)``, from the `Coordinates` of a problem and a point in their box,
        returns the last point, the objectives and whether it has converged.

    Returns
    -------
    callable
    """

    def run(problem, state, tol, max_iter):
        coordinates = Coordinates(problem)
        vector, objectives, converged = minimize(coordinates, coordinates.pack(state), tol, max_iter)
        return coordinates.unpack(vector), objectives, converged

    return run
