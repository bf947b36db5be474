"""What every mechanism of a search has done: calls, work, nodes and gaps closed, seconds."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

HEADER = ("mechanism", "calls", "terms", "nodes closed", "gap closed", "seconds")


class Activity(NamedTuple):
    """
    What one mechanism has done.

    Attributes
    ----------
    calls : int
        Of the relaxed dual: nodes bounded.
    terms : int
        Costs of one sample (or one point of a summary in its place) in one component (or one part of its cell) that
        were evaluated: a pass over n samples with K components has n K terms. Linear programs have none.
    nodes_closed : int
        Nodes that need no further look since they hold nothing below the limit, as the mechanism was the one to show.
    gap_closed : float
        By how much it has raised the lower bound or lowered the objective, in units of the objective. What is raised by
        bounding nodes is the relaxed dual's, whatever stage has raised their bounds.
    seconds : float
        Its own, without those of mechanisms that work inside it. Of bounding nodes the sum over all threads, else of
        the thread that calls. Those of a search that was resumed are of the last run; counts are of all runs.
    """

    calls: int = 0
    terms: int = 0
    nodes_closed: int = 0
    gap_closed: float = 0.0
    seconds: float = 0.0


class Profile(Mapping[str, Activity]):
    """
    What every mechanism of a search has done, by its name; prints as a table.

    Counts are exact: they are equal on any number of threads, where no time limit cuts the search short.

    Parameters
    ----------
    names : iterable of str
        Of all mechanisms, in the order in which they are listed.
    rows : iterable of (str, tuple)
        Name and `Activity`, as a tuple, of those that were at work. Rows of one name are added up.
    """

    __slots__ = ("_names", "_rows")

    def __init__(self, names: Iterable[str], rows: Iterable[tuple[str, tuple[float, ...]]]) -> None:
        self._names, self._rows = tuple(names), tuple(rows)

    def __getitem__(self, name: str) -> Activity:
        """Return what a mechanism has done; nothing, if it was not at work."""
        if name not in self._names:
            raise KeyError(name)
        own = [row for other, row in self._rows if other == name]
        return Activity(*(sum(values) for values in zip(*own, strict=True))) if own else Activity()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all mechanisms."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of mechanisms."""
        return len(self._names)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Return what makes it again."""
        return type(self), (self._names, self._rows)

    @property
    def n_terms(self) -> int:
        """Terms of all mechanisms together: the work of the search."""
        return sum(int(row[1]) for _, row in self._rows)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Convert to JSON types: a dict for every mechanism."""
        return {name: self[name]._asdict() for name in self}

    @classmethod
    def from_dict(cls, record: Mapping[str, Mapping[str, float]]) -> "Profile":
        """Make what `to_dict` returned."""
        rows = [(name, tuple(Activity(**values))) for name, values in record.items()]
        return cls(record, rows)

    def __str__(self) -> str:
        """Return a table of the mechanisms that were at work, those with the most terms first."""
        lines = [HEADER]
        for name, at in sorted(self.items(), key=lambda row: -row[1].terms):
            if at != Activity():
                counts = f"{at.calls:,}", f"{at.terms:,}", f"{at.nodes_closed:,}"
                lines.append((name, *counts, f"{at.gap_closed:.4g}", f"{at.seconds:.3g}"))
        first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))
        return "\n".join(
            "  ".join([name.ljust(first), *(text.rjust(width) for text, width in zip(texts, others, strict=True))])
            for name, *texts in lines
        )

    def __repr__(self) -> str:
        """Return the number of terms, and who had most of them."""
        most = max(self._names, key=lambda name: self[name].terms, default=None)
        return f"Profile(n_terms={self.n_terms:,}, most of {most!r})"
