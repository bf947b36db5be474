"""Branch and bound: the loop, its tree, and what it asks of a relaxation. Knows no model."""
