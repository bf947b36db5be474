"""Components that regress counts on some columns: Poisson with a logarithmic link, binomial with a logistic one.

A row with regressors z in the coordinates of `families.design`, count y and linear predictor eta = base + z'b costs its
deviance, a convex function of eta,

    l(eta) = A(eta) - y eta - (A(t) - y t),     A(eta) = e^eta or n log(1 + e^eta),     A'(t) = y.

In a cell, b in the box c +- h, eta lies within rho = sum_j h_j |z_j| of eta(c). Each sample by itself costs at least
the least of its deviances there. A component's fit b solves the score equations sum_i w_i r_i l_i'(eta_i) z_i = 0, so
that its cost is also the sum of its tangents' values at c,

    sum_i w_i r_i (l_i(eta_i) + l_i'(eta_i) (eta_i(c) - eta_i)),

and a tangent's value at c is least where it touches at one end of the strip. No affine function of a few columns has
such costs: they are those of each sample (`each`), for which the node has no facets.

Theory: (JC1), (JC2) and (JC3) of docs/theory/counts.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log1p, sqrt

from gopfast.errors import InputError

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.mixtures.dense cimport dense_backward, dense_factor, dense_forward
from gopfast.mixtures.families.family cimport Family, Subproblem, half_width, middle_of
from gopfast.mixtures.families.margins cimport COUNT_MOVED as MOVED
from gopfast.mixtures.families.tuning cimport (
    COUNT_ARMIJO as ARMIJO, COUNT_FINE as FINE, COUNT_HALVINGS as HALVINGS, COUNT_STEPS as STEPS,
    COUNT_SOLVED as SOLVED, COUNT_UNIT as UNIT, FARTHEST_COST, LARGEST_PREDICTOR, LEAST_SIZE, NO_MASS,
    REGRESSION_RIDGE as RIDGE, SATURATED, WIDE
)
from gopfast.mixtures.families.variance cimport within
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip

LINKS = {"poisson": LOG, "binomial": LOGIT}


cdef class CountFamily(Family):
    """Regressions of counts.

    Connected variables of a component: its coefficients (q). The columns serve starts and splits alone: the moments of
    weighted least squares, kappa t z_j and kappa z_j z_l, t the response that the link makes of a count and kappa its
    precision.

    Parameters
    ----------
    design : gopfast.mixtures.families.design.Design
        Of the rows, their response the best linear predictors of the counts less the offsets.
    link : {"poisson", "binomial"}
    counts, trials, offsets : ndarray, shape (m,)
        Of each row; counts are positive, below the trials, offsets those of the linear predictor.
    owner : ndarray of int, shape (m,)
        The sample that each row belongs to, 0 to n - 1, none skipped; weights are one number for all rows of a sample.
    constant, error : float
        What the objective has beside the deviances, and its error bound.
    n_components : int
    """

    def __init__(self, design, link, counts, trials, offsets, owner, real constant, real error, int n_components):
        cdef int q = design.z.shape[0], j, l, at = q
        cdef Samples data = Samples.__new__(Samples)
        cdef real[::1] low, high
        cdef CountCell cell
        self.design, self.n_components, self.n_coefficients, self.link = design, n_components, q, LINKS[link]
        z, best = design.z, _best(link, counts, trials)
        self.offsets = offsets
        self.base = offsets + ((best - offsets) - design.y)
        self.count, self.trials, self.best = np.array(counts), np.array(trials), np.array(best)
        self.least = _cumulant(link, best, trials) - counts * best
        self.regressors, self.row_weight = np.array(z.T, order="C"), np.array(design.weights)
        self.owner = np.ascontiguousarray(owner, dtype=np.intp)
        self.largest = np.abs(z).max(axis=1)
        self.farthest = float((3 * np.abs(best) + 4 * np.abs(offsets) + 3 * np.abs(design.y)).max())
        # columns of samples: sums over their rows
        # half a success and half a failure more, so that counts of 0 have a precision
        more, room = np.floor(counts + 0.5) + 0.5, trials + 1.0
        kappa = _precision(link, more, room)
        work = _best(link, more, room) - np.asarray(self.base)
        for j in range(q):
            for l in range(j, q):
                self.pair[j][l] = self.pair[l][j] = at
                at += 1
        rows = [*(kappa * work * z), *(kappa * z[j] * z[l] for j in range(q) for l in range(j, q))]
        n = int(owner.max()) + 1
        columns = np.array([np.bincount(owner, row, n) for row in rows])
        weights = np.zeros(n)
        weights[owner] = design.weights
        data.fill(columns, weights, False, np.zeros(at), 0.0)
        self.data, self.n_columns, self.n_statistics = data, at, at
        self.grouped = n < len(owner)
        self.n_each = data.core.samples.n_padded
        self.n_shared, self.n_cell, self.n_connected = 0, q, n_components * q
        self.n_facets = 0
        self.has_prior, self.e_power, self.divisible_cells = False, 0.0, False
        self.has_sample_costs = n_components == 1
        self.set_constant(constant, error)
        self.low, self.high = np.array(design.low), np.array(design.high)
        self.pooled = (columns * weights).sum(axis=1) / data.total_weight
        self.suggestion = None
        low, high = self.low, self.high
        self.open_cell(&low[0], &high[0], &cell)
        if not cell.moved < 0.5:
            raise InputError("X has rows that are too nearly dependent: linear predictors have no digits left; round X")

    # Cells

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j
        for k in range(self.n_components):
            for j in range(self.n_coefficients):
                low[k * self.n_cell + j], high[k * self.n_cell + j] = self.low[j], self.high[j]

    cdef Deviance deviance(self, index i, real eta) noexcept nogil:
        cdef Deviance out
        cdef real e, cumulant, linear = self.count[i] * eta
        if self.link == LOG:
            cumulant = out.slope = out.curvature = exp(min(eta, LARGEST_PREDICTOR))
        else:
            e = exp(-fabs(eta))
            cumulant = self.trials[i] * (max(eta, 0.0) + log1p(e))
            out.slope = self.trials[i] * (1 if eta >= 0 else e) / (1 + e)
            out.curvature = self.trials[i] * e / ((1 + e) * (1 + e))
        out.value = cumulant - linear - self.least[i]
        out.size = cumulant + fabs(linear) + fabs(self.least[i])
        return out

    cdef void open_cell(self, const real *low, const real *high, CountCell *cell) noexcept nogil:
        cdef int j
        cdef real size = self.farthest
        for j in range(self.n_coefficients):
            cell.center[j] = middle_of(low[j], high[j])
            cell.half[j] = half_width(low[j], high[j], cell.center[j])
            size += self.largest[j] * (max(fabs(low[j]), fabs(high[j])) + cell.half[j])
        cell.moved = MOVED * (size * (1 + 32 * ROUND) + LEAST_SIZE)

    cdef void strip(self, index i, const CountCell *cell, real *eta, real *reach) noexcept nogil:
        cdef int j
        eta[0], reach[0] = self.base[i], 0
        for j in range(self.n_coefficients):
            eta[0] += cell.center[j] * self.regressors[i, j]
            reach[0] += cell.half[j] * fabs(self.regressors[i, j])

    cdef real least_of_row(self, index i, const CountCell *cell, real *size) noexcept nogil:
        """By the row alone (JC2)."""
        cdef real eta, reach
        cdef Deviance at
        self.strip(i, cell, &eta, &reach)
        reach += cell.moved
        if fabs(eta - self.best[i]) <= reach:
            size[0] = 0
            return 0
        at = self.deviance(i, eta - reach if eta > self.best[i] else eta + reach)
        size[0] = at.size
        return max(0.0, at.value)

    cdef real tangent_of_row(self, index i, const CountCell *cell, real *size) noexcept nogil:
        """By tangents at the ends of the strip (JC2)."""
        cdef real eta, reach, value, least = INFINITY
        cdef int side
        cdef Deviance at
        self.strip(i, cell, &eta, &reach)
        reach += cell.moved
        size[0] = 0
        if eta + reach > LARGEST_PREDICTOR and self.link == LOG:
            return -FARTHEST_COST
        for side in range(-1, 2, 2):
            at = self.deviance(i, eta + side * reach)
            value = at.value - side * (at.slope - self.count[i]) * reach
            value -= (at.slope + self.count[i]) * cell.moved
            least = min(least, value)
            size[0] = max(size[0], at.size + (at.slope + self.count[i]) * reach)
        return least

    cdef real bound_samples(self, const CountCell *cell, bint tangents, real *out) noexcept nogil:
        cdef index i = 0, s, m = self.owner.shape[0]
        cdef real value, size, rows, total = 0
        for s in range(self.data.core.n_samples):
            value = size = rows = 0
            while i < m and self.owner[i] == s:
                value += self.tangent_of_row(i, cell, &rows) if tangents else self.least_of_row(i, cell, &rows)
                size += rows
                i += 1
            # counted out: 24 u of a row, and the sum of any number of rows of a sample, whose terms are of both signs
            value -= (32 + self.grouped * m) * ROUND * (size + fabs(value))
            value = clip(value, -FARTHEST_COST, FARTHEST_COST)
            total += self.data.core.samples.weights[s] * exp(min(-value, LARGEST_PREDICTOR))
            if out != NULL:
                out[s] = value
        return total

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        """By the samples one by one, or by the tangents where these leave a component of all samples less.

        Costs have no slopes. What stands in the place of their centers, for proofs: the point that tangents are
        valued at, and whether they are.
        """
        cdef int k, j, F = self.n_statistics, q = self.n_coefficients
        cdef CountCell cell
        cdef pass_costs *costs = &out.minorant
        cdef real *each
        out.constant = out.prior = out.e_low = out.e_high = 0
        for k in range(self.n_components):
            each = costs.each + k * self.n_each
            costs.offsets[k] = 0
            for j in range(F):
                costs.centers[k * F + j] = costs.linear[k * F + j] = costs.quadratic[k * F + j] = 0
            self.open_cell(low + k * self.n_cell, high + k * self.n_cell, &cell)
            for j in range(q):
                costs.centers[k * F + j] = cell.center[j]
            if self.bound_samples(&cell, True, NULL) < self.bound_samples(&cell, False, each):
                self.bound_samples(&cell, True, each)
                costs.centers[k * F + q] = 1
            self.pad(each)

    cdef void pad(self, real *each) noexcept nogil:
        cdef index s
        for s in range(self.data.core.n_samples, self.n_each):
            each[s] = each[self.data.core.n_samples - 1]

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """Nothing is known of one component but its box."""
        return 1

    cdef bint least_costs(self, const real *low, const real *high, real *out) noexcept nogil:
        cdef CountCell cell
        cdef index i
        cdef real eta, reach, most = 0
        cdef Deviance at
        self.open_cell(low, high, &cell)
        self.bound_samples(&cell, False, out)
        for i in range(self.owner.shape[0]):
            self.strip(i, &cell, &eta, &reach)
            at = self.deviance(i, self.best[i])
            most = max(most, reach * reach * min(1.0, at.curvature))
        return most <= FINE

    cdef void lost_by_samples(self, const real *low, const real *high, const real *shares, real *error) noexcept nogil:
        """Saturated row by row: who is far from all regressions of the cell loses nothing worth a split."""
        cdef CountCell cell
        cdef Deviance at
        cdef index i
        cdef int j, q = self.n_coefficients
        cdef real eta, reach, lost, size
        self.open_cell(low, high, &cell)
        for j in range(q):
            error[j] = 0
        for i in range(self.owner.shape[0]):
            if not shares[self.owner[i]] > 0:
                continue
            self.strip(i, &cell, &eta, &reach)
            if not reach > 0:
                continue
            at = self.deviance(i, eta)
            lost = at.value - self.least_of_row(i, &cell, &size) + 0.5 * at.curvature * reach * reach
            lost = clip(lost, 0.0, FARTHEST_COST)
            for j in range(q):
                error[j] += shares[self.owner[i]] * SATURATED * log1p(
                    lost * cell.half[j] * fabs(self.regressors[i, j]) / (reach * SATURATED))

    # Fits

    cdef void least_squares(self, real mass, const real *moments, real *b) noexcept nogil:
        cdef real A[MOST_COEFFICIENTS * MOST_COEFFICIENTS]
        cdef int j, l, q = self.n_coefficients
        for j in range(q):
            b[j] = moments[j] / mass + RIDGE * self.pooled[j]
            for l in range(j, q):
                A[j * q + l] = moments[self.pair[j][l]] / mass + RIDGE * self.pooled[self.pair[j][l]]
        dense_factor(q, A)
        dense_forward(q, A, 1, b)
        dense_backward(q, A, b)
        for j in range(q):
            b[j] = clip(b[j], self.low[j], self.high[j])

    cdef real total(self, const real *shares, const real *b, real *gradient, real *hessian) noexcept nogil:
        cdef index i
        cdef int j, l, q = self.n_coefficients
        cdef real eta, share, x, value = 0
        cdef Deviance at
        for j in range(q):
            gradient[j] = 0
            for l in range(q):
                hessian[j * q + l] = 0
        for i in range(self.owner.shape[0]):
            share = shares[self.owner[i]] + RIDGE * self.row_weight[i]
            eta = self.base[i]
            for j in range(q):
                eta += b[j] * self.regressors[i, j]
            at = self.deviance(i, eta)
            value += share * at.value
            for j in range(q):
                x = share * self.regressors[i, j]
                gradient[j] += (at.slope - self.count[i]) * x
                for l in range(j, q):
                    hessian[j * q + l] += at.curvature * x * self.regressors[i, l]
        return value

    cdef void fit(self, const real *shares, real *b) noexcept nogil:
        """Newton's method with step halving, from b or from weighted least squares."""
        cdef real gradient[MOST_COEFFICIENTS]
        cdef real trial[MOST_COEFFICIENTS]
        cdef real step[MOST_COEFFICIENTS]
        cdef real hessian[MOST_COEFFICIENTS * MOST_COEFFICIENTS]
        cdef real moments[MOST_COEFFICIENTS + MOST_COEFFICIENTS * MOST_COEFFICIENTS]
        cdef const real *x
        cdef index s
        cdef int j, f, q = self.n_coefficients, _turn, _half
        cdef real value, other, promised, length, mass = 0
        for s in range(self.data.core.n_samples):
            mass += shares[s]
        if not mass > NO_MASS:
            return
        for f in range(self.n_statistics):
            x = self.data.core.samples.columns + f * self.n_each
            moments[f] = 0
            for s in range(self.data.core.n_samples):
                moments[f] += shares[s] * x[s]
        self.least_squares(mass, moments, trial)
        value = self.total(shares, b, gradient, hessian)
        if not self.total(shares, trial, gradient, hessian) >= value:
            for j in range(q):
                b[j] = trial[j]
        value = self.total(shares, b, gradient, hessian)
        for _turn in range(STEPS):
            dense_factor(q, hessian)
            for j in range(q):
                step[j] = -gradient[j]
            dense_forward(q, hessian, 1, step)
            dense_backward(q, hessian, step)
            promised = 0
            for j in range(q):
                promised += gradient[j] * step[j]
            if not promised < -SOLVED * mass:
                return
            length = 1
            for _half in range(HALVINGS):
                for j in range(q):
                    trial[j] = clip(b[j] + length * step[j], self.low[j], self.high[j])
                other = self.total(shares, trial, gradient, hessian)
                if other <= value + ARMIJO * length * promised:
                    break
                length *= 0.5
            else:
                return
            for j in range(q):
                b[j] = trial[j]
            value = other

    cdef void maximise_shares(self, const real *shares, const real *mass, real *point) noexcept nogil:
        cdef int k
        for k in range(self.n_components):
            self.fit(shares + k * self.n_each, point + k * self.n_cell)

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        """By weighted least squares: moments tell no more."""
        cdef int k
        for k in range(self.n_components):
            if mass[k] > NO_MASS:
                self.least_squares(mass[k], moments + k * self.n_statistics, point + k * self.n_cell)

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        """By weighted least squares; errors as of the precision that counts themselves have."""
        cdef int k, j, l, a, q = self.n_coefficients
        cdef real s, curvature, middle
        cdef real b[MOST_COEFFICIENTS]
        cdef real of[MOST_COEFFICIENTS + MOST_COEFFICIENTS * MOST_COEFFICIENTS]
        cdef CountCell cell
        for k in range(self.n_components):
            a, s = k * self.n_cell, mass[k] if mass[k] > NO_MASS else 0
            for j in range(self.n_statistics):  # moments are about what stands in the place of centers
                l = k * self.n_statistics + j
                of[j] = moments[l] + s * sub.minorant.centers[l]
            self.open_cell(low + a, high + a, &cell)
            if s > 0:
                self.least_squares(s, of, b)
            for j in range(q):
                point[a + j] = within(b[j], low[a + j], high[a + j]) if s > 0 else cell.center[j]
                curvature = 0
                for l in range(q):
                    curvature += cell.half[l] * fabs(of[self.pair[j][l]])
                error[a + j] = s * SATURATED * log1p(0.5 * cell.half[j] * curvature / (SATURATED * s)) if s > 0 else 0
                middle = cell.center[j] - point[a + j]
                if cell.half[j] > WIDE * UNIT:
                    point[a + j] += (1 if middle >= 0 else -1) * sqrt(WIDE * UNIT * cell.half[j])
                else:
                    point[a + j] += clip(0.3 * middle, -UNIT, UNIT)

    # EM

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, j, F = self.n_statistics
        cdef index i, s, m = self.owner.shape[0]
        cdef real eta, reach, value, size
        cdef CountCell cell
        cdef Deviance at
        cdef real *each
        for k in range(self.n_components):
            out.offsets[k] = 0
            for j in range(F):
                out.centers[k * F + j] = out.linear[k * F + j] = out.quadratic[k * F + j] = 0
            self.open_cell(point + k * self.n_cell, point + k * self.n_cell, &cell)
            each = out.each + k * self.n_each
            i = 0
            for s in range(self.data.core.n_samples):
                value = size = 0
                while i < m and self.owner[i] == s:
                    self.strip(i, &cell, &eta, &reach)
                    at = self.deviance(i, eta)
                    value += at.value + 3 * (at.slope + self.count[i]) * cell.moved
                    size += at.size
                    i += 1
                each[s] = value + (32 + self.grouped * m) * ROUND * size
            self.pad(each)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        """Shifted copies of the regression of all, through one sample each."""
        cdef int k, j, q = self.n_coefficients, F = self.n_statistics
        cdef real weight
        cdef const real *of
        for k in range(self.n_components):
            of, weight = centers + k * F, 0
            for j in range(q):
                weight += of[self.pair[j][j]]
            for j in range(q):
                point[k * q + j] = clip(of[j] / weight if weight > 0 else 0.0, self.low[j], self.high[j])

    @property
    def returns_rounded(self):
        """Coefficients are those of other coordinates."""
        return True

    def metric(self):
        """Weights (F,) of the columns in the squared distance that starts are drawn by: those of kappa t z_j."""
        weights = Family.metric(self)
        weights[self.n_coefficients:] = 0.0
        return weights

    def suggest(self, weights, **parameters):
        """Take a fit in the user's units that local searches may start from; returns the family."""
        self.suggestion = np.concatenate([weights, self.pack(**parameters)])
        return self

    def suggested(self):
        """Weights (K,) and parameters (n_connected,) of a fit that is known, in one array, or None."""
        return self.suggestion

    def provable(self):
        """Itself."""
        return self

    def use_box(self, low, high):
        """Take another box (q,), (q,) that holds all fits, of which proofs speak."""
        self.design = self.design._replace(low=low, high=high)
        self.low, self.high = np.array(low), np.array(high)

    def one_component(self, problem, data=None):
        """The same of the same samples, which have no summaries."""
        return CountFamily(
            self.design, {LOG: "poisson", LOGIT: "binomial"}[self.link], np.asarray(self.count),
            np.asarray(self.trials), self.offsets, np.asarray(self.owner), self.constant, 0.0, 1,
        )

    # The user's units

    def parameters(self, vector):
        """Coefficients (K, p) and intercepts (K,)."""
        K = self.n_components
        cells = np.asarray(vector)[K:K + self.n_connected].reshape(K, self.n_cell)
        return self.design.in_users(cells)

    def pack(self, coefficients, intercepts=None):
        """Connected variables (n_connected,) of the user's parameters."""
        return self.design.in_core(coefficients, intercepts).ravel()


def _best(link, counts, trials):
    """The linear predictor whose mean is the count."""
    return np.log(counts) if link == "poisson" else np.log(counts) - np.log(trials - counts)


def _cumulant(link, eta, trials):
    return np.exp(eta) if link == "poisson" else trials * np.logaddexp(0.0, eta)


def _precision(link, counts, trials):
    """About the information that a count has of its linear predictor, for starts."""
    return counts if link == "poisson" else counts * (1.0 - counts / trials)
