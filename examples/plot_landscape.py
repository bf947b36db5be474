"""
The landscape: all local optima, and none elsewhere
===================================================

``gopfast.optima`` returns every local optimum within a distance of the best that it finds, and boxes of parameters
with the proof that there is none outside of them.
"""

import gopfast

X = gopfast.datasets.load_galaxies() / 1000

# %%
# Two components with free variances: the two optima between which scikit-learn's starts are divided, 0.19 nats apart.

WITHIN = 0.5  # in the tests: 0.4
problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.3**2)
found = gopfast.optima(problem, within=WITHIN, max_nodes=2000)
print(found)
ax = found.plot()
ax.set_title("Path between the two optima")

# %%
# Two components of known variance: both parameters in one picture, with the boxes that survive.

problem = gopfast.GaussianMixture(X, 2, covariance="known", noise_variance=4.0)
found = gopfast.optima(problem, within=5.0)
ax = found.plot()
ax.set_title("Objective, best in the weights")
