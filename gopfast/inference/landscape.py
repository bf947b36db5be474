"""All local optima of a mixture within a distance of the best, with a proof that there are none elsewhere."""

import heapq
import math
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gopfast import checks
from gopfast.annotations import FitLike, FloatArray, IntArray, Seed
from gopfast.errors import InputError, InputTypeError
from gopfast.inference.tuning import (
    EM_STEPS,
    EM_TOLERANCE,
    FINENESS,
    SADDLE_GAIN,
    SADDLE_STEP,
    SAME,
    STARTS,
    STARTS_PER_REGION,
    WEIGHT_STEPS,
    WEIGHT_TOLERANCE,
)
from gopfast.mixtures import engine
from gopfast.mixtures.fits import solution_of
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.gaussian import GaussianMixture
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.representation import Representation
from gopfast.mixtures.result import Result
from gopfast.mixtures.searches import shares_a_coefficient
from gopfast.mixtures.solution import MixtureSolution
from gopfast.mixtures.solve import unpack
from gopfast.options import seed_from
from gopfast.search.probe import probe, root_box
from gopfast.solver import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalOptimum:
    """
    A local optimum.

    Attributes
    ----------
    objective : float
        In nats.
    excess : float
        How far that is above the best known.
    region : int
        Index of the region of surviving boxes that it lies in.
    solution : MixtureSolution
    """

    objective: float
    excess: float
    region: int
    solution: MixtureSolution


@dataclass(frozen=True, eq=False, kw_only=True)
class Optima:
    """
    Local optima within a distance of the best, and boxes of parameters beside which there are none.

    Attributes
    ----------
    best : Result
        The proved global optimum.
    limit : float
        What is proved: every local optimum with an objective below this has its parameters in one of the boxes, but for
        the order of the components. Those in `optima` are the ones found.
    optima : tuple of LocalOptimum
        By objective.
    low, high : ndarray, shape (m, n)
        The surviving boxes, in coordinates of the core (weights are no coordinates).
    regions : ndarray of int, shape (m,)
        Which boxes touch: 0 for those of the first region, and so on.
    n_nodes : int
        Boxes that were bounded.
    complete : bool
        Whether all boxes are as small as wanted; else a limit came first. What is proved holds in any case.
    time : float
        Seconds.
    """

    best: Result
    limit: float
    optima: tuple[LocalOptimum, ...]
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    regions: IntArray = field(repr=False)
    n_nodes: int
    complete: bool
    time: float

    @property
    def problem(self) -> MixtureProblem:
        """The problem."""
        return self.best.solution.problem

    def holds(self, fit: FitLike) -> bool:
        """Whether the parameters of a fit lie in one of the boxes, in some order of the components."""
        point = self.point(fit)
        slack = 1e-9 * (1.0 + np.abs(point))
        return bool(((self.low - slack <= point) & (point <= self.high + slack)).all(axis=1).any())

    def point(self, fit: LocalOptimum | FitLike) -> FloatArray:
        """Return the coordinates of a fit, as those of the boxes, shape (n,)."""
        return _point(engine.family(self.problem), solution_of(self.problem, getattr(fit, "solution", fit)))

    def extent(self, region: int) -> dict[str, tuple[FloatArray, FloatArray]]:
        """
        Return the least box around a region, in the user's units.

        Returns
        -------
        dict of (low, high)
            By name of the parameter, each end in its shape.
        """
        mine = self.regions == checks.whole_number("region", region, 0, max(0, int(self.regions.max(initial=0))))
        family = engine.family(self.problem)
        ends = [_parameters(family, self.low[mine].min(axis=0)), _parameters(family, self.high[mine].max(axis=0))]
        names = [name for name in ends[0] if name not in ("prior_variance",)]
        return {
            name: (np.minimum(*(end[name] for end in ends)), np.maximum(*(end[name] for end in ends))) for name in names
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the landscape, see `gopfast.plot.optima`; needs matplotlib."""
        # Here and not above: results must work without matplotlib.
        from gopfast import plot

        return plot.optima(self, ax=ax)

    def __str__(self) -> str:
        """Return what is proved and a row for each optimum."""
        n_regions = int(self.regions.max(initial=-1)) + 1
        lines = [
            f"{len(self.optima)} local optima found within {self.limit - self.best.objective:.4g} nats of the best",
            f"  proved: each one below {self.limit:.6f} lies in {len(self.low):,} boxes, {n_regions} regions apart",
            f"  {self.n_nodes:,} boxes bounded in {self.time:.3g} s"
            + ("" if self.complete else "; a limit came before they were as small as wanted"),
        ]
        for one in self.optima:
            lines += [f"  objective {one.objective:.6f}, {one.excess:.6f} above the best, region {one.region}"]
            lines += [str(one.solution)]
        return "\n".join(lines)


def optima(
    problem: MixtureProblem,
    within: float = 2.0,
    *,
    max_nodes: int = 20_000,
    time_limit: float | None = 60.0,
    random_state: Seed = 0,
) -> Optima:
    """
    Find the local optima within a distance of the best, and prove that there are none outside of small boxes.

    Boxes of parameters are divided until each is proved to hold no local optimum below the limit, the best objective
    plus `within`, or is small: a quarter of the distance at which the objective has grown by `within`. Local searches
    from those that survive, and from samples, find the optima. Two nats above the best, a fit is seven times less
    likely.

    Parameters
    ----------
    problem : MixtureProblem
        With few parameters beside the weights, up to about six: boxes are many where there are more. Not for covariance
        matrices.
    within : float, default 2.0
        In nats.
    max_nodes : int, default 20000
        Most boxes to bound. The boxes are larger where it comes first; what is proved of them holds all the same.
    time_limit : float or None, default 60
        Seconds, beside those of the proof of the best.
    random_state : None, int, Generator or RandomState
        Of the starts of local searches.

    Returns
    -------
    Optima

    Raises
    ------
    InputError
        If an argument is invalid, or the model has covariance matrices.

    Notes
    -----
    Bounds hold of points at which the derivatives vanish, or which sit on a bound: some boxes are dismissed because no
    such point can be there. That a region holds one optimum only is not proved.

    Examples
    --------
    >>> import gopfast
    >>> X = gopfast.datasets.load("galaxies") / 1000
    >>> problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.09)
    >>> found = gopfast.optima(problem, within=0.5, max_nodes=2000)
    >>> [round(one.excess, 2) for one in found.optima]
    [0.0, 0.19]
    """
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"problem must be a mixture of gopfast.models; got {type(problem).__name__}")
    if isinstance(problem, GaussianMixture) and problem.kind.free_form and problem.n_features > 1:
        raise InputError("problem must not have covariance matrices: their boxes are none of the user's parameters")
    if problem.n_weights > problem.n_components:
        raise InputError("problem must have noise=None: boxes are of components that have parameters")
    if shares_a_coefficient(problem):
        raise InputError("problem must have no shared_coefficients: boxes are of components that share nothing")
    within = checks.positive_number("within", within)
    max_nodes = checks.whole_number("max_nodes", max_nodes, 1)
    if time_limit is not None:
        time_limit = checks.nonnegative_number("time_limit", time_limit, infinite=True)
    rng = np.random.default_rng(seed_from(random_state))
    best = solve(problem, min(0.01, 0.01 * within), time_limit=time_limit, random_state=rng, log=False, n_threads=1)
    started = time.perf_counter()
    family = engine.family(problem)
    limit = best.objective + within
    core_limit = limit + 2.0 * Representation(problem, family).loss(limit)
    scale = _scale(problem, family, best.solution, within)
    finish = math.inf if time_limit is None else started + time_limit
    low, high, n_nodes, complete = _survivors(family, core_limit, FINENESS * scale, max_nodes, finish)
    regions = _touching(low, high, scale)
    starts = [_point(family, best.solution), *_starts(low, high, regions, family, rng)]
    ends = _ends(problem, family, starts, limit, scale, rng)
    found = []
    for value, solution, point in ends:
        inside = ((low <= point + 1e-9 * scale) & (point <= high + 1e-9 * scale)).all(axis=1)
        region = int(regions[inside][0]) if inside.any() else -1
        found.append(
            LocalOptimum(objective=value, excess=max(0.0, value - best.objective), region=region, solution=solution)
        )
    return Optima(
        best=best,
        limit=limit,
        optima=tuple(sorted(found, key=lambda one: one.objective)),
        low=low,
        high=high,
        regions=regions,
        n_nodes=n_nodes,
        complete=complete,
        time=time.perf_counter() - started,
    )


def profile(found: Optima, points: FloatArray) -> FloatArray:
    """
    Evaluate the objective at parameters with the weights that are best for them.

    Parameters
    ----------
    found : Optima
    points : ndarray, shape (m, n)
        Coordinates as those of the boxes.

    Returns
    -------
    ndarray, shape (m,)
        To about 1e-3 nats; NaN where the model has no such parameters.
    """
    problem, values = found.problem, np.full(len(points), math.nan)
    used = problem.sample_weight > 0.0
    share = problem.sample_weight[used] / problem.total_weight
    for i, parameters in enumerate(in_users_units(found, points)):
        try:
            checked = problem.check_parameters(**parameters)
        except InputError:
            continue
        kernel = problem._log_kernel(checked)[used]
        likelihood = np.exp(kernel - np.maximum(kernel.max(axis=1, keepdims=True), -sys.float_info.max))
        weights = np.full(problem.n_components, 1.0 / problem.n_components)
        for _ in range(WEIGHT_STEPS):
            joint = likelihood * weights
            former, weights = weights, (share / np.maximum(joint.sum(axis=1), sys.float_info.min)) @ joint
            if np.abs(weights - former).max() < WEIGHT_TOLERANCE:
                break
        values[i] = problem.objective(weights / weights.sum(), **parameters)
    return values


def in_users_units(found: Optima, points: FloatArray) -> list[dict[str, FloatArray]]:
    """Return the parameters of points (m, n), as those of the boxes, by name."""
    family = engine.family(found.problem)
    return [_parameters(family, point) for point in points]


def _survivors(family, limit, wanted, max_nodes, finish):
    """
    Divide the root until every box is dismissed or small, the widest box first.

    Returns
    -------
    low, high : ndarray, shape (m, n)
    n_nodes : int
    complete : bool
    """
    relaxation = EntropicRelaxation(family)
    queue, small, n_nodes = [], [], 0

    def bound(low, high):
        nonlocal n_nodes
        n_nodes += 1
        found = probe(relaxation, low, high, limit)
        if found is None or found[2] >= limit:
            return
        width = (found[1] - found[0]) / wanted
        if width.max() <= 1.0:
            small.append(found[:2])
        else:
            heapq.heappush(queue, (-width.max(), n_nodes, found[0], found[1]))

    bound(*root_box(relaxation))
    while queue and n_nodes < max_nodes and time.perf_counter() < finish:
        _, _, low, high = heapq.heappop(queue)
        j = int(np.argmax((high - low) / wanted))
        middle = 0.5 * (low[j] + high[j])
        left, right = high.copy(), low.copy()
        left[j] = right[j] = middle
        bound(low, left)
        bound(right, high)
    boxes = small + [(low, high) for _, _, low, high in queue]
    shape = (len(boxes), family.n_connected)
    low, high = (np.array([box[side] for box in boxes]).reshape(shape) for side in (0, 1))
    return low, high, n_nodes, not queue


def _scale(problem, family, solution, within):
    """Return how far each coordinate is from the best where the objective has grown by `within`, about."""
    point = _point(family, solution)
    low, high = root_box(EntropicRelaxation(family))
    weights = _weights(problem, family, solution)

    def objective(at):
        return problem.objective(weights, **_parameters(family, np.clip(at, low, high)))

    middle = objective(point)
    found = np.empty(len(point))
    for j in range(len(point)):
        # The first step outwards, doubled, at which the objective has grown so much, in the direction that is longer.
        found[j] = 1e-4 * (high[j] - low[j])
        while found[j] < high[j] - low[j]:
            steps = [np.where(np.arange(len(point)) == j, sign * found[j], 0.0) for sign in (-1.0, 1.0)]
            if min(objective(point + step) for step in steps) >= middle + within:
                break
            found[j] *= 2.0
    return np.minimum(found, high - low)


def _weights(problem, family, solution):
    """Return the weights of a solution in the order of the core's components."""
    cells = family.pack(**_packable(solution))[: family.n_components * family.n_cell]
    return solution.weights[np.argsort(cells.reshape(family.n_components, -1)[:, 0], kind="stable")]


def _packable(solution):
    return {name: value for name, value in solution.parameters.items() if name != "prior_variance"}


def _point(family, solution):
    """Return the core's coordinates of a solution, components in the order of the boxes."""
    K, cell = family.n_components, family.n_cell
    packed = np.asarray(family.pack(**_packable(solution)), dtype=float)
    cells = packed[: K * cell].reshape(K, cell)
    return np.concatenate([cells[np.argsort(cells[:, 0], kind="stable")].ravel(), packed[K * cell :]])


def _parameters(family, point):
    """Return the user's parameters of a point, but for a prior variance, which is the best for it."""
    found = family.parameters(np.concatenate([np.full(family.n_components, 1.0 / family.n_components), point, [1.0]]))
    return {name: value for name, value in found.items() if name != "prior_variance"}


def _touching(low, high, scale):
    """Give boxes that touch each other, directly or by others, the same number."""
    labels, slack, current = np.full(len(low), -1), 1e-9 * scale, 0
    left = np.arange(len(low))  # those without a number
    while left.size:
        labels[left[0]], front, left = current, [left[0]], left[1:]
        while front and left.size:
            i = front.pop()
            near = ((low[left] <= high[i] + slack) & (low[i] <= high[left] + slack)).all(axis=1)
            labels[left[near]] = current
            front += left[near].tolist()
            left = left[~near]
        current += 1
    return labels


def _starts(low, high, regions, family, rng):
    """Yield points to start local searches from."""
    for region in range(int(regions.max(initial=-1)) + 1):
        mine = np.flatnonzero(regions == region)
        for i in rng.permutation(mine)[:STARTS_PER_REGION]:
            yield 0.5 * (low[i] + high[i])
    for _ in range(STARTS):
        yield np.asarray(family.seeded(rng))


def _ends(problem, family, starts, limit, scale, rng):
    """Return objective, solution and point of every local optimum below the limit that local searches end at."""
    primal = MixturePrimal(family)
    found = []
    for start in starts:
        value, solution, point = _end(problem, family, primal, start)
        if not value < limit or any(_same(point, other, scale) for _, _, other in found):
            continue
        # A saddle is left by a small step; of a start at one EM ends there.
        moved = _end(problem, family, primal, point + SADDLE_STEP * scale * rng.standard_normal(len(point)))
        if moved[0] < value - SADDLE_GAIN:
            value, solution, point = moved
        if not any(_same(point, other, scale) for _, _, other in found):
            found.append((value, solution, point))
    return found


def _same(point, other, scale):
    return np.abs((point - other) / scale).max() <= SAME


def _end(problem, family, primal, start):
    """Run EM from a point; return objective, solution and point where it ends."""
    low, high = root_box(EntropicRelaxation(family))
    K = family.n_components
    vector, _, _ = primal.em(np.full(K, 1.0 / K), np.clip(start, low, high), EM_TOLERANCE, EM_STEPS)
    solution = unpack(problem, family, np.asarray(vector))
    return problem.objective(solution.weights, **solution.parameters), solution, _point(family, solution)
