"""What a solve returns: the solution, the bounds proved, and how the search went."""

import enum
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gopfast import checks
from gopfast.mixtures.solution import MixtureSolution as MixtureSolution
from gopfast.mixtures.solution import to_json_types
from gopfast.words import Word

CLOSED_FORM = "closed form"


class Status(Word, enum.IntEnum):
    """
    Why a search stopped and what is proved then.

    Whatever the status, ``lower_bound <= global optimum <= objective`` is proved, and `objective` is attained
    by the solution. A status prints as its name and equals it: ``result.status == "OPTIMAL"``. The numbers are those
    of ``StopReason`` in the compiled core.
    """

    OPTIMAL = 1
    """The solution is globally optimal within max(epsilon, rel_tol * abs(objective))."""
    TIME_LIMIT = 2
    """The time limit came first; only the bounds are proved."""
    NODE_LIMIT = 3
    """The node limit came first; only the bounds are proved."""
    INTERRUPTED = 4
    """Ctrl-C or a callback stopped the search; only the bounds are proved."""
    NUMERICAL = 5
    """Rounding errors kept the gap from closing; only the bounds are proved."""
    INFEASIBLE = 6
    """No point meets the constraints: proved. There is no solution."""
    UNBOUNDED = 7
    """The objective has no bound: a feasible point and a ray from it are known. There is no optimum."""
    CUTOFF = 8
    """Proved that no point has an objective below the cutoff of the search, as `gopfast.select_components` sets it."""

    @property
    def meaning(self) -> str:
        """One sentence that says what is proved."""
        return _MEANINGS[self]


_BOUNDS_ONLY = "the global optimum lies between lower_bound and objective, no more is proved"
_MEANINGS = {
    Status.OPTIMAL: "the solution is proved globally optimal within the tolerance",
    Status.TIME_LIMIT: f"time limit reached; {_BOUNDS_ONLY}",
    Status.NODE_LIMIT: f"node limit reached; {_BOUNDS_ONLY}",
    Status.INTERRUPTED: f"stopped by Ctrl-C or a callback; {_BOUNDS_ONLY}",
    Status.INFEASIBLE: "no point meets the constraints, which is proved; there is no optimum",
    Status.UNBOUNDED: "the objective is unbounded along a ray of feasible points; there is no optimum",
    Status.CUTOFF: f"no point has an objective below the cutoff, which is proved; {_BOUNDS_ONLY}",
    Status.NUMERICAL: f"rounding errors kept the gap open; {_BOUNDS_ONLY}",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Result:
    """
    Result of a global search; valid whatever the status.

    Attributes
    ----------
    status : Status
        Why the search stopped, and so what is proved.
    objective : float
        UBD, the objective at `solution`, in nats and without the constant that the paper drops.
    lower_bound : float
        LBD: no point has a smaller objective.
    solution : MixtureSolution
        The best point found, components in canonical order.
    elbo_constant : float or None
        What turns an objective into an ELBO, ``elbo = elbo_constant - objective``; None if there is no ELBO.
    n_nodes, n_subproblems, n_lps, n_milps, n_passes : int
        Counts of nodes bounded (none for one component in closed form), relaxed-dual subproblems, linear programs,
        mixed-integer programs and passes over the data.
    time : float
        Seconds.
    rounding_margin : float
        What the bounds of a mixture lost for rounding where that kept the gap open (status NUMERICAL), in nats; of one
        component in closed form, all that lies between them.
    history : ndarray, shape (m, 5)
        One row per report; columns as `history_columns`: seconds, nodes so far, LBD, UBD, open nodes.
    relaxation, partition, branching, subproblem : str
        The methods used; of one component relaxation is "closed form" and there are no others.
    notes : tuple of str
        What a reader should know, such as "prior_variance sits on its lower bound".
    caution : str
        What makes the optimum of the model no useful fit, whatever is proved of it: components on `variance_floor` on
        few distinct values. Empty where there are none; part of `message`.
    message : str
        One sentence that says what is proved, and with a `caution` what it is worth.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference",
    section 2.3 for the bounds UBD and LBD, equations (24) and (28) for the objective.
    """

    history_columns: ClassVar[tuple[str, ...]] = ("time", "n_nodes", "lower", "upper", "n_open")

    status: Status
    objective: float
    lower_bound: float
    solution: Any
    elbo_constant: float | None = None
    n_nodes: int = 0
    n_subproblems: int = 0
    n_lps: int = 0
    n_milps: int = 0
    n_passes: int = 0
    time: float = 0.0
    rounding_margin: float = 0.0
    history: np.ndarray = field(default_factory=lambda: np.empty((0, 5)))
    relaxation: str = ""
    partition: str = ""
    branching: str = ""
    subproblem: str = "enumerate"
    notes: Sequence[str] = ()
    caution: str = ""
    message: str = ""

    def __post_init__(self):
        """Accept what the core hands over: a plain number as status, lists."""
        # A frozen dataclass can be set through object only.
        object.__setattr__(self, "status", Status(self.status))
        object.__setattr__(self, "history", np.asarray(self.history, dtype=float).reshape(-1, 5))
        object.__setattr__(self, "notes", tuple(self.notes))
        meaning = self.status.meaning
        if self.status is Status.NUMERICAL and self.rounding_margin > 0.0:
            meaning = f"a rounding margin of {self.rounding_margin:.2g} exceeds the tolerance; {_BOUNDS_ONLY}"
        cautioned = f"{meaning}; but {self.caution}" if self.caution else meaning
        object.__setattr__(self, "message", self.message or cautioned)

    @property
    def success(self) -> bool:
        """Whether `solution` is proved globally optimal within the tolerance."""
        return self.status is Status.OPTIMAL

    @property
    def gap(self) -> float:
        """``objective - lower_bound``, in nats: the solution is at most this far from the global optimum."""
        return self.objective - self.lower_bound

    @property
    def elbo(self) -> float | None:
        """The ELBO of the solution with all its constants, in nats; without a prior the log-likelihood."""
        return None if self.elbo_constant is None else self.elbo_constant - self.objective

    @property
    def elbo_bound(self) -> float | None:
        """Upper bound of the ELBO over all solutions, in nats; None where there is no ELBO."""
        return None if self.elbo_constant is None else self.elbo_constant - self.lower_bound

    @property
    def log_likelihood(self) -> float | None:
        """The log-likelihood of the solution, in nats: `elbo` of a model without a prior; None with a prior."""
        return self.elbo if self._is_likelihood else None

    @property
    def log_likelihood_bound(self) -> float | None:
        """Upper bound of the log-likelihood over all solutions, in nats; None where the model has a prior."""
        return self.elbo_bound if self._is_likelihood else None

    @property
    def _is_likelihood(self):
        """Whether the model has no prior, so that the ELBO is the log-likelihood."""
        return getattr(getattr(self.solution, "problem", None), "prior", "unknown") is None

    @property
    def _elbo_name(self):
        """What `elbo` is, in words."""
        return "log-likelihood" if self._is_likelihood else "ELBO"

    def to_dict(self, responsibilities: bool = False) -> dict[str, Any]:
        """
        Convert to JSON types: infinities and NaN become None, arrays lists, the status its name.

        Parameters
        ----------
        responsibilities : bool
            Whether to include the n K responsibilities of the solution.

        Returns
        -------
        dict
            Every attribute and property of the result, and `history_columns`.
        """
        record = {name: to_json_types(getattr(self, name)) for name in _RECORDED}
        record["status"] = self.status.name
        if self.solution is not None:
            record["solution"] = self.solution.to_dict(responsibilities)
        return record

    def to_json(self, path=None) -> str:
        """
        Convert to JSON text, see `to_dict`.

        Parameters
        ----------
        path : str or path-like, optional
            File to write the text to.

        Returns
        -------
        str

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def plot(self, kind="bounds", ax=None, **options):
        """
        Draw the result; needs matplotlib.

        Parameters
        ----------
        kind : {"bounds", "density"}
            The bounds against time, or the data with the fitted density.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        **options
            Those of `gopfast.plot.bounds` or `gopfast.plot.density`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # Here and not above: results must work without matplotlib.
        from gopfast import plot

        return getattr(plot, checks.choice("kind", kind, ("bounds", "density")))(self, ax=ax, **options)

    def __repr__(self):
        """Return status and bounds on one line."""
        return (
            f"Result(status={self.status.name}, objective={self.objective:.8g}, "
            f"lower_bound={self.lower_bound:.8g}, gap={self.gap:.3g}, n_nodes={self.n_nodes}, "
            f"time={self.time:.3g})"
        )

    def __str__(self):
        """Return a short readable summary."""
        lines = [
            f"{self.status.name}: {self.message}",
            _line("objective", f"{self.objective:.8g}  (lower bound {self.lower_bound:.8g}, gap {self.gap:.3g})"),
        ]
        if self.elbo is not None:
            lines.append(_line(self._elbo_name, f"{self.elbo:.8g}  (at most {self.elbo_bound:.8g})"))
        counts = (
            (self.n_nodes, "nodes"), (self.n_lps, "LPs"), (self.n_milps, "MILPs"), (self.n_passes, "data passes")
        )  # fmt: skip
        work = ", ".join(f"{count:,} {what}" for count, what in counts if count)
        lines.append(_line("work", f"{work or 'no nodes'} in {self.time:.3g} s"))
        method = ", ".join(
            f"{value} {what}"
            for value, what in (
                (self.relaxation, "relaxation"), (self.partition, "partition"), (self.branching, "branching"),
                ("milp" if self.subproblem == "milp" else "", "subproblem"),
            )
            if value
        )
        if self.relaxation == CLOSED_FORM:
            lines.append(_line("method", CLOSED_FORM))
        elif method:
            lines.append(_line("method", method))
        lines.extend(_line("note", note) for note in self.notes)
        if self.solution is not None:
            lines.append(str(self.solution))
        return "\n".join(lines)


def _line(name, value):
    """Return a line of the summary."""
    return f"  {name:<14} {value}"


_RECORDED = (
    "status", "success", "message", "caution", "notes", "objective", "lower_bound", "gap", "elbo", "elbo_bound",
    "log_likelihood", "log_likelihood_bound", "elbo_constant", "solution", "n_nodes", "n_subproblems", "n_lps",
    "n_milps", "n_passes", "time", "rounding_margin", "relaxation", "partition", "branching", "subproblem",
    "history_columns", "history",
)  # fmt: skip
