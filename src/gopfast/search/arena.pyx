"""Memory of a workspace: one block, cut into arrays by code that first counts and then hands out.

    arena = Arena()
    while arena.again():
        self.step = arena.take(n)
        self.matrix = arena.take(n * n)

The body runs twice. In the first run every array is NULL and only counted; in the second the arrays are cut off the
block that was allocated for them. So no size stands anywhere twice. A body that takes more or less the second time
raises, and never gets memory that was not counted. The arena owns the block: keep it as long as the arrays.

Core code runs without bounds checks. Behind each array stands one double that nobody may write; a write that runs over
the end is reported when the arena goes, as an exception that no one can catch (tests make it an error).
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from gopfast.search.types cimport real

# A signalling value that no computation leaves: a quiet NaN has another bit pattern.
cdef unsigned long long GUARD = 0x7FF4A5A5A5A5A5A5

cdef size_t LARGEST = (<size_t> -1) // (2 * sizeof(real))   # doubles of a block, so that no count overflows


cdef class Arena:
    """Doubles for the arrays of one workspace."""

    def __cinit__(self):
        self.run = 0
        self.block, self.ends = NULL, NULL
        self.n_doubles = self.n_arrays = self.used = self.taken = 0

    def __dealloc__(self):
        cdef bint damaged = self.damaged()
        free(self.block)
        free(self.ends)
        if damaged:
            raise RuntimeError("a workspace was written beyond the end of an array")

    cdef bint again(self) except -1:
        """Whether the layout is to run: for counting, then for handing out; checks the second run against the first."""
        if self.run == 3:
            raise RuntimeError("an arena is laid out once")
        self.run += 1
        if self.run == 2:
            self.n_doubles, self.n_arrays = self.used, self.taken
            self.block = <real *> calloc(max(self.n_doubles, 1), sizeof(real))
            self.ends = <size_t *> calloc(max(self.n_arrays, 1), sizeof(size_t))
            if self.block == NULL or self.ends == NULL:
                raise MemoryError
        if self.run == 3 and (self.used != self.n_doubles or self.taken != self.n_arrays):
            raise RuntimeError(f"a layout took {self.used - self.taken} doubles in {self.taken} arrays, counted were "
                               f"{self.n_doubles - self.n_arrays} in {self.n_arrays}")
        if self.run < 3:
            self.used = self.taken = 0
        return self.run < 3

    cdef real *take(self, size_t n) except? NULL:
        cdef real *array = NULL
        if not 1 <= self.run <= 2:
            raise RuntimeError("memory is taken while an arena is laid out")
        if self.run == 2:
            # also where n + 1 would overflow
            if self.taken == self.n_arrays or n >= self.n_doubles - self.used:
                raise RuntimeError(f"a layout takes more than was counted: {self.n_doubles - self.n_arrays} doubles")
            array = self.block + self.used
            memcpy(array + n, &GUARD, sizeof(GUARD))
            self.ends[self.taken] = self.used + n
        elif n >= LARGEST - self.used:
            raise MemoryError(f"a workspace of {n} doubles")
        self.used += n + 1
        self.taken += 1
        return array

    cdef void *take_bytes(self, size_t n) except? NULL:
        return <void *> self.take((n + sizeof(real) - 1) // sizeof(real))

    cdef bint damaged(self) noexcept:
        """Whether something was written behind one of the arrays handed out."""
        cdef size_t i
        if self.block == NULL or self.ends == NULL:
            return False
        for i in range(self.taken):
            if memcmp(self.block + self.ends[i], &GUARD, sizeof(GUARD)) != 0:
                return True
        return False


def trial(counted, taken, written=()):
    """Lay out an arena whose two runs take arrays of the sizes given, for tests.

    Parameters
    ----------
    counted, taken : sequence of int
        Sizes in doubles, in the run that counts and in the run that hands out.
    written : sequence of int
        How many doubles of each array are then written.

    Returns
    -------
    starts : list of int
        Where each array begins in the block, in doubles.
    zero : bool
        Whether all of them were 0.
    damaged : bool
        Whether the arena finds a write beyond an end; the damage is then repaired.
    """
    cdef Arena arena = Arena()
    cdef list starts = []
    cdef size_t i, n
    cdef real *array
    cdef bint zero = True
    while arena.again():
        for n in counted if arena.block == NULL else taken:
            array = arena.take(n)
            if arena.block == NULL:
                continue
            starts.append(array - arena.block)
            for i in range(n):
                zero = zero and array[i] == 0
    for start, n in zip(starts, written):
        for i in range(n):
            arena.block[<size_t> start + i] = 1.0
    damaged = arena.damaged()
    for i in range(arena.n_arrays):
        memcpy(arena.block + arena.ends[i], &GUARD, sizeof(GUARD))
    return starts, zero, damaged
