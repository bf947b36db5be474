"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [learner] Steps.

# of what is left of a time limit, for a step, at most | part | (0, 1] | argument: by less a limit is overrun then
SHARE_OF_TIME = 0.1
# the same | seconds | (0, inf) | argument: nobody waits longer for a sign of life
LONGEST_STEP = 2.0
# the same, at least | seconds | (0, inf) | not measured
LEAST_STEP = 0.02
