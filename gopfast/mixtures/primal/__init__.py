"""Upper bounds: EM, its starts, and moves from a solution to a better one."""
