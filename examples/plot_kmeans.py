"""
k-means with a proof
====================

Lloyd's algorithm ends where its start leads. The clusters below are proved to have the least sum of squares; a
histogram shows where single runs of scikit-learn end.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import gopfast

rng = np.random.default_rng(0)
X = 5.0 * rng.integers(3, size=(200, 2)) + rng.standard_normal((200, 2))
N_RUNS = 200  # in the tests: 5
result = gopfast.solve(gopfast.KMeans(X, 9))
ends = [KMeans(9, n_init=1, init="random", random_state=seed).fit(X).inertia_ for seed in range(N_RUNS)]
missed = np.mean(np.array(ends) > result.inertia * (1 + 1e-4))
print(f"least inertia {result.inertia:.3f}, proved at least {result.lower_bound:.3f}; {missed:.0%} of the runs miss it")

# %%
# Left the proved clusters, right the runs.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.scatter(*X.T, c=result.labels, cmap="tab10", s=12)
left.plot(*result.centers.T, "k+", markersize=10)
left.set(title="proved optimum", xlabel="x0", ylabel="x1")
right.hist(ends, bins=30, color="#aab2bf", hatch="//", edgecolor="white")
right.axvline(result.lower_bound, color="#1f5fa8", label="proved bound")
right.set(title="200 runs of Lloyd's algorithm", xlabel="inertia", ylabel="runs")
right.legend(frameon=False)
