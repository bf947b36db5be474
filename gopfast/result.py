"""What the results of all searches share: the bounds proved, and how the search went."""

import enum
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from gopfast import annotations, checks, classification, figures
from gopfast.annotations import FloatArray, Json, PlotOptions
from gopfast.errors import InputError
from gopfast.profile import Profile
from gopfast.proof import Proof
from gopfast.starts import Starts
from gopfast.words import Word

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

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
    """Proved that no point has an objective below the cutoff of the search, as `gopfast.select` sets it."""
    MEMORY_LIMIT = 9
    """The memory limit left no room for open nodes; only the bounds are proved."""

    @property
    def meaning(self) -> str:
        """One sentence that says what is proved."""
        return _MEANINGS.get(self) or f"{STOPPED[self]}; {_BOUNDS_ONLY}"


_BOUNDS_ONLY = "the global optimum lies between lower_bound and objective, no more is proved"
_MEANINGS = {
    Status.OPTIMAL: "the solution is proved globally optimal within the tolerance",
    Status.INFEASIBLE: "no point meets the constraints, which is proved; there is no optimum",
    Status.UNBOUNDED: "the objective is unbounded along a ray of feasible points; there is no optimum",
    Status.CUTOFF: f"no point has an objective below the cutoff, which is proved; {_BOUNDS_ONLY}",
}
# Of searches that ended before the gap was closed: why.
STOPPED = {
    Status.TIME_LIMIT: "time limit reached",
    Status.NODE_LIMIT: "node limit reached",
    Status.INTERRUPTED: "stopped by Ctrl-C or a callback",
    Status.MEMORY_LIMIT: "memory limit reached",
    Status.NUMERICAL: "rounding errors kept the gap open",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SearchResult:
    """
    What the results of all searches share; see `gopfast.Result` and `gopfast.BiconvexResult`, which say `gap`.

    Attributes
    ----------
    status : Status
        Why the search stopped, and so what is proved.
    objective : float
        The objective at `solution`.
    lower_bound : float
        No point has a smaller objective.
    solution
        The best point found.
    n_nodes, n_subproblems, n_lps, n_iterations, n_milps, n_passes : int
        Counts of nodes bounded, relaxed-dual subproblems, linear programs, simplex iterations, mixed-integer programs
        and passes over the data.
    time : float
        Seconds.
    rounding_margin : float
        What the bounds lost for rounding where that kept the gap open, in units of the objective.
    history : ndarray, shape (m, 5)
        One row per report; columns as `history_columns`. Rows without nodes are what the first local search found.
    relaxation, partition, branching, subproblem : str
        The methods used.
    notes : tuple of str
        What a reader should know.
    caution : str
        What makes the optimum no useful fit, whatever is proved of it.
    stopped : str
        Why a search ended before its time limit, with status TIME_LIMIT; else empty.
    message : str
        One sentence that says what is proved, and with a `caution` what it is worth.
    profile : gopfast.profile.Profile or None
        What every mechanism of the search of a mixture has done, and those of a biconvex problem that can be switched
        off: calls, work, nodes and gap closed; None of other problems.
    starts : gopfast.starts.Starts or None
        The local searches: their numbers, starts and ends; in this process, where others search, too. None where none
        was needed.
    proof : str, gopfast.Proof or None
        A proof of the bounds, for `gopfast.check`, or the name of its file; None where none was asked for. Records have
        names of files alone.
    """

    _objective_label: ClassVar[str] = "objective"  # of axes, with its unit where it has one
    history_columns: ClassVar[tuple[str, ...]] = ("time", "n_nodes", "lower", "upper", "n_open")

    status: Status
    objective: float
    lower_bound: float
    solution: object
    n_nodes: int = 0
    n_subproblems: int = 0
    n_lps: int = 0
    n_iterations: int = 0
    n_milps: int = 0
    n_passes: int = 0
    time: float = 0.0
    rounding_margin: float = 0.0
    history: FloatArray = field(default_factory=lambda: np.empty((0, 5)))
    relaxation: str = ""
    partition: str = ""
    branching: str = ""
    subproblem: str = "enumerate"
    notes: Sequence[str] = ()
    caution: str = ""
    stopped: str = ""
    message: str = ""
    proof: str | Proof | None = None
    profile: Profile | None = None
    starts: Starts | None = None

    def __post_init__(self) -> None:
        """Accept what the core hands over: a plain number as status, lists."""
        # A frozen dataclass can be set through object only.
        object.__setattr__(self, "status", Status(self.status))
        object.__setattr__(self, "history", np.asarray(self.history, dtype=float).reshape(-1, 5))
        object.__setattr__(self, "notes", tuple(self.notes))
        meaning = self._meaning()
        cautioned = f"{meaning}; but {self.caution}" if self.caution else meaning
        object.__setattr__(self, "message", self.message or cautioned)

    def _meaning(self):
        """Return one sentence that says what is proved."""
        if self.status is Status.NUMERICAL and self.rounding_margin > 0.0:
            return f"a rounding margin of {self.rounding_margin:.2g} exceeds the tolerance; {_BOUNDS_ONLY}"
        return f"{self.stopped}; {_BOUNDS_ONLY}" if self.stopped else self.status.meaning

    @property
    def success(self) -> bool:
        """Whether `solution` is proved globally optimal within the tolerance."""
        return self.status is Status.OPTIMAL

    @property
    def evidence(self) -> str:
        """What the local searches say of a solution that is not proved: one sentence, which is no proof; else empty."""
        return "" if self.starts is None or self.status not in STOPPED else self.starts.evidence

    def to_dict(self, responsibilities: bool = False) -> dict[str, Json]:
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
        record["proof"] = self.proof if isinstance(self.proof, str) else None
        record["profile"] = None if self.profile is None else self.profile.to_dict()
        record["starts"] = None if self.starts is None else self.starts.to_dict()
        if self.solution is not None:
            record["solution"] = self.solution.to_dict(responsibilities)
        return record

    def to_json(self, path: annotations.Path | None = None) -> str:
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

    @classmethod
    def _fields_of(cls, record):
        """Return the arguments of the class, but the solution, from a record of `to_dict`."""
        try:
            status = Status[record["status"]]
            bounds = {
                name: float(default if record[name] is None else record[name])
                for name, default in (("objective", math.inf), ("lower_bound", -math.inf))
            }
            history = np.array(record.get("history") or [], dtype=float).reshape(-1, len(cls.history_columns))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"source must be what to_dict returned; {error!r}") from None
        kept = {name: record[name] for name in _KEPT if record.get(name) is not None}
        profile = None if record.get("profile") is None else Profile.from_dict(record["profile"])
        starts = None if record.get("starts") is None else Starts.from_dict(record["starts"])
        return {**kept, **bounds, "status": status, "history": history, "profile": profile, "starts": starts}

    def plot(
        self,
        kind: Literal["bounds", "density", "uncertainty", "entropy", "classes"] = "bounds",
        ax: "Axes | None" = None,
        **options: "Unpack[PlotOptions]",
    ) -> "Axes":
        """
        Draw the result; needs matplotlib.

        Parameters
        ----------
        kind : {"bounds", "density", "uncertainty", "entropy", "classes"}
            The bounds against time; the data with the fitted density; how uncertain the classification of each sample
            is; its entropy; profiles of latent classes.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        **options
            Those of the function of this name in `gopfast.plot`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        owner = {"bounds": figures, "density": figures, **dict.fromkeys(_CLASSIFIED, classification)}
        return getattr(owner[checks.choice("kind", kind, tuple(owner))], kind)(self, ax=ax, **options)

    def _values(self):
        """Name and text of what follows the objective in the summary."""
        return ()

    def __str__(self) -> str:
        """Return a short readable summary."""
        lines = [
            f"{self.status.name}: {self.message}",
            _line("objective", f"{self.objective:.8g}  (lower bound {self.lower_bound:.8g}, gap {self.gap:.3g})"),
        ]
        lines.extend(_line(name, text) for name, text in self._values())
        if self.evidence:
            lines.append(_line("evidence", self.evidence))
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
    "status", "success", "message", "caution", "stopped", "notes", "objective", "lower_bound", "gap", "elbo",
    "elbo_bound", "log_likelihood", "log_likelihood_bound", "elbo_constant", "solution", "n_nodes", "n_subproblems",
    "n_lps", "n_iterations", "n_milps", "n_passes", "time", "rounding_margin", "relaxation", "partition", "branching",
    "subproblem",
    "history_columns", "history", "proof", "profile", "starts",
    "evidence",
)  # fmt: skip


# Kinds of figures of how a fit divides the samples.
_CLASSIFIED = ("uncertainty", "entropy", "classes")


_KEPT = (
    "n_nodes", "n_subproblems", "n_lps", "n_iterations", "n_milps", "n_passes", "time", "rounding_margin", "relaxation",
    "partition", "branching", "subproblem", "notes", "caution", "stopped", "message", "proof",
)  # fmt: skip


def read_record(source: "annotations.Path | Mapping[str, object]") -> dict[str, object]:
    """
    Read a JSON object.

    Parameters
    ----------
    source : str, path-like or dict
        A file, its text, which begins with a brace, or the object itself.

    Raises
    ------
    InputError
        If it is none.
    """
    if isinstance(source, Mapping):
        return dict(source)
    text = source if isinstance(source, str) and source.lstrip().startswith("{") else None
    try:
        record = json.loads(Path(source).read_text(encoding="utf-8") if text is None else text)
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"source must be a JSON file or text; {error}") from None
    if not isinstance(record, dict):
        raise InputError(f"source must be a JSON object; got {type(record).__name__}")
    return record


def to_json_types(value: Any) -> Any:
    """
    Convert numbers, arrays and sequences to what JSON can express; infinities and NaN become None.

    Objects of other kinds are returned as they are.
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [to_json_types(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
