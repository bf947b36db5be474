"""Small cells of components, bounded by what those at their corners save, in any direction across.

But for a concave term that is the same for all samples, what they gain is affine in a component's (s g, s rho, s), and
what it saves convex in their gains: at the largest at a corner, at prices that are raised by what the term's tangent is
above it there.

Theory: (VH5) of docs/theory/proof_hull.md.
"""

import itertools
import math

import numpy as np

from .hull_bounds import in_all_directions
from .margins import OUT_MASS
from .tuning import MOST_RAISED


class Corners:
    """
    Corners of cells, which belong to many.

    Parameters
    ----------
    places : Places
    enough : float
        What is asked: whether nothing saves more.
    count : callable (n_terms)
        Is told how many samples are looked at.
    """

    def __init__(self, places, enough, count):
        self.places, self.enough, self.count = places, enough, count
        self.known = {}  # by corner: the largest raise at which it saves no more, and the least at which it does

    def raises(self, low, high):
        """Return what prices are raised by at both ends of log s of a cell (q + 2,), each."""
        d, width = self.places.stage.n_columns, high[-1] - low[-1]
        square = 0.25 * float(np.square(high[:-1] - low[:-1]).sum())
        # of log s from that of the ends' logarithmic mean, which any number may stand for
        away = -math.log(math.expm1(width) / width) if width > 1e-6 else -0.5 * width
        found = []
        for log, x in ((low[-1], away), (high[-1], away + width)):
            more = 0.5 * math.exp(log) * square + (0.5 * d * max(0.0, math.expm1(x) - x) if width else 0.0)
            found.append(more * (1 + 1e-9) + 1e-12 * (1 + d))
        return found

    def are_near(self, low, high):
        """Return whether the corners of a cell are asked about it, in place of all that it holds."""
        return max(self.raises(low, high)) <= MOST_RAISED

    def say(self, low, high, scale):
        """Return whether no component of a cell saves more than is asked, as far as its corners say."""
        raises = self.raises(low, high)
        ends = zip(low[:-1], high[:-1], strict=True)
        corners = [np.append(corner, log) for corner in itertools.product(*ends) for log in {low[-1], high[-1]}]
        raised = [raises[int(corner[-1] == high[-1])] for corner in corners]
        asked = []
        for corner, more in zip(corners, raised, strict=True):
            least, most = self.known.get(corner.tobytes(), (-math.inf, math.inf))
            if more >= most:
                return False
            if more > least:
                asked.append((corner, more))
        if not asked:
            return True
        near = self.places.tops(low, high, raised=max(raises))[0]
        self.count(len(self.places.stage.x))
        return all(self._saves_no_more(near, corner, more, scale) for corner, more in asked)

    def _saves_no_more(self, near, corner, more, scale):
        """Ask of a corner, with the samples that are near some component of its cell."""
        places, stage, key = self.places, self.places.stage, corner.tobytes()
        own, tops, slopes = places.tops(corner, corner, near, more)
        self.count(len(own))
        others = stage.total_weight * OUT_MASS
        weights, units = places.weights[own], places.units[own]
        found = in_all_directions(tops, slopes, units, weights, stage.total_weight, scale, self.enough, others)
        least, most = self.known.get(key, (-math.inf, math.inf))
        self.known[key] = (max(least, more), most) if found <= self.enough else (least, min(most, more))
        return bool(found <= self.enough)
