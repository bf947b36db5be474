"""Scalar types, status codes and two inline helpers of the whole compiled core."""

ctypedef double real
ctypedef Py_ssize_t index

# Why a search stopped. Append only: gopfast.result.Status carries the same numbers.
cdef enum StopReason:
    STOP_NONE = 0
    STOP_OPTIMAL = 1
    STOP_TIME_LIMIT = 2
    STOP_NODE_LIMIT = 3
    STOP_INTERRUPTED = 4
    STOP_NUMERICAL = 5
    STOP_INFEASIBLE = 6
    STOP_UNBOUNDED = 7
    STOP_CUTOFF = 8
    STOP_MEMORY_LIMIT = 9

# Return codes of core functions that can fail.
cdef enum Code:
    OK = 0
    NO_MEMORY = -1
    LP_FAILED = -2
    STOPPED = -3


cdef inline real clip(real x, real low, real high) noexcept nogil:
    return min(high, max(low, x))


# Cuts the next n doubles off a block.
cdef inline real *take(real **at, size_t n) noexcept nogil:
    cdef real *block = at[0]
    at[0] += n
    return block
