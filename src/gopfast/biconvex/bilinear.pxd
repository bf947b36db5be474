"""Linear relaxed dual of a biconvex problem: one linear program per node and round."""

from gopfast.biconvex.bilinear_branching cimport BilinearBranching
from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.learnt_rows cimport LearntRows
from gopfast.biconvex.tangents cimport Tangents
from gopfast.lp.program cimport ProgramRelaxation
from gopfast.search.types cimport real


cdef class BilinearWorker(BilinearBranching):
    cdef BilinearRelaxation owner


cdef class BilinearRelaxation(ProgramRelaxation):
    cdef readonly BiconvexData data
    cdef LearntRows learnt
    cdef Tangents touching
    cdef readonly int max_rounds, root_sweeps
    cdef readonly bint bounds_in_nodes
    cdef real[::1] low, high            # (n,) the root box
