"""Samples in blocks of neighbours, of which passes of one component leave out those that it takes nothing of."""

from gopfast.mixtures.data.passes cimport pass_costs, pass_data
from gopfast.search.types cimport index, real


cdef class SampleBlocks:
    cdef readonly int n_columns, n_known    # d, and numbers that the tilts of a block have: 2 d
    cdef readonly index n_samples, n_padded, n_blocks
    cdef readonly real loss                 # nats that are taken by the blocks left out at most
    cdef readonly real far                  # nats that a block's samples may save at most where it is left out
    cdef readonly index[::1] order          # (n,) samples, those of every block one after the other
    cdef real[:, ::1] columns               # (d, n_padded) of the core, the weights and the prices, in this order
    cdef real[::1] weights
    cdef real[::1] prices
    cdef real[::1] most                     # (n_blocks,) the largest price of each
    # Of each block, in what its samples differ from its center by and the squares of that:
    cdef real[:, ::1] centers               # (n_blocks, d)
    cdef real[:, ::1] middles               # (n_blocks, 2 d)
    cdef real[:, :, ::1] axes               # (n_blocks, 2 d, 2 d) orthonormal rows,
    cdef real[:, ::1] lengths               # (n_blocks, 2 d) how far samples are from the middle along each,
    cdef real[:, ::1] reaches               # (n_blocks, d) and from the center in each column
    cdef int sort(self, const real[:, ::1] points) except -1
    # At least the most that a sample's price exceeds its cost by, rounding included.
    cdef real most_saved(self, index block, const pass_costs *costs, const pass_costs *rounding) noexcept nogil
    # OUT data: the samples of all blocks that may save more than `far`, in `room` ((d + 2) n_padded) or where they are;
    # their prices. Returns how many, with padding.
    cdef index gather(self, const pass_costs *costs, const pass_costs *rounding, real *room, index *chosen,
                      pass_data *data, const real **prices) noexcept nogil
