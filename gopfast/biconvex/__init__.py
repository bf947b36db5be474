"""Biconvex problems: the problem object, its linear relaxed dual and its local searches. Knows no mixture."""
