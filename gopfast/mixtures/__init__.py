"""Mixture models: problems, families of components, bounds and local methods. Knows no biconvex problem."""
