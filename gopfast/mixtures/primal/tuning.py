"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [em] The first local search, where it goes deeper.

# of its component's, or of all samples', moments in clusters of families with ends that EM cannot leave | part |
# (0, 1) | not measured
BLEND = 0.05
# short runs that tell a family its coordinates | runs | [1, inf) | not measured
N_TRIALS = 6
# where passes are long | runs | [1, inf) | not measured
FEWEST_TRIALS = 2
# of sums that all of them take at most | terms | [0, inf) | not measured
TRIAL_TERMS = 150_000_000
# of each | steps | [1, inf) | not measured
MOST_TRIAL_STEPS = 100
# of each | nats | (0, inf) | not measured
TRIAL_TOLERANCE = 1e-3
# of each | samples | [1, inf) | not measured
MOST_TRIAL_SAMPLES = 2000

# [rounding] Solutions from atoms of the master problem.

# short runs of EM | draws | [1, inf) | docs/notebook/prices.md
MOST_DRAWN = 400
# samples times components times statistics times steps, of the short runs: about 0.15 s | terms | (0, inf) |
# docs/notebook/prices.md
TERMS = 3e7
# fewer tell little | draws | [1, inf) | not measured
FEWEST_DRAWN = 10
# of EM | steps | [1, inf) | not measured
SHORT = 25
# of those that go on | steps | [1, inf) | not measured
ROUNDING_LONG = 400
# best short runs that go on | runs | [1, inf) | docs/notebook/prices.md
N_LONG = 20
# by which two runs differ | nats | (0, inf) | not measured
APART = 1e-6
# gained by the last step | nats | (0, inf) | not measured
SETTLED = 1e-9
# of a component that is drawn | of the total | (0, 1) | not measured
ROUNDING_LEAST_WEIGHT = 1e-3
# of the samples that an atom takes, so that something can be drawn always | part | (0, 1) | not measured
ROUNDING_SMALLEST = 1e-12

# [clusters] k-means++ and Lloyd's method.

# of Lloyd's method | turns | [1, inf) | not measured
CLUSTERS_MOST_TURNS = 20
# draws of each center | draws | [1, inf) | not measured
N_TRIES = 4
