"""
Where the local searches of a solve ended: evidence that the best one is hard to beat, never a proof.

Theory: (S9) of docs/theory/search.md.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import FloatArray, Json
from gopfast.errors import InputError

# Kinds of starts that are drawn without regard to what others led to; those of short runs, where these agreed so well
# that there were no others; and ways to end that are an end.
INDEPENDENT, SHORT = ("draws", "clusters"), ("trials",)
ENDED = ("converged", "out of steps")


class Starts(Mapping[str, Mapping[str, int]]):
    """
    The local searches of a solve: how many there were, from what kinds of starts, where each ended; prints as a table.

    A mapping from kinds of starts to how many searches from them ended in which way. The *independent* starts, draws of
    k-means++ and clusters of k-means, of a biconvex problem points drawn in its box, are a sample of what restarts lead
    to: `n_optima` and the chances that follow from it are of these alone. They are evidence, and the only one where
    the bound says nothing; no proof.

    Parameters
    ----------
    counts : mapping from str to mapping from str to int
        Kind of start -> how a search ended -> number of searches.
    kinds, endings : sequence of str
        Of the searches whose ends were kept.
    above : array_like
        Of each of them, how far it ended above the best end of all, on the samples that it ran on; in units of the
        objective.
    tolerance : float
        Ends that differ by less are one optimum. One that ran out of steps ends where it stood, which counts as an
        optimum of its own: so the chances below are rather too large than too small.

    Attributes
    ----------
    kinds, endings : tuple of str
    above : ndarray
    tolerance : float
    """

    __slots__ = ("_counts", "above", "endings", "kinds", "tolerance")

    def __init__(
        self,
        counts: Mapping[str, Mapping[str, int]],
        kinds: "tuple[str, ...] | list[str]",
        endings: "tuple[str, ...] | list[str]",
        above: ArrayLike,
        tolerance: float,
    ) -> None:
        self._counts = {kind: dict(row) for kind, row in counts.items() if any(row.values())}
        self.kinds, self.endings = tuple(kinds), tuple(endings)
        self.above, self.tolerance = np.asarray(above, dtype=float), float(tolerance)

    def __getitem__(self, kind: str) -> Mapping[str, int]:
        """Return how many searches from starts of a kind ended in which way."""
        return self._counts[kind]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the kinds of starts that there were."""
        return iter(self._counts)

    def __len__(self) -> int:
        """Return the number of kinds of starts that there were."""
        return len(self._counts)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Return what makes it again."""
        return type(self), (self._counts, self.kinds, self.endings, self.above, self.tolerance)

    @property
    def n_searches(self) -> int:
        """Number of local searches of any kind."""
        return sum(sum(row.values()) for row in self._counts.values())

    @property
    def independent(self) -> FloatArray:
        """How far the searches from independent starts ended above the best end of all, ascending."""
        kinds = INDEPENDENT if any(kind in INDEPENDENT for kind in self.kinds) else SHORT
        taken = [kind in kinds and how in ENDED for kind, how in zip(self.kinds, self.endings, strict=True)]
        return np.sort(self.above[np.array(taken, dtype=bool)])

    @property
    def n_independent(self) -> int:
        """Number of searches from independent starts, N."""
        return len(self.independent)

    @property
    def optima(self) -> tuple[tuple[float, int], ...]:
        """Of each optimum that independent starts met, how far it lies above the best, and how many ended there."""
        found: list[tuple[float, int]] = []
        previous = -math.inf
        for value in self.independent.tolist():
            if value - previous > self.tolerance:
                found.append((value, 0))
            found[-1] = found[-1][0], found[-1][1] + 1
            previous = value
        return tuple(found)

    @property
    def n_optima(self) -> int:
        """Number of different optima that independent starts ended in, w."""
        return len(self.optima)

    @property
    def n_best(self) -> int:
        """How many independent starts met the best end of all."""
        return int(np.count_nonzero(self.independent <= self.tolerance))

    @property
    def chance_of_new(self) -> float:
        """
        Chance that another independent start ends in an optimum that none has met: w (w + 1) / (N (N - 1)), at most 1.

        That is the posterior mean where any number of optima, and then any sizes of the sets of starts that lead to
        them, are equally probable beforehand (S9). That of a better optimum is at most as large. NaN for N < 2.

        References
        ----------
        Boender & Rinnooy Kan, "Bayesian stopping rules for multistart global optimization methods",
        Mathematical Programming 37, 1987.
        """
        n, w = self.n_independent, self.n_optima
        return math.nan if n < 2 else min(1.0, w * (w + 1) / (n * (n - 1)))

    @property
    def coverage(self) -> float:
        """
        Estimated share of the starts that lead to an optimum that was met (Good and Turing): 1 - f / N.

        Here f is the number of optima that were met once. NaN without independent starts.
        """
        n = self.n_independent
        return math.nan if n == 0 else 1.0 - sum(times == 1 for _, times in self.optima) / n

    @property
    def evidence(self) -> str:
        """One sentence on what replication says, which is no proof."""
        n, w, met = self.n_independent, self.n_optima, self.n_best
        if len(self.above) == 0:
            return f"none of {_number(self.n_searches, 'local search', 'local searches')} ended at a solution"
        best = f"best of {_number(self.n_searches, 'local search', 'local searches')}"
        if n == 0:
            return f"{best}, none of which began independently of the others"
        starts = _number(n, "independent start", "independent starts")
        if met == 0:
            return f"{best}; none of {starts} met it, the nearest ended {self.independent[0]:.3g} above"
        others = _number(w - 1, "other optimum", "other optima")
        told = f"{best}; {met} of {starts} met it, the others ended in {others}"
        told = told if w > 1 else f"{best}, which all of {starts} met" if n > 1 else f"{best}, which {starts} met"
        return told if n < 2 else f"{told}; chance that another one ends in a new optimum: about {_percent(self)}"

    def to_dict(self) -> dict[str, Json]:
        """Convert to JSON types."""
        return {
            "counts": self._counts, "kinds": list(self.kinds), "endings": list(self.endings),
            "above": self.above.tolist(), "tolerance": self.tolerance, "n_searches": self.n_searches,
            "n_independent": self.n_independent, "n_optima": self.n_optima, "n_best": self.n_best,
            "chance_of_new": None if math.isnan(self.chance_of_new) else self.chance_of_new,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, record: Mapping[str, Json]) -> "Starts":
        """Make what `to_dict` returned."""
        try:
            return cls(*(record[name] for name in ("counts", "kinds", "endings", "above", "tolerance")))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"starts must be what to_dict returned; {error!r}") from None

    def __str__(self) -> str:
        """Return a table of the kinds of starts, and what replication says."""
        lines = [("starts", "searches", *ENDED, "met the best", "best end")]
        for kind, row in self.items():
            own = self.above[[kind == other for other in self.kinds]]
            ends = "" if len(own) == 0 else "0" if own.min() <= self.tolerance else f"+{own.min():.3g}"
            met = "" if len(own) == 0 else str(np.count_nonzero(own <= self.tolerance))
            lines.append((kind, str(sum(row.values())), *(str(row.get(how, 0)) for how in ENDED), met, ends))
        first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))
        table = [
            "  ".join([name.ljust(first), *(text.rjust(width) for text, width in zip(texts, others, strict=True))])
            for name, *texts in lines
        ]
        return "\n".join([*table, self.evidence])

    def __repr__(self) -> str:
        """Return the numbers of searches, of independent starts and of their optima."""
        return (
            f"Starts(n_searches={self.n_searches}, n_independent={self.n_independent}, n_optima={self.n_optima}, "
            f"n_best={self.n_best})"
        )


def _number(n, one, many):
    """Return a number and what it counts."""
    return f"{n:,} {one if n == 1 else many}"


def _percent(starts):
    """Return the chance of a new optimum in words of a reader: no digits that nobody can vouch for."""
    return f"{100.0 * starts.chance_of_new:.1g} %" if starts.chance_of_new < 0.1 else f"{starts.chance_of_new:.0%}"
