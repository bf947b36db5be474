"""What is learnt beside a tree in steps of Python, on the model of `Reduction`."""

from gopfast.mixtures.families.family cimport Family
from gopfast.search.relaxation cimport Effort, Reduction
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real


cdef class StepwiseReduction(Reduction):
    cdef readonly object bound          # what learns, None before its first step
    cdef readonly bint idle             # there is no more to learn
    cdef Family family
    cdef object make, learning_log
    cdef StopSignal stop
    cdef real[::1] found                # weights and connected variables of a start, and whether it is to be used
    cdef bint has_start
    cdef index resting                  # batches of nodes until the next step
    cdef index passes_of_one            # of the bound's passes, as many as take the time of one pass of a node
    cdef int learn(self, const real *solution, real limit, Effort *effort) except -1
    # A limit, whenever one is told: before the step that it allows, and after all was learnt.
    cdef int take_limit(self, real limit) except -1
    # What is proved of all solutions below the limit, after a step.
    cdef real proved(self) except? -1.0
    # What a step has found; False: no more is to be learnt.
    cdef bint adopt(self, real limit) except -1
