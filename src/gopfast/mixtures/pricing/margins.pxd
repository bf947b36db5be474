"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport real

cdef extern from *:
    # [pricing, pricing_cuts] Sums of suprema.

    # error of a sum of suprema | relative to its terms | far above K u (P9)
    real SUMMING "1e-13"

    # [sample_blocks] What blocks of samples may save.

    # most that a component saves more by those left out, which are such that it is less by a factor of e | nats | far
    # below the usual tolerance, 1e-2 (P10)
    real NOT_TAKEN "1e-7"
    # the same | nats by unit of all weights | as above, of 1000 samples (P10)
    real NOT_TAKEN_OF "1e-10"
    # error of the cost of a block, of sums of up to 32^2 terms | relative to the sizes of the terms | far above 32^2 u
    # (P10), (R1)
    real BLOCKED "1e-11"

    # [group_pricing] Sums over groups.

    # error of a sum of n nonnegative terms, for each of n + 64 | relative to the sum | the sum itself errs by (n - 1) u
    # and each term by a few u: four times as much has room for both (R1), (U5)
    real SUMS "(4.0 * GOPFAST_ROUND)"

    # [chain_pricing] Cells of regressions.

    # error of a sample's cost, of a sum of up to 64 terms | relative to the sizes of the terms | 256 u (N4), (R1)
    real CHAIN_COSTS "(256.0 * GOPFAST_ROUND)"
