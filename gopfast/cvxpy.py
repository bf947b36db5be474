"""gopfast as a method of CVXPY's problems; needs cvxpy, which ``pip install gopfast[cvxpy]`` brings.

Importing this module registers the method::

    import gopfast.cvxpy
    problem.solve(method="gopfast", time_limit=60)

CVXPY checks problems for convexity before it looks for a solver (``solver=``), those of its own as those from outside:
a method that is registered (`cvxpy.Problem.register_solve`) is its way around that check.
"""

from typing import Any

import cvxpy

from gopfast.solver import solve as solve_globally

METHOD = "gopfast"


def solve(problem: cvxpy.Problem, verbose: bool = False, **options: Any) -> float | None:
    """
    Solve a bilinear and convex quadratic problem to a proved global optimum.

    Parameters
    ----------
    problem : cvxpy.Problem
        Its variables, value, status and `solver_stats` are set; dual values are None.
    verbose : bool
        Whether to print the table of the progress, as ``log=True``.
    options
        Of `gopfast.solve`.

    Returns
    -------
    float or None
        ``problem.value``: the objective of the best point found, infinite where there is none.

    Raises
    ------
    InputError
        For a bad option, or a problem outside the class; the message names it.
    """
    if verbose:
        options.setdefault("log", True)
    solve_globally(problem, **options)
    value: float | None = problem.value
    return value


cvxpy.Problem.register_solve(METHOD, solve)
