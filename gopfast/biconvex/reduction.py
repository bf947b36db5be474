"""Local searches in the user's variables alone: what formulas made has its value, and its slopes, from these.

For problems with atoms, whose lifted form has many variables that only follow others. What is found is a point to start
from and nothing more.

Theory: (XF2) of docs/theory/functions.md.
"""

import math
import warnings

import numpy as np

from gopfast.biconvex import atoms
from gopfast.biconvex.composition import Applied
from gopfast.biconvex.interruption import Stopped, check
from gopfast.biconvex.sequential_quadratic import minimize, one_sided
from gopfast.biconvex.tuning import MOST_REDUCED_STEPS, REDUCED_TOLERANCE as TOLERANCE, SMALLEST_ARGUMENT


class Reduction:
    """
    A model's objective and rows as functions of the user's variables.

    Parameters
    ----------
    model : gopfast.biconvex.composition.Model
    low, high : ndarray, shape (n_own,)
        Bounds of the user's variables.
    stop : StopSignal
        Ends a search, which then finds nothing.
    """

    def __init__(self, model, low, high, stop):
        self.model, self.low, self.high, self.stop = model, low, high, stop
        self.sign = -1.0 if model.sense == "max" else 1.0
        self.rows = [row for row in model.rows if not row.is_definition]
        width = high - low
        self.scale = np.where(np.isfinite(width) & (width > 0), width, 1.0)
        self.size = np.ones(1 + len(self.rows))
        self._known = None

    def search(self, point):
        """
        Look for a local solution.

        Parameters
        ----------
        point : ndarray, shape (n_own,)

        Returns
        -------
        ndarray, shape (n_own,), or None
        """
        x = np.clip(point, self.low, self.high) / self.scale
        with np.errstate(all="ignore"):
            greatest = np.abs(self._at(x)[1]).max(axis=1, initial=0.0)
        # objective and rows of about one slope at the start
        self.size = self.size * np.where(greatest > 0.0, greatest, 1.0)
        self._known = None
        lower, upper = (np.array([ends[side] for ends in self.rows], float) / self.size[1:] for side in (1, 2))
        rows, signs, ends, n_equal = one_sided(lower, upper)
        if n_equal > len(self.low):
            return None  # no step meets more equations than there are variables
        rows, signs, ends = np.append(0, 1 + rows), np.append(1.0, signs), np.append(0.0, ends)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = minimize(
                    lambda x: signs * (self._at(x)[0][rows] - ends),
                    lambda x: signs[:, np.newaxis] * self._at(x)[1][rows],
                    x, self.low / self.scale, self.high / self.scale, n_equal, MOST_REDUCED_STEPS, TOLERANCE,
                )  # fmt: skip
        except (Stopped, ArithmeticError, ValueError, np.linalg.LinAlgError):
            return None
        return np.clip(found * self.scale, self.low, self.high) if np.isfinite(found).all() else None

    def _at(self, x):
        """Objective, minimised, and rows, shape (1 + m,), and their slopes in scaled variables, (1 + m, n_own)."""
        check(self.stop)
        key = x.tobytes()
        if self._known is None or self._known[0] != key:
            values, slopes = self.evaluated(x * self.scale)
            values[0] *= self.sign
            slopes[0] *= self.sign
            slopes = slopes * self.scale / self.size[:, np.newaxis]
            self._known = key, np.nan_to_num(values / self.size), np.nan_to_num(slopes)
        return self._known[1:]

    def evaluated(self, z):
        """
        Values and slopes of the objective and the rows.

        Parameters
        ----------
        z : ndarray, shape (n_own,)

        Returns
        -------
        ndarray, shape (1 + m,), and ndarray, shape (1 + m, n_own)
        """
        values, slopes = list(z), list(np.eye(len(z)))
        for made in self.model.definitions:
            value, slope = self._applied(made, values, slopes) if isinstance(made, Applied) else self._quotient(
                made, values, slopes
            )
            values.append(value)
            slopes.append(slope)
        found = [_polynomial(p, values, slopes) for p in (self.model.objective, *(row.polynomial for row in self.rows))]
        return np.array([value for value, _ in found]), np.array([slope for _, slope in found])

    @staticmethod
    def _applied(made, values, slopes):
        u = values[made.argument]
        if made.function == "log":
            u = max(u, SMALLEST_ARGUMENT)
            return math.log(u), slopes[made.argument] / u
        u = u if made.function == "exp" else max(u, SMALLEST_ARGUMENT)
        value, slope, _ = atoms.derivatives(atoms.NAMES.index(made.function), made.exponent, u)
        return value, slope * slopes[made.argument]

    @staticmethod
    def _quotient(made, values, slopes):
        above, slope = _polynomial(made.numerator, values, slopes)
        below, slope_below = _polynomial(made.denominator, values, slopes)
        value = np.float64(above) / below
        slope = (slope - value * slope_below) / below
        if made.degree > 1:
            value = max(value, SMALLEST_ARGUMENT)
            root = value ** (1.0 / made.degree)
            return root, slope * root / (made.degree * value)
        return value, slope


def _polynomial(p, values, slopes):
    """Value and slope of a polynomial."""
    total, slope = 0.0, np.zeros_like(slopes[0])
    for monomial, a in p.items():
        total += a * math.prod(values[i] for i in monomial)
        for k, i in enumerate(monomial):
            slope += a * math.prod(values[j] for m, j in enumerate(monomial) if m != k) * slopes[i]
    return total, slope
