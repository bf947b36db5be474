"""Memory of a family's relaxed dual subproblem."""

from gopfast.mixtures.data.samples cimport take_costs
from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport real


# Layout: the minorant's costs, and n_facets facets with K(1+F) coefficients each.
cdef inline int take_subproblem(Arena arena, Family family, Subproblem *sub) except -1:
    cdef size_t n = family.n_facets, m = family.n_components * (1 + family.n_statistics), r
    cdef real *coefficients = arena.take(n * m)
    take_costs(arena, &sub.minorant, family.n_components, family.n_columns, family.n_each)
    sub.facets = <Facet *> arena.take_bytes(n * sizeof(Facet))
    if sub.facets != NULL:
        for r in range(n):
            sub.facets[r].coefficients = coefficients + r * m
    return 0
