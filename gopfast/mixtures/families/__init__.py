"""Families of components: minorants of their costs, facets of their cells, steps of EM."""
