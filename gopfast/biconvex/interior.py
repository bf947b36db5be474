"""
Local solutions of a scaled nonlinear program by a primal-dual interior point, where Ipopt is not installed.

Rows with a slack each, a logarithmic barrier for all bounds, Newton's steps for the conditions of the barrier problem,
shortened until the barrier function or what the rows miss falls, as of no point before (Waechter and Biegler 2006,
without second-order corrections), or else towards the rows alone. Where the Hessian bends down along a step it is
shifted until it does not (Chiang and Zavala 2016, without inertia). What it ends with is a point to start from and
nothing more, so that no step is a proof.
"""

import numpy as np
from scipy import sparse

from gopfast.biconvex.tuning import (
    BARRIER_FALL,
    BARRIER_POWER,
    BARRIER_ROUNDING,
    FIRST_BARRIER,
    FIRST_SHIFT,
    FRACTION_TO_BOUNDARY,
    INNER_TOLERANCE,
    LARGEST_MULTIPLIER,
    LARGEST_SHIFT,
    LEAST_BEND,
    LEAST_STEP,
    MOST_IN_DENSE,
    MOST_ITERATIONS,
    MOST_STALLED,
    NEARLY_MET,
    NONLINEAR_TOLERANCE,
    PUSH,
    RESTORING_SHIFT,
    ROW_SHIFT,
    SPREAD,
    SUFFICIENT,
)


class InteriorPoint:
    """
    A search from one point.

    Parameters
    ----------
    program : NonlinearProgram
    x : ndarray, shape (n,)
        Where to start, within the bounds; moved inside them.

    Attributes
    ----------
    x, s : ndarray, shape (n,) and (m,)
        Variables and the slacks of rows that have a finite end: s is the row's value at a solution.
    multipliers : ndarray, shape (m,)
        Of rows less slacks.
    below, above : ndarray, shape (n + m,)
        Of the bounds of variables and slacks.
    """

    def __init__(self, program, x):
        self.program, self.n = program, program.n
        self.rows = np.flatnonzero(np.isfinite(program.lower) | np.isfinite(program.upper))
        lower, upper = program.lower[self.rows], program.upper[self.rows]
        self.equal = lower == upper
        self.low, self.high = np.concatenate([program.low, lower]), np.concatenate([program.high, upper])
        # equations and fixed variables have no room for a barrier: they stay where they are
        self.fixed = ~(self.low < self.high)
        self.free_low = np.isfinite(self.low) & ~self.fixed
        self.free_high = np.isfinite(self.high) & ~self.fixed
        self.free = np.flatnonzero(~self.fixed[: self.n])
        self.is_dense = len(self.free) + len(self.rows) <= MOST_IN_DENSE
        values = program.values(x)
        self.z = self._inside(np.concatenate([x, values[1:][self.rows]]))
        self.barrier = FIRST_BARRIER
        self.below = np.where(self.free_low, 1.0, 0.0)
        self.above = np.where(self.free_high, 1.0, 0.0)
        self.filter, self.shift = [], 0.0
        self._evaluate()
        self.multipliers = self._first_multipliers()

    def _inside(self, z):
        """Move a point away from its bounds, and onto those that are equal."""
        width = self.high - self.low
        from_low = np.where(self.free_low, np.minimum(PUSH * np.maximum(1.0, abs(self.low)), PUSH * width), 0.0)
        from_high = np.where(self.free_high, np.minimum(PUSH * np.maximum(1.0, abs(self.high)), PUSH * width), 0.0)
        return np.where(self.fixed, self.low, np.clip(z, self.low + from_low, self.high - from_high))

    def _evaluate(self):
        """Values and slopes at the point."""
        self.f, self.c = self._values(self.z)
        slopes = self.program.jacobian(self.z[: self.n])
        self.gradient, self.slopes = slopes[0], slopes[1:][self.rows]

    def _values(self, z):
        values = self.program.values(z[: self.n])
        return values[0], values[1:][self.rows] - z[self.n :]

    def _first_multipliers(self):
        """Least squares for the gradient of the Lagrangian."""
        slopes = self.slopes[:, self.free]
        found = self._rows_alone(slopes @ slopes.T, np.zeros(len(self.rows)), -slopes @ self.gradient[self.free])
        if found.size and not np.abs(found).max() < LARGEST_MULTIPLIER:  # also NaN
            found = np.zeros_like(found)
        return found

    def _rows_alone(self, system, diagonal, right):
        """Solve a system with a row and a column for each row."""
        system[np.diag_indices(len(right))] += diagonal + RESTORING_SHIFT
        return np.linalg.solve(system, right)

    def _gaps(self, z):
        """Distances from the lower and the upper bounds; 1 where there is none."""
        return np.where(self.free_low, z - self.low, 1.0), np.where(self.free_high, self.high - z, 1.0)

    def _barrier_value(self, z, value):
        """Objective and barrier."""
        return value - self.barrier * sum(np.log(gap).sum() for gap in self._gaps(z))

    def _is_taken(self, now, missed, new, off, slope):
        """Whether a step is better than where it begins, and than what the filter holds."""
        if not (np.isfinite(new) and np.isfinite(off)):
            return False
        noise = BARRIER_ROUNDING * abs(now)
        if any(off >= (1.0 - SUFFICIENT) * point[0] and new >= point[1] - SUFFICIENT * point[0] + noise
               for point in self.filter):
            return False
        if slope < 0 and (missed <= NEARLY_MET or -slope > missed):
            # the rows are met well enough: the barrier function must fall
            return new <= now + SUFFICIENT * slope + noise
        if off <= (1.0 - SUFFICIENT) * missed or new <= now - SUFFICIENT * missed + noise:
            self.filter.append(((1.0 - SUFFICIENT) * missed, now - SUFFICIENT * missed))
            return True
        return False

    def _residual(self, barrier):
        """Return what the conditions of a barrier problem are missed by, at most."""
        gap_low, gap_high = self._gaps(self.z)
        dual = self._dual()
        size = max(1.0, (np.abs(self.multipliers).sum() + self.below.sum() + self.above.sum()) / max(1, 100 * self.n))
        off = [np.abs(dual).max(initial=0.0) / size, np.abs(self.c).max(initial=0.0)]
        off += [
            np.abs(np.where(has, multiplier * gap - barrier, 0.0)).max(initial=0.0) / size
            for has, multiplier, gap in (
                (self.free_low, self.below, gap_low), (self.free_high, self.above, gap_high)
            )
        ]
        return max(off)

    def _dual(self):
        """Gradient of the Lagrangian in variables and slacks, 0 for those that are fixed."""
        gradient = np.concatenate([self.gradient + self.slopes.T @ self.multipliers, -self.multipliers])
        return np.where(self.fixed, 0.0, gradient - self.below + self.above)

    def search(self):
        """Return the variables at the end: ndarray, shape (n,)."""
        stalled = 0
        for _ in range(MOST_ITERATIONS):
            if self._residual(0.0) <= NONLINEAR_TOLERANCE:
                break
            while (self._residual(self.barrier) <= INNER_TOLERANCE * self.barrier
                   and self.barrier > 0.1 * NONLINEAR_TOLERANCE):
                fall = min(BARRIER_FALL * self.barrier, self.barrier**BARRIER_POWER)
                self.barrier, self.filter = max(0.1 * NONLINEAR_TOLERANCE, fall), []
            stalled = 0 if self._step() else stalled + 1
            if stalled == MOST_STALLED:
                break
        return self.z[: self.n]

    def _step(self):
        """Take one step; whether it was one of a useful length."""
        direction = self._direction()
        if direction is None:
            return False
        dz, multipliers, slope = direction
        gap_low, gap_high = self._gaps(self.z)
        dlow = np.where(self.free_low, (self.barrier - self.below * dz) / gap_low - self.below, 0.0)
        dhigh = np.where(self.free_high, (self.barrier + self.above * dz) / gap_high - self.above, 0.0)
        tau = max(FRACTION_TO_BOUNDARY, 1.0 - self.barrier)
        length = min(_longest(gap_low, np.where(self.free_low, dz, 0.0), tau),
                     _longest(gap_high, np.where(self.free_high, -dz, 0.0), tau))  # fmt: skip
        dual_length = min(_longest(self.below, dlow, tau), _longest(self.above, dhigh, tau))
        missed = np.abs(self.c).sum()
        now = self._barrier_value(self.z, self.f)
        while True:
            z = np.where(self.fixed, self.z, self.z + length * dz)
            value, c = self._values(z)
            new, off = self._barrier_value(z, value), np.abs(c).sum()
            if self._is_taken(now, missed, new, off, slope * length):
                break
            length *= 0.5
            if length < LEAST_STEP:
                self.shift = max(FIRST_SHIFT, 10.0 * self.shift)
                return self._restore(missed)
        self.z = z
        self.multipliers = self.multipliers + length * (multipliers - self.multipliers)
        self.below, self.above = self.below + dual_length * dlow, self.above + dual_length * dhigh
        self._near_barrier()
        self._evaluate()
        return length > LEAST_STEP

    def _restore(self, missed):
        """Take a step towards the rows alone, shortest relative to the distances from bounds; whether that helps."""
        if not missed > NONLINEAR_TOLERANCE:
            return False
        room = np.where(self.fixed, 0.0, np.minimum(*(np.where(has, np.minimum(gap, 1.0), 1.0) for has, gap in zip(
            (self.free_low, self.free_high), self._gaps(self.z), strict=True)))) ** 2  # fmt: skip
        x, s = room[: self.n], room[self.n :]
        back = self._rows_alone((self.slopes * x) @ self.slopes.T, s, -self.c)
        dz = room * np.concatenate([self.slopes.T @ back, -back])
        gap_low, gap_high = self._gaps(self.z)
        length = min(_longest(gap_low, np.where(self.free_low, dz, 0.0), FRACTION_TO_BOUNDARY),
                     _longest(gap_high, np.where(self.free_high, -dz, 0.0), FRACTION_TO_BOUNDARY))  # fmt: skip
        squares = self.c @ self.c
        while length >= LEAST_STEP:
            z = self.z + length * dz
            _, c = self._values(z)
            if c @ c <= (1.0 - SUFFICIENT * length) * squares:
                self.filter, self.shift = [], 0.0
                self.z = z
                self._evaluate()
                self.multipliers = self._first_multipliers()
                return True
            length *= 0.5
        return False

    def _near_barrier(self):
        """Multipliers of bounds are kept near what the barrier has them be."""
        for has, multiplier, gap in zip((self.free_low, self.free_high), (self.below, self.above), self._gaps(self.z),
                                        strict=True):  # fmt: skip
            wanted = self.barrier / gap
            multiplier[has] = np.clip(multiplier, wanted / SPREAD, wanted * SPREAD)[has]

    def _direction(self):
        """Step of variables and slacks, the new multipliers, and the barrier function's slope; None: there is none."""
        gap_low, gap_high = self._gaps(self.z)
        curve = self.below / gap_low + self.above / gap_high
        slope = np.concatenate([self.gradient, np.zeros(len(self.rows))])
        slope = np.where(self.fixed, 0.0, slope - np.where(self.free_low, self.barrier / gap_low, 0.0)
                         + np.where(self.free_high, self.barrier / gap_high, 0.0))  # fmt: skip
        n, free, slacks = self.n, self.free, ~self.equal
        weights = np.zeros(self.program.n_rows)
        weights[self.rows] = self.multipliers
        if self.is_dense:
            hessian = self.program.dense_hessian(self.z[:n], 1.0, weights)[np.ix_(free, free)]
        else:
            hessian = self.program.hessian(self.z[:n], 1.0, weights)[free][:, free]
        shift = self.shift / 3.0 if self.shift > FIRST_SHIFT else 0.0
        while shift <= LARGEST_SHIFT:
            bend = curve + shift
            give = np.full(len(self.rows), ROW_SHIFT)
            give[slacks] += 1.0 / bend[n:][slacks]
            right = self.c + ROW_SHIFT * self.multipliers  # the shift is of what they change by
            right[slacks] += slope[n:][slacks] / bend[n:][slacks]
            found = self._solve(hessian, bend[free], give, np.concatenate([-slope[free], -right]))
            if found is not None:
                dz = np.zeros(n + len(self.rows))
                dz[free], multipliers = found[: len(free)], found[len(free) :]
                dz[n:][slacks] = (multipliers - slope[n:])[slacks] / bend[n:][slacks]
                along = dz[free] @ (hessian @ dz[free]) + (bend * dz * dz).sum()
                if np.isfinite(along) and along >= LEAST_BEND * (dz @ dz):
                    self.shift = shift
                    return dz, multipliers, slope @ dz
            shift = max(FIRST_SHIFT, 8.0 * shift)
        self.shift = 0.0
        return None

    def _solve(self, hessian, bend, give, right):
        """Solve [H + diag(bend), A'; A, -diag(give)]; None where that is singular."""
        slopes, k = self.slopes[:, self.free], len(self.free)
        if self.is_dense:
            system = np.zeros((len(right),) * 2)
            system[:k, :k] = hessian
            system[:k, k:], system[k:, :k] = slopes.T, slopes
            system[np.diag_indices(len(right))] += np.concatenate([bend, -give])
            try:
                return np.linalg.solve(system, right)
            except np.linalg.LinAlgError:
                return None
        # Here and not above: few programs are as large, and the import takes time.
        from scipy.sparse.linalg import splu

        slopes = sparse.csr_array(slopes)
        upper = sparse.csr_array(hessian) + sparse.diags_array(bend)
        system = sparse.block_array([[upper, slopes.T], [slopes, -sparse.diags_array(give)]], format="csc")
        try:
            return splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(right)
        except RuntimeError:  # SuperLU: exactly singular
            return None


def _longest(gap, step, part):
    """Length, at most 1, that leaves at least the rest of the part of each distance."""
    falls = step < 0
    return min(1.0, (part * gap[falls] / -step[falls]).min(initial=1.0))
