"""Lines beside functions of one variable, in the linear programs of a proof: secants, and tangents.

Which slopes these have is no question of truth: the checker finds the constants of any slope.

Theory: (XF3) of docs/theory/functions.md.
"""

import math

import numpy as np

from gopfast.biconvex import atoms
from gopfast.biconvex.tuning import LEAST_TOUCH, NEAR_END, TANGENTS_OF_A_FUNCTION


class Lines:
    """
    The rows of all functions: of each a line above (of concave ones below), and tangents.

    Parameters
    ----------
    functions : list of gopfast.checker.functions.Function

    Attributes
    ----------
    n_rows : int
    numbers, slopes : list
        Of all lines that were ever used: the function's number, and the slope.
    places : list of (int, int)
        Argument and value of each function.
    values : ndarray of int
        The latter alone.
    loaded : tuple
        What `load` has returned last.
    """

    def __init__(self, functions):
        self.functions = functions
        self.kinds = [(atoms.NAMES.index(own.name), own.exponent) for own in functions]
        self.places = [(own.argument, own.value) for own in functions]
        self.values = np.array([v for _, v in self.places], int)
        # the line, tangents at both ends, and those at solutions, of which the oldest goes first
        self.n_each = 3 + TANGENTS_OF_A_FUNCTION
        self.n_rows = self.n_each * len(functions)
        self.touched = [[] for _ in functions]
        self.numbers, self.slopes, self.known, self.rows = [], [], {}, []
        self.loaded = np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0)

    def load(self, low, high):
        """Return rows, columns and values of a box's lines, and constants of all rows: infinite where there is none."""
        rows, cols, values = [], [], []
        self.rows, constants = [None] * self.n_rows, np.full(self.n_rows, math.inf)
        for k, own in enumerate(self.functions):
            a, b = float(low[own.argument]), float(high[own.argument])
            slopes = [(self._secant(k, a, b), own.is_convex), *((s, not own.is_convex) for s in self._ends(k, a, b)),
                      *((s, not own.is_convex) for s in self.touched[k])]  # fmt: skip
            for place, (slope, is_above) in enumerate(slopes, k * self.n_each):
                if slope is None or not math.isfinite(slope):
                    continue
                constant = own.beside(slope, a, b)[is_above]
                if not math.isfinite(constant):
                    continue
                sign = -1.0 if is_above else 1.0
                self.rows[place], constants[place] = (k, slope, is_above), -sign * constant
                rows += [place, place]
                cols += self.places[k]
                values += [-sign * slope, sign]
        self.loaded = np.array(rows, int), np.array(cols, int), np.array(values), constants
        return self.loaded

    def codes(self, rows):
        """Return the numbers that certificates have for rows."""
        found = []
        for row in rows.tolist():
            k, slope, is_above = self.rows[row]
            if (k, slope) not in self.known:
                self.known[k, slope] = len(self.numbers)
                self.numbers.append(k)
                self.slopes.append(slope)
            found.append(-1 - 2 * self.known[k, slope] - is_above)
        return np.array(found, int)

    def totals(self, duals):
        """Return what the values of functions (K,) cost: multipliers of their lines, together."""
        rows, cols, values, _ = self.loaded
        is_value = np.arange(len(rows)) % 2 == 1
        return np.bincount(rows[is_value] // self.n_each, (values * duals[rows])[is_value], len(self.functions))

    def off(self, columns, x):
        """Return how far values (K,) of a solution are from their functions, with arguments moved into the box."""
        places = zip(self.kinds, self.places, strict=True)
        found = [abs(columns[v] - atoms.value(*kind, x[u])) for kind, (u, v) in places]
        return np.nan_to_num(np.array(found), nan=0.0, posinf=0.0)

    def touch(self, x, low, high, least):
        """Take tangents at a solution, of functions that it is beyond by more than `least` (K,); whether any."""
        is_new = False
        for k, (own, kind) in enumerate(zip(self.functions, self.kinds, strict=True)):
            u = float(min(max(x[own.argument], low[own.argument]), high[own.argument]))
            value, slope, _ = atoms.derivatives(*kind, u)
            beyond = (value - x[own.value]) * (1.0 if own.is_convex else -1.0)
            is_beyond = beyond > max(least[k], LEAST_TOUCH * abs(value))
            if is_beyond and math.isfinite(slope) and slope not in self.touched[k]:
                self.touched[k] = [*self.touched[k], slope][-TANGENTS_OF_A_FUNCTION:]
                is_new = True
        return is_new

    def _secant(self, k, low, high):
        values = [atoms.value(*self.kinds[k], u) for u in (low, high)]
        return (values[1] - values[0]) / (high - low) if high > low else 0.0

    def _ends(self, k, low, high):
        """Return slopes at both ends of an interval, or near one where the function is too steep."""
        found = []
        for u, other in ((low, high), (high, low)):
            slope = atoms.derivatives(*self.kinds[k], u)[1] if math.isfinite(u) else math.nan
            if not math.isfinite(slope) and math.isfinite(u) and math.isfinite(other):
                slope = atoms.derivatives(*self.kinds[k], u + NEAR_END * (other - u))[1]
            found.append(slope)
        return found
