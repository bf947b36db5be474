"""The certificate of a fit: proved, beaten or undecided."""

import enum
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gopfast import checks
from gopfast.annotations import Callback, CertifyOptions, FitLike
from gopfast.clustering.problem import KMeans
from gopfast.clustering.result import Clustering
from gopfast.clusterwise.problem import ClusterwiseRegression
from gopfast.clusterwise.result import ClusterwiseFit
from gopfast.errors import InputTypeError
from gopfast.margins import ROUNDING
from gopfast.mixtures.fits import solution_of
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.result import Result
from gopfast.mixtures.solution import MixtureSolution
from gopfast.result import Status
from gopfast.solver import solve
from gopfast.tuning import EPSILON, LEAST_EPSILON, SEARCH_SHARE
from gopfast.words import Word

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Verdict(Word, enum.Enum):
    """What is proved of a fit; prints as its name and equals it, ``certificate.verdict == "PROVED"``."""

    PROVED = "no fit has an objective lower by more than epsilon"
    BEATEN = "another fit has an objective lower by more than epsilon"
    UNDECIDED = "the limit came before the answer; only the bounds are proved"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Certificate:
    """
    What is proved of a fit; ``lower_bound <= global optimum <= upper_bound`` whatever the verdict.

    Attributes
    ----------
    verdict : Verdict
        PROVED, BEATEN or UNDECIDED.
    objective : float
        The fit's objective by ``problem.objective``, in nats.
    epsilon : float
        The tolerance asked for, in nats.
    lower_bound : float
        No fit has a smaller objective.
    upper_bound : float
        The best objective known, the fit's own included.
    fit : MixtureSolution, Clustering or ClusterwiseFit
        The fit.
    better : MixtureSolution, Clustering, ClusterwiseFit or None
        A fit with a lower objective, if one was found; with verdict BEATEN always.
    result : Result
        The last search's result; it may have stopped long before its own proof.
    n_nodes : int
        Nodes bounded.
    time : float
        Seconds.
    """

    verdict: Verdict
    objective: float
    epsilon: float
    lower_bound: float
    upper_bound: float
    fit: MixtureSolution
    better: MixtureSolution | None
    result: Result
    n_nodes: int
    time: float

    @property
    def gap(self) -> float:
        """``objective - lower_bound``, in nats: the fit is at most this far from the global optimum."""
        return self.objective - self.lower_bound

    @property
    def excess(self) -> float:
        """``objective - upper_bound``, in nats, at least 0: the fit is at least this far from the global optimum."""
        return self.objective - self.upper_bound

    def __repr__(self) -> str:
        """Return the verdict and the bounds on one line."""
        return (
            f"Certificate({self.verdict.name}, objective={self.objective:.8g}, lower_bound={self.lower_bound:.8g}, "
            f"upper_bound={self.upper_bound:.8g}, epsilon={self.epsilon:g})"
        )

    def __str__(self) -> str:
        """Return a short readable summary."""
        caution = f"; but {self.result.caution}" if self.result.caution else ""
        lines = [
            f"{self.verdict.name}: {self.verdict.value} ({self.epsilon:g}){caution}",
            f"  the fit      {self.objective:.8g}",
        ]
        if self.better is not None:
            lines[-1] += f"  at least {self.excess:.6g} above the global optimum"
            lines.append(f"  a better fit {self.upper_bound:.8g}  lower by {self.excess:.6g}")
        # Of a fit that is beaten, the search stops at the first better one: its lower bound tells nothing yet.
        if self.verdict is not Verdict.BEATEN:
            lines.append(f"  proved bound {self.lower_bound:.8g}  the fit is at most {self.gap:.3g} above the optimum")
        elif self.lower_bound > -float("inf"):
            lines.append(f"  proved bound {self.lower_bound:.8g}  no fit lies below it; not refined any more")
        lines.append(f"  work         {self.n_nodes:,} nodes in {self.time:.3g} s")
        if self.better is not None:
            lines.append(str(self.better))
        return "\n".join(lines)


def certify(
    problem: "MixtureProblem | KMeans | ClusterwiseRegression",
    fit: FitLike,
    epsilon: float | None = None,
    *,
    time_limit: float | None = None,
    callback: Callback | None = None,
    **options: "Unpack[CertifyOptions]",
) -> Certificate:
    """
    Prove that a fit is globally optimal within epsilon, or find one that beats it by more.

    The search starts from the fit and stops as soon as the answer is known: proved at
    ``LBD >= objective - epsilon``, beaten at ``UBD < objective - epsilon``.

    Parameters
    ----------
    problem : GaussianMixture or another mixture of `gopfast.models`, KMeans, or ClusterwiseRegression
        The model and the data.
    fit : MixtureSolution, Result, LocalResult, dict, sequence or estimator
        The fit: anything with a solution; a dict with "weights" and the problem's parameters, or what
        `Result.to_dict` returns; a sequence of the weights and one value for each of
        ``problem.parameter_names``; or a fitted `sklearn.mixture.GaussianMixture`. Of a k-means problem: a result,
        labels (n,), centers (K, d) or a fitted `sklearn.cluster.KMeans`; of a clusterwise regression: a result, labels
        (n,), a dict with "coefficients" and "intercepts", or a fitted `GlobalClusterwiseRegression`.
    epsilon : float, optional
        Absolute tolerance. Mixtures: 0.01 nats by default. k-means and clusterwise regressions: 1e-4 times the sum of
        squares of the fit.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        As of `gopfast.solve`; returning True leaves the fit undecided.
    **options
        Other options of `gopfast.solve`: `max_nodes` (of each search), `n_threads`, `log`, `relaxation` and more.

    Returns
    -------
    Certificate

    Raises
    ------
    InputError
        If an argument is invalid, or the fit is none of this problem, such as one with a variance below the floor.

    Notes
    -----
    The fit's objective is as exact as double precision sums; the bounds are proved whatever the rounding.
    Where the fit is worse than the best found, but by less than epsilon, a second search with a smaller tolerance
    may be needed. Ctrl-C leaves the fit undecided, with the bounds reached.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference": the bounds
    as a running oracle for a local method.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> trapped = gopfast.local.em(problem, start=[-10, 15])
    >>> gopfast.certify(problem, trapped).verdict.name
    'BEATEN'
    >>> gopfast.certify(problem, gopfast.local.em(problem, start=[-5, 25])).verdict.name
    'PROVED'
    """
    started = time.perf_counter()
    if epsilon is not None:
        epsilon = checks.positive_number("epsilon", epsilon)
    if time_limit is not None:
        time_limit = checks.nonnegative_number("time_limit", time_limit, infinite=True)
    fit, objective, epsilon = objective_of(problem, fit, epsilon)
    target = objective - epsilon

    def verdict(lower, upper):
        if lower >= target:
            return Verdict.PROVED
        return Verdict.BEATEN if upper < target else Verdict.UNDECIDED

    def decided(state):
        asked = callback is not None and callback(state) is True
        return asked or verdict(state.lower, state.upper) is not Verdict.UNDECIDED

    best, upper, lower, n_nodes, tolerance = fit, objective, -float("inf"), 0, SEARCH_SHARE * epsilon
    while True:
        left = None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - started))
        result = solve(
            problem, tolerance, rel_tol=0.0, start=best, time_limit=left, callback=decided, **options
        )
        n_nodes += result.n_nodes
        lower = max(lower, result.lower_bound)
        if result.objective < upper:
            best, upper = result.solution, result.objective
        answer = verdict(lower, upper)
        # What is open above the target decides; the search has left more than that open.
        tolerance = 0.5 * (upper - target)
        if answer is not Verdict.UNDECIDED or result.status is not Status.OPTIMAL:
            break
        if not tolerance > ROUNDING * (1.0 + abs(target)):
            break
    return Certificate(
        verdict=answer,
        objective=objective,
        epsilon=epsilon,
        lower_bound=lower,
        upper_bound=upper,
        fit=fit,
        better=None if best is fit else best,
        result=result,
        n_nodes=n_nodes,
        time=time.perf_counter() - started,
    )


def objective_of(
    problem: "MixtureProblem | KMeans | ClusterwiseRegression", fit: FitLike, epsilon: float | None = None
) -> "tuple[MixtureSolution | Clustering | ClusterwiseFit, float, float]":
    """Return a fit as a solution of its problem, its objective, and the tolerance: by default that of `certify`."""
    if isinstance(problem, KMeans):
        # Here and not above: it needs HiGHS.
        from gopfast.clustering.fits import clustering_of
        from gopfast.clustering.solve import REL_TOL

        fit = clustering_of(problem, fit)
        return fit, fit.inertia, epsilon or max(REL_TOL * fit.inertia, LEAST_EPSILON)
    if isinstance(problem, ClusterwiseRegression):
        # Here and not above: it needs HiGHS.
        from gopfast.clustering.solve import REL_TOL
        from gopfast.clusterwise.fits import classes_of

        fit = classes_of(problem, fit)
        return fit, fit.sum_of_squares, epsilon or max(REL_TOL * fit.sum_of_squares, LEAST_EPSILON)
    many = isinstance(fit, (list, tuple)) and len(fit) > 0
    if many and all(isinstance(one, Mapping) or hasattr(one, "solution") for one in fit):
        raise InputTypeError("fit must be one fit; gopfast.certify_all takes many")
    fit = solution_of(problem, fit)
    return fit, problem.objective(fit.weights, **fit.parameters), epsilon or EPSILON
