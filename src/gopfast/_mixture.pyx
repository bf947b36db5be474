"""A Gaussian mixture as the core stores it, and its primal problem (EM)."""

import numpy as np

from libc.math cimport INFINITY, fabs, log
from libc.string cimport memcpy

from gopfast._passes cimport PASS_MOMENTS, PASS_PAD, pass_scratch_size, run_pass, run_pass_in_parts

# Rounding margin of an objective value, in units of its magnitude; counted out in _entropic.
cdef real OBJECTIVE_ROUNDING = 64 * 2.0 ** -53

# Starts run on the finest summary of at most this many points.
cdef index START_SAMPLES = 20_000
# Passes over at least this many samples use all threads.
cdef index PARTS_FROM = 100_000


cdef bint order_components(const Mixture *data, real *low, real *high) noexcept nogil:
    cdef int k, K = data.n_components, d = data.n_features
    for k in range(1, K):
        low[k * d] = max(low[k * d], low[(k - 1) * d])
    for k in range(K - 2, -1, -1):
        high[k * d] = min(high[k * d], high[(k + 1) * d])
    for k in range(K):
        if low[k * d] > high[k * d]:
            return 0
    return 1


cdef real prior_cost(const Mixture *data, const real *means, real *e) noexcept nogil:
    """Least prior cost e C - (Kd/2) log e for given means (K, d); OUT e."""
    cdef int k, j, d = data.n_features
    cdef real cost = 0, z, half = 0.5 * data.n_components * d
    if not data.has_prior:
        e[0] = 0
        return 0
    for k in range(data.n_components):
        for j in range(d):
            z = means[k * d + j] - data.prior_point[j]
            cost += 0.5 * data.prior_scale[j] * z * z
    e[0] = min(data.e_high, max(data.e_low, half / cost if cost > 0 else data.e_high))
    return e[0] * cost - half * log(e[0])


cdef class MixtureData:
    """Scaled and centred samples of a mixture with unit component variance.

    Coordinates are divided by the noise standard deviation, shifted by the middle of their range and ordered
    by falling width, so that the components are ordered by the coordinate that separates them most.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)
    n_components : int
    noise_variance : ndarray, shape (d,)
    prior_precision : None or (low, high)
        Range of e = 1 / Gamma; equal ends fix it.
    """

    def __init__(self, X, sample_weight, int n_components, noise_variance, prior_precision):
        used = sample_weight > 0
        X, sample_weight = X[used], sample_weight[used]
        n, d = X.shape
        low, high = X.min(axis=0), X.max(axis=0)
        self.scale = np.sqrt(noise_variance)
        self.center = 0.5 * low + 0.5 * high
        scaled = (X - self.center) / self.scale
        self.order = np.argsort(low / self.scale - high / self.scale, kind="stable")
        n_padded = -(-n // PASS_PAD) * PASS_PAD
        columns = np.empty((d, n_padded))
        columns[:, :n] = scaled.T[self.order]
        columns[:, n:] = columns[:, n - 1:n]
        weights = np.zeros(n_padded)
        weights[:n] = sample_weight
        self.columns, self.weights = columns, weights
        self.core.samples = pass_data(n_padded, d, &self.columns[0, 0], &self.weights[0])
        self.core.n_samples, self.core.n_components, self.core.n_features = n, n_components, d
        self.core.total_weight = sample_weight.sum()
        root_low, root_high = columns.min(axis=1), columns.max(axis=1)
        prior_point = (-self.center / self.scale)[self.order]
        self.core.has_prior = prior_precision is not None
        if prior_precision is not None:
            self.core.e_low, self.core.e_high = prior_precision
            root_low, root_high = np.minimum(root_low, prior_point), np.maximum(root_high, prior_point)
        self.prior_point = np.ascontiguousarray(prior_point)
        self.prior_scale = np.ascontiguousarray(np.asarray(noise_variance, dtype=np.float64)[self.order])
        self.low, self.high = root_low, root_high
        self.core.prior_point, self.core.prior_scale = &self.prior_point[0], &self.prior_scale[0]
        self.core.low, self.core.high = &self.low[0], &self.high[0]
        self.core.shift = self.core.rounding = 0
        self.levels = []

    def add_level(self, columns, weights, shift, rounding):
        """Attach a summary (see gopfast._summary), finer than those before."""
        cdef MixtureData level = MixtureData.__new__(MixtureData)
        n_samples = len(weights)
        n_padded = -(-n_samples // PASS_PAD) * PASS_PAD
        level.columns = np.concatenate([columns, np.repeat(columns[:, -1:], n_padded - n_samples, axis=1)], axis=1)
        level.weights = np.append(weights, np.zeros(n_padded - n_samples))
        level.core = self.core
        level.core.samples = pass_data(n_padded, self.core.n_features, &level.columns[0, 0], &level.weights[0])
        level.core.n_samples, level.core.shift, level.core.rounding = n_samples, shift, rounding
        level.levels = []
        self.levels.append(level)

    def to_user(self, means):
        """Means (K, d) of the core in the user's coordinates."""
        out = np.empty_like(means)
        out[:, self.order] = means
        return out * self.scale + self.center

    @property
    def has_prior(self):
        """Whether the means have a prior."""
        return bool(self.core.has_prior)

    def arrays(self):
        """Samples (d, n) and weights (n,) as the core sees them, without padding."""
        return np.asarray(self.columns)[:, :self.core.n_samples], np.asarray(self.weights)[:self.core.n_samples]

    def from_user(self, means):
        """Means (K, d) of the user in the core's coordinates."""
        return np.ascontiguousarray(((np.asarray(means) - self.center) / self.scale)[:, self.order])


cdef class SumsBuffer:
    """The output and scratch arrays of one worker's data passes."""

    def __cinit__(self, int n_components, int n_features):
        cdef int K = n_components, d = n_features, m = K * (1 + d)
        cdef real *at
        self.storage = np.zeros(K + K * d + K * d * d + m * m + pass_scratch_size(K, d))
        at = &self.storage[0]
        self.sums.density = at
        self.sums.first = self.sums.density + K
        self.sums.second = self.sums.first + K * d
        self.sums.gram = self.sums.second + K * d * d
        self.scratch = self.sums.gram + m * m


cdef inline unsigned long long next_random(unsigned long long *state) noexcept nogil:
    # splitmix64
    cdef unsigned long long z
    state[0] += <unsigned long long> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <unsigned long long> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <unsigned long long> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline real uniform(unsigned long long *state) noexcept nogil:
    return (next_random(state) >> 11) * 2.0 ** -53


cdef class MixturePrimal(Primal):
    """Upper bounds of a Gaussian mixture: EM from given means, multi-start at the root.

    A solution is stored as weights (K,), means (K, d), prior precision e.
    """

    def __init__(self, MixtureData data, int n_starts=6, seed=0, start=None):
        cdef int K = data.core.n_components, d = data.core.n_features, part
        self.data = data
        self.n_starts = n_starts
        self.seed = <unsigned long long> seed
        self.start = start
        self.given = np.zeros(K * d) if start is None else np.ravel(start)
        self.n_solution = K + K * d + 1
        self.zeros = np.zeros(K)
        self.trial, self.candidate = np.zeros(self.n_solution), np.zeros(self.n_solution)
        self.buffer = SumsBuffer(K, d)
        self.n_threads = 1
        self.part_buffers = []
        if data.core.samples.n_padded >= PARTS_FROM:
            self.part_buffers = [SumsBuffer(K, d) for _ in range(N_PARTS)]
            for part in range(N_PARTS):
                self.part_scratch[part] = (<SumsBuffer> self.part_buffers[part]).scratch
                self.part_sums[part] = (<SumsBuffer> self.part_buffers[part]).sums
        self.coarse_loss = 0
        self.coarse = data.core
        for level in data.levels:
            if (<MixtureData> level).core.n_samples <= START_SAMPLES:
                self.coarse = (<MixtureData> level).core

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        self.stop = stop
        self.n_threads = n_workers
        return 0

    cdef void sweep(self, const Mixture *data, real *solution) noexcept nogil:
        """One data pass at a solution; in parts, on all threads, where the samples are many."""
        cdef int K = data.n_components
        if data.samples.n_padded < PARTS_FROM:
            run_pass(&data.samples, K, solution + K, &self.zeros[0], solution, PASS_MOMENTS, self.buffer.scratch,
                     &self.buffer.sums)
        else:
            run_pass_in_parts(&data.samples, K, solution + K, &self.zeros[0], solution, PASS_MOMENTS,
                              self.part_scratch, self.part_sums, self.n_threads, &self.buffer.sums)

    cdef real step(self, const Mixture *data, real *solution) noexcept nogil:
        """One EM step in place; returns the objective before it, rounded up."""
        cdef int K = data.n_components, d = data.n_features, k, j
        cdef real *means = solution + K
        cdef real e, s, objective, pull
        cdef pass_sums *sums = &self.buffer.sums
        self.sweep(data, solution)
        objective = prior_cost(data, means, &e)
        objective += sums.value + data.shift + OBJECTIVE_ROUNDING * (sums.magnitude + fabs(objective))
        solution[K + K * d] = e
        for k in range(K):
            s = solution[k] * sums.density[k]
            solution[k] = s / data.total_weight
            for j in range(d):
                pull = e * data.prior_scale[j]
                if s + pull > 0:
                    means[k * d + j] += (sums.first[k * d + j]
                                         + pull * (data.prior_point[j] - means[k * d + j])) / (s + pull)
        return objective

    cdef real run(self, const Mixture *data, real *solution, real target, real tolerance, int max_iter,
                  Effort *effort) noexcept nogil:
        """EM until the projected rest of the decrease is below tolerance, or above target for good.

        IN/OUT solution: the best parameters seen. Returns their objective.
        """
        cdef index n = self.n_solution, iteration
        cdef real objective = INFINITY, previous = INFINITY, decrease = 0, last, ratio, rest
        cdef real *trial = &self.trial[0]
        memcpy(trial, solution, n * sizeof(real))
        for iteration in range(max_iter):
            last = decrease
            memcpy(solution, trial, n * sizeof(real))  # the parameters that the objective belongs to
            objective = self.step(data, trial)
            solution[n - 1] = trial[n - 1]
            effort.n_passes += 1
            if not objective < INFINITY:
                return INFINITY
            decrease = previous - objective
            previous = objective
            if iteration < 2:
                continue
            if not decrease > 0:
                break
            ratio = min(decrease / last, 0.999) if last > 0 else 0.999
            rest = decrease * ratio / (1 - ratio)
            if rest < tolerance or (iteration >= 4 and objective - 4 * rest > target):
                break
            if self.stop.poll(0):
                break
        return objective

    cdef void scatter(self, real *solution) noexcept nogil:
        """k-means++ means: each next one is a sample drawn with probability w * squared distance."""
        cdef const Mixture *data = &self.coarse
        cdef int K = data.n_components, d = data.n_features, k, c, j
        cdef index n = data.n_samples, i, chosen
        cdef real total, draw, nearest, distance, z
        cdef real *means = solution + K
        cdef int turn
        for k in range(K):
            solution[k] = 1.0 / K
            for turn in range(2):  # first the sum, then the draw: no array of distances to allocate
                if turn == 1:
                    draw = uniform(&self.seed) * total
                total = 0
                chosen = n - 1
                for i in range(n):
                    nearest = INFINITY if k else 1.0
                    for c in range(k):
                        distance = 0
                        for j in range(d):
                            z = data.samples.columns[j * data.samples.n_padded + i] - means[c * d + j]
                            distance += z * z
                        nearest = min(nearest, distance)
                    total += data.samples.weights[i] * nearest
                    if turn == 1 and total > draw:
                        chosen = i
                        break
            for j in range(d):
                means[k * d + j] = data.samples.columns[j * data.samples.n_padded + chosen]

    cdef void start_from(self, int attempt, real *solution) noexcept nogil:
        """Start number `attempt`: the given means, then k-means++ draws, then (with a prior) some without weight.

        With a prior the optimum may leave components without weight at the prior's center. EM never empties or
        fills a component by itself, so each number of used components is started on its own.
        """
        cdef const Mixture *data = &self.data.core
        cdef int K = data.n_components, d = data.n_features, k, used
        if attempt < 0:
            for k in range(K):
                solution[k] = 1.0 / K
            memcpy(solution + K, &self.given[0], K * d * sizeof(real))
            return
        self.scatter(solution)
        if attempt < self.n_starts:
            return
        used = (attempt - self.n_starts) % K
        for k in range(used, K):
            memcpy(solution + K + k * d, data.prior_point, d * sizeof(real))
        for k in range(K):
            solution[k] = 1.0 / max(used, 1) if k < max(used, 1) else 0.0

    cdef real first(self, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """Short runs from every start, a long one from the best of them."""
        cdef int K = self.data.core.n_components, attempt
        cdef int n_starts = self.n_starts + (2 * K if self.data.core.has_prior else 0)
        cdef index n = self.n_solution
        cdef real best = INFINITY, objective
        cdef real *candidate = &self.candidate[0]
        for attempt in range(-1 if self.start is not None else 0, n_starts):
            self.start_from(attempt, candidate)
            objective = self.run(&self.coarse, candidate, INFINITY, tolerance, 20, effort)
            if objective < best:
                best = objective
                memcpy(solution, candidate, n * sizeof(real))
            if self.stop.poll(0):
                break
        if not self.stop.poll(0):
            best = self.run(&self.coarse, solution, INFINITY, tolerance, 500, effort)
        objective = self.run(&self.data.core, solution, INFINITY, tolerance, 500, effort)
        self.coarse_loss = max(0.0, objective - best)
        return objective

    cdef real improve(self, const real *point, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        cdef int K = self.data.core.n_components, k
        for k in range(K):
            solution[k] = 1.0 / K
        memcpy(solution + K, point, K * self.data.core.n_features * sizeof(real))
        # What does not beat the incumbent on the summary is not worth the passes over all samples.
        if self.coarse.n_samples < self.data.core.n_samples:
            target -= self.coarse_loss
            if not self.run(&self.coarse, solution, target, tolerance, 100, effort) < target:
                return INFINITY
            target += self.coarse_loss
        return self.run(&self.data.core, solution, target, tolerance, 100, effort)

    cdef real polish(self, real *solution, Effort *effort) noexcept nogil:
        cdef real objective = self.run(&self.data.core, solution, INFINITY, 1e-6, 3, effort)
        return self.run(&self.data.core, solution, INFINITY, max(1e-9, 1e-13 * fabs(objective)), 1000, effort)

    def em(self, weights, means, real tol, int max_iter):
        """EM from given parameters (core coordinates) with its trace.

        Returns
        -------
        weights, means, e, trace (objective before each step and at the end), converged
        """
        cdef int K = self.data.core.n_components
        cdef real[::1] solution = np.concatenate([weights, np.ravel(means), [0.0]])
        cdef real[::1] before = np.empty(self.n_solution)
        trace = []
        converged = False
        while True:
            before[:] = solution
            trace.append(self.step(&self.data.core, &solution[0]))
            before[self.n_solution - 1] = solution[self.n_solution - 1]
            if len(trace) > 1 and trace[-2] - trace[-1] <= tol:
                converged = True
            if converged or len(trace) > max_iter:
                break
        out = np.asarray(before)
        return out[:K].copy(), out[K:-1].reshape(K, -1).copy(), out[-1], np.array(trace), converged
