"""Mixing distributions: the nonparametric bound, and where means must lie."""
