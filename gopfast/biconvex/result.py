"""What a solve of a biconvex problem returns."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gopfast.annotations import FloatArray, Json, Sense
from gopfast.biconvex.tuning import MAX_VARIABLES_SHOWN
from gopfast.result import SearchResult, Status, to_json_types


@dataclass(frozen=True, eq=False, kw_only=True)
class BiconvexSolution:
    """
    A feasible point of a biconvex problem, in the user's variables.

    Attributes
    ----------
    z : ndarray, shape (n,)
        Values of the variables, in the order of the problem.
    names : tuple of str
        Their names.
    violations : ndarray, shape (n_rows + n,)
        Relative violations of rows and variable bounds, see `BiconvexProblem.violations`.
    """

    z: FloatArray
    names: tuple[str, ...]
    violations: FloatArray = field(repr=False)

    @property
    def values(self) -> dict[str, float]:
        """Value of each variable by name."""
        return dict(zip(self.names, self.z.tolist(), strict=True))

    @property
    def max_violation(self) -> float:
        """The greatest relative violation."""
        return float(self.violations.max(initial=0.0))

    def __getitem__(self, name: str) -> float:
        """Return the value of a variable by name."""
        return float(self.z[self.names.index(name)])

    def to_dict(self, responsibilities: bool = False) -> dict[str, Json]:
        """Convert to JSON types; `responsibilities` is there for mixtures and ignored."""
        return {"values": to_json_types(self.values), "max_violation": self.max_violation}

    def __str__(self) -> str:
        """One row per variable."""
        width = max(len(name) for name in self.names)
        lines = [
            f"    {name:<{width}}  {value:.8g}" for name, value in list(self.values.items())[:MAX_VARIABLES_SHOWN]
        ]
        if len(self.names) > MAX_VARIABLES_SHOWN:
            lines.append(f"    ... {len(self.names) - MAX_VARIABLES_SHOWN} more variables")
        lines.append(f"  greatest relative violation {self.max_violation:.1e}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BiconvexResult(SearchResult):
    """
    Result of a global search for a biconvex problem, in the user's sense and units; valid whatever the status.

    Minimising, ``lower_bound <= global optimum <= objective``; maximising, ``objective <= global optimum <=
    upper_bound``. `bound` is the proved one of the two in either sense: no feasible point has a better objective.

    The bound is of points that meet the constraints exactly. `solution` lies within the variables' bounds and meets
    rows to a relative tolerance of 1e-8, see `BiconvexProblem.violations`; mostly to rounding errors. Where it makes
    use of the tolerance, its objective can be better than the global optimum by what the constraints' multipliers make
    of that, and where it is better than what is proved, `bound` is the objective and a note says so.

    Attributes
    ----------
    objective : float
        Objective at `solution`, as `BiconvexProblem.objective` computes it. Without one, the worst there is: inf
        minimising, -inf maximising; where the objective is unbounded, the best: -inf or inf.
    bound : float
        Proved: no feasible point is better. Also where it is infinite: nothing else is known.
    status : Status
        OPTIMAL: there is a solution within the tolerance, and ``gap <= max(epsilon, rel_tol * abs(objective))``.
        INFEASIBLE: no point meets the constraints exactly. NUMERICAL: the gap stays open, or no point was found.
    sense : {"min", "max"}
    lower_bound, upper_bound : float
        `bound` and `objective`, in the order that the sense gives them.
    gap : float
        ``abs(objective - bound)``, at least 0; 0 where infeasibility or unboundedness is proved.
    solution : BiconvexSolution or None
        None where no feasible point is known.
    history : ndarray, shape (m, 5)
        As for other results; columns lower and upper are bounds in the user's sense.
    """

    # A biconvex problem has none; records of all results have the same names.
    elbo: ClassVar[None] = None
    elbo_bound: ClassVar[None] = None
    elbo_constant: ClassVar[None] = None
    log_likelihood: ClassVar[None] = None
    log_likelihood_bound: ClassVar[None] = None

    solution: BiconvexSolution | None
    sense: Sense = "min"
    bound: float = -np.inf

    @property
    def upper_bound(self) -> float:
        """No point needed to reach it: the greatest value that the optimum can have."""
        return self.objective if self.sense == "min" else self.bound

    @property
    def gap(self) -> float:
        """How far the solution is from the optimum at most."""
        return 0.0 if self.objective == self.bound else abs(self.objective - self.bound)

    def to_dict(self, responsibilities: bool = False) -> dict[str, Json]:
        """Convert to JSON types, see `SearchResult.to_dict`."""
        record = super().to_dict(responsibilities)
        record |= {name: to_json_types(getattr(self, name)) for name in ("sense", "bound", "upper_bound")}
        return record

    def __repr__(self) -> str:
        """Return status and bounds on one line."""
        return (
            f"BiconvexResult(status={self.status.name}, objective={self.objective:.8g}, bound={self.bound:.8g}, "
            f"gap={self.gap:.3g}, n_nodes={self.n_nodes}, time={self.time:.3g})"
        )

    def __str__(self) -> str:
        """Return a short readable summary."""
        text = super().__str__()
        if self.sense == "max":
            text = text.replace(f"(lower bound {self.lower_bound:.8g}", f"(upper bound {self.bound:.8g}", 1)
        return text


def make(problem, *, status, objective, bound, solution, **fields):
    """Make a result from internal (minimising) bounds turned into the user's sense."""
    lower = bound if problem.sense == "min" else objective
    return BiconvexResult(
        status=Status(status), objective=objective, bound=bound, lower_bound=lower, solution=solution,
        sense=problem.sense, relaxation="linear", partition="bilinear", **fields,
    )  # fmt: skip
