"""Primal problem of a mixture: EM and its starts, for any component family."""

from gopfast.mixtures.primal.agreement cimport Agreement
from gopfast.mixtures.primal.crossing cimport Crossing
from gopfast.mixtures.primal.moves cimport Moves
from gopfast.mixtures.families.family cimport Family
from gopfast.mixtures.data.passes cimport N_PARTS, pass_sums
from gopfast.search.endings cimport Endings
from gopfast.search.meter cimport Meter, Work
from gopfast.search.relaxation cimport Effort, Primal
from gopfast.mixtures.data.samples cimport PassBuffer, Samples, SampleSet
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real


cdef class MixturePrimal(Primal):
    cdef Family family
    cdef SampleSet full, coarse     # the samples, and what starts run on: a summary, some of the samples, or all of few
    cdef const SampleSet *truth     # what objectives are of: `full`, or what stands for samples that are not in memory
    cdef Samples some               # the samples drawn, if any
    cdef PassBuffer buffer
    cdef list part_buffers          # of PassBuffer, for passes over many samples
    cdef double *part_scratch[N_PARTS]
    cdef pass_sums part_sums[N_PARTS]
    cdef int n_threads
    cdef readonly real margin       # what rounding up added to the last objective that step() returned
    cdef real[::1] shares           # (K n_each,) of the samples' weights, for families whose costs are of each sample
    cdef real coarse_loss           # objective on the samples less that on the summary, at the first incumbent
    cdef StopSignal stop
    cdef real until                 # when the local search at hand has had its share of the time limit
    cdef real[::1] trial, candidate, given, given_weights, held, drawn, metric, mass, moments
    cdef int n_ties                 # groups of tied samples: weight, and mean and mean square of the columns
    cdef real[::1] tie_weight
    cdef real[:, ::1] tie_moments
    cdef readonly int n_starts
    cdef unsigned long long seed
    cdef object start
    cdef real[::1] suggested        # weights and parameters of a fit that the family knows; None: there is none
    cdef bint movable, deep         # whether there are moves, and whether the first local search makes them
    cdef bint has_moves             # whether what they are made with is there
    cdef bint perturbed             # and later ones
    cdef list runs                  # of Clusterings: of k-means on `coarse`
    cdef index[:, ::1] labels       # of the best clusters, (n, samples) of `coarse`
    cdef index[::1] n_alike         # (n,) runs of k-means that ended there
    cdef object parted              # (1, samples) of `coarse`: four clusters that two components part
    cdef bint is_heavy              # whether passes take so long that starts from clusters come first
    cdef bint has_axes              # whether columns are along axes of a local optimum, and no multiples of the user's
    cdef real[::1] known, proposal    # the best solution on `coarse`, and one at hand
    cdef real known_value
    cdef real rate                  # factor from one decrease to the next at the end of the last run
    cdef int n_improved, n_restarts, n_perturbations
    cdef index passes_before, perturbation_passes   # until the first incumbent was found; of perturbations since
    cdef public Meter moving, perturbing    # of the first search's moves, and of those at random later on
    cdef int active, found_by       # which of them is at work, and has found the last solution
    cdef Moves moves
    cdef Crossing crossing
    cdef readonly Agreement agreement   # of the first search's starts
    cdef real settled_at            # objective of the solution that was last asked whether it tells clusters apart
    cdef bint is_settled            # what was said
    cdef readonly Endings endings
    cdef int ending                 # of the last run of EM
    cdef int describe(self, ties) except -1
    cdef Samples draw(self, index n)
    cdef bint late(self) noexcept nogil
    cdef void act(self, int other) noexcept nogil
    cdef Work *work(self) noexcept nogil
    cdef void sweep(self, const SampleSet *data, const real *weights) noexcept nogil
    cdef void share_out(self, const SampleSet *data, const real *weights) noexcept nogil
    cdef real step(self, const SampleSet *data, real *solution) noexcept nogil
    cdef real run(self, const SampleSet *data, real *solution, real target, real tolerance, int max_iter,
                  Effort *effort, bint goes_on=*, real relative=*, bint noted=*) noexcept nogil
    cdef void start_from(self, int attempt, real *solution) noexcept nogil
    cdef real hold(self, real tolerance, Effort *effort) noexcept nogil
    cdef real take_held(self, real tolerance, real *best, real *solution, Effort *effort) noexcept nogil
    cdef void scatter(self) noexcept nogil
    cdef void concentrate(self, int k, int tie, real *solution) noexcept nogil
    cdef real try_ties(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef bint offer(self, int kind, real *candidate, real *best, real tolerance, real *solution,
                    Effort *effort, int n_alike=*) noexcept nogil
    cdef void ended(self, int kind, real objective, real tolerance, int n_alike=*) noexcept nogil
    cdef bint settled(self, real best, const real *solution, Effort *effort) noexcept nogil
    cdef void cluster(self, int n_turns, real *solution, Effort *effort) noexcept nogil
    cdef void try_clusters(self, real *best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef void try_best_clusters(self, int n_runs, bint goes_on, real *best, real tolerance, real *solution,
                                Effort *effort) noexcept nogil
    cdef void seed_at_random(self, real *solution) noexcept nogil
    cdef void fit_to_clusters(self, real *solution, Effort *effort) noexcept nogil
    cdef void cluster_as_given(self, real *solution, Effort *effort) noexcept nogil
    cdef void cluster_in_two(self, real *solution, Effort *effort) noexcept nogil
    cdef bint part_in_two(self) noexcept
    cdef int find_clusters(self, int n_runs, bint goes_on=*) noexcept
    cdef int begin_runs(self, int n_clusters) except -1
    cdef int cluster_runs(self, int n_runs) except -1
    cdef void try_suggested(self, real *best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef void divide(self) noexcept
    cdef real move(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real perturb(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real restart(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real cross_over(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real iterated_local_search(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef void note(self, real best) noexcept nogil
    cdef void remember(self, real value, const real *solution) noexcept nogil
    cdef real descend(self, int kind, real best, real finest, int max_iter, real tolerance, real *solution,
                      Effort *effort) noexcept nogil
    cdef real relocate(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef int furnish(self) except -1
    cdef bint due(self, const Effort *effort) noexcept nogil
    cdef real perturb_again(self, real best, real tolerance, real *solution, Effort *effort) noexcept nogil
    cdef real improve_from(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                           Effort *effort) noexcept nogil
