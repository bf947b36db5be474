"""The linear program of a node of a biconvex problem: its rows, and the basis that children begin with."""

from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.learnt_rows cimport LearntRows
from gopfast.biconvex.tangents cimport Tangents
from gopfast.lp.program cimport ProgramWorker
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real


cdef class BilinearRows(ProgramWorker):
    cdef BiconvexData data
    cdef LearntRows learnt
    cdef Tangents touching
    cdef int base_nnz                   # entries of the rows of n_base
    cdef int n_base                     # rows that every node's program has: what a stored basis covers
    # The part of the rows that holds the parent's solution, as `start`, `col_index`, `value`, ..., and `basis`
    cdef int[::1] part_start, part_index, part_basis
    cdef real[::1] part_value, part_lower, part_upper
    cdef real slack                     # by which the open row is loosened
    cdef real[::1] col_lower, col_upper     # (n_cols,) of the node's program
    cdef int n_tangents, n_kept, n_new  # in the program; those of the parent; those of its rounds
    cdef int most_tangents, most_new
    cdef int[::1] lifted_row_of         # (n_lifted,) in the last program
    cdef int[::1] cut_row_of            # (MOST_CUTS,) in the last program
    cdef int[::1] cycle_row_of          # (most_cycles,) in the last program
    cdef int[::1] tangent_row_of, tangent_block     # (most_tangents,) row and form; atoms come behind forms
    cdef float[:, ::1] tangents         # (most_tangents, variables of a form) the point where each touches
    cdef real[::1] at                   # (n,) such a point
    cdef real[::1] gradient             # (n,) of a form; 0 between its uses
    cdef int[::1] basis                 # (n_cols + max_rows,) HiGHS's statuses

    # GIL held, once: memory of what a class adds. selects: combinations of halves are chosen, in programs of more rows
    cdef int reserve(self, StopSignal stop, int number, bint selects) except -1
    cdef int limit_iterations(self) noexcept nogil
    cdef int load(self, Node *node, bint warm, bint with_cuts) noexcept nogil
    cdef int load_part(self, Node *node) noexcept nogil
    cdef void write_rows(self, Node *node, bint with_cuts) noexcept nogil
    cdef void begin_row(self) noexcept nogil
    cdef void term(self, int column, real value, real rounded) noexcept nogil
    cdef void end_row(self, real lower, real upper) noexcept nogil
    cdef void fixed_rows(self) noexcept nogil
    cdef void vanish(self, int side) noexcept nogil
    cdef void product_rows(self) noexcept nogil
    cdef void secant_rows(self) noexcept nogil
    cdef void atom_row(self, int atom, real at) noexcept nogil
    cdef void lifted_rows(self) noexcept nogil
    cdef void lifted_row(self, int t) noexcept nogil
    cdef void cut_row(self, int t) noexcept nogil
    cdef void tangent_rows(self, Node *node) noexcept nogil
    cdef void tangent_at(self, int block, int variable, real value) noexcept nogil
    cdef void tangent(self, int block, const real *at) noexcept nogil
    cdef void kept_rows(self, Node *node) noexcept nogil
    cdef bint keep_tangents(self, Node *node) noexcept nogil
    cdef void square_row(self, int block, real at) noexcept nogil
    cdef void tangent_row(self, int block, const real *at) noexcept nogil
    cdef void cycle_row(self, int t) noexcept nogil
    cdef bint cycle_terms(self, int t, real *size) noexcept nogil
    cdef real center_of(self, int j) noexcept nogil
    cdef real half_width(self, int j) noexcept nogil
    cdef void store_basis(self, Node *node) noexcept nogil
    cdef bint read_basis(self, Node *node) noexcept nogil
