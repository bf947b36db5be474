"""What one mechanism of a search has done.

Calls, terms, nodes and gaps are exact and do not depend on the number of threads: what is done on several is counted
for each node or in each workspace, and added up. Seconds are those of the caller's thread, and of bounding nodes those
of all threads together.
"""

from libc.math cimport isfinite

from gopfast.search.stop cimport clock


cdef void add_work(Work *to, const Work *other) noexcept nogil:
    to.calls += other.calls
    to.terms += other.terms
    to.closed += other.closed
    to.gained += other.gained
    to.seconds += other.seconds


cdef class Meter:
    """Counts of one mechanism of one search.

    Parameters
    ----------
    name : str
    parent : Meter, optional
        Of the mechanism in whose calls this one is at work: its seconds are not this one's.
    """

    def __cinit__(self, str name="", Meter parent=None):
        self.name, self.parent = name, parent

    cdef void begin(self) noexcept nogil:
        self.work.calls += 1
        self.begun = clock()

    cdef void resume(self) noexcept nogil:
        self.begun = clock()

    cdef void end(self) noexcept nogil:
        cdef real spent = clock() - self.begun
        self.work.seconds += spent
        if self.parent is not None:
            self.parent.work.seconds -= spent

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *raised):
        self.end()

    def count(self, index terms=0, index calls=0, index closed=0, real gained=0.0):
        """Add to the counts."""
        self.work.terms += terms
        self.work.calls += calls
        self.work.closed += closed
        if isfinite(gained):
            self.work.gained += gained

    @property
    def terms(self):
        """Costs of one sample in one component that were evaluated."""
        return self.work.terms

    def row(self):
        """Calls, terms, nodes closed, gap closed, seconds."""
        return (self.work.calls, self.work.terms, self.work.closed, self.work.gained, self.work.seconds)

    def add(self, row):
        """Add what `row` returned."""
        cdef Work other
        other.calls, other.terms, other.closed, other.gained, other.seconds = row
        add_work(&self.work, &other)

    def clear(self):
        """Begin again at 0."""
        self.work.calls = self.work.terms = self.work.closed = 0
        self.work.gained = self.work.seconds = 0


def total_terms(meters):
    """Terms of all of these meters together."""
    return sum([(<Meter> meter).work.terms for meter in meters])
