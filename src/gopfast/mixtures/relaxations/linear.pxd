"""Linear relaxed dual of a Gaussian mixture with known variance: one linear program per node and round."""

from gopfast.lp.program cimport ProgramRelaxation
from gopfast.mixtures.relaxations.cut_pool cimport CutPool
from gopfast.mixtures.relaxations.linear_branching cimport LinearBranching
from gopfast.mixtures.families.gaussian cimport GaussianFamily
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


cdef class LinearWorker(LinearBranching):
    cdef int max_rounds
    cdef real patience
    # Tangent points found: (serial, tolerance, tau (N, K), pi (K,)) each
    cdef real *found
    cdef index n_found, found_room

    cdef index stride(self) noexcept nogil
    cdef void note(self, Node *node, real tolerance, const real *tau) noexcept nogil


cdef class LinearRelaxation(ProgramRelaxation):
    cdef GaussianFamily data
    cdef CutPool pool
    cdef readonly bint paper_partition, envelope
    cdef readonly int max_rounds, max_cuts
    cdef readonly real patience
    cdef real serial(self, int worker, index entry) noexcept nogil
    cdef void take_in(self, int worker, index entry) noexcept nogil
