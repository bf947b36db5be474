"""
The bounds of the paper's minimal example
=========================================

Four points, two components of known variance, a prior on the means whose variance is estimated: the minimal data set
of Saddiki, Trapp & Flaherty. EM from a poor start ends far above the optimum. The search proves the best there is:
its lower bound rises until it meets the best solution found.
"""

import gopfast

problem = gopfast.GaussianMixture(gopfast.datasets.load_minimal(), 2, prior="empirical")
fit = gopfast.local.em(problem, start=[-10, 15])
result = gopfast.solve(problem, epsilon=0.01, relaxation="linear", branching="orthant", partition="paper")
print(f"EM ends at {fit.objective:.4f}, proved: {result.lower_bound:.4f} to {result.objective:.4f}")

# %%
# The same bounds as in figure 1 of the paper; `elbo=True` turns the sign.

ax = result.plot(elbo=True)
ax.set_title("Bounds of the evidence lower bound")
