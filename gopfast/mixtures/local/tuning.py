"""What was tuned in the Python modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

# [_anneal] Deterministic anti-annealing.

# powers of responsibilities, stage by stage, by default | none | (0, 2] | not measured
SCHEDULE = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.0)

# [_conjugate_gradient] Line searches of conjugate gradients.

# of the decrease that the slope promises, which a step must reach | part | (0, 0.5) | argument: Armijo's condition, at
# the usual value
ARMIJO = 1e-4
# of the slope that a step may leave | part | (0, 1) | argument: Wolfe's condition, at the usual value of conjugate
# gradients
CURVATURE = 0.1
# of one line search | steps | [1, inf) | not measured
MOST_TRIALS = 40

# [_coordinates] Coordinates without constraints.

# to which weights, probabilities and rates are moved when a state is packed | 1, or the samples' own rates | (0, 1e-6)
# | not measured
LEAST = 1e-12
# over the floor, to which eigenvalues of covariance matrices on it are moved: the gradient vanishes there | units of
# the floor | (0, 1) | not measured
LEAST_EXCESS = 1e-4
# of softmax coordinates: it keeps trial steps of a line search finite | nats | [28, 700) | argument: no optimum lies
# outside, as `LEAST` is 28 nats
SOFTMAX_RANGE = 60.0
# how far means may go beyond the data and logarithms beyond what is natural: it keeps trial steps of a line search
# finite | units of the coordinate | (0, 700) | argument: no optimum lies outside
BEYOND = 10.0

# [_quasi_newton] L-BFGS.

# of steps and gradients that are kept | pairs | [1, inf) | not measured
MEMORY = 10
# slope that is too small for a line search to show a gain | of total weight and objective | (0, 1) | not measured
FLAT = 1e-5

# [starts] Starts.

# of the nearest drawn sample in a sample's responsibilities; the rest keeps probabilities away from 0, which no local
# method leaves again | part | (0, 1) | not measured
NEAREST_SHARE = 0.9
