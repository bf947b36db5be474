"""Primal problem of a mixture whose samples are read chunk by chunk.

Local searches run on a summary. What they find is carried over to the samples in a few passes: with M the step of EM on
the samples, M_S that on the summary, and s = M(p) - M_S(p) at the parameters p at hand, the fixed point of M_S + s is
nearer to that of M by the factor by which the summary errs. Objectives are those of the samples.

Theory: (I2) of docs/theory/many.md.
"""

import math

import numpy as np

from gopfast.search import interrupts

from libc.math cimport INFINITY, NAN, fabs
from libc.string cimport memcpy, memset

from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.mixtures.data.passes cimport PASS_MOMENTS, pass_costs, pass_sums, run_pass
from gopfast.mixtures.data.samples cimport PassBuffer, Samples
from gopfast.mixtures.families.family cimport Family
from gopfast.mixtures.primal.tuning cimport (
    CHUNKED_CLOSE as CLOSE, CHUNKED_MOST_STEPS as MOST_STEPS, CHUNKED_MOST_SWEEPS as MOST_SWEEPS, DOUBTFUL, SAME
)
from gopfast.search.types cimport clip, index, real


def sums_of_part(blocks, frame, bint squares, int F, centers, linear, quadratic, offsets, weights):
    """Sums of one pass over a part of the samples, as workers make them.

    Parameters
    ----------
    blocks : iterable of (ndarray, ndarray)
        Rows (n, d) in the user's units, and weights (n,).
    frame : Frame
    squares : bool
        Whether squares of the coordinates are statistics too.
    F : int
        Number of statistics.
    centers, linear, quadratic : ndarray, shape (K * d,)
    offsets, weights : ndarray, shape (K,)
        The costs, and the weights of the components.

    Returns
    -------
    values, magnitudes : list of float
        Of each block.
    density, first, second : ndarray, shapes (K,), (K * F,), (K * F * F,)
    """
    # copies: what comes from another process may be read-only
    cdef real[::1] own = np.array(centers), slope = np.array(linear), curve = np.array(quadratic)
    cdef real[::1] offset = np.array(offsets), share = np.array(weights)
    cdef int K = <int> share.shape[0], d = <int> own.shape[0] // K
    cdef PassBuffer buffer = PassBuffer(K, d, F)
    cdef pass_sums *sums = &buffer.sums
    cdef pass_costs costs = pass_costs(&own[0], &slope[0], &curve[0], &offset[0], NULL)
    cdef Samples chunk
    density, first, second, none = np.zeros(K), np.zeros(K * F), np.zeros(K * F * F), np.zeros(d)
    values, magnitudes = [], []
    for rows, mass in blocks:
        chunk = Samples.__new__(Samples)
        chunk.fill(frame.in_core(rows), mass, squares, none, 0.0)
        with nogil:
            run_pass(&chunk.core.samples, K, &costs, &share[0], PASS_MOMENTS, buffer.scratch, sums)
        values.append(sums.value)
        magnitudes.append(sums.magnitude)
        density += np.asarray(<real[:K]> sums.density)
        first += np.asarray(<real[:K * F]> sums.first)
        second += np.asarray(<real[:K * F * F]> sums.second)
    return values, magnitudes, density, first, second


cdef class ChunkedPrimal(MixturePrimal):
    """Upper bounds of a mixture of samples that are not in memory, of which `family.data` is a summary.

    Parameters
    ----------
    family : Family
    chunks : callable or None
        Called with a function and arguments; yields what the function makes of each part of the samples: of blocks of
        rows (n, d) and weights (n,), all positive, and the arguments. None: there are none at hand, and no solution
        is found.
    frame : Frame
        How rows become the core's columns.
    note : callable, optional
        Takes a line of text for each pass over the samples.
    seed, start, ties, start_weights
        As of `MixturePrimal`.
    """

    def __init__(self, Family family, chunks, frame, note=None, seed=0, start=None, ties=(),
                 start_weights=None):
        MixturePrimal.__init__(self, family, seed=seed, start=start, ties=ties, start_weights=start_weights)
        self.chunks, self.frame, self.note, self.met, self.failure = chunks, frame, note, [], None
        self.after, self.model, self.kept = (np.zeros(self.n_solution) for _ in range(3))
        self.low, self.high = np.zeros(family.n_connected), np.zeros(family.n_connected)
        family.root(&self.low[0], &self.high[0])
        memset(&self.none[0], 0, sizeof(self.none))
        self.best = self.doubtful = INFINITY
        self.exact = family.data.core
        self.exact.curvature_loss, self.exact.rounding = &self.none[0], 0
        self.truth = &self.exact

    cdef void sweep(self, const SampleSet *data, const real *weights) noexcept nogil:
        cdef pass_sums *sums = &self.buffer.sums
        cdef int k
        if data != &self.exact:
            MixturePrimal.sweep(self, data, weights)
            return
        with gil:
            try:
                if self.chunks is not None:
                    with interrupts.raised():
                        self.read(weights)
                    return
            except BaseException as error:
                if not isinstance(error, KeyboardInterrupt):
                    self.failure = error
                if self.stop is not None:
                    self.stop.caught(error)
        # no number: no objective, and nothing that could be taken for a gradient of 0
        sums.value = sums.magnitude = NAN
        for k in range(self.family.n_components):
            sums.density[k] = NAN

    cdef int read(self, const real *weights) except -1:
        """One pass over the samples at the buffer's costs."""
        cdef int K = self.family.n_components, F = self.family.n_statistics, d = self.family.n_columns
        cdef pass_sums *sums = &self.buffer.sums
        cdef pass_costs *costs = &self.buffer.costs
        density, first, second = np.zeros(K), np.zeros(K * F), np.zeros(K * F * F)
        values, sizes = [], []
        self.n_sweeps += 1
        if self.note is not None:
            self.note(f"pass {2 + self.n_sweeps} over the samples: the objective of a solution, and its gradient")
        given = (
            np.array(<real[:K * d]> costs.centers), np.array(<real[:K * d]> costs.linear),
            np.array(<real[:K * d]> costs.quadratic), np.array(<real[:K]> costs.offsets),
            np.array(<real[:K]> <real *> weights),
        )
        for own, own_sizes, own_density, own_first, own_second in self.chunks(
            sums_of_part, (self.frame, self.exact.samples.squares, F, *given)
        ):
            values += own
            sizes += own_sizes
            density += own_density
            first += own_first
            second += own_second
        sums.value, sums.magnitude = math.fsum(values), math.fsum(sizes)
        np.asarray(<real[:K]> sums.density)[:] = density
        np.asarray(<real[:K * F]> sums.first)[:] = first
        np.asarray(<real[:K * F * F]> sums.second)[:] = second
        return 0

    cdef bint is_new(self, const real *solution) noexcept:
        """Whether this optimum of the summary was not met before; not a word of the prior's weight."""
        cdef index n = self.n_solution - 1
        try:
            found = np.array(<real[:n]> <real *> solution)
            if any(np.allclose(found, one, rtol=SAME, atol=SAME) for one in self.met):
                return False
            self.met.append(found)
        except BaseException as error:
            self.stop.caught(error)
            return False
        return True

    cdef real refine(self, real *solution, real tolerance, Effort *effort) noexcept nogil:
        """IN/OUT solution: from an optimum of the summary to one of the samples; returns its objective."""
        cdef index n = self.n_solution, i
        cdef int _turn
        cdef real value, best = INFINITY, gain
        for _turn in range(MOST_SWEEPS):
            memcpy(&self.after[0], solution, n * sizeof(real))
            value = self.step(&self.exact, &self.after[0])
            effort.n_passes += 1
            self.work().terms += self.exact.n_samples * self.family.n_components
            if not value < best:
                break
            solution[n - 1] = self.after[n - 1]
            memcpy(&self.kept[0], solution, n * sizeof(real))
            gain, best = best - value, value
            if gain < tolerance or self.stop.reason:
                break
            memcpy(&self.model[0], solution, n * sizeof(real))
            self.step(&self.full, &self.model[0])
            for i in range(n):
                self.model[i] = self.after[i] - self.model[i]
            memcpy(solution, &self.after[0], n * sizeof(real))
            self.approach(solution, effort)
        if best < INFINITY:
            memcpy(solution, &self.kept[0], n * sizeof(real))
        return best

    cdef real approach(self, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the fixed point of EM on the summary, moved by `model`. Returns the last change."""
        cdef int K = self.family.n_components, _step
        cdef index n = self.n_solution - 1, i
        cdef real *trial = &self.trial[0]
        cdef real change = INFINITY, x, total
        for _step in range(MOST_STEPS):
            memcpy(trial, solution, self.n_solution * sizeof(real))
            self.step(&self.full, trial)
            effort.n_passes += 1
            self.work().terms += self.full.n_samples * self.family.n_components
            total = change = 0
            for i in range(n):
                trial[i] += self.model[i]
            for i in range(self.family.n_connected):
                trial[K + i] = clip(trial[K + i], self.low[i], self.high[i])
            for i in range(K):
                trial[i] = max(trial[i], 0.0)
                total += trial[i]
            for i in range(K):
                trial[i] /= total
            for i in range(n):
                x = fabs(trial[i] - solution[i])
                change = max(change, x / (1 + fabs(solution[i])))
            memcpy(solution, trial, n * sizeof(real))
            if not change > CLOSE or self.late():
                break
        return change

    cdef real first(self, real tolerance, real *solution, Effort *effort) noexcept nogil:
        cdef real of_summary = MixturePrimal.first(self, tolerance, solution, effort)
        cdef real objective
        with gil:
            self.is_new(solution)
        objective = self.taken(of_summary, self.refine(solution, tolerance, effort))
        return objective if self.start is None else self.better_from_start(objective, tolerance, solution, effort)

    cdef real better_from_start(self, real objective, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the better of it and what the start that is given leads to, if the start is better."""
        cdef real value, of_summary
        self.start_from(-1, &self.held[0])
        memcpy(&self.after[0], &self.held[0], self.n_solution * sizeof(real))
        value = self.step(&self.exact, &self.after[0])
        effort.n_passes += 1
        if not value < objective:
            return objective
        memcpy(&self.model[0], &self.held[0], self.n_solution * sizeof(real))
        of_summary = self.step(&self.full, &self.model[0])
        value = self.refine(&self.held[0], tolerance, effort)
        if not value < objective:  # the samples cannot be read any more
            return objective
        memcpy(solution, &self.held[0], self.n_solution * sizeof(real))
        return self.taken(of_summary, value)

    cdef real taken(self, real of_summary, real objective) noexcept nogil:
        """Keeps what the summary says of the best solution; returns the objective."""
        if objective < self.best:
            self.best, self.doubtful = objective, of_summary + DOUBTFUL * max(0.0, objective - of_summary)
        return objective

    cdef real improve(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        cdef bint is_new
        cdef real objective
        # the summary's objective, less what it loses, is at most that of the samples
        target = min(target, self.doubtful)
        objective = MixturePrimal.improve(self, point, weights, target, tolerance, solution, effort)
        if not objective < target:
            return INFINITY
        with gil:
            is_new = self.chunks is not None and self.is_new(solution)
        return self.taken(objective, self.refine(solution, tolerance, effort)) if is_new else INFINITY

    cdef real polish(self, real *solution, Effort *effort) noexcept nogil:
        """`refine` has done it."""
        return INFINITY

    def em(self, weights, point, tol, int max_iter):
        """As `MixturePrimal.em`, on the samples; raises what reading them raises."""
        found = MixturePrimal.em(self, weights, point, tol, max_iter)
        if self.failure is not None:
            raise self.failure
        return found
