"""What an attack raises, and how far a bound may lie above what is attained before it does."""

from .definitions import ROUND

# Of what is compared, relative: far below any defect that matters, above the rounding of scaled samples.
TINY = 1e-12


class Failure(Exception):
    """A claim that does not hold: what, and a dict of what is needed to see it."""


def slack(value, size, W, part=TINY, rounding=64 * ROUND):
    """Room for the rounding of an attained value whose terms have this size, with a total weight W of samples."""
    return float(part * (1 + abs(value) + W) + rounding * size)
