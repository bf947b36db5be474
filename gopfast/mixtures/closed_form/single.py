"""
One component: the best fit in closed form, with bounds.

With K = 1 all responsibilities and the weight are 1, so that one M step is all of EM. It ends in the global optimum:

- Exponential families (Bernoulli, Poisson, exponential, categorical): min over theta of -S log-density terms is linear
  in the sums (A, B) of the samples and the prior's pseudo-observations, and convex in the natural parameter; its one
  stationary point matches the moments.
- Gaussian, known variance: for a given prior variance a convex quadratic of the mean. What is left with
  ``prior="empirical"`` is a function of Gamma alone that may have two minima, see
  `gopfast.mixtures.problems.gaussian_closed_form`: EM can end in the worse one, there both are compared.
- Gaussian, free variance above a floor: whatever the covariance the best mean is the samples', and what is left,
  log det C + tr(C^-1 M), is convex in C^-1; in units of the floor the eigenvalues of M below 1 are raised to 1.

Each problem solves its own, ``MixtureProblem._closed_form``.

Theory: (F11) of docs/theory/families.md.
"""

import math

import numpy as np

from gopfast.mixtures.problems.closed_form import Optimum


def optimum(problem):
    """
    Return the Optimum of a mixture of one component, or None where it has no closed form.

    Parameters
    ----------
    problem : MixtureProblem

    Returns
    -------
    Optimum or None
        None also where the numbers come near the ends of the floats' range.
    """
    if problem.n_components > 1:
        return None
    used = problem.sample_weight > 0.0
    X, w = (problem.X, problem.sample_weight) if used.all() else (problem.X[used], problem.sample_weight[used])
    with np.errstate(all="ignore"):
        found = problem._closed_form(X, w)
    # Comparisons that NaN fails.
    if found and -math.inf < found.lower_bound <= found.objective < math.inf:
        # a mean of large numbers is rounded where it is returned, which the closed form's objective does not know
        attained = problem.objective(np.ones(1), **found.parameters)
        objective = max(float(found.objective), attained) if attained < math.inf else float(found.objective)
        return Optimum(found.parameters, objective, float(found.lower_bound))
    return None
