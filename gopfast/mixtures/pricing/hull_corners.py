"""
Bounds of cells of the hull by their corners: right to the second order in a cell's sides.

Theory: (YN1) of docs/theory/near.md.
"""

import itertools

import numpy as np

from gopfast.mixtures.pricing.tuning import HULL_ACROSS as ACROSS, HULL_MOST_CORNERS as MOST, LEAST_RADIUS


class Corners:
    """
    What a component saves in small cells, by what it saves at their corners.

    Parameters
    ----------
    cells_at : HullCells
    n_columns : int
        d.
    free : bool
        Whether precisions are coordinates, too.
    shells : Shells, optional
        Of the coordinates across, beside those along, for corners near the axes of which the cells say too much.

    Attributes
    ----------
    n_made : int
        Corners that were looked at: what is known of one does for all cells that share it.
    """

    def __init__(self, cells_at, n_columns, free, shells=None):
        self.cells_at, self.n_columns, self.free, self.shells = cells_at, n_columns, free, shells
        self.known, self.n_made = {}, 0

    def raises(self, low, high):
        """
        Return by how much prices are to be raised at both ends (m, 2) of the precisions' ranges of cells, in nats.

        Parameters
        ----------
        low, high : ndarray, shape (m, q + 2)
            Boxes of coordinates along, the distance from the axes, and the precision's logarithm.
        """
        square = np.square(0.5 * (high[:, :-1] - low[:, :-1])).sum(axis=1)
        logs = np.column_stack([low[:, -1], high[:, -1]])
        raised = 0.5 * np.exp(logs) * square[:, None]
        if self.free:
            # the precision in the middle is the logarithmic mean of both ends: there these are raised alike
            wide = np.maximum(logs[:, 1:] - logs[:, :1], 1e-12)
            away = logs - (logs[:, :1] + np.log(np.expm1(wide) / wide))
            raised += 0.5 * self.n_columns * np.maximum(0.0, np.expm1(away) - away)
        return raised * (1 + 1e-9) + 1e-12

    def bound(self, low, high, raised, scales, enough):
        """
        Return bounds (m,) of cells.

        Parameters
        ----------
        low, high : ndarray, shape (m, q + 2)
        raised : ndarray, shape (m, 2)
            See `raises`.
        scales : ndarray, shape (m,)
            Logarithms of the scales to begin with; any is valid.
        enough : float
            A bound below this is not improved any more.
        """
        if len(self.known) > MOST:
            self.known.clear()
        known, cells, asked, begin = self.known, [], {}, []
        for a, b, r, scale in zip(low.tolist(), high.tolist(), raised.tolist(), scales.tolist(), strict=True):
            ends = [(x,) if x == y else (x, y) for x, y in zip(a, b, strict=True)]
            cells.append(list(itertools.product(*ends)))
            for corner in cells[-1]:
                rise = r[corner[-1] == b[-1]]
                before = known.get(corner)
                # what was found at a higher price holds, but may be too much
                if before is None or before[0] < rise or (before[1] > enough and before[0] > rise * (1 + 1e-6)):
                    if corner not in asked:
                        begin.append(scale)
                    asked[corner] = max(rise, asked.get(corner, rise))
        self.n_made += len(asked)
        if asked:
            at, more = np.array(list(asked)), np.array(list(asked.values()))
            values, scales = self.cells_at.bound(at[:, :-1], at[:, :-1], at[:, [-1, -1]], np.array(begin),
                                                 enough=enough, raised=more)  # fmt: skip
            if self.shells is not None:
                near = at[:, -2] * np.exp(0.5 * at[:, -1]) <= ACROSS
                left = np.flatnonzero((values > enough) & near)
                if len(left):
                    values[left] = np.minimum(values[left], self._across(at[left], scales[left], more[left], enough))
            known.update(zip(asked, zip(more.tolist(), values.tolist(), strict=True), strict=True))
        return np.array([max(known[corner][1] for corner in corners) for corners in cells])

    def _across(self, at, scales, raised, enough):
        """Return bounds (m,) of corners (m, q + 2) by shells of the coordinates across."""
        distances, logs = at[:, -2], at[:, -1]
        outer = np.maximum(distances, LEAST_RADIUS)
        more = raised + 0.5 * self.n_columns * logs * self.free
        values, _ = self.shells.bound(distances, outer, scales, more, enough, np.exp(logs), at[:, :-2])
        return values
