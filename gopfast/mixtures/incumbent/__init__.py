"""The neighbourhood of an incumbent: boxes in which no solution is better."""
