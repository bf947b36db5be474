"""What a solve of a mixture returns: the solution, the bounds proved, and how the search went."""

from dataclasses import dataclass

from gopfast.mixtures.solution import MixtureSolution
from gopfast.result import SearchResult


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Result(SearchResult):
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
    proof : str or None
        The file with a proof of the bounds, for `gopfast.check`; None where none was asked for.
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

    solution: MixtureSolution
    elbo_constant: float | None = None

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

    def _values(self):
        """Name and text of the ELBO, which follows the objective in the summary."""
        if self.elbo is not None:
            yield self._elbo_name, f"{self.elbo:.8g}  (at most {self.elbo_bound:.8g})"

    def __repr__(self) -> str:
        """Return status and bounds on one line."""
        return (
            f"Result(status={self.status.name}, objective={self.objective:.8g}, "
            f"lower_bound={self.lower_bound:.8g}, gap={self.gap:.3g}, n_nodes={self.n_nodes}, "
            f"time={self.time:.3g})"
        )
