"""What a choice among models returns: the models tried, what is proved of each, and the one chosen."""

import enum
import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gopfast.annotations import Criterion, Json
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.result import Result
from gopfast.result import to_json_types
from gopfast.words import Word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gopfast.annotations import DataFrame

OWN_NAME = "model"  # of a model without kinds of covariance, in tables


class SelectionStatus(Word, enum.Enum):
    """What is proved of a choice; prints as its name and equals it, ``choice.status == "PROVED"``."""

    PROVED = "no other model has a lower criterion"
    OPTIMA = (
        "the fits that the criterion compares are proved optimal, each of its model; fits of less likelihood may have "
        "less entropy"
    )
    UNDECIDED = "the limit came before the proof: another model may have a lower criterion"


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate:
    """
    One model; ``lower <= criterion <= upper`` is proved of its global optimum, for ICL of the fit that is known.

    Attributes
    ----------
    n_components, n_parameters : int
    lower, upper : float
        Bounds of the criterion. `upper` is that of the best fit known; no parameters have one below `lower`.
    problem : MixtureProblem
    result : Result
        The search's result; CUTOFF is the status of one that has proved that it loses.
    n_nodes : int
        Nodes of its search.
    covariance : str or None
        Kind of covariance; None for models that have none.
    """

    n_components: int
    n_parameters: int
    lower: float
    upper: float
    problem: MixtureProblem
    result: Result
    n_nodes: int
    covariance: str | None = None

    @property
    def key(self) -> tuple[str, int]:
        """The name of the model and the number of components."""
        return self.covariance or OWN_NAME, self.n_components


    def coincides(self, other: "Candidate") -> bool:
        """Whether another is the same model by another name, as are all kinds of one component in one column."""
        if self is other or self.n_components != other.n_components:
            return self is other
        return self.covariance is not None and self.problem.kind.coincides(other.problem.kind)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Selection:
    """
    A chosen model.

    Attributes
    ----------
    status : SelectionStatus
        PROVED or UNDECIDED; by ICL also OPTIMA.
    n_components : int
        The number of components of the model with the least criterion known.
    covariance : str or None
        Its kind of covariance; None for models that have none.
    criterion : {"bic", "aic", "icl"}
    candidates : tuple of Candidate
        By kind of covariance in the order asked for, then in increasing number of components.
    time : float
        Seconds.
    interrupted : bool
        Whether Ctrl-C ended the searches.
    notes : tuple of str
        What to mind, such as that the choice sits on the edge of the range.
    """

    status: SelectionStatus
    n_components: int
    criterion: Criterion
    candidates: Sequence[Candidate]
    time: float
    interrupted: bool = False
    covariance: str | None = None
    notes: Sequence[str] = field(default=())

    @property
    def best(self) -> Candidate:
        """The chosen candidate."""
        return next(
            one for one in self.candidates
            if (one.covariance, one.n_components) == (self.covariance, self.n_components)
        )  # fmt: skip

    @property
    def result(self) -> Result:
        """The chosen candidate's result. Its gap may be wide: the choice needs only the others' lower bounds."""
        return self.best.result

    def state(self, candidate: Candidate) -> Literal["proved", "bounded", "open"]:
        """
        Tell what is known of a candidate.

        Returns
        -------
        str
            "proved": its fit is globally optimal within the tolerance. "bounded": not proved, but its bound says that
            it has no lower criterion than the chosen one; of the chosen one, that all others are. "open": neither.
        """
        if candidate.result.success:
            return "proved"
        same = candidate.coincides(self.best)
        settled = self.status is SelectionStatus.PROVED if same else self.loses(candidate)
        return "bounded" if settled else "open"

    def loses(self, candidate: Candidate) -> bool:
        """Whether a candidate is proved to have no lower criterion than the chosen one."""
        return candidate is not self.best and candidate.lower >= self.best.upper

    def to_frame(self) -> "DataFrame":
        """
        Tabulate the candidates; needs pandas.

        Returns
        -------
        pandas.DataFrame
            One row for each: covariance, n_components, n_parameters, lower, upper, state, loses, chosen, n_nodes, time.
        """
        import pandas

        return pandas.DataFrame(
            [
                {
                    "covariance": one.covariance, "n_components": one.n_components,
                    "n_parameters": one.n_parameters, "lower": one.lower, "upper": one.upper,
                    "state": self.state(one), "loses": self.loses(one), "chosen": one is self.best,
                    "n_nodes": one.n_nodes, "time": one.result.time,
                }
                for one in self.candidates
            ]
        )  # fmt: skip

    def to_dict(self) -> dict[str, Json]:
        """Convert to JSON types: the choice, what is proved of every model, and the chosen fit as ``result``."""
        names = ("n_components", "covariance", "n_parameters", "lower", "upper", "n_nodes")
        candidates = [
            {**{name: to_json_types(getattr(one, name)) for name in names}, "state": self.state(one),
             "loses": self.loses(one)}
            for one in self.candidates
        ]  # fmt: skip
        return {
            "status": self.status.name, "criterion": self.criterion, "covariance": self.covariance,
            "n_components": self.n_components, "candidates": candidates, "notes": list(self.notes),
            "time": self.time, "interrupted": self.interrupted, "result": self.result.to_dict(),
        }  # fmt: skip

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the criterion against the number of components, see `gopfast.plot.selection`; needs matplotlib."""
        # Here and not above: results must work without matplotlib.
        from gopfast import plot

        return plot.selection(self, ax=ax)

    def __repr__(self) -> str:
        """Return the choice on one line."""
        kind = f"covariance={self.covariance!r}, " if self.covariance else ""
        return f"Selection({self.status.name}, {kind}n_components={self.n_components}, criterion={self.criterion!r})"

    def __str__(self) -> str:
        """Return a table of the proved intervals; of several kinds of covariance side by side, as mclust does."""
        several = len({one.covariance for one in self.candidates}) > 1
        lines = [self._headline(several), *(self._matrix() if several else self._rows())]
        lines += [f"  note: {note}" for note in self.notes]
        lines.append(f"  in {self.time:.3g} s")
        return "\n".join(lines)

    def _repr_html_(self):
        """Return the same as a table for notebooks."""
        cells = [
            f"<tr><th>{html.escape(one.covariance or OWN_NAME)}</th><td>{one.n_components}</td>"
            f"<td>{one.n_parameters}</td><td>{one.lower:.4f}</td><td>{one.upper:.4f}</td>"
            f"<td>{'<b>chosen</b>' if one is self.best else 'loses' if self.loses(one) else ''}</td>"
            f"<td>{self.state(one)}</td></tr>"
            for one in self.candidates
        ]
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        name = self.criterion.upper()
        return (
            f"<p>{html.escape(self._headline(self.covariance is not None))}</p><table><thead><tr><th>model</th>"
            f"<th>K</th><th>parameters</th><th>{name} at least</th><th>at most</th><th></th><th></th></tr></thead>"
            f"<tbody>{''.join(cells)}</tbody></table><ul>{notes}</ul>"
        )

    def _headline(self, several):
        caution = f"; but {self.result.caution}" if self.result.caution else ""
        kind = f"{self.covariance}, " if several else ""
        return (
            f"{self.status.name}: {kind}{self.n_components} components by {self.criterion.upper()}; "
            f"{self.status.value}{caution}"
        )

    def _rows(self):
        """One row for each candidate."""
        name = self.criterion.upper()
        yield f"  {'K':>3} {'parameters':>10} {name + ' at least':>15} {'at most':>15} {'nodes':>9}"
        for one in self.candidates:
            mark = "chosen" if one.coincides(self.best) else "loses" if self.loses(one) else "open"
            if mark == "open" and self.state(one) == "proved":
                mark = "proved"
            yield (
                f"  {one.n_components:>3} {one.n_parameters:>10} {one.lower:>15.6f} {one.upper:>15.6f} "
                f"{one.n_nodes:>9,}  {mark}"
            )

    def _matrix(self):
        """One row for each number of components, one column for each kind."""
        cells = {one.key: self._cell(one) for one in self.candidates}
        kinds = list(dict.fromkeys(kind for kind, _ in cells))
        sizes = sorted({K for _, K in cells})
        columns = [["K", *map(str, sizes)]] + [[kind, *(cells[kind, K] for K in sizes)] for kind in kinds]
        widths = [max(map(len, column)) for column in columns]
        name = self.criterion.upper()
        yield (
            f"  {name} of the best fit known, least is best; * chosen, >= what is proved of all fits, where it is not "
            "exact, ? open"
        )
        for row in zip(*columns, strict=True):
            yield "  " + "  ".join(map(str.rjust, row, widths))

    def _cell(self, one):
        chosen = one.coincides(self.best)
        value = f"*{self.best.upper:.3f}" if chosen else f"{one.upper:.3f}"
        if one.result.success or (chosen and self.best.result.success):
            return value
        return f"{value} >={one.lower:.3f}{'' if chosen or self.loses(one) else '?'}"
