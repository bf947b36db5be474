"""What is declared of every mechanism of a search, so that it can be switched off, measured and taken out by itself."""

from abc import ABC, abstractmethod
from typing import ClassVar

from gopfast.search.meter import Meter

# What a mechanism may hand over.
HANDED_OVER = ("bounds of nodes", "closed nodes", "cuts", "floor", "incumbents")


class Mechanism(ABC):
    """
    A mechanism of a search: a class for each, which `Plan` asks; its work is compiled, or a `Learner`'s.

    Attributes
    ----------
    name : str
        By which it is switched off, and counted in `result.profile`.
    what : str
        One sentence.
    theory : str
        Number of its statement in docs/theory.
    hands_over : tuple of str
        Some of `HANDED_OVER`.
    back_off : str
        When it does less, or ends.
    optional : bool
        Whether a search can do without it.
    in_proofs : bool
        Whether it is at work where a proof is written: the checker has a rule for what it hands over, or needs none.
    inside : type or None
        The mechanism in whose calls it works.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    theory: ClassVar[str]
    hands_over: ClassVar[tuple[str, ...]]
    back_off: ClassVar[str]
    optional: ClassVar[bool] = True
    in_proofs: ClassVar[bool] = False
    inside: ClassVar["type[Mechanism] | None"] = None

    @staticmethod
    @abstractmethod
    def applies(plan):
        """Return whether a search is of the kind: its problem, family and options are the plan's."""

    @staticmethod
    def make(plan):
        """Return what does the work, made for the plan's search; None where it is part of another mechanism's."""
        return None


class Plan:
    """
    Which mechanisms are at work in a search, and what they have done.

    Parameters
    ----------
    without : frozenset of str
        Names of those that are switched off.
    provable : bool
        Whether a proof is written.

    Attributes
    ----------
    meters : list of Meter
        Of those that are at work, in the order in which they were put to it.
    """

    def __init__(self, without=frozenset(), provable=False):
        self.without, self.provable, self.meters, self._meters, self._applies = without, provable, [], {}, {}

    def has(self, mechanism):
        """Return whether a mechanism applies, may be part of a proof if there is one, and is not switched off."""
        found = self._applies.get(mechanism)
        if found is None:
            allowed = mechanism.name not in self.without and (mechanism.in_proofs or not self.provable)
            found = self._applies[mechanism] = allowed and bool(mechanism.applies(self))
        return found

    def meter(self, mechanism, inside=None):
        """Return the counts of a mechanism, at work from now on; `inside`: in whose calls, if not as declared."""
        found = self._meters.get(mechanism)
        if found is None:
            found = self._meters[mechanism] = Meter(mechanism.name, self._meters.get(inside or mechanism.inside))
            self.meters.append(found)
        return found
