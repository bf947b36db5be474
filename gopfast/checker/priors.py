"""What a prior adds: pseudo-observations.

A conjugate prior of a column's parameter costs what nu samples of total chi would, and a constant Z:

    Beta(a, b) of a probability           nu = a + b - 2        chi = a - 1        Z = log B(a, b)
    Dirichlet(alpha) of n labels          nu = n (alpha - 1)    chi = alpha - 1    Z = n log G(alpha) - log G(n alpha)
    Gamma(s, r) of a count's rate         nu = r                chi = s - 1        Z = log G(s) - s log r
    Gamma(s, r) of one over a mean        nu = s - 1            chi = r            Z likewise

so that a component costs (S + nu) h((T + chi) / (S + nu)) at its best parameters, which the affine function of
`families` bounds: by what the samples add up to, and by nu a + b (chi - nu reference).

A prior m ~ N(0, Gamma) of a mean of known variance s costs m^2 / (2 Gamma) + log(Gamma) / 2: nu = e s samples at 0,
e = 1 / Gamma. Where Gamma is estimated, e is what makes the sum least: e P - (K d / 2) log e, convex in e, for e in
its range, with P = sum_kj s_j (a_kj - b_kj reference_j + reference_j^2 / (2 s_j)).

Theory: (V4) of docs/theory/proofs.md.
"""

import math

import numpy as np

from .entries import number, numbers
from .errors import ProofError
from .margins import GAMMA_ERROR
from .rounding import ULPS, UNIT, Interval, down, up

LOG_2_PI = math.log(2.0 * math.pi)


def pseudo_observations(problem):
    """Return nu and chi of every column, of conjugate priors."""
    d = problem.columns.shape[1]
    if problem.prior is None:
        return Interval(np.zeros(d)), Interval(np.zeros(d))
    parts = []
    for kind, (a, b) in zip(problem.kinds, problem.prior, strict=True):
        less = Interval(a) - 1.0 if a > 1 else Interval(0.0)
        if kind == "bernoulli":
            parts.append((less + (Interval(b) - 1.0) if b > 1 else less, less))
        elif kind == "label":
            parts.append((less * b if a > 1 else less, less))  # a product of 0 is rounded away from it
        else:
            parts.append((Interval(b), less) if kind == "poisson" else (less, Interval(b)))
    return tuple(Interval([part[i].low for part in parts], [part[i].high for part in parts]) for i in range(2))


def leaf_terms(problem, intercepts, slopes, reference, within=None):
    """Return what the prior adds to the bounds of leaves (L,), rounded down; within: the range of e there."""
    if problem.prior is None:
        return 0.0
    reference = Interval(reference)
    if problem.family not in ("known", "posterior"):
        nu, chi = pseudo_observations(problem)
        total = (Interval(intercepts) * nu + (chi - nu * reference) * slopes).sum(axis=(1, 2))
        return down(total.low + intercepts.shape[1] * _normalisers(problem).low)
    variances = problem.noise_variance
    terms = Interval(intercepts) * variances - reference * variances * slopes + reference * reference * 0.5
    P = terms.sum(axis=(1, 2)).low
    power = 0.5 * slopes.shape[1] * slopes.shape[2]
    first, last = precisions(problem) if within is None else within
    e = np.clip(np.where(power < last * P, power / np.where(P > 0, P, 1.0), last), first, last)
    logs = power * np.log(e)
    return e * P - logs - 64 * UNIT * (np.abs(e * P) + np.abs(logs) + power)


def attained(problem, p, means, solution):
    """Return what the prior adds to the objective at parameters, rounded up."""
    if problem.prior is None:
        return 0.0
    if problem.family in ("known", "posterior"):
        gamma = number(solution, "prior_variance", "solution")
        if not problem.prior[0] <= gamma <= problem.prior[1]:
            raise ProofError("solution", "its prior variance is out of range")
        terms = [0.5 * means.size * math.log(gamma), *(np.square(means) / (2.0 * gamma)).ravel()]
        if problem.family == "posterior":
            s = numbers(solution, "posterior_variances", "solution", means.shape, 1e-300)
            terms += [*(s / (2.0 * gamma)).ravel(), *(-0.5 * np.log(s)).ravel(), -0.5 * s.size * (1 + LOG_2_PI)]
    else:
        terms = [problem.n_components * _normalisers(problem).high]
        for j, (kind, (a, b)) in enumerate(zip(problem.kinds, problem.prior, strict=True)):
            m, more = means[:, j], a - 1.0
            if kind == "poisson":
                terms += [*(b * m), *_times_log(more, m)]
            elif kind == "exponential":
                terms += [*(b / m), *-_times_log(more, m)]
            else:
                terms += [*_times_log(more, m), *(_times_log(b - 1.0, 1.0 - m) if kind == "bernoulli" else [])]
    total = math.fsum(terms)
    return total + 64 * UNIT * math.fsum(map(abs, terms))


def _times_log(factor, m):
    return -factor * np.log(m) if factor > 0 else np.zeros(len(m))


def precisions(problem):
    """Range of e, of known variances."""
    low, high = problem.prior
    return float(down(1.0 / high)), float(up(1.0 / low))


def _normalisers(problem):
    """Sum of Z over the columns."""
    terms, sizes, groups = [], [], set()
    for kind, group, (a, b) in zip(problem.kinds, problem.groups, problem.prior, strict=True):
        if kind == "label":
            parts = [] if group in groups else [b * math.lgamma(a), -math.lgamma(a * b)]
            groups.add(group)
        elif kind == "bernoulli":
            parts = [math.lgamma(a), math.lgamma(b), -math.lgamma(a + b)]
        else:
            parts = [math.lgamma(a), -a * math.log(b)]
        terms += parts
        sizes += [abs(part) + a + b for part in parts]
    total, size = math.fsum(terms), GAMMA_ERROR * (1 + math.fsum(sizes)) + ULPS * UNIT
    return Interval(total - size, total + size)
