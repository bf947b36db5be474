"""What one rounding can cost: a constant of the C compiler, which folds it into the margins.

Theory: (R1) of docs/theory/rounding.md.
"""

from gopfast.search.types cimport real

cdef extern from *:
    """
    /* Unit roundoff of a double, 2^-53: the relative error of one rounded operation is at most this. */
    #define GOPFAST_ROUND 0x1p-53
    """
    const real ROUND "GOPFAST_ROUND"
