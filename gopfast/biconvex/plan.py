"""Which mechanisms are at work in the solve of a biconvex problem."""

from gopfast.search.mechanism import Plan


class BiconvexPlan(Plan):
    """
    The plan of a solve.

    Attributes
    ----------
    problem : BiconvexProblem
        What is solved, as the mechanisms before have left it.
    options : Options
    """

    def __init__(self, problem, options):
        super().__init__(options.without)
        self.problem, self.options = problem, options

    @property
    def is_free(self):
        """Whether variables are the search's to group, and none is a function of another."""
        return self.options.branching != "orthant" and self.options.partition == "joint" and not self.problem.atoms
