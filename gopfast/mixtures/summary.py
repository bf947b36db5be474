"""The summary of a fit as statisticians read it."""

import html
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import xlogy

from gopfast.annotations import FloatArray, Json
from gopfast.mixtures.information import Estimate, information
from gopfast.mixtures.tuning import MOST_ROWS_SHOWN
from gopfast.result import SearchResult, Status, to_json_types

if TYPE_CHECKING:
    from gopfast.annotations import DataFrame


@dataclass(frozen=True, eq=False, kw_only=True)
class Summary:
    """
    What is reported of a fit; prints as a table.

    Attributes
    ----------
    model : str
        Family and sizes.
    status : Status
    n_samples : float
        Sum of the sample weights.
    log_likelihood : float or None
        In nats; None with a prior.
    elbo : float or None
        With a prior, the evidence lower bound (of counts, times and labels the log posterior density).
    bound : float
        Proved: no parameters have more of it.
    n_parameters : int
        Degrees of freedom: free parameters.
    aic, bic, icl : float or None
        Least is best, see `gopfast.select`; None with a prior.
    entropy : float
        Of the responsibilities, in nats: 0 where every sample belongs to one component for certain.
    class_sizes : ndarray, shape (K,)
        Expected number of samples of each component.
    class_counts : ndarray, shape (K,)
        Weight of the samples of which it is the most probable component.
    estimates : tuple of Estimate
        All parameters with their standard errors by the observed information, NaN where there are none.
    notes : tuple of str
        What to mind: those of the result, and on standard errors.
    """

    model: str
    status: Status
    n_samples: float
    log_likelihood: float | None
    elbo: float | None
    bound: float
    n_parameters: int
    aic: float | None
    bic: float | None
    icl: float | None
    entropy: float
    class_sizes: FloatArray
    class_counts: FloatArray
    estimates: tuple[Estimate, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Convert to JSON types."""
        record = {name: to_json_types(getattr(self, name)) for name in vars(self) if name != "estimates"}
        estimates = [{name: to_json_types(value) for name, value in vars(one).items()} for one in self.estimates]
        return {**record, "status": self.status.name, "estimates": estimates}

    def to_frame(self) -> "DataFrame":
        """
        Tabulate the parameters; needs pandas.

        Returns
        -------
        pandas.DataFrame
            One row for each: component, parameter, place, value, error, on_bound.
        """
        import pandas

        return pandas.DataFrame([vars(one) for one in self.estimates])

    def _head(self):
        """Name and text of what is known of the whole fit."""
        likelihood = self.log_likelihood is not None
        value = self.log_likelihood if likelihood else self.elbo
        if value is not None:
            yield "log-likelihood" if likelihood else "ELBO", f"{value:.6f}"
            yield "at most (proved)", f"{self.bound:.6f}"
        yield "status", self.status.name
        yield "samples", f"{self.n_samples:g}"
        yield "free parameters", str(self.n_parameters)
        for name in ("aic", "bic", "icl"):
            if getattr(self, name) is not None:
                yield name.upper(), f"{getattr(self, name):.4f}"
        yield "class sizes", "  ".join(f"{size:.1f}" for size in self.class_sizes)
        yield "most probable", "  ".join(f"{count:g}" for count in self.class_counts)

    def _rows(self):
        """Rows of the table of parameters."""
        for one in self.estimates:
            error = "b" if one.on_bound else "" if math.isnan(one.error) else f"{one.error:.4g}"
            component = "" if one.component is None else str(one.component)
            yield component, one.parameter, one.place, f"{one.value:.6g}", error

    def __str__(self) -> str:
        """Return the summary as a table."""
        lines = [self.model, *(f"  {name:<19} {text}" for name, text in self._head())]
        header = ("component", "parameter", "of", "estimate", "std. error")
        table = [header, *self._rows()]
        shown = table[: MOST_ROWS_SHOWN + 1]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        for row in shown:
            cells = [*map(str.ljust, row[:3], widths[:3]), *map(str.rjust, row[3:], widths[3:])]
            lines.append(("  " + "  ".join(cells)).rstrip())
        if len(table) > len(shown):
            lines.append(f"  ... {len(table) - len(shown)} more parameters: to_frame()")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self):
        """Return the same for notebooks."""
        head = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self._head())
        rows = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in list(self._rows())[:MOST_ROWS_SHOWN]
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f"<p>{html.escape(self.model)}</p><table>{head}</table><table><thead><tr><th>component</th><th>parameter</th>"
            f"<th>of</th><th>estimate</th><th>std. error</th></tr></thead><tbody>{rows}</tbody></table><ul>{notes}</ul>"
        )


class Criteria(NamedTuple):
    """
    Information criteria of a fit, lower is better; None where the model has a prior.

    Attributes
    ----------
    aic, bic, icl : float or None
        As of `Summary`.
    entropy : float
        Of the responsibilities, in nats.
    """

    aic: float | None
    bic: float | None
    icl: float | None
    entropy: float


def criteria(result: SearchResult) -> Criteria:
    """Return the information criteria of a Result."""
    solution, problem = result.solution, result.solution.problem
    tau, value, p = solution.responsibilities, result.log_likelihood, problem.n_parameters
    entropy = float(problem.sample_weight @ -xlogy(tau, tau).sum(axis=1))
    if value is None:
        return Criteria(None, None, None, entropy)
    bic = -2.0 * value + math.log(problem.total_weight) * p
    return Criteria(-2.0 * value + 2.0 * p, bic, bic + 2.0 * entropy, entropy)


def summary(result: SearchResult) -> Summary:
    """Return the Summary of a Result."""
    solution, problem = result.solution, result.solution.problem
    tau, W = solution.responsibilities, problem.total_weight
    found, of_fit = information(solution), criteria(result)
    counts = np.bincount(tau.argmax(axis=1), problem.sample_weight, minlength=problem.n_weights)
    return Summary(
        model=_model(problem),
        status=result.status,
        n_samples=W,
        log_likelihood=result.log_likelihood,
        elbo=result.elbo,
        bound=result.elbo_bound if result.elbo_bound is not None else -result.lower_bound,
        n_parameters=problem.n_parameters,
        **of_fit._asdict(),
        class_sizes=problem.sample_weight @ tau,
        class_counts=counts,
        estimates=found.estimates,
        notes=(*result.notes, *([result.evidence] if result.evidence else ()), *found.notes),
    )


def _model(problem):
    """Return family, kind and sizes in words."""
    family = type(problem).__name__
    kind = getattr(problem, "covariance", None)
    what = f"{family}, covariance {kind!r}" if kind else family
    prior = "" if problem.prior is None else f", prior {problem.prior!r}"
    columns = f"{problem.n_features} column{'s' * (problem.n_features != 1)}"
    noise = " and noise" * (problem.n_weights > problem.n_components)
    return f"{what}{prior}: {problem.n_components} components{noise}, {problem.n_samples:,} samples, {columns}"
