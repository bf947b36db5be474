"""The compiled search of a biconvex problem, made from what was prepared; alike in every process."""

import hashlib
from typing import NamedTuple

import numpy as np

from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.biconvex.lifted_inequalities import LiftedInequalities
from gopfast.biconvex.lifting import Lifting
from gopfast.biconvex.local_budget import LocalBudget
from gopfast.biconvex.moments import SemidefiniteCuts
from gopfast.biconvex.node_bounds import NodeBounds
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.search.checkpoint import header
from gopfast.search.memory import Memory
from gopfast.search.meter import Meter
from gopfast.search.search import Search

# Whose work is counted within a search: of bounding nodes, in the order of `BilinearRelaxation`, and of local searches.
METERED = (LiftedInequalities, SemidefiniteCuts, NodeBounds, LocalBudget)


class Core(NamedTuple):
    """
    What a search is made of; minimising.

    Attributes
    ----------
    problem : BiconvexProblem
    with_switches, one_side : bool
        As of `Lifting` and of `Lifting.data`.
    box : pair of ndarray, shape (n,)
        That the data are scaled by, in the user's units.
    tangents, ordering : tuple
        Rows beside the problem's, as of `Lifting`.
    low, high : ndarray
        The root, in the core's.
    starts, kinds, given, n_lps
        As of `AlternatingPrimal`.
    epsilon, rel_tol : float
        Tolerances, in the core's units.
    least : float
        A lower bound that is known, in the core's units.
    orthant, milp : bool
    without : frozenset of str
        Names of mechanisms that are switched off.
    """

    problem: BiconvexProblem
    with_switches: bool
    one_side: bool
    box: tuple
    tangents: tuple
    ordering: tuple
    low: np.ndarray
    high: np.ndarray
    starts: np.ndarray
    kinds: list
    given: np.ndarray | None
    n_lps: int
    epsilon: float
    rel_tol: float
    least: float
    orthant: bool
    milp: bool
    without: frozenset

    def search(self, data, nonlinear=None, complete=None, meters=None, **options):
        """
        Make the search and its primal on the data.

        `nonlinear` and `complete` are those of `AlternatingPrimal`, `options` those of `Search`; `meters` those of
        `METERED`.
        """
        meters = [Meter(mechanism.name) for mechanism in METERED] if meters is None else meters
        *of_bounds, of_budget = meters
        relaxed = BilinearRelaxation(
            data, self.low, self.high, milp=self.milp, meters=of_bounds,
            bounds_in_nodes=NodeBounds.name not in self.without,
        )  # fmt: skip
        primal = AlternatingPrimal(
            data, self.starts, self.given, self.n_lps, nonlinear, self.kinds, complete,
            None if LocalBudget.name in self.without else of_budget,
        )  # fmt: skip
        made = Search(
            relaxed, primal, self.epsilon, rel_tol=self.rel_tol, orthant=self.orthant, least=self.least, meters=meters,
            **options,
        )  # fmt: skip
        return made, primal

    def coordinates(self):
        """Return a digest of what boxes of nodes refer to, as text: arithmetic that differs may give other scales."""
        arrays = (*self.box, self.low, self.high, self.starts, [self.epsilon, self.least])
        parts = [np.ascontiguousarray(array, dtype=np.float64).tobytes() for array in arrays]
        return hashlib.sha256(b"".join(parts)).hexdigest()


def worker_search(core):
    """Return the search of a worker, and what tells the coordinates of its boxes."""
    lifting = Lifting(core.problem, core.with_switches, without=core.without)
    lifting.add_rows(core.tangents)
    lifting.ordering = core.ordering
    data, _, _ = lifting.data(*core.box, one_side=core.one_side)
    made, _ = core.search(data, memory=Memory())
    return made, core.coordinates()


def checkpoint_header(problem, options, start):
    """Return what a checkpoint says of a problem, its options and the point to start from, in JSON types."""
    start = None if start is None else np.asarray(start).tolist()
    return header(options, {"class": type(problem).__name__}, [problem.to_json(), start], start=start)
