"""Gaussian components of free variance whose columns count several times."""

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.families.normal cimport NormalFamily
from gopfast.search.types cimport real


cdef class ReplicatedFamily(NormalFamily):
    cdef readonly real copies
    # Costs of the columns, times the copies.
    cdef void scale(self, pass_costs *costs) noexcept nogil
