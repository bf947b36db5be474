"""
Galaxies, from two to seven components
======================================

Velocities of 82 galaxies in the Corona Borealis region (Roeder, 1990), the example of two decades of papers on
mixtures. Each number of components has its own proof, and BIC with all of them chooses.
"""

import matplotlib.pyplot as plt

import gopfast

X = gopfast.datasets.load_galaxies() / 1000
MOST = 7  # in the tests: 3
TIME_LIMIT = 10.0  # in the tests: 1.0

figure, axes = plt.subplots(2, 3, figsize=(10, 5.5), sharex=True, sharey=True, layout="constrained")
for K, ax in zip(range(2, MOST + 1), axes.flat):
    problem = gopfast.GaussianMixture(X, K, covariance="diag", variance_floor=0.3**2)
    result = gopfast.solve(problem, time_limit=TIME_LIMIT)
    result.plot("density", ax=ax)
    ax.get_legend().remove()
    ax.set_title(f"K = {K}: {result.log_likelihood:.2f} ({result.status})", fontsize="medium")
    ax.set_xlabel("velocity (1000 km/s)")

# %%
# The number of components and the kind of variance by BIC. Most models are proved to lose long before their own
# optimum is known.

choice = gopfast.select(X, range(1, 5), variance_floor=0.3**2)
print(choice)
