"""
Prices that lose less, where every component of a better solution is known to be near one of the incumbent's.

Theory: (YN3) of docs/theory/near.md.
"""

import math

import numpy as np

from gopfast.mixtures.pricing.hull_balls import ball_around
from gopfast.mixtures.pricing.tuning import (
    HULL_CONFINED_AMBIGUOUS as AMBIGUOUS,
    HULL_CONFINED_HEIGHTS as HEIGHTS,
    HULL_CONFINED_REACHED as REACHED,
    HULL_TOLERANCE as TOLERANCE,
)


class Confined:
    """
    Suprema of one component near those of an incumbent.

    Parameters
    ----------
    frame : Frame
    atoms : Atoms
        That samples have been shared out among; they move.
    balls : sequence of Ball
        Each with a radius within which one of a solution's components is, if it is near this one.
    threads : int
    """

    def __init__(self, frame, atoms, balls, threads=1):
        self.frame, self.atoms, self.threads, self.n_terms = frame, atoms, threads, 0
        self.regions = [(ball.mean, *ball.inner_box()) for ball in balls]

    def prices(self):
        """
        Yield, of prices that lose less and less, these and the most that any component saves.

        Yields
        ------
        None or tuple of ndarray, shape (n,), and float
            None after a part of the work.
        """
        atoms = self.atoms
        tolerance = TOLERANCE * math.fsum(atoms.weights)
        for how in zip(HEIGHTS, AMBIGUOUS, REACHED, strict=True):
            for _ in atoms.price(*how):
                yield None
            raised, enough = self.frame.raised(atoms.prices), atoms.values.max() + tolerance
            most = 0.0
            for k, (mean, away, s_low, s_high) in enumerate(self.regions):
                ball = ball_around(atoms, k, raised, enough, enough, self.threads)
                yield None
                while ball.grow():
                    yield None
                self.n_terms += ball.n_terms
                moved = np.linalg.norm(atoms.means[k] - mean) * (1 + 1e-12)
                most = max(most, ball.said_of(np.array([away + moved]), np.array([s_low]), np.array([s_high]))[0])
            yield atoms.prices, most
