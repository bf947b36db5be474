"""What one rounding can cost, as `search/rounding` says it to the core."""

# Unit roundoff of a double: the relative error of one rounded operation is at most this.
ROUND = 2.0**-53
