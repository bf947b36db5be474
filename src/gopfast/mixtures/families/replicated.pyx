"""Gaussian components of free variance whose columns count several times: a part of the mixture's information.

Where c copies of the columns share their means and variances, a component's costs are c times those of the columns, so
that the objective, over c, is the mutual information of samples and components over c plus the columns' costs. Blocks
of columns with parts of the information that add up to 1 bound the mixture of all columns (`gopfast.mixtures.pricing.
blocks`). Copies are a power of 2, so that nothing is rounded by them.

Theory: (I3) of docs/theory/many.md.
"""

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.mixtures.families.family cimport Subproblem
from gopfast.search.types cimport real


cdef class ReplicatedFamily(NormalFamily):
    """
    Parameters
    ----------
    data : Samples
        Scaled by the square root of the floor, with squares as statistics.
    n_components : int
    per_column : bool
        Whether each coordinate of a component has a variance of its own, not one for all of them.
    copies : int
        A power of 2.
    """

    def __init__(self, Samples data, int n_components, bint per_column=False, int copies=1):
        if copies < 1 or copies & (copies - 1):
            raise ValueError("copies must be a power of 2")
        super().__init__(data, n_components, per_column)
        self.copies = copies
        self.constant *= copies
        self.constant_size *= copies

    cdef void scale(self, pass_costs *costs) noexcept nogil:
        cdef int k
        for k in range(self.n_components):
            costs.offsets[k] *= self.copies
        for k in range(self.n_components * self.n_columns):
            costs.linear[k] *= self.copies
            costs.quadratic[k] *= self.copies

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int r
        NormalFamily.relax(self, low, high, out)
        self.scale(&out.minorant)
        for r in range(self.n_facets):
            out.facets[r].multiplier *= self.copies
            out.facets[r].cap *= self.copies

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, g, d = self.n_columns
        NormalFamily.split_points(self, low, high, sub, mass, moments, e, point, error)
        # the errors of means are of the minorant's slopes, which are scaled already
        for k in range(self.n_components):
            for g in range(self.n_groups):
                error[k * self.n_cell + d + g] *= self.copies

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        NormalFamily.costs(self, point, out)
        self.scale(out)

    def chart(self):
        """None: charts are of densities."""
        return None

    def one_component(self, problem, data=None):
        """The same of one component."""
        return ReplicatedFamily(data or self.data, 1, self.per_column, <int> self.copies)

    @property
    def has_blocks(self):
        """They are a block."""
        return False

    @property
    def normal_on_a_line(self):
        """Not normal: a power of a density."""
        return False
