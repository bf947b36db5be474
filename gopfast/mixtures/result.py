"""What a solve of a mixture returns: the solution, the bounds proved, and how the search went."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from numpy.typing import ArrayLike

from gopfast import annotations
from gopfast.errors import InputError
from gopfast.mixtures.covariates import Covariates, covariates
from gopfast.mixtures.distal import Distal, distal
from gopfast.mixtures.fits import solution_of
from gopfast.mixtures.fitted import Fitted
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.solution import MixtureSolution
from gopfast.mixtures.summary import Summary, criteria, summary
from gopfast.mixtures.tuning import TIGHT
from gopfast.result import STOPPED, SearchResult, Status, read_record

if TYPE_CHECKING:
    from gopfast.annotations import DataFrame


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Result(Fitted, SearchResult):
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
    profile : gopfast.profile.Profile or None
        What every mechanism of the search has done, see `gopfast.settings`; prints as a table.
    starts : gopfast.starts.Starts or None
        The local searches made: how many, from what kinds of starts, where each ended, how often the best was met, and
        the chance that another start ends in an optimum not met; prints as a table. None of one component in closed
        form.
    proof : str or None
        The file with a proof of the bounds, for `gopfast.check`; None where none was asked for.
    n_nodes, n_subproblems, n_lps, n_iterations, n_milps, n_passes : int
        Counts of nodes bounded (none for one component in closed form), relaxed-dual subproblems, linear programs,
        simplex iterations, mixed-integer programs and passes over the data.
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
    stopped : str
        Why the search ended before its time limit, with status TIME_LIMIT: the bound moved too slowly. Else empty.
    message : str
        One sentence that says what is proved, and with a `caution` what it is worth.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference",
    section 2.3 for the bounds UBD and LBD, equations (24) and (28) for the objective.
    """

    _objective_label: ClassVar[str] = "objective (nats)"

    solution: MixtureSolution
    elbo_constant: float | None = None

    @property
    def _fit(self):
        return self.solution

    def summary(self) -> Summary:
        """
        Return what statisticians report of a fit: log-likelihood, number of parameters, AIC, BIC, ICL, standard errors.

        Returns
        -------
        Summary
            Prints as a table. Standard errors are those of the observed information; `gopfast.bootstrap` has others.
        """
        return summary(self)

    def distal(
        self, y: ArrayLike, *, kind: str | None = None, method: str = "bch", assignment: str = "proportional"
    ) -> Distal:
        """
        Estimate a distal outcome of the classes, in a third step that adjusts for errors of classification.

        The fit is the first step, putting samples into classes the second. The outcome has no part in the fit and is
        taken as independent of its columns within a class.

        Parameters
        ----------
        y : array_like, shape (n,)
            Outcome of each sample of the fit; NaN or None is missing, and leaves the third step.
        kind : {"continuous", "categorical"}, optional
            By default continuous for numbers, else categorical.
        method : {"bch", "ml"}
            "bch": averages with weights that undo the errors (Bolck, Croon & Hagenaars), without any distribution.
            "ml": maximum likelihood given the errors (Vermunt); continuous outcomes are normal of one variance.
        assignment : {"proportional", "modal"}
            By the probabilities of the classes, or the most probable one.

        Returns
        -------
        Distal
            Estimates with standard errors (sandwich), which take the classes as known, and Wald's test. The classes are
            as proved as this result; the third step is an estimate given them, and its notes say so.

        Raises
        ------
        InputError
            If an argument is invalid, or classes are not told apart.
        """
        return distal(self, y, kind=kind, method=method, assignment=assignment)

    def covariates(
        self, Z: ArrayLike, *, method: str = "bch", assignment: str = "proportional"
    ) -> Covariates:
        """
        Estimate a multinomial logit of the class given covariates, in a third step as of `distal`.

        Parameters
        ----------
        Z : array_like, shape (n,) or (n, q)
            Covariates of each sample of the fit, none of them constant.
        method, assignment : str
            As of `distal`.

        Returns
        -------
        Covariates
            Coefficients with standard errors (sandwich), which take the classes as known.

        Raises
        ------
        InputError
            If an argument is invalid, or classes are not told apart.
        """
        return covariates(self, Z, method=method, assignment=assignment)

    def to_frame(self) -> "DataFrame":
        """
        Tabulate the samples with their components; needs pandas.

        Returns
        -------
        pandas.DataFrame
            One row for each sample: its columns, "component", the most probable one, and "p0", "p1", ...: the
            probabilities of the components.
        """
        import pandas

        problem, tau = self.solution.problem, self.predict_proba()
        table = {name: problem._column_as_given(j) for j, name in enumerate(problem.column_names)}
        table["component"] = tau.argmax(axis=1)
        return pandas.DataFrame({**table, **{f"p{k}": column for k, column in enumerate(tau.T)}})

    @classmethod
    def from_json(
        cls, source: "annotations.Path | Mapping[str, object]", problem: MixtureProblem
    ) -> "Result":
        """
        Read a result that `to_json` wrote; the data are not in it.

        Parameters
        ----------
        source : str, path-like or dict
            A file, its text, or what `to_dict` returned.
        problem : MixtureProblem
            The problem that was solved.

        Returns
        -------
        Result

        Raises
        ------
        InputError
            If it is no result of this problem.
        """
        record = read_record(source)
        solution = solution_of(problem, record.get("solution"))
        fields = cls._fields_of(record)
        attained = problem.objective(solution.weights, **solution.parameters)
        tolerance = 1e-6 * (problem.total_weight + abs(attained))
        if not abs(attained - fields["objective"]) <= tolerance:
            raise InputError(
                f"source must be a result of this problem: its objective is {fields['objective']:g}, and that of its "
                f"solution on these data {attained:g}"
            )
        return cls(solution=solution, elbo_constant=problem.elbo_constant, **fields)

    def _repr_html_(self):
        """Return status, bounds and parameters for notebooks."""
        return self.summary()._repr_html_()

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
    def n_parameters(self) -> int:
        """Number of free parameters of the model."""
        return self.solution.problem.n_parameters

    @property
    def aic(self) -> float | None:
        """Akaike's information criterion of the solution; None where the model has a prior."""
        return criteria(self).aic

    @property
    def bic(self) -> float | None:
        """Bayesian information criterion of the solution; None where the model has a prior."""
        return criteria(self).bic

    @property
    def icl(self) -> float | None:
        """Integrated completed likelihood: `bic` plus twice the entropy; None where the model has a prior."""
        return criteria(self).icl

    @property
    def _is_likelihood(self):
        """Whether the model has no prior, so that the ELBO is the log-likelihood."""
        return getattr(getattr(self.solution, "problem", None), "prior", "unknown") is None

    @property
    def _elbo_name(self):
        """What `elbo` is, in words."""
        return "log-likelihood" if self._is_likelihood else "ELBO"

    @property
    def gap_per_sample(self) -> float:
        """`gap` over the total weight of the samples, in nats a sample."""
        return self.gap / self.solution.problem.total_weight

    def _meaning(self):
        """Return one sentence that says what is proved, with numbers where the gap is small for so many samples."""
        if self.status not in STOPPED or self.solution is None or not self.gap_per_sample <= TIGHT:
            return super()._meaning()
        if self.status is Status.NUMERICAL and self.rounding_margin > 0.0:
            return super()._meaning()  # the margin's size, which a user can do something about
        problem, why = self.solution.problem, self.stopped or STOPPED[self.status]
        return (
            f"{why}, but it is proved that no mixture of {problem.n_components} components is better by more than "
            f"{self.gap:.2g} nats in {problem.n_samples:,} samples ({self.gap_per_sample:.1g} a sample)"
        )

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
