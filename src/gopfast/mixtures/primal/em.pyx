"""Primal problem of a mixture: EM and its starts, for any component family.

Theory: (A5) of docs/theory/problem.md; (S8) of docs/theory/search.md; (R4) of docs/theory/rounding.md.
"""

import numpy as np

from gopfast.mixtures.primal.tuning import (
    BLEND, FEWEST_TRIALS, MOST_TRIAL_SAMPLES, MOST_TRIAL_STEPS, N_TRIALS, TRIAL_TERMS, TRIAL_TOLERANCE
)
from gopfast.search import entries

from libc.math cimport INFINITY, exp, fabs
from libc.string cimport memcpy

from gopfast.clustering.line import best_stretches
from gopfast.mixtures.primal.clusters import Clusterings
from gopfast.mixtures.primal.crossing cimport Crossing
from gopfast.mixtures.primal.margins cimport OBJECTIVE_ROUNDING
from gopfast.mixtures.primal.moves cimport Moves, uniform
from gopfast.mixtures.data.passes cimport PASS_MOMENTS, run_pass, run_pass_in_parts
from gopfast.mixtures.data.samples cimport Samples, cost_size, summary_shift
from gopfast.mixtures.primal.start_kinds cimport (
    CLUSTERS, CROSSINGS, DRAWS, GIVEN, MOVES, NODES, N_KINDS, SUGGESTED, TIES, TRIAL
)
from gopfast.mixtures.primal.tuning cimport (
    CLUSTER_TURNS, DEEP_FROM, DEEP_PASSES, DEEP_PASSES_EACH, DEEP_WORK, DOUBT, EM_LONG as LONG, FEWEST_START_SAMPLES,
    FEW_CLUSTERINGS, FINE, FIRST_SHARE, FIRST_STEPS, FORESEEN_FROM, HEAVY_FROM, HELD_STEPS, LATER_SHARE,
    LEAST_OTHERS, LOOK_PASSES, MANY, MANY_CLUSTERINGS, MOST_IN_VAIN, MOST_SHARES, MOST_TRIED, NODE_STEPS,
    NOTED_STEPS, N_CLUSTERINGS, N_PARTED, N_RESTARTS, N_WAYS, PARTS_FROM, PART_IN_VAIN, PERTURBATIONS_FROM,
    PERTURBATION_SHARE, POLISHED, POLISHED_RELATIVE, POLISH_STEPS, SAME_END, SLOWEST, SPARED, STARTS_SHARE,
    STARTS_SHARE_OF_ALL, START_POINTS, START_SAMPLES, START_STEPS, START_TERMS, TIE_STEPS, WIDE_FROM, WIDE_TERMS
)
from gopfast.search.endings cimport CONVERGED, FAILED, GIVEN_UP, OUT_OF_STEPS, OUT_OF_TIME, Endings
from gopfast.search.meter cimport Meter, Work
from gopfast.search.stop cimport clock


# What is at work: starts and local searches, the first one's moves, and later ones' at random.
cdef enum:
    SEARCHING
    MOVING
    PERTURBING


cdef long long MOST_TURNS = 1 << 60   # that a file may say


cdef class MixturePrimal(Primal):
    """Upper bounds of a mixture: EM from given parameters, multi-start at the root.

    A solution is stored as weights (K,), the family's parameters (n_connected,), prior weight e.

    Parameters
    ----------
    family : Family
    n_starts : int
    seed : int
    start : ndarray, shape (n_connected,), optional
        Parameters to start from, beside the own starts: no solution found is worse than they are.
    start_weights : ndarray, shape (K,), optional
        Weights of that start; equal ones by default.
    ties : sequence of ndarray
        Indices of samples that share a value: components that concentrate on them are tried, too.
    thorough : bool
        Whether the first local search goes on with moves and restarts where parameters are many.
    perturbed : bool
        Whether later ones do so now and then, at random.
    """

    def __init__(self, Family family, int n_starts=6, seed=0, start=None, ties=(), bint thorough=True,
                 start_weights=None, bint perturbed=True):
        cdef int K = family.n_components, d = family.n_columns, part
        self.moving, self.perturbing = Meter(), Meter()
        self.endings, self.ending = Endings(N_KINDS), FAILED
        self.active, self.found_by, self.perturbed = SEARCHING, SEARCHING, perturbed
        self.family = family
        self.n_starts = n_starts
        self.seed = <unsigned long long> seed
        self.start, self.suggested = start, family.suggested()
        self.given = np.zeros(family.n_connected) if start is None else np.ravel(start)
        self.given_weights = np.full(K, 1.0 / K) if start_weights is None else np.array(start_weights, dtype=float)
        self.n_solution = K + family.n_connected + 1
        self.held = np.zeros(self.n_solution)
        self.trial, self.candidate = np.zeros(self.n_solution), np.zeros(self.n_solution)
        self.drawn, self.mass, self.metric = np.zeros(K * d), np.zeros(K), family.metric()
        self.buffer = PassBuffer(K, d, family.n_statistics, family.n_each)
        self.shares = np.zeros(max(1, K * family.n_each))
        self.describe(ties)
        self.n_threads = 1
        self.part_buffers = []
        self.full = self.coarse = family.data.core
        self.truth = &self.full
        if self.full.samples.n_padded >= PARTS_FROM:
            self.part_buffers = [PassBuffer(K, d, family.n_statistics) for _ in range(N_PARTS)]
            for part in range(N_PARTS):
                self.part_scratch[part] = (<PassBuffer> self.part_buffers[part]).scratch
                self.part_sums[part] = (<PassBuffer> self.part_buffers[part]).sums
        self.coarse_loss = 0
        for level in family.data.levels:
            if (<Samples> level).core.n_samples <= START_POINTS:
                self.coarse = (<Samples> level).core
        self.until = INFINITY
        self.some = None
        n_drawn = <index> min(START_SAMPLES, max(FEWEST_START_SAMPLES, START_TERMS / (K * family.n_statistics)))
        if self.full.n_samples >= 2 * n_drawn and self.coarse.n_samples == self.full.n_samples and not family.n_each:
            self.some = self.draw(n_drawn)
            self.coarse = self.some.core
        self.has_axes = family.frame is not None
        self.movable = K > 1 and <real> K * self.coarse.n_samples <= MOST_SHARES
        self.deep = thorough and self.movable and family.n_connected >= DEEP_FROM
        self.is_heavy = self.deep and <real> K * family.n_statistics * self.coarse.n_samples >= HEAVY_FROM
        self.known, self.proposal = np.zeros(self.n_solution), np.zeros(self.n_solution)
        self.known_value, self.rate = INFINITY, SLOWEST
        self.n_improved = self.n_restarts = self.n_perturbations = 0
        self.passes_before = self.perturbation_passes = 0
        self.agreement, self.settled_at, self.is_settled = Agreement(), INFINITY, False
        if self.deep:
            self.furnish()

    cdef int furnish(self) except -1:
        """Makes what moves are made with: small problems end before they need any."""
        self.moves = Moves(self.family, BLEND if self.family.has_ends else 0.0)
        self.moves.prepare(&self.coarse)
        self.crossing = Crossing(self.moves)
        self.has_moves = True
        return 0

    cdef int describe(self, ties) except -1:
        """Weight, mean and mean square of the core's columns of each group of samples."""
        cdef Samples data = self.family.data
        d = self.family.n_columns
        self.n_ties = <int> len(ties)
        tie_weight, tie_moments = np.zeros(self.n_ties + 1), np.zeros((self.n_ties + 1, 2 * d))
        self.moments = np.zeros(self.family.n_components * 2 * d)
        columns, weights = data.arrays()
        for i, group in enumerate(ties):
            w, x = weights[group], columns[:, group]
            tie_weight[i] = w.sum()
            tie_moments[i] = np.concatenate([x @ w, np.square(x) @ w]) / w.sum()
        self.tie_weight, self.tie_moments = tie_weight, tie_moments
        return 0

    cdef Samples draw(self, index n):
        """n of the samples, one of each stretch of equally many, with weights of the same sum."""
        cdef Samples data = self.family.data, out = Samples.__new__(Samples)
        columns, weights = data.arrays()
        at = np.arange(n) + np.random.default_rng(self.seed).random(n)
        rows = np.minimum(at * (len(weights) / n), len(weights) - 1).astype(np.intp)
        drawn = weights[rows]
        out.fill(columns[:, rows], drawn * (data.core.total_weight / drawn.sum()), data.core.samples.squares,
                 np.zeros(len(columns)), 0.0)
        return out

    cdef bint late(self) noexcept nogil:
        """Whether the search is stopped or the time for this step is over."""
        return self.stop.poll(0) or clock() >= self.until

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        self.stop, self.active = stop, SEARCHING
        self.n_threads = n_workers
        return 0

    cdef void act(self, int other) noexcept nogil:
        """What follows is the work of another mechanism."""
        if self.active == MOVING:
            self.moving.end()
        elif self.active == PERTURBING:
            self.perturbing.end()
        self.active = other
        if other == MOVING:
            self.moving.begin()
        elif other == PERTURBING:
            self.perturbing.begin()

    cdef Work *work(self) noexcept nogil:
        """What the mechanism at work has done so far."""
        if self.active == MOVING:
            return &self.moving.work
        return &self.perturbing.work if self.active == PERTURBING else &self.meter.work

    cdef Work *finder(self) noexcept nogil:
        return &self.perturbing.work if self.found_by == PERTURBING else &self.meter.work

    cdef void sweep(self, const SampleSet *data, const real *weights) noexcept nogil:
        """One data pass at the buffer's costs; in parts, on all threads, where the samples are many."""
        cdef int K = self.family.n_components
        if data.samples.n_padded < PARTS_FROM:
            run_pass(&data.samples, K, &self.buffer.costs, weights, PASS_MOMENTS, self.buffer.scratch,
                     &self.buffer.sums)
        else:
            run_pass_in_parts(&data.samples, K, &self.buffer.costs, weights, PASS_MOMENTS, self.part_scratch,
                              self.part_sums, self.n_threads, &self.buffer.sums)

    cdef void share_out(self, const SampleSet *data, const real *weights) noexcept nogil:
        """OUT shares: of the samples' weights, by the costs of each sample in the buffer."""
        cdef int K = self.family.n_components, k
        cdef index n = self.family.n_each, i
        cdef const real *each = self.buffer.costs.each
        cdef real *shares = &self.shares[0]
        cdef real least, total
        for i in range(data.n_samples):
            least, total = INFINITY, 0
            for k in range(K):
                if weights[k] > 0:
                    least = min(least, each[k * n + i])
            for k in range(K):
                shares[k * n + i] = weights[k] * exp(least - each[k * n + i]) if weights[k] > 0 else 0
                total += shares[k * n + i]
            for k in range(K):
                shares[k * n + i] *= data.samples.weights[i] / total

    cdef real step(self, const SampleSet *data, real *solution) noexcept nogil:
        """One EM step in place; returns the objective before it, rounded up."""
        cdef int K = self.family.n_components, k
        cdef real *point = solution + K
        cdef real e, prior, objective, size
        cdef pass_sums *sums = &self.buffer.sums
        self.family.costs(point, &self.buffer.costs)
        self.sweep(data, solution)
        if self.family.n_each:
            self.share_out(data, solution)
        prior = self.family.prior_cost(point, &e)
        solution[K + self.family.n_connected] = e
        # W: weights and probabilities that add up to 1 only up to rounding
        size = sums.magnitude + self.family.prior_size(point) + data.total_weight
        for k in range(K):
            self.mass[k] = solution[k] * sums.density[k]
            size += self.mass[k] * cost_size(data, k, &self.buffer.costs, sums, self.mass[k])
            solution[k] = self.mass[k] / data.total_weight
        objective = prior + sums.value + summary_shift(data, K, &self.buffer.costs) + self.family.constant
        if self.family.n_each:
            self.family.maximise_shares(&self.shares[0], &self.mass[0], point)
        else:
            self.family.maximise(&self.mass[0], sums.first, e, &self.buffer.costs, point)
        self.margin = OBJECTIVE_ROUNDING * size + self.family.constant_margin()
        return objective + self.margin

    cdef real run(self, const SampleSet *data, real *solution, real target, real tolerance, int max_iter,
                  Effort *effort, bint goes_on=False, real relative=0, bint noted=False) noexcept nogil:
        """EM until the projected rest of the decrease is below tolerance, or above target for good.

        IN/OUT solution: the best parameters seen. Returns their objective.
        goes_on: from where the last run ended, on other samples; its rate tells the rest after one step.
        relative: the tolerance is at least so much of the objective.
        noted: the history has it on the way, too, where it takes long.
        """
        cdef index n = self.n_solution, iteration
        cdef real objective = INFINITY, previous = INFINITY, decrease = 0, last, ratio, rest
        cdef real *trial = &self.trial[0]
        memcpy(trial, solution, n * sizeof(real))
        self.ending = OUT_OF_STEPS
        for iteration in range(max_iter):
            last = decrease
            memcpy(solution, trial, n * sizeof(real))  # the parameters that the objective belongs to
            objective = self.step(data, trial)
            solution[n - 1] = trial[n - 1]
            effort.n_passes += 1
            self.work().terms += data.n_samples * self.family.n_components
            if not objective < INFINITY:
                self.ending = FAILED
                return INFINITY
            if noted and iteration % NOTED_STEPS == 0:
                self.improvements.note(objective)
            decrease = previous - objective
            previous = objective
            if iteration < (1 if goes_on else 2):
                continue
            if not decrease > 0:
                self.ending = CONVERGED
                break
            if iteration == 1:
                ratio = self.rate
            else:
                ratio = min(decrease / last, SLOWEST) if last > 0 else SLOWEST
            rest = decrease * ratio / (1 - ratio)
            self.rate = ratio
            if rest < max(tolerance, relative * fabs(objective)):
                self.ending = CONVERGED
                break
            if iteration >= FORESEEN_FROM and objective - DOUBT * rest > target:
                self.ending = GIVEN_UP
                break
            if self.late():
                self.ending = OUT_OF_TIME
                break
        return objective

    cdef void scatter(self) noexcept nogil:
        """k-means++ draws: each next one is a sample drawn with probability w * squared distance."""
        cdef const SampleSet *data = &self.coarse
        cdef int K = self.family.n_components, d = self.family.n_columns, k, c, j
        cdef index n = data.n_samples, i, chosen
        cdef real total, draw, nearest, distance, z
        cdef real *drawn = &self.drawn[0]
        cdef int turn
        for k in range(K):
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
                            z = data.samples.columns[j * data.samples.n_padded + i] - drawn[c * d + j]
                            distance += self.metric[j] * z * z
                        nearest = min(nearest, distance)
                    total += data.samples.weights[i] * nearest
                    if turn == 1 and total > draw:
                        chosen = i
                        break
            for j in range(d):
                drawn[k * d + j] = data.samples.columns[j * data.samples.n_padded + chosen]

    cdef void start_from(self, int attempt, real *solution) noexcept nogil:
        """Start number `attempt`: the given one, then k-means++ draws, then (with a prior) some without weight.

        With a prior the optimum may leave components without weight. EM never empties or fills a component by
        itself, so each number of used components is started on its own.
        """
        cdef int K = self.family.n_components, k, used = K
        cdef real *point = solution + K
        if attempt < 0:
            memcpy(point, &self.given[0], self.family.n_connected * sizeof(real))
            memcpy(solution, &self.given_weights[0], K * sizeof(real))
            return
        self.scatter()
        self.family.seed(&self.drawn[0], point)
        if attempt >= self.n_starts:
            used = (attempt - self.n_starts) % K
        for k in range(used, K):
            self.family.vacate(k, point)
        for k in range(K):
            solution[k] = 1.0 / max(used, 1) if k < max(used, 1) else 0.0

    cdef real hold(self, real tolerance, Effort *effort) noexcept nogil:
        """A few steps of EM on all samples from the start that is given, whatever the time.

        OUT held: what they lead to. Returns its objective: at most that of the start itself, and infinity if there is
        none, or where starts run on all samples anyway.
        """
        if self.start is None or self.coarse.samples.columns == self.full.samples.columns:
            return INFINITY
        self.start_from(-1, &self.held[0])
        return self.run(&self.full, &self.held[0], INFINITY, tolerance, HELD_STEPS, effort)

    cdef real take_held(self, real tolerance, real *best, real *solution, Effort *effort) noexcept nogil:
        """OUT solution: an optimum that `held` leads to; returns its objective. OUT best: on the starts' samples."""
        memcpy(&self.candidate[0], &self.held[0], self.n_solution * sizeof(real))
        best[0] = self.run(&self.coarse, &self.candidate[0], INFINITY, tolerance, START_STEPS, effort)
        self.remember(best[0], &self.candidate[0])
        memcpy(solution, &self.held[0], self.n_solution * sizeof(real))
        return self.run(&self.full, solution, INFINITY, tolerance, FIRST_STEPS, effort)

    cdef void concentrate(self, int k, int tie, real *solution) noexcept nogil:
        """Moves component k onto a group of tied samples: their share as its weight, the rest to the others."""
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics, c, j
        cdef const real *mean = &self.tie_moments[tie, 0]
        cdef real W = self.full.total_weight, share = self.tie_weight[tie] / W, others = 1 - solution[k], center
        cdef real *moments = &self.moments[0]
        cdef real *point = solution + K
        self.family.costs(point, &self.buffer.costs)
        for c in range(K):
            self.mass[c] = 0
        self.mass[k] = self.tie_weight[tie]
        for j in range(d):
            center = self.buffer.costs.centers[k * d + j]
            moments[k * F + j] = self.mass[k] * (mean[j] - center)
            if F > d:
                moments[k * F + d + j] = self.mass[k] * (mean[d + j] - 2 * center * mean[j] + center * center)
        self.family.maximise(&self.mass[0], moments, solution[K + self.family.n_connected], &self.buffer.costs, point)
        for c in range(K):
            solution[c] = share if c == k else (1 - share) * (solution[c] / others if others > LEAST_OTHERS
                                                              else 1.0 / (K - 1))

    cdef real try_ties(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the best with components on tied samples; returns its objective, `best` at first."""
        cdef int K = self.family.n_components, _turn, tie, k
        cdef real *candidate = &self.candidate[0]
        cdef real objective
        cdef bint better
        for _turn in range(K):
            better = False
            for tie in range(self.n_ties):
                for k in range(K):
                    if self.late():
                        return best
                    memcpy(candidate, solution, self.n_solution * sizeof(real))
                    self.concentrate(k, tie, candidate)
                    objective = self.run(&self.full, candidate, best - tolerance, tolerance, TIE_STEPS, effort)
                    self.endings.add(TIES, self.ending, objective - self.coarse_loss)
                    if objective < best - tolerance:
                        best, better = objective, True
                        memcpy(solution, candidate, self.n_solution * sizeof(real))
            if not better:
                break
        return best

    cdef bint offer(self, int kind, real *candidate, real *best, real tolerance, real *solution,
                    Effort *effort, int n_alike=1) noexcept nogil:
        """A short run from a candidate, to which so many starts lead; IN/OUT best, solution; whether it is better."""
        cdef real objective = self.run(&self.coarse, candidate, INFINITY, tolerance, START_STEPS, effort)
        self.ended(kind, objective, tolerance, n_alike)
        if not objective < best[0]:
            return False
        best[0] = objective
        self.note(objective)
        memcpy(solution, candidate, self.n_solution * sizeof(real))
        return True

    cdef void ended(self, int kind, real objective, real tolerance, int n_alike=1) noexcept nogil:
        """The last run of EM of the first local search, or of so many that are alike, has ended there."""
        cdef int _alike
        for _alike in range(n_alike):
            self.endings.add(kind, self.ending, objective)
        if kind == TRIAL or kind == DRAWS or kind == CLUSTERS:
            self.agreement.add(objective, SAME_END * tolerance, n_alike)
        else:
            self.agreement.lower(objective, SAME_END * tolerance)

    cdef bint settled(self, real best, const real *solution, Effort *effort) noexcept nogil:
        """Whether starts agree on the best solution, and none of its components would rather be elsewhere.

        With a prior the optimum may leave components without weight, which other starts are for.
        """
        if not (self.deep and self.agreement.reached()) or self.family.has_prior:
            return False
        if best != self.settled_at:
            self.settled_at, self.is_settled = best, self.moves.is_firm(solution, &self.seed)
            effort.n_passes += LOOK_PASSES
        return self.is_settled

    cdef void cluster(self, int n_turns, real *solution, Effort *effort) noexcept nogil:
        """OUT solution: fitted to clusters of k-means from k-means++ draws; of 0 turns, to the best of one column."""
        if n_turns == 0:
            with gil:
                self.divide()
        else:
            self.scatter()
        self.family.seed(&self.drawn[0], solution + self.family.n_components)
        self.moves.assign(&self.drawn[0], max(n_turns, 1), solution)
        effort.n_passes += max(n_turns // 4, 1)  # without exponentials

    cdef void try_clusters(self, real *best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT best, solution: also from clusters."""
        cdef int attempt, n = FEW_CLUSTERINGS if self.family.n_cell == 1 else N_CLUSTERINGS
        cdef real terms = <real> self.family.n_components * self.family.n_statistics * self.coarse.n_samples
        cdef bint is_wide = self.family.n_cell >= WIDE_FROM
        if self.is_heavy or is_wide:
            self.try_best_clusters(n, False, best, tolerance, solution, effort)
            if is_wide and not self.settled(best[0], solution, effort):
                # many optima, which twenty steps of EM order nearly as its ends do
                n = <int> min(<real> MANY_CLUSTERINGS, WIDE_TERMS / (START_STEPS * terms)) - n
                self.try_best_clusters(n, True, best, tolerance, solution, effort)
            return
        for attempt in range(-1 if self.family.n_columns == 1 else 0, n):
            if self.late() or self.settled(best[0], solution, effort):
                return
            self.cluster(0 if attempt < 0 else CLUSTER_TURNS, &self.candidate[0], effort)
            self.offer(TRIAL, &self.candidate[0], best, tolerance, solution, effort)

    cdef void try_best_clusters(self, int n_runs, bint goes_on, real *best, real tolerance, real *solution,
                                Effort *effort) noexcept nogil:
        """IN/OUT best, solution: also from clusters of so many runs of k-means, the best first; the first one ends.

        goes_on: there were others, which are not tried again.
        """
        cdef real until = self.until
        cdef int attempt, n
        if n_runs <= 0:
            return
        with gil:
            n = self.find_clusters(n_runs, goes_on)
        effort.n_passes += n_runs * (CLUSTER_TURNS // 4)  # without exponentials
        for attempt in range(n):
            if attempt > 0 and (self.late() or self.settled(best[0], solution, effort)):
                return
            self.moves.fit_to(&self.labels[attempt, 0], &self.candidate[0])
            self.until = until if attempt > 0 else INFINITY
            self.offer(TRIAL, &self.candidate[0], best, tolerance, solution, effort, <int> self.n_alike[attempt])
            self.until = until

    cdef void cluster_as_given(self, real *solution, Effort *effort) noexcept nogil:
        """OUT solution: fitted to clusters of k-means in the user's columns.

        Axes are those of a local optimum, and clusters along them lead to others like it.
        """
        cdef int n
        self.seed_at_random(solution)
        with gil:
            n = self.find_clusters(1)
        if n > 0:
            self.fit_to_clusters(solution, effort)

    cdef void cluster_in_two(self, real *solution, Effort *effort) noexcept nogil:
        """OUT solution: fitted to two groups of four clusters of k-means, in each of the ways to part them by turns.

        Two components have no moves, and k-means with two clusters comes to few of the ways to part four.
        """
        cdef bint is_found
        self.seed_at_random(solution)
        with gil:
            is_found = self.part_in_two()
        if is_found:
            self.fit_to_clusters(solution, effort)

    cdef void seed_at_random(self, real *solution) noexcept nogil:
        """OUT solution: its parameters of components at draws of k-means++."""
        self.scatter()
        self.family.seed(&self.drawn[0], solution + self.family.n_components)

    cdef void fit_to_clusters(self, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: fitted to the first of the clusterings in `labels`."""
        self.moves.fit_to(&self.labels[0, 0], solution)
        effort.n_passes += max(CLUSTER_TURNS // 4, 1)

    cdef bint part_in_two(self) noexcept:
        """OUT labels: the next two groups of the four clusters, which are the same after a search was resumed.

        Whether there are any: not where Ctrl-C came first.
        """
        cdef unsigned long long seed = self.seed
        try:
            if self.parted is None:
                self.seed = 0
                self.begin_runs(N_PARTED)
                self.cluster_runs(N_CLUSTERINGS)
                self.parted = np.array(self.labels[:1])
            self.labels = ((1 + self.n_restarts // 4) >> self.parted) & 1
        except BaseException as error:
            self.stop.caught(error)
            return False
        finally:
            self.seed = seed
        return True

    cdef int find_clusters(self, int n_runs, bint goes_on=False) noexcept:
        """OUT labels: K clusters of the samples that starts run on; returns how many there are.

        0 where Ctrl-C comes in between, which ends the search.
        """
        try:
            if not goes_on or self.runs is None:
                self.begin_runs(self.family.n_components)
            return self.cluster_runs(n_runs)
        except BaseException as error:
            self.stop.caught(error)
        return 0

    cdef int begin_runs(self, int n_clusters) except -1:
        """OUT runs: of k-means with so many clusters; raises what is raised."""
        cdef const SampleSet *data = &self.coarse
        cdef index n = data.n_samples, padded = data.samples.n_padded
        columns = np.asarray(<real[:self.family.n_columns * padded]> <real *> data.samples.columns)
        weights = np.asarray(<real[:n]> <real *> data.samples.weights)
        columns, rng = columns.reshape(-1, padded)[:, :n], np.random.default_rng(self.seed)
        self.runs = [Clusterings(self.family.places(columns, weights).T, weights, n_clusters, rng)]
        if self.has_axes:  # in every other run a column's spread may tell how much it matters
            self.runs.append(Clusterings(self.family.places(columns, weights, True).T, weights, n_clusters, rng))
        return 0

    cdef int cluster_runs(self, int n_runs) except -1:
        """OUT labels, n_alike: of so many more runs; returns how many differ, and raises what is raised."""
        n_each = [n_runs - n_runs // 2, n_runs // 2] if len(self.runs) > 1 else [n_runs]
        found = [runs.run(n, self.is_late) for runs, n in zip(self.runs, n_each) if n > 0]
        self.labels = np.concatenate([labels for labels, _ in found])
        self.n_alike = np.concatenate([n_alike for _, n_alike in found])
        return <int> self.labels.shape[0]

    def is_late(self):
        """Whether the search is stopped or the time for this step is over."""
        return self.late()

    cdef void try_suggested(self, real *best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT best, solution: also from the fit that the family knows."""
        if self.suggested is None:
            return
        memcpy(&self.candidate[0], &self.suggested[0], self.suggested.shape[0] * sizeof(real))
        self.offer(SUGGESTED, &self.candidate[0], best, tolerance, solution, effort)

    cdef void divide(self) noexcept:
        """OUT drawn: the centers of the best clusters of one column, by dynamic programming; draws if it is ended."""
        try:
            n = self.coarse.n_samples
            x = np.asarray(<real[:n]> <real *> self.coarse.samples.columns)
            w = np.asarray(<real[:n]> <real *> self.coarse.samples.weights)
            order = np.argsort(x, kind="stable")
            begins = best_stretches(x[order], w[order], min(self.family.n_components, n))
            sums = np.add.reduceat(np.stack([w * x, w])[:, order], begins, axis=1)
            centers = sums[0] / sums[1]
            np.asarray(self.drawn)[:] = np.resize(centers, self.family.n_components)
        except BaseException as error:
            self.stop.caught(error)
            self.scatter()

    cdef real move(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: improved by splits and mergers until none helps; returns its objective, `best` at first."""
        cdef int K = self.family.n_components, _turn, _tried
        cdef real *candidate = &self.candidate[0]
        cdef real objective
        cdef bint better
        for _turn in range(4 * K):
            if K < 3 or self.late() or not self.moves.evaluate(solution, &self.seed):
                break
            effort.n_passes += LOOK_PASSES
            better = False
            for _tried in range(MOST_TRIED):
                if self.late() or not self.moves.apply(solution, -INFINITY, candidate):
                    break
                objective = self.run(&self.coarse, candidate, best - tolerance, tolerance, LONG, effort)
                self.ended(MOVES, objective, tolerance)
                if objective < best - tolerance:
                    best, better = objective, True
                    memcpy(solution, candidate, self.n_solution * sizeof(real))
                    break
            if not better:
                break
        return best

    cdef real restart(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the better of it and what new draws, or their clusters, lead to."""
        cdef real *proposal = &self.proposal[0]
        cdef int kind = CLUSTERS
        self.n_restarts += 1
        if self.n_restarts % 4 == (1 if self.family.n_components == 2 else 3) and self.has_axes:
            self.cluster_as_given(proposal, effort)
        elif self.n_restarts % 4 == 3 and self.family.n_components == 2 and self.n_restarts // 4 < N_WAYS:
            self.cluster_in_two(proposal, effort)
        elif self.n_restarts % 2:
            self.cluster(CLUSTER_TURNS, proposal, effort)
        else:
            self.start_from(0, proposal)
            kind = DRAWS
        # to its end: where components overlap EM may stand nearly still before it falls
        return self.descend(kind, best, FINE * tolerance, 2 * LONG, tolerance, solution, effort)

    cdef real descend(self, int kind, real best, real finest, int max_iter, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        """IN/OUT solution: the better of it and what EM, of so many steps, and moves make of `proposal`."""
        cdef real *proposal = &self.proposal[0]
        cdef real objective = self.run(&self.coarse, proposal, INFINITY, finest, max_iter, effort)
        self.ended(kind, objective, tolerance)
        self.crossing.keep(proposal, objective, tolerance)
        if not objective < best - tolerance:
            return best
        memcpy(solution, proposal, self.n_solution * sizeof(real))
        return self.move(objective, tolerance, solution, effort) if self.family.n_components > 2 else objective

    cdef real perturb(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the better of it and what a move at random leads to."""
        cdef int K = self.family.n_components, _skipped
        cdef real *proposal = &self.proposal[0]
        cdef real objective
        if K < 3 or not self.moves.evaluate(solution, &self.seed):
            return self.restart(best, tolerance, solution, effort)
        effort.n_passes += LOOK_PASSES
        for _skipped in range(<int> (uniform(&self.seed) * 3 * K) + 1):
            if not self.moves.apply(solution, -INFINITY, proposal):
                return best
        objective = self.run(&self.coarse, proposal, INFINITY, tolerance, LONG, effort)
        self.ended(MOVES, objective, tolerance)
        objective = self.move(objective, tolerance, proposal, effort)
        self.crossing.keep(proposal, objective, tolerance)
        if not objective < best - tolerance:
            return best
        memcpy(solution, proposal, self.n_solution * sizeof(real))
        return objective

    cdef real relocate(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the better of it and what a component on a group of neighbouring samples leads to.

        What splits and mergers do not reach: a narrow component among wide ones.
        """
        cdef real *proposal = &self.proposal[0]
        if self.family.n_components < 3:
            return best
        self.moves.evaluate(solution, &self.seed)
        effort.n_passes += LOOK_PASSES
        if not self.moves.relocate(solution, &self.seed, proposal):
            return best
        return self.descend(MOVES, best, tolerance, LONG, tolerance, solution, effort)

    cdef real cross_over(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the better of it and what a crossing of two solutions leads to."""
        cdef real *proposal = &self.proposal[0]
        if not self.crossing.cross(solution, &self.seed, proposal):
            return best
        return self.descend(CROSSINGS, best, tolerance, LONG, tolerance, solution, effort)

    cdef real iterated_local_search(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: improved by moves, restarts, moves at random and crossings of what these reached."""
        cdef int K = self.family.n_components, turn = 0, in_vain = 0
        cdef real before
        # where components have one parameter the clusters' starts are good, and while they are few the tree is fast
        cdef bint single = self.family.n_cell == 1, brief = single and K < MANY
        cdef int n_turns = 1 + K // 4 if brief else 2 * K if single else N_RESTARTS + K // 2
        cdef index most = <index> (DEEP_WORK / (<real> K * self.coarse.n_samples))
        cdef index before_it = effort.n_passes, limit = before_it + min(DEEP_PASSES + DEEP_PASSES_EACH * K, most)
        if not self.settled(best, solution, effort):
            best = self.move(best, tolerance, solution, effort)
        while turn < n_turns:
            if self.late() or effort.n_passes > limit:
                return best
            if self.settled(best, solution, effort):
                self.spared = max(0, min(SPARED, limit - before_it) - (effort.n_passes - before_it))
                break
            if single and in_vain >= MOST_IN_VAIN * K:
                break
            before = best
            if turn % 2 == 0 or K >= MANY:
                best = self.perturb(best, tolerance, solution, effort)
            if not brief and (turn % 4 == 0 or K < MANY):
                best = self.restart(best, tolerance, solution, effort)
            if not brief and K > 2:
                best = self.cross_over(best, tolerance, solution, effort)
            self.note(best)
            in_vain = 0 if best < before - tolerance else in_vain + 1
            turn += 1
            if in_vain == 0 and not single:  # what falls late may fall again
                n_turns = max(n_turns, <int> (turn / PART_IN_VAIN))
        return self.run(&self.coarse, solution, INFINITY, tolerance, FIRST_STEPS, effort)

    cdef real first(self, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """Short runs from every start, a long one from the best of them, and moves from there."""
        cdef int K = self.family.n_components, attempt
        cdef int n_starts = self.n_starts + (2 * K if self.family.has_prior else 0)
        cdef real best = INFINITY, objective, limit = self.stop.deadline - self.stop.started
        cdef real held = self.hold(tolerance, effort)
        self.until = self.stop.started + limit * (
            STARTS_SHARE_OF_ALL if self.coarse.samples.columns == self.full.samples.columns else STARTS_SHARE)
        if self.start is not None:  # whatever the time
            self.start_from(-1, &self.candidate[0])
            self.offer(GIVEN, &self.candidate[0], &best, tolerance, solution, effort)
        if self.is_heavy:
            self.try_clusters(&best, tolerance, solution, effort)
        self.try_suggested(&best, tolerance, solution, effort)
        for attempt in range(n_starts):
            if (self.late() and best < INFINITY) or self.settled(best, solution, effort):
                break
            self.start_from(attempt, &self.candidate[0])
            self.offer(TRIAL, &self.candidate[0], &best, tolerance, solution, effort)
        if self.deep and not self.is_heavy:
            self.try_clusters(&best, tolerance, solution, effort)
        if not self.late():
            best = self.run(&self.coarse, solution, INFINITY, tolerance, FIRST_STEPS, effort)
        self.note(best)
        if self.deep:
            self.act(MOVING)
            best = self.iterated_local_search(best, tolerance, solution, effort)
            self.act(SEARCHING)
        self.remember(best, solution)
        self.until = self.stop.started + FIRST_SHARE * limit
        objective = self.run(&self.full, solution, INFINITY, tolerance, FIRST_STEPS, effort, True, 0,
                             self.truth == &self.full)
        if held < objective:
            objective = self.take_held(tolerance, &best, solution, effort)
        # A summary lies below the samples; samples drawn may lie on either side.
        self.coarse_loss = objective - best if self.some is not None else max(0.0, objective - best)
        self.passes_before = effort.n_passes
        if self.n_ties == 0 or K == 1:
            return objective
        self.try_ties(objective, tolerance, solution, effort)
        return self.run(&self.full, solution, INFINITY, tolerance, FIRST_STEPS, effort)

    cdef void note(self, real best) noexcept nogil:
        """What the first local search has found so far, where starts run on all samples."""
        if self.coarse.samples.columns == self.truth.samples.columns:
            self.improvements.note(best)

    cdef void remember(self, real value, const real *solution) noexcept nogil:
        """The best on the samples that starts run on, for perturbations to begin from."""
        if value < self.known_value:
            self.known_value = value
            memcpy(&self.known[0], solution, self.n_solution * sizeof(real))

    cdef bint due(self, const Effort *effort) noexcept nogil:
        """Whether perturbations have had less than their share of the passes."""
        self.n_improved += 1
        if not (self.movable and self.perturbed and self.n_improved > PERTURBATIONS_FROM and self.known_value < INFINITY
                and self.perturbation_passes < PERTURBATION_SHARE * (effort.n_passes - self.passes_before)):
            return False
        if not self.has_moves:
            with gil:
                try:
                    self.furnish()
                except MemoryError:
                    return False
                except BaseException as error:
                    self.stop.caught(error)
                    return False
        return True

    cdef real perturb_again(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """IN/OUT solution: the better of it and what one of three kinds of perturbations leads to, in turns."""
        cdef index before = effort.n_passes
        self.n_perturbations += 1
        if self.n_perturbations % 3 == 0:
            best = self.restart(best, tolerance, solution, effort)
        elif self.n_perturbations % 3 == 1:
            best = self.perturb(best, tolerance, solution, effort)
        else:
            best = self.relocate(best, tolerance, solution, effort)
        self.perturbation_passes += effort.n_passes - before
        return best

    cdef real improve(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        cdef real objective, proposal, before
        self.until = clock() + LATER_SHARE * (self.stop.deadline - clock())
        self.found_by = SEARCHING
        objective = self.improve_from(point, weights, target, tolerance, solution, effort)
        if not self.due(effort) or self.late():
            return objective
        self.act(PERTURBING)
        before = self.known_value
        proposal = self.perturb_again(before, tolerance, &self.known[0], effort)
        if not proposal < min(before, target - self.coarse_loss):
            self.act(SEARCHING)
            return objective
        self.known_value = proposal
        memcpy(&self.proposal[0], &self.known[0], self.n_solution * sizeof(real))
        proposal = self.run(&self.full, &self.proposal[0], INFINITY, tolerance, FIRST_STEPS, effort)
        self.act(SEARCHING)
        if not proposal < objective:
            return objective
        self.found_by = PERTURBING
        memcpy(solution, &self.proposal[0], self.n_solution * sizeof(real))
        return proposal

    cdef real improve_from(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                           Effort *effort) noexcept nogil:
        """EM from given parameters; what does not reach the target is given up."""
        cdef int K = self.family.n_components, k
        cdef real objective
        for k in range(K):
            solution[k] = 1.0 / K if weights == NULL else weights[k]
        memcpy(solution + K, point, self.family.n_connected * sizeof(real))
        # What does not beat the incumbent on the summary is not worth the passes over all samples.
        if self.coarse.n_samples < self.full.n_samples:
            target -= self.coarse_loss
            objective = self.run(&self.coarse, solution, target, tolerance, NODE_STEPS, effort)
            self.endings.add(NODES, self.ending, objective)
            self.remember(objective, solution)
            if not objective < target:
                return INFINITY
            target += self.coarse_loss
        objective = self.run(&self.full, solution, target, tolerance, NODE_STEPS, effort)
        if self.coarse.n_samples == self.full.n_samples:
            self.endings.add(NODES, self.ending, objective)
            self.remember(objective, solution)
        return objective

    cdef real polish(self, real *solution, Effort *effort) noexcept nogil:
        self.until = INFINITY
        return self.run(&self.full, solution, INFINITY, POLISHED, POLISH_STEPS, effort, False,
                        POLISHED_RELATIVE)

    def searches(self, real upper):
        """The local searches so far, where `upper` is UBD, which others may have found.

        Returns
        -------
        counts (kinds, endings), kind and ending of each that was kept, its objective above the best one
        """
        kinds, endings, values = self.endings.rows()
        best = min(self.known_value, values.min(initial=np.inf))
        if self.coarse.samples.columns == self.truth.samples.columns:
            best = min(best, upper)
        return self.endings.table(), kinds, endings, values - best

    def state(self):
        """What earlier local searches have left behind: the generator's state, where perturbations begin."""
        return {
            "seed": np.asarray(self.seed, dtype=np.uint64), "known": np.array(self.known),
            "known_value": self.known_value, "coarse_loss": self.coarse_loss,
            "turns": np.array([self.n_improved, self.n_restarts, self.n_perturbations, self.passes_before,
                               self.perturbation_passes, self.spared]),
            **self.endings.state(),
        }

    def restore(self, state):
        """Take what `state` returned."""
        self.seed = entries.count(state, "seed", 0, 2**64 - 1)
        np.asarray(self.known)[:] = entries.array(state, "known", (self.n_solution,))
        self.known_value = entries.number(state, "known_value")
        self.coarse_loss = entries.number(state, "coarse_loss")
        turns = entries.array(state, "turns", (6,), "iu", -1, MOST_TURNS).tolist()
        self.n_improved, self.n_restarts, self.n_perturbations, self.passes_before = turns[:4]
        self.perturbation_passes, self.spared = turns[4:]
        self.endings.restore(state)

    def em(self, weights, point, tol, int max_iter):
        """EM from given weights (K,) and parameters (n_connected,) with its trace.

        Returns
        -------
        solution (n_solution,), trace (objective before each step and at the end), converged
        """
        cdef real[::1] solution = np.concatenate([weights, np.ravel(point), [0.0]])
        cdef real[::1] before = np.empty(self.n_solution)
        cdef real last, objective = INFINITY
        trace = []
        converged = False
        while True:
            before[:] = solution
            last, objective = objective, self.step(self.truth, &solution[0])
            trace.append(objective)
            self.work().terms += self.truth.n_samples * self.family.n_components
            before[self.n_solution - 1] = solution[self.n_solution - 1]
            if last - objective <= tol:
                converged = True
            if converged or len(trace) > max_iter:
                break
        return np.asarray(before), np.array(trace), converged


def short_runs(make, X, sample_weight):
    """The best of a few short runs of EM on some of the samples.

    Parameters
    ----------
    make : callable
        From samples (n, d) and their weights (n,) to a Family.
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)

    Returns
    -------
    family, solution (n_solution,)
    """
    step = -(-len(X) // MOST_TRIAL_SAMPLES)
    X, sample_weight = X[::step], sample_weight[::step]
    family = make(X, sample_weight if sample_weight.any() else np.ones(len(X)))
    weights = np.full(family.n_components, 1.0 / family.n_components)
    rng = np.random.default_rng(0)
    best = np.inf
    terms = MOST_TRIAL_STEPS * len(X) * family.n_components * family.n_statistics
    for _ in range(min(N_TRIALS, max(FEWEST_TRIALS, TRIAL_TERMS // terms))):
        found, trace, _ = MixturePrimal(family).em(weights, family.seeded(rng), TRIAL_TOLERANCE, MOST_TRIAL_STEPS)
        objective = trace[len(trace) - 1]
        if objective < best:
            best, solution = objective, found
    return family, solution
