"""
Bounds of cells of the hull by their corners: right to the second order in a cell's sides.

Theory: (YN1) and (YN5) of docs/theory/near.md.
"""

import itertools

import numpy as np

from gopfast.mixtures.pricing.tuning import (
    HULL_ACROSS as ACROSS,
    HULL_FIRST_SCALE as FIRST_SCALE,
    HULL_MOST_CORNERS as MOST,
    HULL_MOST_ROOM as MOST_ROOM,
    HULL_MOVES as MOVES,
    LEAST_RADIUS,
)


class Corners:
    """
    What a component saves in small cells, by what it saves at their corners.

    Parameters
    ----------
    cells_at : Drafted
    n_columns : int
        d.
    free : bool
        Whether precisions are coordinates, too.
    enough : float
        What cells are asked to save at most.
    shells : DraftedShells, optional
        Of the coordinates across, beside those along, for corners near the axes of which the cells say too much.

    Attributes
    ----------
    n_made : int
        Corners that were looked at: what is known of one does for all cells that share it.
    """

    def __init__(self, cells_at, n_columns, free, enough, shells=None):
        self.cells_at, self.n_columns, self.free, self.shells = cells_at, n_columns, free, shells
        self.enough, self.n_made = enough, 0
        self.known = {}  # by corner: what prices were raised by, and the bound
        self.rooms, self.drafted = {}, {}  # by corner: room, and where its search ended; the same by some samples

    def _needs(self, corners, center, log_center):
        """
        Return what prices are to be raised by at corners (m, C), in nats.

        Parameters
        ----------
        corners : ndarray, shape (m, C, q + 2)
        center : ndarray, shape (m, q + 1)
            A point of each cell, and the logarithm of a precision (m,): any will do.
        """
        logs = corners[:, :, -1]
        needs = 0.5 * np.exp(logs) * np.square(corners[:, :, :-1] - center[:, None]).sum(axis=2)
        if self.free:
            away = logs - log_center[:, None]
            needs += 0.5 * self.n_columns * np.maximum(0.0, np.expm1(away) - away)
        return needs * (1 + 1e-9) + 1e-12

    @staticmethod
    def _middle(low, high):
        """Return the middles of cells (m, q + 1), and precisions (m,) of which both ends need the same."""
        wide = np.maximum(high[:, -1] - low[:, -1], 1e-12)
        return 0.5 * (low + high)[:, :-1], low[:, -1] + np.log(np.expm1(wide) / wide)

    def raises(self, low, high):
        """
        Return by how much prices are to be raised at both ends (m, 2) of the precisions' ranges of cells, in nats.

        Parameters
        ----------
        low, high : ndarray, shape (m, q + 2)
            Boxes of coordinates along, the distance from the axes, and the precision's logarithm.
        """
        ends = np.stack([low, np.column_stack([low[:, :-1], high[:, -1]])], axis=1)
        return self._needs(ends, *self._middle(low, high))

    def close(self, low, high):
        """Return of cells (m, q + 2) whether their corners leave so much room that nothing saves more than enough."""
        if len(self.rooms) > MOST:
            self.rooms.clear()
            self.drafted.clear()
        cells = [_corners_of(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        foreseen = self._foresee_all(cells, (high - low).tolist())
        rooms = np.array([[(self.rooms.get(one) or foreseen[one])[0] for one in corners] for corners in cells])
        places, middles = np.array(cells), self._middle(low, high)
        closed = self._have_room(places, rooms, *middles)
        hoped = np.flatnonzero(closed)
        asked = {one: foreseen[one][1] for i in hoped for one in cells[i] if one not in self.rooms}
        if asked:
            self.rooms.update(self._rooms_of(self.cells_at.all_samples, asked))
            rooms = np.array([[self.rooms[one][0] for one in cells[i]] for i in hoped])
            closed[hoped] = self._have_room(places[hoped], rooms, *(one[hoped] for one in middles))
        return closed

    def _rooms_of(self, cells, begin):
        """Return rooms and scales of corners, with scales to begin with, by those cells."""
        at = np.array(list(begin))
        found = cells.rooms(at[:, :-1], at[:, -1], np.array(list(begin.values())), self.enough, MOST_ROOM)
        self.n_made += len(at)
        return dict(zip(begin, zip(*(one.tolist() for one in found), strict=True), strict=True))

    def _foresee_all(self, cells, sides):
        """Return about what rooms and scales corners have that are not known, by some of the samples if there are."""
        foreseen, asked = {}, {}
        for corners, side in zip(cells, sides, strict=True):
            for one in corners:
                if one in self.rooms or one in foreseen or one in asked:
                    continue
                if one in self.drafted:
                    foreseen[one] = self.drafted[one]
                elif self.cells_at.draft is None:
                    foreseen[one] = self._foresee(one, side)
                else:
                    asked[one] = self._foresee(one, side)[1]
        if asked:
            self.drafted.update(self._rooms_of(self.cells_at.draft, asked))
            foreseen.update((one, self.drafted[one]) for one in asked)
        return foreseen

    def _foresee(self, corner, side):
        """Return about the room of a corner, at least, and where to begin, by corners a side of its cell away."""
        begin = FIRST_SCALE
        for j, width in enumerate(side):
            if width > 0:
                ends = [(*corner[:j], corner[j] + step, *corner[j + 1 :]) for step in (-width, width)]
                before, after = (self.rooms.get(end) or self.drafted.get(end) for end in ends)
                if before and after:
                    return 0.5 * (before[0] + after[0]), 0.5 * (before[1] + after[1])
                if before or after:
                    begin = (before or after)[1]
        return MOST_ROOM, begin

    def _have_room(self, corners, rooms, center, log_center):
        """Return of cells (m, C, q + 2) whether about some point all corners have room (m, C)."""
        each, found = np.arange(len(corners)), np.zeros(len(corners), bool)
        for turn in range(MOVES):
            lack = self._needs(corners, center, log_center) - rooms
            worst = lack.argmax(axis=1)
            found |= lack[each, worst] <= 0.0
            # towards the corner that lacks most, ever less (Badoiu and Clarkson)
            corner, step = corners[each, worst], 1.0 / (turn + 2)
            center = center + step * (corner[:, :-1] - center)
            log_center = log_center + step * (corner[:, -1] - log_center)
        return found

    def bound(self, low, high, raised, scales):
        """
        Return bounds (m,) of cells.

        Parameters
        ----------
        low, high : ndarray, shape (m, q + 2)
        raised : ndarray, shape (m, 2)
            See `raises`.
        scales : ndarray, shape (m,)
            Logarithms of the scales to begin with; any is valid.
        """
        if len(self.known) > MOST:
            self.known.clear()
        known, enough, cells, asked, begin = self.known, self.enough, [], {}, []
        for a, b, r, scale in zip(low.tolist(), high.tolist(), raised.tolist(), scales.tolist(), strict=True):
            cells.append(_corners_of(a, b))
            for corner in cells[-1]:
                rise = r[corner[-1] == b[-1]]
                before, room = known.get(corner), self.rooms.get(corner)
                if room is not None and room[0] >= rise:
                    known[corner] = rise, enough
                # what was found at a higher price holds, but may be too much
                elif before is None or before[0] < rise or (before[1] > enough and before[0] > rise * (1 + 1e-6)):
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
                    values[left] = np.minimum(values[left], self._across(at[left], scales[left], more[left]))
            known.update(zip(asked, zip(more.tolist(), values.tolist(), strict=True), strict=True))
        return np.array([max(known[corner][1] for corner in corners) for corners in cells])

    def _across(self, at, scales, raised):
        """Return bounds (m,) of corners (m, q + 2) by shells of the coordinates across."""
        distances, logs = at[:, -2], at[:, -1]
        outer = np.maximum(distances, LEAST_RADIUS)
        more = raised + 0.5 * self.n_columns * logs * self.free
        values, _ = self.shells.bound(distances, outer, scales, more, self.enough, np.exp(logs), at[:, :-2])
        return values


def _corners_of(low, high):
    """Return the corners of a cell, tuples of its ends."""
    return list(itertools.product(*((x,) if x == y else (x, y) for x, y in zip(low, high, strict=True))))
