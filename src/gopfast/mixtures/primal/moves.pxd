"""Split-and-merge moves from a solution of a mixture, for any component family."""

from gopfast.mixtures.data.samples cimport PassBuffer, SampleSet
from gopfast.mixtures.families.family cimport Family
from gopfast.search.types cimport index, real


cdef class Moves:
    cdef Family family
    cdef SampleSet data
    cdef PassBuffer buffer
    cdef real blend                 # share of its component's moments in each half at first
    cdef real[:, ::1] share         # (K, N) responsibilities
    cdef real[::1] log_density      # (N,)
    cdef real[:, ::1] raw, halves   # (K, 1 + F) masses and moments about 0; of both halves (2 K, 1 + F)
    cdef real[::1] shared           # (n_shared,) what a component adds to parameters that all have
    cdef real[::1] mass, moments, point, metric, gains, losses, drawn
    cdef int n_measured             # columns up to the last one that distances depend on: products have no place
    cdef real[::1] group            # (d + 1,) center and squared radius of some samples
    cdef int[::1] partners          # (2 K,) of component k the entries k and K + k, -1: none
    cdef int prepare(self, const SampleSet *data) except -1
    cdef real cost(self, int k, index i) noexcept nogil
    cdef real distance(self, index i, const real *center) noexcept nogil
    cdef void add_mean(self, index i, real weight, real *to) noexcept nogil
    cdef void add(self, index i, real weight, real *to) noexcept nogil
    cdef void m_step(self, real e) noexcept nogil
    cdef void gather(self, const real *solution) noexcept nogil
    cdef void measure_shared(self, const real *solution, int k) noexcept nogil
    cdef void m_step_of_halves(self, const real *solution, int k, int other) noexcept nogil
    cdef void m_step_from(self, const real *solution) noexcept nogil
    cdef void restore(self, const real *solution) noexcept nogil
    cdef bint halve(self, int k, unsigned long long *seed) noexcept nogil
    cdef void split(self, const real *solution, int k, unsigned long long *seed) noexcept nogil
    cdef void swap_in(self, int k, int other) noexcept nogil
    cdef real merge(self, const real *solution, int j, int k) noexcept nogil
    cdef void choose_partners(self) noexcept nogil
    cdef bint evaluate(self, const real *solution, unsigned long long *seed) noexcept nogil
    cdef bint is_firm(self, const real *solution, unsigned long long *seed) noexcept nogil
    cdef bint apply(self, const real *solution, real least, real *out) noexcept nogil
    # OUT out: the components of a cheap merger in one, and the other one on a group of neighbouring samples drawn at
    # random, by what the last look found. False: there are too few samples.
    cdef bint relocate(self, const real *solution, unsigned long long *seed, real *out) noexcept nogil
    cdef real group_gain(self, const real *solution, int k, const real *group) noexcept nogil
    cdef int cheap_merger(self, unsigned long long *seed) noexcept nogil
    cdef void draw_group(self, unsigned long long *seed, real *group) noexcept nogil
    cdef void assign(self, const real *centers, int n_turns, real *solution) noexcept nogil
    cdef void fit_to(self, const index *labels, real *solution) noexcept nogil
    cdef void fit_raw(self, real *solution) noexcept nogil
    cdef void mix(self) noexcept nogil


cdef unsigned long long next_random(unsigned long long *state) noexcept nogil
cdef real uniform(unsigned long long *state) noexcept nogil
