"""
The nonparametric bound: the best mixture of any number of components bounds every K at once.

For a mixture without prior and any v_i > 0, Jensen's inequality gives for every mixing distribution of the mean

    - sum_i w_i log p_i >= sum_i w_i log v_i - W log( max_nu D(nu) / W ),   D(nu) = sum_i w_i v_i exp(-(x_i - nu)^2 / 2)

(Kiefer & Wolfowitz 1956; Lindsay 1983). Any v gives a bound, v = 1/p of the nonparametric optimum the best one.
The supremum is rigorous: D'' >= -D, so on an interval of width h, sup D <= max of D at its ends / (1 - h^2/8).

It bounds free variances above a floor too: a wider normal density is a mixture of those at the floor.
"""

import math

import numpy as np

COARSE = 0.1  # grid step in standard deviations of a component
BLOCK = 2_000_000  # exponentials per block of a grid evaluation
MAX_ITER = 40
WIDEST = 1000.0  # standard deviations: the grid of a wider range costs more than it gains
FLOOR_GAP = 0.1  # nats to which the bound of free variances is found
MOST_FREE_SAMPLES = 1000  # beyond, a search would do much in the time that this bound takes
TAIL = 3.0  # standard deviations of a wide component that its atoms cover
SPREAD = 0.1  # share of a start that is spread evenly over the range, so that no sample is without density
FAINTEST = 1e-100  # density at a sample, relative to its largest kernel, whose square can still be divided by
ROUNDING = 64 * 2.0**-53


class NonparametricBound:
    """
    Lower bound of a one-dimensional Gaussian mixture of known variance, whatever its number of components.

    Parameters
    ----------
    samples : ndarray, shape (n,)
        Data in units of the noise standard deviation.
    weights : ndarray, shape (n,)
        Positive sample weights.
    """

    def __init__(self, samples, weights):
        self.samples, self.weights = samples, weights
        self.total = float(weights.sum())
        self.low, self.high = float(samples.min()), float(samples.max())

    def solve(self, means, proportions, gap, hopeless=-np.inf):
        """
        Find the nonparametric optimum by the constrained Newton method and return its lower bound.

        Parameters
        ----------
        means, proportions : ndarray, shape (K,)
            Mixture to start from.
        gap : float
            Stop once the bound is this close to the value of the mixture found.
        hopeless : float
            Give up once a mixture below this value is found: the bound would lie below it too.

        Returns
        -------
        float

        References
        ----------
        Wang, "On fast computation of the non-parametric maximum likelihood estimate of a mixing distribution",
        JRSS B 69 (2007).
        """
        n_cells = max(2, int(np.ceil((self.high - self.low) / COARSE)))
        grid = np.linspace(self.low, self.high, n_cells + 1)
        best = -np.inf
        atoms, share = np.asarray(means, dtype=float), np.asarray(proportions, dtype=float)
        for _ in range(MAX_ITER):
            density, offset = self.mixture(atoms, share)
            value = self.value(density, offset)
            if not hopeless <= value < np.inf:
                break
            log_inverse = -np.log(density) - offset
            curve = self.excess(grid, log_inverse)
            # The coarse curve already tells when the supremum is worth its refinement.
            if value - self.certify(grid, curve, log_inverse, 0.25 * gap, dry=True) < gap:
                best = max(best, self.certify(grid, curve, log_inverse, 0.25 * gap))
                if value - best <= gap:
                    break
            peaks = self.peaks(grid, curve)
            atoms, share = self.newton(np.concatenate([atoms, peaks]), np.append(share, np.zeros(len(peaks))), value)
        return best

    def mixture(self, atoms, share):
        """Density of every sample over exp(offset_i), and offset, shapes (n,)."""
        exponent = -0.5 * np.square(self.samples[:, None] - atoms)
        offset = exponent.max(axis=1)
        return np.exp(exponent - offset[:, None]) @ share, offset

    def value(self, density, offset):
        """Negative log-likelihood of a mixture."""
        with np.errstate(divide="ignore"):
            return -float(self.weights @ (np.log(density) + offset))

    def excess(self, points, log_inverse):
        """D at the points, over W."""
        out = np.empty(len(points))
        step = max(1, BLOCK // len(self.samples))
        for start in range(0, len(points), step):
            part = points[start : start + step]
            exponent = log_inverse[:, None] - 0.5 * np.square(self.samples[:, None] - part)
            out[start : start + step] = self.weights @ np.exp(np.minimum(exponent, 700.0))
        return out / self.total

    def certify(self, grid, curve, log_inverse, gap, dry=False):
        """Lower bound that v = exp(log_inverse) proves; `dry`: estimate without refining the supremum."""
        height = float(curve.max())
        if not dry:
            enough = height * (1 + 0.5 * gap / self.total)
            height = self.supremum(grid, curve, log_inverse, enough)
            height *= 1 + ROUNDING * (16 + np.abs(log_inverse).max() + np.square(self.high - self.low))
        value = float(self.weights @ log_inverse)
        margin = ROUNDING * (float(self.weights @ np.abs(log_inverse)) + self.total)
        return value - self.total * np.log(height) - margin

    def supremum(self, grid, curve, log_inverse, enough):
        """Rigorous upper bound of D / W; intervals that may exceed `enough` are halved."""
        left, right, ends = grid[:-1], grid[1:], np.maximum(curve[:-1], curve[1:])
        f_left, f_right = curve[:-1], curve[1:]
        top = 0.0
        while True:
            ends = np.maximum(f_left, f_right) / (1 - np.square(right - left) / 8)
            open_ = (ends > enough) & (right - left > 1e-6)
            top = max(top, float(ends[~open_].max(initial=0.0)))
            if not open_.any():
                return top
            left, right, f_left, f_right = left[open_], right[open_], f_left[open_], f_right[open_]
            middle = 0.5 * (left + right)
            f_middle = self.excess(middle, log_inverse)
            enough = max(enough, float(f_middle.max()) * (1 + 1e-9))
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
            f_left, f_right = np.concatenate([f_left, f_middle]), np.concatenate([f_middle, f_right])

    @staticmethod
    def peaks(grid, curve):
        """Local maxima of the curve above 1, moved off the grid by a parabola."""
        padded = np.concatenate([[-np.inf], curve, [-np.inf]])
        top = np.flatnonzero((curve >= padded[:-2]) & (curve > padded[2:]) & (curve > 1.0))
        inner = top[(top > 0) & (top < len(grid) - 1)]
        bend = curve[inner - 1] - 2 * curve[inner] + curve[inner + 1]
        shift = 0.5 * (curve[inner - 1] - curve[inner + 1]) / np.where(bend < 0, bend, -1.0)
        moved = grid[inner] + np.clip(shift, -1, 1) * (grid[1] - grid[0])
        return np.concatenate([moved, grid[np.setdiff1d(top, inner)]])

    def newton(self, atoms, share, value):
        """One constrained Newton step in the proportions of all atoms, with a line search."""
        # Here and not above: scipy.optimize takes longer to import than most problems to solve.
        from scipy.optimize import nnls

        exponent = -0.5 * np.square(self.samples[:, None] - atoms)
        offset = exponent.max(axis=1)
        kernel = np.exp(exponent - offset[:, None])
        density = kernel @ share
        if not (density > FAINTEST).all():  # hardly any weight near a sample, at the start or of no weight itself
            return atoms, np.full(len(atoms), 1.0 / len(atoms))
        slope = kernel / density[:, None]
        root = np.sqrt(self.weights)
        # the quadratic model of the log-likelihood, the sum of the proportions held by a heavy row
        heavy = 1e3 * np.sqrt(self.total)
        matrix = np.vstack([root[:, None] * slope, np.full(len(atoms), heavy)])
        wanted, _ = nnls(matrix, np.append(2 * root, heavy), maxiter=50 * len(atoms))
        wanted /= wanted.sum()
        step = 1.0
        while step > 1e-8:
            trial = share + step * (wanted - share)
            if self.value(kernel @ trial, offset) <= value + 1e-12 * abs(value):
                break
            step *= 0.5
        else:
            trial = share
        used = trial > 1e-12
        return atoms[used], trial[used] / trial[used].sum()


def free_variance_bound(family, weights, **parameters):
    """
    Bound the objective of one-dimensional mixtures of free variances, whatever their number of components.

    Parameters
    ----------
    family : Family
    weights : ndarray, shape (K,)
    **parameters
        Of a mixture to start from, in the user's units.

    Returns
    -------
    float
        -inf for other families, and where the bound would cost too much.
    """
    components = family.normal_components(family.pack(**parameters))
    samples, sample_weight = family.data.arrays()
    if components is None or samples.size > MOST_FREE_SAMPLES:
        return -np.inf
    samples, reach = samples[0], float(np.ptp(samples))
    if reach > WIDEST:
        return -np.inf
    means, variances = components
    even = np.linspace(samples.min(), samples.max(), int(reach) + 2)
    atoms, shares = [even], [np.full(len(even), SPREAD / len(even))]
    for share, mean, width in zip(weights, means, np.sqrt(np.maximum(variances - 1.0, 0.0)), strict=True):
        places = np.linspace(-TAIL, TAIL, 2 * int(np.ceil(TAIL * width)) + 1) if width > 0 else np.zeros(1)
        heights = np.exp(-0.5 * places**2)
        atoms.append(mean + width * places)
        shares.append((1 - SPREAD) * share * heights / heights.sum())
    bound = NonparametricBound(samples, sample_weight).solve(np.concatenate(atoms), np.concatenate(shares), FLOOR_GAP)
    constant = 0.5 * float(sample_weight.sum()) * math.log(2 * math.pi)
    size = abs(bound) + constant + max(abs(family.constant), family.constant_size)
    return bound + constant + family.constant - ROUNDING * size
