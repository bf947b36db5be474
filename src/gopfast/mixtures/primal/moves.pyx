"""Split-and-merge moves from a solution of a mixture, for any component family.

Of a local optimum with many components the usual defect is local: two components share a group of samples while one
covers two groups. A move merges the first two and splits the third, and leaves all others as they are. What a merger
loses and what a split gains is estimated with the responsibilities at hand, so that only the most promising of the
K^3 moves are tried by EM: Ueda, Nakano, Ghahramani & Hinton, "SMEM algorithm for mixture models" (2000).

Theory: (S8) of docs/theory/search.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.string cimport memcpy

from gopfast.mixtures.data.samples cimport PassBuffer, SampleSet
from gopfast.mixtures.primal.tuning cimport EM_TURNS, FEWEST, FIRM, LEFT, MEAN_TURNS, N_GROUPS, RADII
from gopfast.search.types cimport index, real


cdef unsigned long long next_random(unsigned long long *state) noexcept nogil:
    """The next 64 random bits (splitmix64)."""
    cdef unsigned long long z
    state[0] += <unsigned long long> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <unsigned long long> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <unsigned long long> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef real uniform(unsigned long long *state) noexcept nogil:
    """A random number in [0, 1), a multiple of 2^-53."""
    return (next_random(state) >> 11) * 2.0 ** -53


cdef class Moves:
    """Moves from solutions of a family on some samples.

    A solution is stored as weights (K,), the family's parameters (n_connected,), prior weight e.

    Parameters
    ----------
    family : Family
    blend : float
        Share of its component's moments that each half is given at first, for families whose parameters EM cannot
        move from the ends of their range.
    """

    def __init__(self, Family family, real blend=0.0):
        cdef int K = family.n_components, d = family.n_columns, F = family.n_statistics
        self.family, self.blend = family, blend
        self.buffer = PassBuffer(K, d, F, family.n_each)
        self.raw, self.halves = np.zeros((K, 1 + F)), np.zeros((2 * K, 1 + F))
        self.mass, self.moments = np.zeros(K), np.zeros(K * F)
        self.shared = np.zeros(max(1, family.n_shared))
        self.point, self.metric, self.drawn = np.zeros(family.n_connected), family.metric(), np.zeros(2 * d + 1)
        self.n_measured = <int> max(np.flatnonzero(self.metric), default=-1) + 1
        self.share, self.log_density = None, None
        self.gains, self.losses = np.zeros(K), np.zeros(2 * K)
        self.partners = np.zeros(2 * K, dtype=np.intc)
        self.group = np.zeros(d + 1)

    cdef int prepare(self, const SampleSet *data) except -1:
        """The samples that moves are looked for on."""
        self.data = data[0]
        self.share = np.empty((self.family.n_components, data.n_samples))
        self.log_density = np.empty(data.n_samples)
        return 0

    cdef real cost(self, int k, index i) noexcept nogil:
        """Minus log density of sample i in component k, at the buffer's costs."""
        cdef int d = self.family.n_columns, j
        cdef const real *x = self.data.samples.columns + i
        cdef real total = -self.buffer.costs.offsets[k], z
        if self.family.n_each:
            total += self.buffer.costs.each[k * self.family.n_each + i]
        for j in range(d):
            z = x[j * self.data.samples.n_padded] - self.buffer.costs.centers[k * d + j]
            total += z * (self.buffer.costs.linear[k * d + j] + self.buffer.costs.quadratic[k * d + j] * z)
        return total

    cdef real distance(self, index i, const real *center) noexcept nogil:
        """Squared distance of a sample, in the metric that starts are drawn by."""
        cdef int j
        cdef real total = 0, z
        for j in range(self.n_measured):
            z = self.data.samples.columns[j * self.data.samples.n_padded + i] - center[j]
            total += self.metric[j] * z * z
        return total

    cdef void add_mean(self, index i, real weight, real *to) noexcept nogil:
        """What distances need of `add`."""
        cdef int j
        to[0] += weight
        for j in range(self.n_measured):
            to[1 + j] += weight * self.data.samples.columns[j * self.data.samples.n_padded + i]

    cdef void add(self, index i, real weight, real *to) noexcept nogil:
        """A sample's share of a component's mass and moments about 0."""
        cdef int d = self.family.n_columns, F = self.family.n_statistics, j
        cdef real z
        to[0] += weight
        for j in range(d):
            z = self.data.samples.columns[j * self.data.samples.n_padded + i]
            to[1 + j] += weight * z
            if F > d:
                to[1 + d + j] += weight * z * z

    cdef void m_step(self, real e) noexcept nogil:
        """The M step at the masses and moments about 0 in `raw`; the buffer's costs are those of `point` before."""
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics, k, j
        cdef real c
        for k in range(K):
            self.mass[k] = self.raw[k, 0]
            for j in range(d):
                c = self.buffer.costs.centers[k * d + j]
                self.moments[k * F + j] = self.raw[k, 1 + j] - self.raw[k, 0] * c
                if F > d:
                    self.moments[k * F + d + j] = (self.raw[k, 1 + d + j] - 2 * c * self.raw[k, 1 + j]
                                                   + c * c * self.raw[k, 0])
        self.family.maximise(&self.mass[0], &self.moments[0], e, &self.buffer.costs, &self.point[0])

    cdef void gather(self, const real *solution) noexcept nogil:
        """Responsibilities, densities, masses and moments at a solution."""
        cdef int K = self.family.n_components, k
        cdef index n = self.data.n_samples, i
        cdef real best, total
        self.family.costs(solution + K, &self.buffer.costs)
        self.raw[:, :] = 0
        for i in range(n):
            best = -INFINITY
            for k in range(K):
                self.share[k, i] = log(solution[k]) - self.cost(k, i) if solution[k] > 0 else -INFINITY
                best = max(best, self.share[k, i])
            total = 0
            for k in range(K):
                self.share[k, i] = exp(self.share[k, i] - best)
                total += self.share[k, i]
            self.log_density[i] = best + log(total)
            for k in range(K):
                self.share[k, i] /= total
                if self.share[k, i] > 0:
                    self.add(i, self.data.samples.weights[i] * self.share[k, i], &self.raw[k, 0])

    cdef void measure_shared(self, const real *solution, int k) noexcept nogil:
        """OUT shared: what component k adds to parameters that all share, which are linear in sums of components."""
        cdef int i, n = self.family.n_shared
        cdef real mass = self.raw[k, 0]
        cdef real *shared = &self.point[0] + self.family.n_connected - n
        if n:
            self.m_step_from(solution)
            memcpy(&self.shared[0], shared, n * sizeof(real))
            self.raw[k, 0] = 0  # without mass it is in no sum
            self.m_step_from(solution)
            self.raw[k, 0] = mass
            for i in range(n):
                self.shared[i] -= shared[i]

    cdef void m_step_of_halves(self, const real *solution, int k, int other) noexcept nogil:
        """The M step with the halves of component k in its slot and another's, which adds what was measured of it."""
        cdef int i, n = self.family.n_shared
        cdef real *shared = &self.point[0] + self.family.n_connected - n
        self.restore(solution)
        self.swap_in(k, other)
        self.m_step(solution[self.family.n_components + self.family.n_connected])
        self.swap_in(k, other)
        if n:
            for i in range(n):
                shared[i] += self.shared[i]
            self.family.keep_shared(shared)

    cdef void m_step_from(self, const real *solution) noexcept nogil:
        """The M step at `raw`, from the solution's own parameters."""
        self.restore(solution)
        self.m_step(solution[self.family.n_components + self.family.n_connected])

    cdef void restore(self, const real *solution) noexcept nogil:
        """The solution's own parameters and their costs."""
        cdef int K = self.family.n_components
        memcpy(&self.point[0], solution + K, self.family.n_connected * sizeof(real))
        self.family.costs(&self.point[0], &self.buffer.costs)

    cdef bint halve(self, int k, unsigned long long *seed) noexcept nogil:
        """2-means of component k's samples from two draws; OUT its rows of `halves`; False: they are all alike."""
        cdef int d = self.family.n_columns, F = self.family.n_statistics, j, _turn, side
        cdef index n = self.data.n_samples, i, chosen
        cdef real total, sought, weight
        cdef real *drawn = &self.drawn[0]
        cdef real *half
        for j in range(d):
            drawn[j] = self.raw[k, 1 + j] / self.raw[k, 0]
        for side in range(2):  # far from the mean, then far from that
            total = 0
            for i in range(n):
                total += self.data.samples.weights[i] * self.share[k, i] * self.distance(i, drawn)
            if not total > 1e-12 * self.raw[k, 0]:
                return False
            sought, total, chosen = uniform(seed) * total, 0, n - 1
            for i in range(n):
                total += self.data.samples.weights[i] * self.share[k, i] * self.distance(i, drawn)
                if total > sought:
                    chosen = i
                    break
            for j in range(d):
                if side:
                    drawn[d + j] = drawn[j]
                drawn[j] = self.data.samples.columns[j * self.data.samples.n_padded + chosen]
        for _turn in range(MEAN_TURNS):
            self.halves[2 * k:2 * k + 2, :] = 0
            for i in range(n):
                weight = self.data.samples.weights[i] * self.share[k, i]
                if weight > 0:
                    side = self.distance(i, drawn + d) < self.distance(i, drawn)
                    self.add(i, weight, &self.halves[2 * k + side, 0])
            for side in range(2):
                half = &self.halves[2 * k + side, 0]
                if not half[0] > 0:
                    return False
                for j in range(d):
                    drawn[side * d + j] = half[1 + j] / half[0]
        for side in range(2):
            half = &self.halves[2 * k + side, 0]
            for j in range(1, 1 + F):
                half[j] += self.blend * (half[0] / self.raw[k, 0] * self.raw[k, j] - half[j])
        return True

    cdef void split(self, const real *solution, int k, unsigned long long *seed) noexcept nogil:
        """Gain of the best two components in place of component k; OUT gains[k], its rows of `halves`."""
        cdef int K = self.family.n_components, other = (k + 1) % K, _turn, row = 2 * k
        cdef index n = self.data.n_samples, i
        cdef real W = self.data.total_weight, weight, first, second, top, gain = 0, share
        cdef real kept[2]
        self.gains[k] = -INFINITY
        if not self.halve(k, seed):
            return
        # The other slot is borrowed: its own parameters play no part in what is summed here.
        self.measure_shared(solution, other)
        for _turn in range(EM_TURNS):
            self.m_step_of_halves(solution, k, other)
            self.family.costs(&self.point[0], &self.buffer.costs)
            kept[0], kept[1] = log(self.halves[row, 0] / W), log(self.halves[row + 1, 0] / W)
            gain = 0
            self.halves[row:row + 2, :] = 0
            for i in range(n):
                weight = self.data.samples.weights[i] * self.share[k, i]
                if not weight > 0:
                    continue
                first, second = kept[0] - self.cost(k, i), kept[1] - self.cost(other, i)
                top = max(first, second)
                share = exp(first - top) / (exp(first - top) + exp(second - top))
                # log of the two densities over component k's own, which is share times all
                gain += weight * (top + log(exp(first - top) + exp(second - top)) - self.log_density[i]
                                  - log(self.share[k, i]))
                self.add(i, weight * share, &self.halves[row, 0])
                self.add(i, weight * (1 - share), &self.halves[row + 1, 0])
            if not (self.halves[row, 0] > 0 and self.halves[row + 1, 0] > 0):
                return
        self.gains[k] = gain

    cdef void swap_in(self, int k, int other) noexcept nogil:
        """Exchanges the halves of component k with the moments of its own slot and another's."""
        cdef int s
        for s in range(1 + self.family.n_statistics):
            self.raw[k, s], self.halves[2 * k, s] = self.halves[2 * k, s], self.raw[k, s]
            self.raw[other, s], self.halves[2 * k + 1, s] = self.halves[2 * k + 1, s], self.raw[other, s]

    cdef real merge(self, const real *solution, int j, int k) noexcept nogil:
        """What one component in place of two loses, about."""
        cdef int s
        cdef index n = self.data.n_samples, i
        cdef real W = self.data.total_weight, loss = 0, own, left, weight, mass = self.raw[j, 0]
        for s in range(1 + self.family.n_statistics):
            self.raw[k, s] += self.raw[j, s]
        self.raw[j, 0] = 0  # without mass it is in no sum
        self.m_step_from(solution)
        self.raw[j, 0] = mass
        self.family.costs(&self.point[0], &self.buffer.costs)
        own = log(self.raw[k, 0] / W)
        for s in range(1 + self.family.n_statistics):
            self.raw[k, s] -= self.raw[j, s]
        for i in range(n):
            weight = self.share[j, i] + self.share[k, i]
            if weight > 0:
                left = max(1 - weight, 0.0) + exp(min(own - self.cost(k, i) - self.log_density[i], 700.0))
                loss -= self.data.samples.weights[i] * (log(left) if left > 0 else -700.0)
        return loss

    cdef void choose_partners(self) noexcept nogil:
        """Of each component the nearest and the one it shares most samples with."""
        cdef int K = self.family.n_components, d = self.family.n_columns, j, k, c
        cdef index i
        cdef real nearest, most, distance, common, z
        for j in range(K):
            nearest, most = INFINITY, 0
            self.partners[j] = self.partners[K + j] = -1
            for k in range(K):
                if k == j or not self.raw[k, 0] > 0:
                    continue
                if not self.raw[j, 0] > 0:  # nothing to merge: any will do
                    self.partners[j] = k
                    continue
                distance = 0
                for c in range(d):
                    z = self.raw[j, 1 + c] / self.raw[j, 0] - self.raw[k, 1 + c] / self.raw[k, 0]
                    distance += self.metric[c] * z * z
                common = 0
                for i in range(self.data.n_samples):
                    common += self.data.samples.weights[i] * self.share[j, i] * self.share[k, i]
                if distance < nearest:
                    nearest = distance
                    self.partners[j] = k
                if common > most:
                    most = common
                    self.partners[K + j] = k
            if self.partners[K + j] == self.partners[j]:
                self.partners[K + j] = -1

    cdef bint evaluate(self, const real *solution, unsigned long long *seed) noexcept nogil:
        """Gains and losses of all splits and mergers; False: there are no moves."""
        cdef int K = self.family.n_components, j, k, at
        cdef bint found = False
        self.gather(solution)
        self.choose_partners()
        for k in range(K):
            self.gains[k] = -INFINITY
            if self.raw[k, 0] > 0:
                self.split(solution, k, seed)
                found = found or self.gains[k] > 0
        for at in range(2 * K):
            j = at % K
            self.losses[at] = INFINITY
            if self.partners[at] >= 0:
                self.losses[at] = self.merge(solution, j, self.partners[at]) if self.raw[j, 0] > 0 else 0
        return found

    cdef bint is_firm(self, const real *solution, unsigned long long *seed) noexcept nogil:
        """Whether every merger loses far more than any split gains."""
        cdef int K = self.family.n_components, at
        cdef real loss = INFINITY
        self.evaluate(solution, seed)
        for at in range(2 * K):
            loss = min(loss, self.losses[at])
        for at in range(K):
            if self.gains[at] > 0 and not self.gains[at] <= FIRM * loss:
                return False
        return loss > 0

    cdef bint apply(self, const real *solution, real least, real *out) noexcept nogil:
        """The best move not yet taken, which takes it off the list.

        OUT out: the solution after it. False: none is left that could gain `least`.
        """
        cdef int K = self.family.n_components, at, j, k, s, kept, best_at = -1, best_k = -1
        cdef real best = -INFINITY, e = solution[K + self.family.n_connected]
        for at in range(2 * K):
            j = at % K
            for k in range(K):
                if k != j and k != self.partners[at] and self.gains[k] - self.losses[at] > best:
                    best, best_at, best_k = self.gains[k] - self.losses[at], at, k
        if not best > least:
            return False
        j, k = best_at % K, best_k
        self.losses[best_at] = INFINITY
        self.restore(solution)
        kept = self.partners[best_at]
        # Into `raw` and out again: the other moves need it as it was.
        for s in range(1 + self.family.n_statistics):
            self.raw[kept, s] += self.raw[j, s]
        self.swap_in(k, j)
        self.m_step(e)
        for s in range(K):
            out[s] = self.raw[s, 0] / self.data.total_weight
        self.swap_in(k, j)
        for s in range(1 + self.family.n_statistics):
            self.raw[kept, s] -= self.raw[j, s]
        memcpy(out + K, &self.point[0], self.family.n_connected * sizeof(real))
        out[K + self.family.n_connected] = e
        return True

    cdef void draw_group(self, unsigned long long *seed, real *group) noexcept nogil:
        """OUT group: center (d,), squared radius of a ball of samples; its weight is drawn on a logarithmic scale."""
        cdef index n = self.data.n_samples, i, chosen = n - 1
        cdef int d = self.family.n_columns, K = self.family.n_components, j, _turn
        cdef real W = self.data.total_weight, sought = uniform(seed) * W, weight = 0, low = 0, high = 0, radius
        for i in range(n):
            weight += self.data.samples.weights[i]
            if weight > sought:
                chosen = i
                break
        for j in range(d):
            group[j] = self.data.samples.columns[j * self.data.samples.n_padded + chosen]
        for i in range(n):
            high = max(high, self.distance(i, group))
        low = FEWEST * W / n
        sought = low * exp(uniform(seed) * log(max(W / K / low, 1.0)))
        low = 0
        for _turn in range(RADII):
            radius, weight = 0.5 * (low + high), 0
            for i in range(n):
                if self.distance(i, group) <= radius:
                    weight += self.data.samples.weights[i]
            if weight < sought:
                low = radius
            else:
                high = radius
        group[d] = high

    cdef real group_gain(self, const real *solution, int k, const real *group) noexcept nogil:
        """What a component more, fitted to a group of samples, would gain, about. Slot k is borrowed for it."""
        cdef int K = self.family.n_components, d = self.family.n_columns, s
        cdef index i
        cdef real share, gain = 0
        for s in range(1 + self.family.n_statistics):
            self.halves[0, s], self.raw[k, s] = self.raw[k, s], 0
        for i in range(self.data.n_samples):
            if self.distance(i, group) <= group[d]:
                self.add(i, self.data.samples.weights[i], &self.raw[k, 0])
        share = self.raw[k, 0] / self.data.total_weight
        self.restore(solution)
        self.m_step(solution[K + self.family.n_connected])
        self.family.costs(&self.point[0], &self.buffer.costs)
        for i in range(self.data.n_samples):
            if self.distance(i, group) <= group[d]:
                gain += self.data.samples.weights[i] * log(
                    1 - share + exp(min(log(share) - self.cost(k, i) - self.log_density[i], 700.0)))
        for s in range(1 + self.family.n_statistics):
            self.raw[k, s] = self.halves[0, s]
        return gain + (self.data.total_weight - share * self.data.total_weight) * log(1 - share)

    cdef int cheap_merger(self, unsigned long long *seed) noexcept nogil:
        """The merger that loses least, or, at random, one of the next; -1: there is none."""
        cdef int at, best = -1, _turn, last
        for _turn in range(2 * self.family.n_components):
            last, best = best, -1
            for at in range(2 * self.family.n_components):
                if self.losses[at] < (INFINITY if best < 0 else self.losses[best]):
                    best = at
            if best < 0:
                return last
            if next_random(seed) >> 63:
                return best
            self.losses[best] = INFINITY
        return best

    cdef bint relocate(self, const real *solution, unsigned long long *seed, real *out) noexcept nogil:
        cdef int K = self.family.n_components, d = self.family.n_columns, k, j, s, kept, _turn
        cdef int merger = self.cheap_merger(seed)
        cdef index i
        cdef real e = solution[K + self.family.n_connected], weight, gain, most = -INFINITY
        cdef real *group = &self.group[0]
        if merger < 0:
            return False
        j, kept = merger % K, self.partners[merger]
        for _turn in range(N_GROUPS):
            self.draw_group(seed, &self.drawn[0])
            gain = self.group_gain(solution, j, &self.drawn[0])
            if gain > most:
                most = gain
                memcpy(group, &self.drawn[0], (d + 1) * sizeof(real))
        if most == -INFINITY:
            return False
        for s in range(1 + self.family.n_statistics):
            self.raw[kept, s] += self.raw[j, s]
            self.raw[j, s] = 0
        for i in range(self.data.n_samples):
            if self.distance(i, group) > group[d]:
                continue
            self.add(i, self.data.samples.weights[i], &self.raw[j, 0])
            for k in range(K):
                weight = self.data.samples.weights[i] * (self.share[k, i] + (self.share[j, i] if k == kept else 0))
                if k != j and weight > 0 and self.raw[k, 0] - weight > LEFT * self.raw[k, 0]:
                    self.add(i, -weight, &self.raw[k, 0])
        self.restore(solution)
        self.m_step(e)
        for k in range(K):
            out[k] = self.raw[k, 0] / self.data.total_weight
        memcpy(out + K, &self.point[0], self.family.n_connected * sizeof(real))
        out[K + self.family.n_connected] = e
        return True

    cdef void assign(self, const real *centers, int n_turns, real *solution) noexcept nogil:
        """IN/OUT solution: fitted to the clusters that k-means, in the metric, makes of given centers (K, d)."""
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics
        cdef int k, j, _turn, best
        cdef index n = self.data.n_samples, i
        cdef real nearest, distance
        cdef real *at = &self.moments[0]
        for k in range(K):
            for j in range(d):
                at[k * F + j] = centers[k * d + j]
        for _turn in range(n_turns):
            self.raw[:, :] = 0
            for i in range(n):
                nearest, best = INFINITY, 0
                for k in range(K):
                    distance = self.distance(i, at + k * F)
                    if distance < nearest:
                        nearest, best = distance, k
                if _turn == n_turns - 1:
                    self.add(i, self.data.samples.weights[i], &self.raw[best, 0])
                else:
                    self.add_mean(i, self.data.samples.weights[i], &self.raw[best, 0])
            for k in range(K):
                for j in range(self.n_measured):
                    if self.raw[k, 0] > 0:
                        at[k * F + j] = self.raw[k, 1 + j] / self.raw[k, 0]
        self.fit_raw(solution)

    cdef void fit_to(self, const index *labels, real *solution) noexcept nogil:
        """IN/OUT solution: fitted to clusters of the samples (n,)."""
        cdef index i
        self.raw[:, :] = 0
        for i in range(self.data.n_samples):
            self.add(i, self.data.samples.weights[i], &self.raw[labels[i], 0])
        self.fit_raw(solution)

    cdef void fit_raw(self, real *solution) noexcept nogil:
        """IN/OUT solution: of the masses and moments of clusters, from its own parameters."""
        cdef int K = self.family.n_components, k
        cdef real e
        self.restore(solution)
        self.family.prior_cost(&self.point[0], &e)
        if self.blend > 0:
            self.mix()
        for k in range(K):
            solution[k] = self.raw[k, 0] / self.data.total_weight
        self.m_step(e)
        memcpy(solution + K, &self.point[0], self.family.n_connected * sizeof(real))

    cdef void mix(self) noexcept nogil:
        """Gives every cluster a share of all samples' moments."""
        cdef int K = self.family.n_components, k, s
        cdef real total
        for s in range(1, 1 + self.family.n_statistics):
            total = 0
            for k in range(K):
                total += self.raw[k, s]
            for k in range(K):
                self.raw[k, s] += self.blend * (self.raw[k, 0] / self.data.total_weight * total - self.raw[k, s])
