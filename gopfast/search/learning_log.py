"""The steps by which something was learnt beside a tree, so that they can be taken again."""

import numpy as np

from gopfast.search import entries

MOST_STEPS = 1_000_000  # that a file may say

class LearningLog:
    """
    Where learning began, and how many steps were taken at which limit.

    Attributes
    ----------
    first : ndarray or None
        The incumbent that it began with.
    steps : list of [limit, number]
        In their order.
    """

    def __init__(self):
        self.first, self.steps = None, []

    def begin(self, solution):
        """Keep the incumbent that learning begins with."""
        self.first = solution

    def count(self, limit):
        """Count a step at a limit."""
        if not self.steps or self.steps[-1][0] != limit:
            self.steps.append([limit, 0])
        self.steps[-1][1] += 1

    def state(self):
        """Return them as arrays by name."""
        return {"first": self.first, "learning_log": np.array(self.steps, dtype=np.float64)}

    @staticmethod
    def again(state, size):
        """Return the first incumbent (size,) and the limits of all steps, from what `state` returned."""
        first = np.array(entries.array(state, "first", (size,)))
        lessons = entries.array(state, "learning_log", (None, 2))
        if not (lessons[:, 1] >= 1).all() or not lessons[:, 1].sum() <= MOST_STEPS:
            raise entries.EntryError(f"lessons must be at most {MOST_STEPS} steps")
        return first, [limit for limit, number in lessons.tolist() for _ in range(int(number))]
