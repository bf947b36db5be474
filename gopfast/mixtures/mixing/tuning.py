"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [mixing] A mixing distribution, by adding atoms where D is largest. Lengths are in standard deviations of a component.

# width of the bins of compressed data | standard deviations | (0, inf) | not measured
BIN = 0.4
# samples per bin from which on compression pays | samples | [2, inf) | not measured
MANY = 2.5
# within a bin: two points need a distance | variances of a component | (0, 1) | not measured
LEAST_VARIANCE = 1e-12

# [mixing, hitting] The kernel's exponentials.

# sample: D at a lighter one could be seen too small, as the kernel caps exponentials | of the total weight |
# [1e-200, 1) | argument: exp(690) times it is far above 1
LIGHTEST = 1e-100

# [mixing, nonparametric] Room of a distribution.

# for which there is room, where nothing else is asked for | atoms | [2, inf) | argument: a Newton step costs their cube
MOST_ATOMS = 160
# at which D is bounded, the same | points | [2, inf) | not measured
MOST_POINTS = 4096

# [hitting] Sets that a mean of every good mixture lies in. Lengths are in standard deviations of a component.

# or points of a summary | samples | [1, inf) | not measured
HITTING_MOST_SAMPLES = 20_000
# range of the means | standard deviations | (0, inf) | not measured
HITTING_WIDEST = 400.0
# of a summary | nats per unit of weight | (0, inf) | not measured
SMALL_LOSS = 5e-5

# [nonparametric] The bound of all numbers of components.

# the best distribution of a wider range may have too many atoms | standard deviations | (0, inf) | not measured
NONPARAMETRIC_WIDEST = 1000.0
# to which the bound of free variances is found | nats | (0, inf) | not measured
FLOOR_GAP = 0.05
# beyond, a search would do much in the time that this bound takes | samples | [1, inf) | not measured
MOST_FREE_SAMPLES = 1000
# cells around an atom at a sample on which its gradient function is bounded | cells | [2, inf) | not measured
POINTS_PER_SAMPLE = 32
