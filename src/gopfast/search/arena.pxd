"""Memory of a workspace: one block, cut into arrays by code that first counts and then hands out."""

from gopfast.search.types cimport real


cdef class Arena:
    cdef int run            # 0: before, 1: counting, 2: handing out, 3: after
    cdef real *block        # owned; NULL until all is counted
    cdef size_t *ends       # (n_arrays,) index of the guard behind each array
    cdef size_t n_doubles, n_arrays             # counted
    cdef size_t used, taken                     # of them, in this run
    # A layout is the body of `while arena.again()`; GIL held.
    cdef bint again(self) except -1
    # The next n doubles, all 0; NULL in the run that counts.
    cdef real *take(self, size_t n) except? NULL
    # The same for structs and integers, aligned as doubles are.
    cdef void *take_bytes(self, size_t n) except? NULL
    cdef bint damaged(self) noexcept
