"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [lp] Linear programs in HiGHS.

    # product below which its rounding error may not be a double itself | none | errors of products above 2^-969,
    # 2e-292, are doubles, which the fused operation finds (R2)
    real UNDERFLOW "1e-280"
    # of any product that underflows, absolute | none | far above the least double, 5e-324, by less than which the error
    # found is wrong (R2)
    real UNDERFLOW_ERROR "1e-300"
    # of a sum of error terms | factor | 10^12 terms that are not negative err by 10^12 u, a part of 1e-4 (R1), (R2)
    real SUM_SLACK "1.001"
