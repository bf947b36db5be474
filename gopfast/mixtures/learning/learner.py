"""What is learnt beside a tree in steps of Python: the protocol that `StepwiseReduction` asks."""

import math
import time

from gopfast.mixtures.learning.tuning import LEAST_STEP, LONGEST_STEP, SHARE_OF_TIME


class Learner:
    """
    A lower bound that is learnt in steps. Subclasses say what a step is, and set what they have of the rest.

    Attributes
    ----------
    limit : float
        Solutions below it are sought; it may be lowered between steps.
    lower : float
        What is proved of all solutions below the limit.
    at_work : float
        The bound of what is being learnt, which may be below what was learnt before, -inf before its first one.
    n_passes : int
        Passes over the data so far, by which the tree tells how much was spent.
    n_terms : int
        Terms (`gopfast.profile.Activity`) so far, without those that mechanisms inside it count themselves.
    found : ndarray or None
        A better solution, as the primal keeps it, to start a local search from; who takes it sets None.
    rest : int
        Batches of nodes that the tree is to bound before the next step.
    cells : tuple of ndarray or None
        Boxes (m, n), (m, n) in which all components of solutions below the limit lie, and bounds (m,) of what a
        component saves there, at prices whose total is `table_total`.
    is_recorded : bool
        Whether it is told to a proof.
    """

    lower, limit = -math.inf, math.inf
    n_passes = n_terms = rest = 0
    found = cells = None
    table_total, is_recorded = -math.inf, False

    @property
    def at_work(self):
        """What is proved; subclasses that learn one thing after the other set what the one at hand proves."""
        return self.lower

    def step(self, deadline):
        """Take a step, until `deadline` of the monotonic clock; return whether there are more."""
        raise NotImplementedError


def end_of_step(deadline):
    """
    Return when a step is to end, of the monotonic clock, so that the tree and who watches it have their turn.

    Parameters
    ----------
    deadline : float
        Of the search; infinite: steps end by what they have done, and are the same in every run.
    """
    if not math.isfinite(deadline):
        return math.inf
    now = time.monotonic()
    return min(deadline, now + min(LONGEST_STEP, max(LEAST_STEP, SHARE_OF_TIME * (deadline - now))))
