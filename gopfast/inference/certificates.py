"""Certificates of many fits: of one problem by as few searches as will do, of many problems side by side."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Union

from gopfast import checks
from gopfast.annotations import CertifyOptions, FitLike
from gopfast.certificate import Certificate, Verdict, certify, objective_of
from gopfast.clustering.problem import KMeans
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.parallel import outcomes

if TYPE_CHECKING:
    from typing_extensions import Unpack

Problem = Union[MixtureProblem, KMeans]  # noqa: UP007 - as `annotations`


def certify_all(
    problem: Problem | Sequence[Problem],
    fits: Sequence[FitLike],
    epsilon: float | None = None,
    *,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    **options: "Unpack[CertifyOptions]",
) -> tuple[Certificate, ...]:
    """
    Prove of each of many fits that it is globally optimal within epsilon, or find one that beats it by more.

    Fits of one problem share a search: the best of them is certified, and the bounds that this leaves decide most of
    the others. Different problems are certified on their own, at the same time if asked to.

    Parameters
    ----------
    problem : GaussianMixture or another mixture of `gopfast.models`, KMeans, or sequence of them
        That of all fits, or one for each fit: data of many groups, years or sites.
    fits : sequence
        Fits as of `gopfast.certify`.
    epsilon : float, optional
        As of `gopfast.certify`.
    time_limit : float, optional
        Seconds of each search.
    n_jobs : int, optional
        Problems at a time, by joblib: -1 for one per processor, None for what `joblib.parallel_config` says. Each is
        then searched by one thread, unless `n_threads` says otherwise. What is proved does not depend on it.
    **options
        Other options of `gopfast.certify`.

    Returns
    -------
    tuple of Certificate
        In the order of the fits. Where another fit's search has decided, `n_nodes` is 0, and `result` is that search's.

    Raises
    ------
    InputError
        If an argument is invalid, or a fit is none of its problem; the message says which.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> fits = [gopfast.local.em(problem, start=start) for start in ([-10, 15], [-5, 25])]
    >>> [certificate.verdict.name for certificate in gopfast.certify_all(problem, fits)]
    ['BEATEN', 'PROVED']
    """
    fits = list(fits)
    problems = [problem] * len(fits) if isinstance(problem, (MixtureProblem, KMeans)) else list(problem)
    if len(problems) != len(fits):
        raise InputError(f"fits must be one for each problem, {len(problems)}; got {len(fits)}")
    for number, one in enumerate(problems):
        if not isinstance(one, (MixtureProblem, KMeans)):
            raise InputTypeError(f"problem[{number}] must be a mixture or a KMeans; got {type(one).__name__}")
    if epsilon is not None:
        epsilon = checks.positive_number("epsilon", epsilon)
    groups = {}
    for number, one in enumerate(problems):
        groups.setdefault(id(one), []).append(number)
    together = [(problems[mine[0]], mine, [fits[number] for number in mine]) for mine in groups.values()]
    if len(together) > 1:
        options = {"n_threads": 1, "log": False, **options}
    found = {}
    for one in outcomes(_Group(epsilon, time_limit, options), together, n_jobs):
        found.update(one)
    return tuple(found[number] for number in range(len(fits)))


class _Group:
    """Certifies the fits of one problem: a task for another process."""

    def __init__(self, epsilon, time_limit, options):
        self.epsilon, self.options = epsilon, {"time_limit": time_limit, **options}

    def __call__(self, task):
        """Return the certificates by the numbers of the fits."""
        problem, numbers, fits = task
        read = {}
        for number, fit in zip(numbers, fits, strict=True):
            try:
                read[number] = fit, *objective_of(problem, fit, self.epsilon)
            except InputError as error:
                raise type(error)(f"fits[{number}]: {error}") from None
        found, known = {}, None
        for number in sorted(read, key=lambda number: (read[number][2], number)):
            fit, solution, objective, epsilon = read[number]
            certificate = known and _decided(known, solution, objective, epsilon)
            if certificate is None:
                certificate = certify(problem, fit, self.epsilon, **self.options)
                known = certificate if known is None else _sharper(known, certificate)
            found[number] = certificate
        return found


def _decided(known, solution, objective, epsilon):
    """Return the certificate of a fit by what is known of the problem, or None."""
    started = time.perf_counter()
    target = objective - epsilon
    if known.lower_bound >= target:
        verdict = Verdict.PROVED
    elif known.upper_bound < target:
        verdict = Verdict.BEATEN
    else:
        return None
    upper, better = objective, None
    if known.upper_bound < objective:
        upper, better = known.upper_bound, known.fit if known.better is None else known.better
    return replace(
        known, verdict=verdict, objective=objective, epsilon=epsilon, upper_bound=upper, fit=solution, better=better,
        n_nodes=0, time=time.perf_counter() - started,
    )  # fmt: skip


def _sharper(known, other):
    """Return a certificate with the best bounds of two."""
    best = other if other.upper_bound < known.upper_bound else known
    return replace(best, lower_bound=max(known.lower_bound, other.lower_bound))
